"""A real mail server that keeps what it takes, and refuses what it is told to."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default
from pathlib import Path
from typing import Any, Final

import msgspec
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

from printworks.settings import Settings

USER, PASSWORD = "clerk", "mail canary 4711"
TAKEN: Final = "250 Taken"


@dataclass
class PostOffice:
    """What it has taken, and what it answers at each step."""

    port: int = 0
    taken: list[EmailMessage] = field(default_factory=list)
    senders: list[str] = field(default_factory=list)
    recipients: list[str] = field(default_factory=list)
    # Whether each mail came over an encrypted connection.
    was_encrypted: list[bool] = field(default_factory=list)
    at_sender: str = "250 OK"
    at_recipient: str = "250 OK"
    at_data: str = TAKEN
    asked: int = 0

    async def handle_MAIL(  # noqa: N802
        self, _server: SMTP, _session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        """Take a sender."""
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self.at_sender

    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, _session: Any, envelope: Any, address: str, _options: list[str]
    ) -> str:
        """Take a recipient, or refuse it."""
        self.asked += 1
        if self.at_recipient.startswith("250"):
            envelope.rcpt_tos.append(address)
        return self.at_recipient

    async def handle_DATA(self, server: SMTP, _session: Any, envelope: Any) -> str:  # noqa: N802
        """Take a mail, or refuse it."""
        if self.at_data == TAKEN:
            message = message_from_bytes(envelope.content, policy=default)
            assert isinstance(message, EmailMessage)
            self.taken.append(message)
            self.senders.append(envelope.mail_from)
            self.recipients += envelope.rcpt_tos
            assert server.transport is not None
            self.was_encrypted.append(server.transport.get_extra_info("sslcontext") is not None)
        return self.at_data

    def settings(self, settings: Settings, **more: Any) -> Settings:
        """Return settings that send mail here."""
        usual = {
            "smtp_host": "127.0.0.1",
            "smtp_port": self.port,
            "smtp_security": "none",
            "mail_from": "service@print.example",
            "operator_name": "Fox & Sons Print",
            "public_url": settings.public_url or "https://print.example",
        }
        return msgspec.structs.replace(settings, **{**usual, **more})


def text_of(message: EmailMessage) -> str:
    """Return the plain text of a mail."""
    body = message.get_body(("plain",))
    assert body is not None
    return str(body.get_content())


def html_of(message: EmailMessage) -> str:
    """Return the HTML of a mail."""
    body = message.get_body(("html",))
    assert body is not None
    return str(body.get_content())


def link_in(message: EmailMessage, path: str = "/invitations/") -> str:
    """Return the only address in a mail that leads there."""
    [found] = {word for word in text_of(message).split() if path in word}
    return found


class _Controller(Controller):
    def _trigger_server(self) -> None:
        """Find out which port was free, and be the first to connect."""
        server: Any = self.server
        self.port = server.sockets[0].getsockname()[1]
        super()._trigger_server()  # type: ignore[no-untyped-call]


def _sign_in(
    _server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any
) -> AuthResult:
    assert isinstance(given, LoginPassword)
    is_right = (given.login, given.password) == (USER.encode(), PASSWORD.encode())
    # It says the rest itself.
    return AuthResult(success=is_right, handled=False)


@contextmanager
def open_post_office(
    *, server_tls: ssl.SSLContext | None = None, is_wrapped: bool = False, asks_user: bool = False
) -> Iterator[PostOffice]:
    """Listen at a port of its own; with TLS from the beginning, or after STARTTLS."""
    office = PostOffice()
    controller = _Controller(
        office,
        hostname="127.0.0.1",
        port=0,
        # Like many a server.
        enable_SMTPUTF8=False,
        ssl_context=server_tls if is_wrapped else None,
        tls_context=None if is_wrapped else server_tls,
        require_starttls=server_tls is not None and not is_wrapped,
        authenticator=_sign_in,
        # It warns of asking for one without its own STARTTLS; the client sends one anyway.
        auth_required=asks_user and not is_wrapped,
        auth_require_tls=server_tls is not None and not is_wrapped,
    )
    controller.start()
    try:
        office.port = controller.port
        yield office
    finally:
        controller.stop()


def some_settings(folder: Path = Path()) -> Settings:
    """Return settings without mail."""
    return Settings(data=folder, public_url="https://print.example")
