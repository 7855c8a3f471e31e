"""`printworks listen`: a merchant's callbacks, brought to a developer's machine."""

import http.client
import signal
import ssl
import sys
import time
from typing import Annotated, Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec
import typer

from printworks.cli.demo import DemoCredentials, get_demo_credentials
from printworks.cli.output import note
from printworks.cli.session import CommandSession, command
from printworks.clock import system_clock
from printworks.errors import BadCredentials, BadInput
from printworks.web.request_log import LISTENER
from printworks.web.tls import ca_file
from printworks.wire.signatures import is_secret, make_secret, sign

SECONDS_BETWEEN_POLLS: Final = 1
SECONDS_TO_ANSWER: Final = 15
_FAMILY: Final = "/v3.0"

app = typer.Typer()


class FeedEvent(msgspec.Struct, frozen=True):
    """The members of an event in the feed that are needed here."""

    number: int
    messageId: str  # noqa: N815  (spelled as on the wire)
    orderId: int  # noqa: N815
    kind: str
    hasNews: bool  # noqa: N815
    callback: dict[str, Any]


class _Page(msgspec.Struct, frozen=True):
    events: list[FeedEvent]
    last: int


class _PageAnswer(msgspec.Struct, frozen=True):
    data: _Page


class NotAnswering(Exception):
    """The service is temporarily unavailable; it may be starting."""


class Feed(NamedTuple):
    """A merchant's events, read over HTTPS as any program would."""

    url: SplitResult
    tls: ssl.SSLContext
    headers: dict[str, str]

    def read(self, *, after: int, limit: int) -> _Page:
        """Return the events after a number; raise `NotAnswering` if that may pass."""
        path = f"{self.url.path}{_FAMILY}/events?after={after}&limit={limit}"
        try:
            answer = _exchange(_connect(self.url, self.tls), "GET", path, self.headers)
        except ssl.SSLCertVerificationError as error:
            message = f"{self.url.geturl()} shows a certificate that is not trusted: {error}."
            raise BadInput(message) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotAnswering from error
        if answer.status >= 500:
            raise NotAnswering
        if answer.status == 401:
            raise BadCredentials(f"{self.url.geturl()} knows no merchant with this ID and key.")
        try:
            return msgspec.json.decode(answer.body, type=_PageAnswer).data
        except msgspec.DecodeError as error:
            message = f"{self.url.geturl()} has no feed of events (status {answer.status})."
            raise BadInput(message) from error


class _HttpAnswer(NamedTuple):
    status: int
    body: bytes


def _connect(url: SplitResult, tls: ssl.SSLContext | None = None) -> http.client.HTTPConnection:
    host = url.hostname or ""
    if url.scheme == "https":
        return http.client.HTTPSConnection(host, url.port, timeout=SECONDS_TO_ANSWER, context=tls)
    return http.client.HTTPConnection(host, url.port, timeout=SECONDS_TO_ANSWER)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    path: str,
    headers: dict[str, str],
    body: bytes | None = None,
) -> _HttpAnswer:
    """Send one request on a connection of its own; a redirect is an answer like any other."""
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return _HttpAnswer(answer.status, answer.read())
    finally:
        connection.close()


@command(app, "listen")
def listen(
    session: CommandSession,
    *,
    forward_to: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where to send them; without it they are only shown."),
    ] = None,
    merchant: Annotated[
        str | None,
        typer.Option(
            envvar="MERCHANT_ID", help="The merchant's ID; the demo merchant's by default."
        ),
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="API_KEY", help="A key of the merchant.")
    ] = None,
    base_url: Annotated[
        str | None,
        typer.Option(envvar="BASE_URL", help="Where the service is; by default this machine's."),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(min=0, help="Begin after this event; by default with the next that happens."),
    ] = None,
    secret: Annotated[
        str | None,
        typer.Option(metavar="whsec_...", help="Sign with this; by default with a new secret."),
    ] = None,
) -> None:
    """Show a merchant's callbacks as they happen, and send them to a local address.

    They are signed with a secret for this run alone, never with the merchant's own. What the
    service itself sends to the merchant's callback address does not change.
    """
    receiver = None if forward_to is None else _read_address("--forward-to", forward_to)
    if secret and not is_secret(secret):
        raise BadInput("`--secret` must be `whsec_` and the base64 of 24 to 64 bytes.")
    feed = _open_feed(session, merchant, api_key, base_url)
    listener = CallbackListener(session, feed, receiver, secret or make_secret())
    # Also when a script started it in the background, where shells make it ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        listener.run(after)
    except KeyboardInterrupt:
        # The usual way to end it.
        return


class CallbackListener(NamedTuple):
    """Goes through the feed, event by event, until it is stopped."""

    session: CommandSession
    feed: Feed
    receiver: SplitResult | None
    secret: str

    def run(self, after: int | None) -> None:
        """Show and send all events after a number, or all that happen from now on."""
        if after is None:
            after = self._read(after=0, limit=0).last
        note(f"Listening from event {after + 1} on. Ctrl-C stops it.")
        if self.receiver is not None:
            note(f"Sending to {self.receiver.geturl()}, signed with {self.secret}")
        while True:
            events = self._read(after=after, limit=100).events
            for event in events:
                self._show(event)
                after = event.number
            if not events:
                time.sleep(SECONDS_BETWEEN_POLLS)

    def _read(self, *, after: int, limit: int) -> _Page:
        """Ask until there is an answer: the service may just be starting again."""
        is_noted = False
        while True:
            try:
                return self.feed.read(after=after, limit=limit)
            except NotAnswering:
                if not is_noted:
                    note("The service does not answer; waiting for it.")
                is_noted = True
                time.sleep(SECONDS_BETWEEN_POLLS)

    def _show(self, event: FeedEvent) -> None:
        members = msgspec.structs.asdict(event)
        line = f"{event.number:>8}  order {event.orderId}  {event.kind}  {event.callback['status']}"
        if not event.hasNews:
            line = f"{line}  (nothing new, not sent)"
        elif self.receiver is not None:
            answer = self._forward(self.receiver, event)
            members["answer"] = answer
            line = f"{line}  → {answer}"
        self.session.show(members, line)
        sys.stdout.flush()

    def _forward(self, receiver: SplitResult, event: FeedEvent) -> str:
        """Send one callback, as the service would; return the answer."""
        body = msgspec.json.encode(event.callback)
        signature = sign(body, message_id=event.messageId, at=system_clock(), secrets=[self.secret])
        headers = {"Content-Type": "application/json", **signature}
        path = receiver._replace(scheme="", netloc="", fragment="").geturl() or "/"
        try:
            return str(_exchange(_connect(receiver), "POST", path, headers, body).status)
        except (OSError, http.client.HTTPException) as error:
            return f"no answer ({str(error) or type(error).__name__})"


def _open_feed(
    session: CommandSession, merchant: str | None, api_key: str | None, base_url: str | None
) -> Feed:
    settings = session.settings
    wanted = (base_url or settings.public_url).rstrip("/").removesuffix(_FAMILY)
    url = _read_address("--base-url", wanted)
    if url.scheme != "https":
        raise BadInput("`--base-url` must begin with https: a key must not be sent unencrypted.")
    is_here = wanted == settings.public_url
    local_ca = ca_file(settings.data)
    tls = ssl.create_default_context(cafile=local_ca if is_here and local_ca.exists() else None)
    credentials = _find_credentials(session, merchant, api_key, is_here=is_here)
    prefix = settings.header_prefix
    headers = {
        f"{prefix}MerchantId": credentials.merchant_id,
        f"{prefix}REST-API-Key": credentials.api_key,
        "Accept": "application/json",
        # By this the request log knows that nobody wants to read of it.
        "User-Agent": LISTENER,
    }
    return Feed(url, tls, headers)


def _find_credentials(
    session: CommandSession, merchant: str | None, api_key: str | None, *, is_here: bool
) -> DemoCredentials:
    """Return the given credentials, or the demo merchant's; a key alone is never sent anywhere."""
    if merchant and api_key:
        if not _is_plain(merchant + api_key):
            raise BadInput("`--merchant` and `--api-key` must be plain letters, digits and signs.")
        return DemoCredentials(merchant, api_key)
    if is_here and session.settings.environment == "sandbox":
        demo = get_demo_credentials(session.services)
        if merchant in (None, "", demo.merchant_id):
            return demo
    message = "Name the merchant with `--merchant` and `--api-key`, or MERCHANT_ID and API_KEY."
    raise BadInput(message)


def _read_address(option: str, text: str) -> SplitResult:
    try:
        url = urlsplit(text if _is_plain(text) else "")
        # Read because only this notices a wrong port.
        _ = url.port
    except ValueError:
        url = SplitResult("", "", "", "", "")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise BadInput(f"`{option}` must be an absolute http or https address.")
    return url


def _is_plain(text: str) -> bool:
    """Say whether a text can be part of a request as it is."""
    return text.isascii() and text.isprintable() and " " not in text
