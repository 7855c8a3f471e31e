"""Check a callback address when it is entered, not when the first callback fails."""

from typing import Final

from yarl import URL

from printworks.errors import BadInput
from printworks.net.addresses import read_address
from printworks.net.errors import BadAddress
from printworks.net.guard import PORTS, Forbidden, Guard, is_private_sandbox
from printworks.net.urls import read_url
from printworks.settings import Settings

NOT_PUBLIC: Final = (
    "This address is not public, so we cannot reach it. "
    "Enter one that is on the internet. During development, the command “printworks listen” brings "
    "callbacks to your machine."
)
WRONG_PORT: Final = "Callbacks go to port 80 or 443 only. Enter an address without another port."


def check_reachable(settings: Settings, address: str) -> None:
    """Refuse an address that no callback of this service can reach, with the reason.

    What a name resolves to may change, so the guard decides about that with every attempt.
    """
    try:
        url = read_url(address)
    except BadAddress as error:
        raise BadInput(error.message) from error
    host = _find_numbers(url)
    port = url.port or 443
    if read_address(host) is not None:
        try:
            Guard.of(settings).check(host, port)
        except Forbidden:
            is_about_port = port not in PORTS and _is_public(settings, host)
            raise BadInput(WRONG_PORT if is_about_port else NOT_PUBLIC) from None
    elif port not in PORTS and not _may_be_inside(settings):
        raise BadInput(WRONG_PORT)


def _find_numbers(url: URL) -> str:
    """Return the host, with `localhost` as an address."""
    host = (url.host or "").lower().removesuffix(".")
    is_here = host == "localhost" or host.endswith(".localhost")
    return "127.0.0.1" if is_here else host


def _is_public(settings: Settings, host: str) -> bool:
    try:
        Guard.of(settings).check(host, 443)
    except Forbidden:
        return False
    return True


def _may_be_inside(settings: Settings) -> bool:
    """Say whether a name may stand for an address that can be reached on any port."""
    return bool(settings.outbound_allow_networks) or is_private_sandbox(settings)
