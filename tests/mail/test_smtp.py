"""Handing mail to a real server: encrypted, signed in, and honest about what the server said."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from threading import Thread

import pytest
import trustme

from printworks.actions.mail.composing import compose_test
from printworks.mail.smtp import open_mailer
from printworks.mail.transport import Mailer, MailRefused, MailUnavailable
from printworks.rules.brand import Brand
from printworks.settings import Settings
from tests.mail.post_office import (
    PASSWORD,
    USER,
    PostOffice,
    open_post_office,
    some_settings,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def office() -> Iterator[PostOffice]:
    """A server without encryption."""
    with open_post_office() as office:
        yield office


def a_mailer(settings: Settings) -> Mailer:
    """Open what sends mail."""
    mailer = open_mailer(settings)
    assert mailer is not None
    return mailer


def send(settings: Settings, to: str = "mary@shop.example") -> None:
    """Send a test mail."""
    message = compose_test(settings, Brand(), to, now=NOW, message_id="1@print.example")
    a_mailer(settings).send(message)


def test_without_a_server_nothing_sends_mail() -> None:
    assert open_mailer(some_settings()) is None


def test_a_mail_arrives_with_its_sender_and_its_headers() -> None:
    with open_post_office() as office:
        settings = office.settings(
            some_settings(), mail_from_name="The clerk", mail_reply_to="help@print.example"
        )

        send(settings)

    [mail] = office.taken
    assert office.senders == ["service@print.example"]
    assert office.recipients == ["mary@shop.example"]
    assert mail["From"] == "The clerk <service@print.example>"
    assert mail["Reply-To"] == "help@print.example"
    assert mail["Subject"] == "[Sandbox] Test email from Fox & Sons Print"
    assert mail["Message-ID"] == "<1@print.example>"
    assert mail["Date"] == "Sun, 15 Nov 2026 12:00:00 +0000"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail["List-Unsubscribe"] is None
    assert [part.get_content_type() for part in mail.iter_parts()] == ["text/plain", "text/html"]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("at_recipient", "550 No such user"),
        ("at_recipient", "552 Mailbox full for ever"),
        ("at_data", "554 This looks like spam"),
        ("at_sender", "553 Not our sender"),
    ],
)
def test_what_a_server_refuses_for_good_is_refused(
    office: PostOffice, step: str, said: str
) -> None:
    setattr(office, step, said)

    with pytest.raises(MailRefused, match=f"The mail server said {said[:3]}: {said[4:]}"):
        send(office.settings(some_settings()))

    setattr(office, step, getattr(PostOffice(), step))


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("at_recipient", "450 Come back later"),
        ("at_recipient", "421 I am closing"),
        ("at_data", "451 Out of disk"),
        ("at_sender", "530 Sign in first"),
    ],
)
def test_what_a_server_refuses_for_now_may_be_tried_again(
    office: PostOffice, step: str, said: str
) -> None:
    setattr(office, step, said)

    with pytest.raises(MailUnavailable, match=said[:3]):
        send(office.settings(some_settings()))

    setattr(office, step, getattr(PostOffice(), step))


def test_nobody_listening_is_no_refusal() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    settings = PostOffice(port).settings(some_settings())

    with pytest.raises(MailUnavailable, match="ConnectionRefusedError"):
        send(settings)


def test_an_international_address_needs_a_server_that_knows_it(office: PostOffice) -> None:
    settings = office.settings(some_settings())

    send(settings, "mary@bücher.example")

    assert office.recipients[-1] == "mary@xn--bcher-kva.example"
    with pytest.raises(MailRefused, match="no international address"):
        send(settings, "jürgen@shop.example")


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> tuple[ssl.SSLContext, Path]:
    """The certificate of a server, and who signed it."""
    ca = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    file = tmp_path_factory.mktemp("ca") / "ca.pem"
    ca.cert_pem.write_to_path(file)
    return context, file


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_the_connection_is_encrypted_and_signed_in(
    authority: tuple[ssl.SSLContext, Path], security: str
) -> None:
    context, file = authority
    wrapped = security == "tls"
    with open_post_office(server_tls=context, is_wrapped=wrapped, asks_user=True) as office:
        right = office.settings(
            some_settings(),
            smtp_security=security,
            smtp_ca=file,
            smtp_user=USER,
            smtp_password=PASSWORD,
        )
        send(right)
        a_mailer(right).check()
        wrong = office.settings(right, **_secured(security, file), smtp_password="another")
        with pytest.raises(MailUnavailable, match="535") as refused:
            send(wrong)
        strange = office.settings(right, **_secured(security, None))
        with pytest.raises(MailUnavailable, match="CERTIFICATE_VERIFY_FAILED"):
            send(strange)

    assert len(office.taken) == 1
    assert office.was_encrypted == [True]
    assert "another" not in str(refused.value)


def _secured(security: str, file: Path | None) -> dict[str, object]:
    return {"smtp_security": security, "smtp_ca": file}


def test_a_server_that_cannot_encrypt_is_not_spoken_to(office: PostOffice) -> None:
    settings = office.settings(some_settings(), smtp_security="starttls")

    with pytest.raises(MailUnavailable, match="STARTTLS"):
        send(settings)
    with pytest.raises(MailUnavailable, match="STARTTLS"):
        a_mailer(settings).check()


@contextmanager
def refuse_everybody(at: str, said: str) -> Iterator[int]:
    """Be a server that refuses at one step, whoever asks; give the port."""

    def answer() -> None:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw", newline="") as lines:
            lines.write("220 mail.example\r\n")
            lines.flush()
            for line in lines:
                welcome = "250-mail.example\r\n250-STARTTLS\r\n250 AUTH PLAIN"
                lines.write(f"{said if line.upper().startswith(at) else welcome}\r\n")
                lines.flush()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = Thread(target=answer)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    ("at", "said", "given"),
    [
        ("STARTTLS", "554 No certificate", {"smtp_security": "starttls"}),
        ("AUTH", "550 Too many today", {"smtp_user": USER, "smtp_password": PASSWORD}),
    ],
)
def test_what_a_server_refuses_before_there_is_a_mail_may_be_tried_again(
    at: str, said: str, given: dict[str, str]
) -> None:
    with refuse_everybody(at, said) as port:
        settings = PostOffice(port).settings(some_settings(), **given)

        with pytest.raises(MailUnavailable, match=f"{said[:3]}: {said[4:]}"):
            send(settings)


def test_a_check_sends_nothing(office: PostOffice) -> None:
    before = len(office.taken)

    a_mailer(office.settings(some_settings())).check()

    assert len(office.taken) == before
