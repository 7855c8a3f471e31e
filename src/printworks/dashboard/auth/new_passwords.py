"""Check a password that somebody chooses."""

import gzip
from functools import cache
from importlib import resources

from printworks.rules.passwords import check_password


def check_new_password(password: str, email: str, shop: str) -> None:
    """Refuse a password that is easy to guess, for anyone or for those who know the person."""
    check_password(password, own=(email, shop, "printworks"), common=_load_common())


@cache
def _load_common() -> frozenset[str]:
    # When first needed: two megabytes that most processes can do without.
    file = resources.files("printworks.dashboard").joinpath(
        "auth", "common_passwords", "words.txt.gz"
    )
    return frozenset(gzip.decompress(file.read_bytes()).decode().split())
