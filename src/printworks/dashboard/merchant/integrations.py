"""Where a merchant is told of events: the address, the secret, and how the telling goes."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.callbacks import callbacks as actions
from printworks.dashboard.merchant.callback_address import check_reachable
from printworks.dashboard.shared.callbacks import view_callback
from printworks.dashboard.site.etag import make_etag
from printworks.dashboard.site.rendering import Link
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import MerchantVisit, PageLinks
from printworks.errors import BadInput
from printworks.rules.callbacks import CallbackFormat
from printworks.rules.events import CallbackState
from printworks.store.callbacks.log import (
    CallbackPage,
    LoggedCallback,
    find_latest_test,
    list_callback_log,
)
from printworks.store.callbacks.settings import CallbackSettings, read_callback_settings

_ROWS: Final = 25
# What one click sends again at most, in transactions of `REPLAYED_AT_ONCE` each.
_REPLAYED_PAGES: Final = 20
_HINT: Final = 4
_FIRST_YEAR, _LAST_YEAR = 2000, 9000
_NO_TIMESTAMP: Final = "Enter a moment, such as 2026-11-15T12:00."

# The filters of the log, by what stands in the address.
_FILTERS: Final[Mapping[str, tuple[str, CallbackState | None]]] = {
    "": ("All", None),
    "waiting": ("Waiting", CallbackState.PENDING),
    "delivered": ("Delivered", CallbackState.DELIVERED),
    "given-up": ("Given up", CallbackState.FAILED),
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


class SecretView(msgspec.Struct, frozen=True):
    """What is shown of a secret after it was shown once."""

    hint: str
    until: datetime | None


class Replay(msgspec.Struct, frozen=True):
    """How many were just sent again, and with which number to go on."""

    sent: int
    go_on_at: int | None


def show_integrations(visit: MerchantVisit, fresh_secret: str = "") -> Response:
    """Show where callbacks go, and how it went with the latest."""
    wanted = visit.query.get("state", "")
    chosen = wanted if wanted in _FILTERS else ""
    log = list_callback_log(
        visit.db,
        visit.merchant.id,
        state=_FILTERS[chosen][1],
        before=visit.cursor(),
        limit=_ROWS,
    )
    test = find_latest_test(visit.db, visit.merchant.id)
    settings = read_callback_settings(visit.db, visit.merchant.id)
    etag = _etag(settings, log, test)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    sent = visit.sent
    return visit.render(
        "merchant/integrations.html",
        address=settings.url,
        url=sent.text("url") if "url" in sent.fields else settings.url or "",
        format=sent.text("format") if "format" in sent.fields else settings.format or "",
        formats=_FORMATS,
        secrets=_view_secrets(visit, settings),
        fresh_secret=fresh_secret,
        verify=VERIFY,
        test=test and view_callback(test),
        rows=[view_callback(one) for one in log.callbacks],
        chosen=chosen,
        tabs=[
            (name == chosen, Link(text, _address(visit, state=name, before=None)))
            for name, (text, _) in _FILTERS.items()
        ],
        pages=_list_pages(visit, log.older),
        looks_again="" if visit.cursor() is not None else _address(visit, seen=etag),
        replay=_read_replay(visit),
        since=sent.text("since") or visit.now.strftime("%Y-%m-%dT00:00"),
        now=visit.now,
    )


def set_address(visit: MerchantVisit) -> str | Response:
    """Tell of events at this address from now on; the first one comes with a secret."""
    url = visit.sent.text("url")
    if not url:
        raise BadInput("Enter an address, such as https://shop.example/callbacks.")
    check_reachable(visit.services.settings, url)
    had_secret = bool(read_callback_settings(visit.db, visit.merchant.id).secrets)
    settings = actions.set_callback(visit.db, visit.merchant, url, _read_format(visit))
    visit.note("set-callback", _without_query(url), format=settings.format)
    if had_secret:
        return visit.path
    return show_integrations(visit, settings.secrets[0].text)


def clear_address(visit: MerchantVisit) -> str:
    """Tell of no more events; they stay in the feed, and the secret stays as it is."""
    known = read_callback_settings(visit.db, visit.merchant.id)
    actions.set_callback(visit.db, visit.merchant, None)
    visit.note("clear-callback", _without_query(known.url or ""))
    return visit.path


def rotate_secret(visit: MerchantVisit) -> Response:
    """Sign with a new secret, show it this once, and sign with the last one for a day too."""
    settings = actions.rotate_secret(visit.db, visit.merchant, now=visit.real_now)
    secret = settings.secrets[0].text
    visit.note("rotate-callback-secret", f"…{secret[-_HINT:]}")
    return show_integrations(visit, secret)


def send_test(visit: MerchantVisit) -> str:
    """Send an example to the merchant's address, once."""
    callback_id = actions.send_test(visit.db, visit.merchant, now=visit.now)
    visit.note("test-callback", str(callback_id))
    return visit.path


def send_again(visit: MerchantVisit) -> str:
    """Send a callback of the list now, whatever became of it before."""
    callback_id = visit.sent.number("callback") or 0
    actions.send_again(visit.db, visit.merchant, callback_id, now=visit.now)
    visit.note("send-callback-again", str(callback_id))
    return _address(visit)


def replay(visit: MerchantVisit) -> str:
    """Send everything since a moment again, and say how much that was.

    Each page of it in a transaction of its own: others want to write meanwhile.
    """
    first: datetime | int | None = _read_first(visit)
    since = str(first)
    sent = 0
    for _ in range(_REPLAYED_PAGES):
        if first is None:
            break
        with visit.services.database.writing() as db:
            done = actions.replay(db, visit.merchant, since=first, now=visit.now)
            visit.within(db).note("replay-callbacks", since, sent=done.sent)
        sent += done.sent
        first = done.go_on_at
    return visit.here(replayed=sent, go_on_at=first)


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    Page(
        path="/integrations",
        show=show_integrations,
        form_actions=(
            FormAction(
                name="set-callback",
                take=set_address,
                says="From now on, callbacks go to this address.",
                needs_password=True,
            ),
            FormAction(
                name="clear-callback",
                take=clear_address,
                says="No callbacks are sent any more. Your events stay in the feed.",
                needs_password=True,
            ),
            FormAction(name="rotate-callback-secret", take=rotate_secret, needs_password=True),
            FormAction(
                name="test-callback", take=send_test, says="The test message is on its way."
            ),
            FormAction(
                name="send-callback-again", take=send_again, says="The callback is on its way."
            ),
            FormAction(name="replay-callbacks", take=replay, alone=True),
        ),
    ),
)


def _without_query(url: str) -> str:
    """Return an address as it is written down for ever: what some let it end in is a secret."""
    return url.partition("?")[0].partition("#")[0]


def _read_format(visit: MerchantVisit) -> CallbackFormat | None:
    text = visit.sent.text("format")
    try:
        return CallbackFormat(text) if text else None
    except ValueError:
        raise BadInput("Choose one of the formats.") from None


def _read_first(visit: MerchantVisit) -> datetime | int:
    number = visit.sent.number("go_on_at")
    if number is not None:
        return number
    try:
        timestamp = datetime.fromisoformat(visit.sent.text("since"))
    except ValueError:
        raise BadInput(_NO_TIMESTAMP) from None
    # At the ends of the calendar nothing can be reckoned.
    if not _FIRST_YEAR <= timestamp.year <= _LAST_YEAR:
        raise BadInput(_NO_TIMESTAMP)
    return timestamp if timestamp.tzinfo else timestamp.replace(tzinfo=UTC)


def _read_replay(visit: MerchantVisit) -> Replay | None:
    sent = visit.cursor("replayed")
    return None if sent is None else Replay(sent, visit.cursor("go_on_at"))


def _view_secrets(visit: MerchantVisit, settings: CallbackSettings) -> list[SecretView]:
    return [
        SecretView(one.text[-_HINT:], one.until)
        for one in settings.secrets
        if one.until is None or one.until > visit.real_now
    ]


def _address(visit: MerchantVisit, **changes: object) -> str:
    """Return the address of this page, without what was said about something just done."""
    return visit.here(**{"replayed": None, "go_on_at": None, **changes})


def _list_pages(visit: MerchantVisit, older: int | None) -> PageLinks:
    """Return where else the log can be seen, which is far down on its page."""
    first = "" if visit.cursor() is None else f"{_address(visit, before=None)}#log"
    return PageLinks(first, "" if older is None else f"{_address(visit, before=older)}#log")


def _etag(settings: CallbackSettings, log: CallbackPage, test: LoggedCallback | None) -> str:
    """Return a text that changes with whatever looks again by itself."""
    shown = [
        (one.id, one.state, one.attempts, one.next_at)
        for one in (*log.callbacks, *([test] if test else []))
    ]
    return make_etag(settings.url, shown)
