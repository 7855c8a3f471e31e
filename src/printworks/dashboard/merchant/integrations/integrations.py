"""The callbacks of a merchant: address, secret and log."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from starlette.responses import Response

from printworks.actions import callbacks as actions
from printworks.dashboard.site.forms import at_field, read_choice
from printworks.dashboard.site.rendering import Link
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, PageLinks
from printworks.errors import BadInput
from printworks.rules.callbacks import CallbackFormat
from printworks.rules.events import CallbackState
from printworks.rules.people import Duty
from printworks.store.callbacks.log import (
    find_latest_test,
    list_callback_log,
)
from printworks.store.callbacks.settings import CallbackSettings, read_callback_settings

_ROWS: Final = 25
# What one click sends again at most, in transactions of `REPLAY_PAGE` each.
_REPLAYED_PAGES: Final = 20
_FIRST_YEAR, _LAST_YEAR = 2000, 9000
_NO_TIMESTAMP: Final = "Enter a date and time, such as 2026-11-15T12:00."

# The filters of the log, by what stands in the address.
_FILTERS: Final[Mapping[str, tuple[str, CallbackState | None]]] = {
    "": ("All", None),
    "waiting": ("Waiting", CallbackState.PENDING),
    "delivered": ("Delivered", CallbackState.DELIVERED),
    "given-up": ("Failed", CallbackState.FAILED),
}
_FORMATS: Final = (
    ("", "That of the version that made the order"),
    (CallbackFormat.V3_0, "3.0"),
    (CallbackFormat.V2_6, "2.6: statuses in lower case"),
    (CallbackFormat.V2_5, "2.5: statuses in lower case"),
    (CallbackFormat.V2_3, "2.3: events, without shipments"),
)
# Ten lines of Python that need nothing but Python.
VERIFY: Final = """\
import base64, hashlib, hmac, time

def is_genuine(secret, headers, body):
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    right = base64.b64encode(hmac.digest(key, signed, hashlib.sha256))
    shown = headers["webhook-signature"].split()
    is_recent = abs(time.time() - int(headers["webhook-timestamp"])) < 300
    is_right = [hmac.compare_digest(b"v1," + right, one.encode()) for one in shown]
    return is_recent and any(is_right)
"""


@page_at("/integrations", forms=Duty.MANAGE)
def show_integrations(visit: MerchantVisit, fresh_secret: str = "") -> Response:
    """Show the callback settings and the latest callbacks."""
    wanted = visit.query.get("state", "")
    chosen = wanted if wanted in _FILTERS else ""
    log = list_callback_log(
        visit.db, visit.merchant.id, state=_FILTERS[chosen][1], before=visit.cursor(), limit=_ROWS
    )
    test = find_latest_test(visit.db, visit.merchant.id)
    settings = read_callback_settings(visit.db, visit.merchant.id)
    listed = [*log.callbacks, *([test] if test else [])]
    etag = visit.etag(
        settings.url,
        settings.candidate,
        [(one.id, one.state, one.attempts, one.next_at) for one in listed],
    )
    sent = visit.sent
    return visit.render(
        "merchant/integrations.html",
        address=settings.url,
        candidate=settings.candidate,
        asks_challenge=visit.services.address_rules.needs_challenge and not settings.is_trusted,
        url=sent.text("url") if "url" in sent.fields else _find_url(settings),
        format=sent.text("format") if "format" in sent.fields else settings.format or "",
        formats=_FORMATS,
        secrets=[(one.hint, one.until) for one in settings.secrets if one.is_valid(visit.real_now)],
        fresh_secret=fresh_secret,
        verify=VERIFY,
        test=test,
        rows=log.callbacks,
        chosen=chosen,
        tabs=[
            (name == chosen, Link(text, _address(visit, state=name, before=None)))
            for name, (text, _) in _FILTERS.items()
        ],
        pages=_list_pages(visit, log.older),
        looks_again="" if visit.cursor() is not None else _address(visit, seen=etag),
        replay=_read_replay(visit),
        since=sent.text("since") or _begin_today(visit),
        now=visit.now,
    )


@show_integrations.action("set-callback", "The callback address was saved.", needs_password=True)
def set_address(visit: MerchantVisit) -> Response | None:
    """Send callbacks to this address from now on; the first one gets a secret."""
    url = visit.sent.text("url")
    if not url:
        raise BadInput("Enter an address, such as https://shop.example/callbacks.", field="url")
    how = _read_format(visit)
    with at_field("url"):
        _, new_secret = actions.set_callback(visit.work, url, how)
    return None if new_secret is None else show_integrations(visit, new_secret)


@show_integrations.action(
    "retry-callback-challenge", "The address is being challenged again.", needs_password=True
)
def retry_challenge(visit: MerchantVisit) -> None:
    """Challenge the new address again."""
    actions.retry_challenge(visit.work)


@show_integrations.action(
    "clear-callback", "Callbacks are off. Your events stay in the feed.", needs_password=True
)
def clear_address(visit: MerchantVisit) -> None:
    """Turn callbacks off; events stay in the feed, and the secret stays the same."""
    actions.set_callback(visit.work, None)


@show_integrations.action("rotate-callback-secret", needs_password=True)
def rotate_secret(visit: MerchantVisit) -> Response:
    """Rotate the secret, and show the new one once; the old one is used for another day."""
    return show_integrations(visit, actions.rotate_secret(visit.work).new_secret or "")


@show_integrations.action("test-callback", "The test callback is being sent.")
def send_test(visit: MerchantVisit) -> None:
    """Send a test callback, once."""
    actions.send_test(visit.work)


@show_integrations.action("send-callback-again", "The callback is being resent.")
def send_again(visit: MerchantVisit) -> str:
    actions.send_again(visit.work, visit.sent.number("callback") or 0)
    return _address(visit)


@show_integrations.action("replay-callbacks", alone=True)
def replay(visit: MerchantVisit) -> str:
    """Resend everything since a timestamp, and show how much that was.

    Each page has a transaction of its own, so that others can write meanwhile.
    """
    first: datetime | int | None = _read_first(visit)
    sent = 0
    for _ in range(_REPLAYED_PAGES):
        if first is None:
            break
        with visit.services.database.writing() as db:
            done = actions.replay(visit.work_in(db), since=first)
        sent += done.sent
        first = done.next_number
    return visit.here(replayed=sent, next_number=first)


def _find_url(settings: CallbackSettings) -> str:
    """Return the address that was saved last, used already or not."""
    return (settings.candidate.url if settings.candidate else settings.url) or ""


def _read_format(visit: MerchantVisit) -> CallbackFormat | None:
    text = visit.sent.text("format")
    refusal = "Choose one of the formats."
    return read_choice(CallbackFormat, text, refusal, field="format") if text else None


def _read_first(visit: MerchantVisit) -> datetime | int:
    number = visit.sent.number("next_number")
    if number is not None:
        return number
    try:
        timestamp = datetime.fromisoformat(visit.sent.text("since"))
    except ValueError:
        raise BadInput(_NO_TIMESTAMP) from None
    # At the ends of the calendar nothing can be calculated.
    if not _FIRST_YEAR <= timestamp.year <= _LAST_YEAR:
        raise BadInput(_NO_TIMESTAMP)
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=_find_zone(visit))


def _find_zone(visit: MerchantVisit) -> ZoneInfo:
    return ZoneInfo(visit.time_zone)


def _begin_today(visit: MerchantVisit) -> str:
    return f"{visit.now.astimezone(_find_zone(visit)):%Y-%m-%dT00:00}"


def _read_replay(visit: MerchantVisit) -> actions.Replayed | None:
    sent = visit.cursor("replayed")
    return None if sent is None else actions.Replayed(sent, visit.cursor("next_number"))


def _address(visit: MerchantVisit, **changes: object) -> str:
    """Return the address of this page, without what was said about something just done."""
    return visit.here(**{"replayed": None, "next_number": None, **changes})


def _list_pages(visit: MerchantVisit, older: int | None) -> PageLinks:
    """Return where else the log can be seen, which is far down on its page."""
    first = "" if visit.cursor() is None else f"{_address(visit, before=None)}#log"
    return PageLinks(first, "" if older is None else f"{_address(visit, before=older)}#log")
