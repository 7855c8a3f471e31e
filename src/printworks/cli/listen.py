"""`printworks listen`: a merchant's callbacks, brought to the machine of whoever develops."""

import http.client
import signal
import ssl
import sys
import time
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

import msgspec
import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)
from printworks.errors import BadCredentials, BadInput

if TYPE_CHECKING:
    from printworks.cli.demo import DemoCredentials
    from printworks.settings import Settings

SECONDS_BETWEEN_LOOKS: Final = 1
SECONDS_TO_ANSWER: Final = 15
_FAMILY: Final = "/v3.0"


class FeedEvent(msgspec.Struct, frozen=True):
    """What the feed tells of one event, as far as it matters here."""

    number: int
    messageId: str  # noqa: N815  (spelled as on the wire)
    orderId: int  # noqa: N815
    kind: str
    callback: dict[str, Any]


class _Page(msgspec.Struct, frozen=True):
    events: list[FeedEvent]
    last: int


class _Answer(msgspec.Struct, frozen=True):
    data: _Page


class NotAnswering(Exception):
    """The service cannot be asked at the moment; it may be starting."""


class Feed:
    """A merchant's events, read over HTTPS as anybody's program would."""

    def __init__(self, base_url: str, tls: ssl.SSLContext, headers: dict[str, str]) -> None:
        self._url = urlsplit(base_url)
        self._tls = tls
        self._headers = headers

    def read(self, *, after: int, limit: int) -> _Page:
        """Return the events after a number; raise `NotAnswering` if that may pass."""
        path = f"{self._url.path}{_FAMILY}/events?after={after}&limit={limit}"
        try:
            answer = _exchange(self._url, "GET", path, headers=self._headers, tls=self._tls)
        except ssl.SSLCertVerificationError as error:
            message = f"{self._url.geturl()} shows a certificate that is not trusted: {error}."
            raise BadInput(message) from error
        except (OSError, http.client.HTTPException) as error:
            raise NotAnswering from error
        if answer.status >= 500:
            raise NotAnswering
        if answer.status == 401:
            message = f"{self._url.geturl()} knows no merchant with this id and key."
            raise BadCredentials(message)
        try:
            return msgspec.json.decode(answer.body, type=_Answer).data
        except msgspec.DecodeError as error:
            message = f"{self._url.geturl()} has no feed of events (status {answer.status})."
            raise BadInput(message) from error


class _Heard(NamedTuple):
    status: int
    body: bytes


def _exchange(
    url: SplitResult,
    method: str,
    path: str,
    *,
    headers: dict[str, str],
    body: bytes | None = None,
    tls: ssl.SSLContext | None = None,
) -> _Heard:
    """Send one request on a connection of its own; a redirect is an answer like any other."""
    connection: http.client.HTTPConnection
    if url.scheme == "https":
        connection = http.client.HTTPSConnection(
            url.hostname or "", url.port, timeout=SECONDS_TO_ANSWER, context=tls
        )
    else:
        connection = http.client.HTTPConnection(
            url.hostname or "", url.port, timeout=SECONDS_TO_ANSWER
        )
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        return _Heard(answer.status, answer.read())
    finally:
        connection.close()


def listen(
    context: typer.Context,
    *,
    forward_to: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Where to send them; without it they are only shown."),
    ] = None,
    merchant: Annotated[
        str | None,
        typer.Option(envvar="MERCHANT_ID", help="Whose callbacks; the demo merchant's by default."),
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
    data: Data = None,
    json: Json = False,
) -> None:
    """Show a merchant's callbacks as they happen, and send them to a local address.

    They are signed with a secret for this run alone, never with the merchant's own. What the
    service itself sends to the merchant's callback address is not touched by this.
    """
    from printworks.wire.signatures import make_secret

    settings = load_settings(context, data)
    receiver = None if forward_to is None else _read_address("--forward-to", forward_to)
    secret = _check_secret(secret) if secret else make_secret()
    feed = _open_feed(settings, merchant, api_key, base_url)
    listener = Listener(feed, receiver, secret, as_json=json)
    # Also when a script started it in the background, where shells let it be ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        listener.run(after)
    except KeyboardInterrupt:
        # That is how it is meant to end.
        return


class Listener:
    """Goes through the feed, event by event, for as long as it is let."""

    def __init__(
        self, feed: Feed, receiver: SplitResult | None, secret: str, *, as_json: bool
    ) -> None:
        self._feed = feed
        self._receiver = receiver
        self._secret = secret
        self._as_json = as_json

    def run(self, after: int | None) -> None:
        """Show and send whatever follows, or whatever happens from now on."""
        if after is None:
            after = self._read(after=0, limit=0).last
        self._say(f"Listening from event {after + 1} on. Ctrl-C stops it.")
        if self._receiver is not None:
            self._say(f"Sending to {self._receiver.geturl()}, signed with {self._secret}")
        while True:
            events = self._read(after=after, limit=100).events
            for event in events:
                self._tell(event)
                after = event.number
            if not events:
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _read(self, *, after: int, limit: int) -> _Page:
        """Ask until there is an answer: the service may just be starting again."""
        is_told = False
        while True:
            try:
                return self._feed.read(after=after, limit=limit)
            except NotAnswering:
                if not is_told:
                    self._say("The service does not answer; waiting for it.")
                is_told = True
                time.sleep(SECONDS_BETWEEN_LOOKS)

    def _tell(self, event: FeedEvent) -> None:
        answer = "" if self._receiver is None else self._forward(self._receiver, event)
        if self._as_json:
            shown = msgspec.structs.asdict(event)
            print_json(shown if self._receiver is None else {**shown, "answer": answer})
            sys.stdout.flush()
            return
        line = f"{event.number:>8}  order {event.orderId}  {event.kind}  {event.callback['status']}"
        make_console().print(f"{line}  → {answer}" if answer else line)

    def _forward(self, receiver: SplitResult, event: FeedEvent) -> str:
        """Send one callback, as the service would; return what came of it."""
        from printworks.clock import system_clock
        from printworks.wire.signatures import sign

        body = msgspec.json.encode(event.callback)
        signature = sign(
            body, message_id=event.messageId, at=system_clock(), secrets=[self._secret]
        )
        headers = {"Content-Type": "application/json", **signature}
        path = receiver._replace(scheme="", netloc="", fragment="").geturl() or "/"
        try:
            return str(_exchange(receiver, "POST", path, headers=headers, body=body).status)
        except (OSError, http.client.HTTPException) as error:
            return f"no answer ({str(error) or type(error).__name__})"

    def _say(self, sentence: str) -> None:
        # Beside the callbacks, so that a program can read those alone.
        sys.stderr.write(f"{sentence}\n")
        sys.stderr.flush()


def _open_feed(
    settings: "Settings", merchant: str | None, api_key: str | None, base_url: str | None
) -> Feed:
    from printworks.web.tls import ca_file

    wanted = (base_url or settings.public_url).rstrip("/").removesuffix(_FAMILY)
    url = _read_address("--base-url", wanted)
    if url.scheme != "https":
        message = "`--base-url` must begin with https: a key must not travel in the open."
        raise BadInput(message)
    is_here = wanted == settings.public_url
    local_ca = ca_file(settings.data)
    tls = ssl.create_default_context(cafile=local_ca if is_here and local_ca.exists() else None)
    shown = _find_credentials(settings, merchant, api_key, is_here=is_here)
    prefix = settings.header_prefix
    headers = {
        f"{prefix}MerchantId": shown.merchant_id,
        f"{prefix}REST-API-Key": shown.api_key,
        "Accept": "application/json",
    }
    return Feed(wanted, tls, headers)


def _find_credentials(
    settings: "Settings", merchant: str | None, api_key: str | None, *, is_here: bool
) -> "DemoCredentials":
    """Return what was given, or the demo merchant's; a key alone is never sent anywhere."""
    from printworks.cli.demo import DemoCredentials, get_demo_credentials

    if merchant and api_key:
        if not _is_plain(merchant + api_key):
            raise BadInput("`--merchant` and `--api-key` must be plain letters, digits and signs.")
        return DemoCredentials(merchant, api_key)
    if is_here and settings.environment == "sandbox":
        with open_database(settings) as database:
            demo = get_demo_credentials(database, settings)
        if merchant in (None, "", demo.merchant_id):
            return demo
    message = "Name the merchant with `--merchant` and `--api-key`, or MERCHANT_ID and API_KEY."
    raise BadInput(message)


def _read_address(option: str, text: str) -> SplitResult:
    try:
        url = urlsplit(text if _is_plain(text) else "")
        # Asked for because that is when a port which is none is noticed.
        _ = url.port
    except ValueError:
        url = SplitResult("", "", "", "", "")
    if url.scheme not in ("http", "https") or not url.hostname:
        raise BadInput(f"`{option}` must be an absolute http or https address.")
    return url


def _is_plain(text: str) -> bool:
    """Say whether a text can stand in a request as it is."""
    return text.isascii() and text.isprintable() and " " not in text


def _check_secret(secret: str) -> str:
    from printworks.wire.signatures import is_secret

    if not is_secret(secret):
        raise BadInput("`--secret` must be `whsec_` and the base64 of 24 to 64 bytes.")
    return secret
