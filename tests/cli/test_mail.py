"""`printworks mail`, `merchant mail`, and what invitations and the doctor say about mail."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.rules.mail import MailFacts, MailKind, MailState, MailTerms, NoticeFact
from printworks.store.mail.mails import MailSearch, end_mail, search_mails
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import NOON, a_system_work
from tests.mail.post_office import PostOffice, open_post_office

CANARY = "canary 0815"


@pytest.fixture(scope="module")
def office() -> Iterator[PostOffice]:
    """A mail server."""
    with open_post_office() as office:
        yield office


def server(office: PostOffice, **more: str) -> dict[str, str]:
    """Return settings that send mail there."""
    return {
        "smtp_host": "127.0.0.1",
        "smtp_port": str(office.port),
        "smtp_security": "none",
        "mail_from": "service@print.example",
        **more,
    }


def test_a_test_mail_is_sent_at_once(office: PostOffice, tmp_path: Path) -> None:
    office.taken.clear()
    ended = run("mail", "test", "Me@works.example", "--data", tmp_path, **server(office))

    assert ended.code == 0, ended.complained
    assert f"127.0.0.1:{office.port} has taken an email to me@works.example." in ended.said
    [mail] = office.taken
    assert mail["Subject"] == "[Sandbox] Test email from Printworks"


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({"smtp_security": "starttls"}, "STARTTLS"),
        ({"smtp_user": "clerk", "smtp_password": CANARY}, "The mail server said 535"),
    ],
)
def test_a_test_says_what_is_wrong_and_no_secret(
    office: PostOffice, tmp_path: Path, more: dict[str, str], complaint: str
) -> None:
    ended = run("mail", "test", "me@works.example", "--data", tmp_path, **server(office, **more))

    assert ended.code == 1
    assert complaint in ended.complained
    assert CANARY not in ended.complained + ended.said


def test_without_a_server_a_test_says_what_to_set(tmp_path: Path) -> None:
    ended = run("mail", "test", "me@works.example", "--data", tmp_path)

    assert ended.code == 1
    assert "set `smtp_host` and `mail_from`" in ended.complained


@pytest.mark.both_databases
def test_links_are_mailed_or_shown(keeper: Operator, office: PostOffice) -> None:
    invite = ("operator", "invite", "tom@works.example")
    mailed = keeper.asks(*invite, "--json", **server(office))
    shown = keeper.asks(*invite, "--show-link", "--json", **server(office))
    first = keeper.asks("merchant", "invite", "new@shop.example", **server(office))
    colleague = keeper.asks(
        "merchant", "invite-colleague", keeper.merchant.code, "mary@shop.example", **server(office)
    )

    assert json.loads(mailed.said) == {"mailedTo": "tom@works.example"}
    assert "/invitations/" in json.loads(shown.said)["link"]
    assert first.said == "An email with the link is on its way to new@shop.example.\n"
    assert "mary@shop.example" in colleague.said
    with keeper.database.reading() as db:
        written = search_mails(db, MailSearch(), limit=9).mails
    assert [mail.email for mail in written] == [
        "mary@shop.example",
        "new@shop.example",
        "tom@works.example",
    ]

    listed = json.loads(keeper.asks("mail", "list", "--json", "--address", "tom").said)
    assert [(mail["email"], mail["state"]) for mail in listed] == [("tom@works.example", "waiting")]
    refused = keeper.asks("mail", "resend", str(listed[0]["id"]), **server(office))
    assert refused.code == 1
    assert "still waiting" in refused.complained
    assert "tom@works.example" in keeper.asks("mail", "list").said
    with keeper.database.writing() as db:
        merchant_id = keeper.merchant.id
        letter = NewLetter(
            kind=MailKind.OVERDUE,
            email="mary@shop.example",
            facts=MailFacts(items=[NoticeFact(amount=1, currency="GBP")]),
            merchant_id=merchant_id,
            person_id=1,
        )
        write_mail(a_system_work(db, mail_terms=MailTerms("Fox", "https://x.example")), letter)
        [mail] = search_mails(db, MailSearch(), limit=1).mails
        end_mail(db, mail.id, MailState.FAILED, now=NOON, error="550")
    again = keeper.asks("mail", "resend", str(mail.id), **server(office))
    assert again.said == f"Email {mail.id} to mary@shop.example is sent again.\n"
    assert keeper.asks("mail", "resend", "99", **server(office)).code == 1


@pytest.mark.both_databases
def test_a_merchant_is_written_to_in_its_language(keeper: Operator) -> None:
    code = keeper.merchant.code
    before = keeper.asks("merchant", "mail", code).said
    changed = keeper.reads(
        *("merchant", "mail", code, "--language", "de", "--recipients"),
        *("--recipient-language", "fr", "--reply-to", "hello@shop.example"),
    )
    back = keeper.reads("merchant", "mail", code, "--language", "usual", "--no-recipients")

    assert "language                en\n" in before
    assert changed == {
        "language": "de",
        "recipients": True,
        "recipientLanguage": "fr",
        "replyTo": "hello@shop.example",
    }
    assert (back["language"], back["recipients"]) == (None, False)
    assert keeper.asks("merchant", "mail", code, "--language", "xx").code == 2
    assert keeper.asks("merchant", "mail", code, "--reply-to", "nowhere").code == 1


def test_the_doctor_asks_the_mail_server(office: PostOffice, tmp_path: Path) -> None:
    def ask(**settings: str) -> dict[str, str]:
        ended = run("doctor", "--json", "--data", tmp_path, **settings)
        [finding] = [one for one in json.loads(ended.said) if one["check"] == "mail"]
        return dict(finding)

    live = {"environment": "live", "public_url": "https://print.example", "payments": "account"}

    assert ask()["verdict"] == "ok"
    assert ask(**live)["verdict"] == "warn"
    assert ask(**server(office))["verdict"] == "ok"
    wrong = ask(**server(office, smtp_security="starttls"))
    assert wrong["verdict"] == "FAIL"
    assert "STARTTLS" in wrong["message"]
