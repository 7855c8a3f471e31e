"""Files that were not taken, and why: said on the page that comes after the form."""

import hmac
from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from printworks.dashboard.site.visits import MerchantVisit

_REFUSED: Final = "refused"
_SIGN: Final = "sign"
# An address cannot be of any length.
_MOST_NAMED: Final = 12


def say_refused(visit: MerchantVisit, page: str, refused: Sequence[str]) -> str:
    """Return the address of a page that says which files were not taken; signed, since it is ours."""
    if not refused:
        return page
    rest = len(refused) - _MOST_NAMED
    more = [f"And {rest} more."] if rest > 0 else []
    text = "\n".join([*refused[:_MOST_NAMED], *more])
    return f"{page}?{urlencode({_REFUSED: text, _SIGN: _sign(visit, page, text)})}"


def read_refused(visit: MerchantVisit) -> list[str]:
    """Return which files were not taken, if it was us who said so."""
    text, sign = visit.query.get(_REFUSED, ""), visit.query.get(_SIGN, "")
    is_ours = sign.isascii() and hmac.compare_digest(sign, _sign(visit, visit.path, text))
    return text.splitlines() if text and is_ours else []


def _sign(visit: MerchantVisit, page: str, text: str) -> str:
    return visit.services.forms.make_token(f"{_REFUSED} {page} {text}")
