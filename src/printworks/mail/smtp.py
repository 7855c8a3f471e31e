"""Sends mail over SMTP, with a connection for each mail.

The standard library does it, in a thread of the worker: there are few mails compared with callbacks,
each needs half a dozen answers from one server, and an event loop would gain nothing.
"""

import smtplib
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from typing import Final

from printworks.mail.transport import Mailer, MailRefused, MailUnavailable
from printworks.settings import Settings

# For each answer of the server.
_TIMEOUT: Final = 30.0
# The server wants a user and a password, or others: nothing is wrong with the mail.
_ABOUT_US: Final = frozenset({530, 534, 535, 538})
_PERMANENT: Final = 500


def open_mailer(settings: Settings) -> Mailer | None:
    """Return what sends mail; None if the operator has set no mail server."""
    return SmtpMailer(settings) if settings.smtp_host else None


class SmtpMailer:
    """Hands mail to the server that the settings name."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    def send(self, message: EmailMessage) -> None:
        with _explained(), self._connected() as server:
            # It encodes an international address only for a server that understands it.
            server.send_message(message)

    def check(self) -> None:
        try:
            with _explained(), self._connected() as server:
                server.noop()
        except MailRefused as error:
            raise MailUnavailable(str(error)) from error

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        server = self._connect()
        try:
            self._sign_in(server)
            yield server
            # The mail is taken: whatever the server says now, it must not be sent again.
            with suppress(smtplib.SMTPException, OSError):
                server.quit()
        finally:
            server.close()

    def _sign_in(self, server: smtplib.SMTP) -> None:
        settings = self._settings
        try:
            if settings.smtp_security == "starttls":
                server.starttls(context=self._make_context())
            if settings.smtp_user:
                server.login(settings.smtp_user, settings.smtp_password)
        except smtplib.SMTPResponseException as error:
            # Said before there was a mail, whatever the code.
            raise MailUnavailable(_describe(error.smtp_code, error.smtp_error)) from error

    def _connect(self) -> smtplib.SMTP:
        settings = self._settings
        if settings.smtp_security == "tls":
            return smtplib.SMTP_SSL(
                settings.smtp_host,
                settings.smtp_port,
                timeout=_TIMEOUT,
                context=self._make_context(),
            )
        return smtplib.SMTP(settings.smtp_host, settings.smtp_port, timeout=_TIMEOUT)

    def _make_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=self._settings.smtp_ca)


@contextmanager
def _explained() -> Iterator[None]:
    """Turn what `smtplib` raises into what a job does next."""
    try:
        yield
    except smtplib.SMTPRecipientsRefused as error:
        [(code, said)] = error.recipients.values()
        raise _judge(code, said) from error
    except (smtplib.SMTPConnectError, smtplib.SMTPHeloError) as error:
        # Said before there was a mail.
        raise MailUnavailable(_describe(error.smtp_code, error.smtp_error)) from error
    except smtplib.SMTPResponseException as error:
        raise _judge(error.smtp_code, error.smtp_error) from error
    except smtplib.SMTPNotSupportedError as error:
        if "SMTPUTF8" in str(error):
            raise MailRefused("The mail server takes no international address.") from error
        raise MailUnavailable(f"The mail server cannot do what is set: {error}") from error
    except (smtplib.SMTPException, OSError) as error:
        raise MailUnavailable(f"{type(error).__name__}: {error}") from error


def _judge(code: int, said: bytes | str) -> Exception:
    is_permanent = code >= _PERMANENT and code not in _ABOUT_US
    return (MailRefused if is_permanent else MailUnavailable)(_describe(code, said))


def _describe(code: int, said: bytes | str) -> str:
    text = said.decode(errors="replace") if isinstance(said, bytes) else said
    return f"The mail server said {code}: {' '.join(text.split())}"
