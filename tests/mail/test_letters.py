"""Letters: complete in every language, the same in text and HTML, and safe with hostile names."""

import html
import re
from datetime import UTC, datetime
from gettext import NullTranslations
from string import Formatter
from typing import Any

import msgspec
import pytest

from printworks.language import translating
from printworks.language.words import Words
from printworks.mail.letter import LetterTerms
from printworks.mail.letters import write_letter
from printworks.mail.messages import BadRecipient, MailHeaders, build_message
from printworks.mail.rendering import Body, render_letter
from printworks.rules.languages import LANGUAGE_NAMES, Language
from printworks.rules.mail import NOTICES, MailFacts, MailKind, NoticeFact, tidy_line
from printworks.rules.reminders import ReminderTone
from tests.dashboard.hostile import HOSTILE

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
# Digits and signs only, so that every letter in a mail is a word of ours.
ITEM = NoticeFact(
    order=17,
    reference="4711",
    subject=23,
    text="0815",
    amount=123456,
    currency="EUR",
    carrier="007",
    tracking_number="1234",
    tracking_url="https://1.2/3",
    merchant="55",
    merchant_code="66",
    number="2026-000001",
)
FACTS = MailFacts(
    shop="99",
    role="88",
    until=NOW,
    at=NOW,
    browser="5.0",
    address="1.2.3.4",
    count=12,
    items=[ITEM],
)
HEADERS = [
    *("Auto-Submitted", "Content-Language", "Content-Type", "Date", "From", "List-Unsubscribe"),
    *("List-Unsubscribe-Post", "MIME-Version", "Message-ID", "Subject", "To"),
    "X-Auto-Response-Suppress",
]
TERMS = LetterTerms("77", "https://1.1", "https://1.1/2", "https://1.1/3", "https://1.1/4")


def render(
    kind: MailKind, words: Words, facts: MailFacts = FACTS, terms: LetterTerms = TERMS
) -> tuple[str, Body]:
    """Write a letter; return its subject and its two forms."""
    letter = write_letter(kind, facts, words, terms)
    return letter.subject, render_letter(letter, words, terms)


def words_of(page: str) -> str:
    """Return what a page of HTML says."""
    shown = re.sub(r"<(style|title)>.*?</\1>|<[^>]+>", " ", page, flags=re.DOTALL)
    return " ".join(html.unescape(shown).split())


class Bracketed(NullTranslations):
    """Puts every sentence that is translated into brackets."""

    def gettext(self, message: str) -> str:
        """Mark a sentence."""
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Mark one of two."""
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


@pytest.mark.parametrize("kind", MailKind)
def test_no_word_escapes_translation(kind: MailKind) -> None:
    words = Words(Language.EN, translations=Bracketed())

    subject, body = render(kind, words)

    for shown in (subject, body.text, words_of(body.html)):
        left = re.sub(r"⟦[^⟧]*⟧", " ", shown.replace("https", "").replace("UTC", ""))
        left = re.sub(
            r"/(console|orders|issues|mail|settings|account|ledger|integrations)", "", left
        )
        left = re.sub(r"/(merchants|sign-in|invoices|pdf)|\bNov(ember)?\b", "", left)
        assert not re.search(r"[A-Za-z]", left), left


@pytest.mark.parametrize("language", Language)
def test_every_catalogue_has_every_sentence_and_its_values(language: Language) -> None:
    wanted = {message.id for message in translating.collect() if message.id}
    catalogue = translating.read_catalogue(language)

    assert {message.id for message in catalogue if message.id} == wanted
    for message in catalogue:
        if message.id:
            said = texts_of(message.string)
            assert all(said), message.id
            assert not message.fuzzy
            assert set().union(*map(fields, said)) == set().union(
                *map(fields, texts_of(message.id))
            )


def texts_of(text: Any) -> tuple[str, ...]:
    """Return the sentence of a message, or both if it has two."""
    return tuple(text) if isinstance(text, tuple | list) else (text,)


def fields(text: str) -> set[str]:
    """Return what a sentence names in braces."""
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("language", Language)
def test_the_compiled_catalogue_is_that_of_the_translator(language: Language) -> None:
    compiled = translating._place(language, "mo").read_bytes()

    assert compiled == translating.compile_catalogue(translating.read_catalogue(language))
    assert language in LANGUAGE_NAMES


@pytest.mark.parametrize("language", Language)
@pytest.mark.parametrize("kind", MailKind)
def test_text_and_html_say_the_same(kind: MailKind, language: Language) -> None:
    subject, body = render(kind, Words(language))

    for sentence in re.split(r"\n\s*\n|\n", body.text):
        told = sentence.strip().removeprefix("* ").removesuffix(":")
        if told.startswith(("https://", "--")) or not told:
            continue
        told = told.partition(": https://")[0]
        for part in (
            told.split(": ") if ": " in told and told not in words_of(body.html) else [told]
        ):
            assert " ".join(part.split()) in words_of(body.html), part
    assert subject
    assert f'<html lang="{language}">' in body.html
    assert "77" in words_of(body.html)
    assert set(re.findall(r"https://[^\s\"<]+", body.text)) == set(
        re.findall(r"https://[^\s\"<]+", body.html)
    )


def test_money_and_dates_are_those_of_the_reader() -> None:
    english, german = Words(Language.EN), Words(Language.DE)

    assert english.money(123456, "EUR") == "€1,234.56"
    assert german.money(123456, "EUR") == "1.234,56\xa0€"
    assert Words(Language.FR).money(5, "GBP") == "0,05\xa0£GB"
    assert english.money(500, "JPY") == "JP¥500"
    assert english.timestamp(NOW) == "15 Nov 2026, 12:00 UTC"
    assert german.timestamp(NOW) == "15.11.2026, 12:00 UTC"
    assert Words(Language.EN, "US").timestamp(NOW).startswith("Nov 15, 2026")
    assert Words(Language.DE, "CH").number(12345) == "12\N{RIGHT SINGLE QUOTATION MARK}345"
    assert Words(Language.EN, "ZZ").number(12345) == "12,345"


def test_one_and_many_are_different_words() -> None:
    one = render(MailKind.IMAGES_FAILED, Words(Language.FR), MailFacts(items=[ITEM]))[0]
    many = render(MailKind.IMAGES_FAILED, Words(Language.FR), MailFacts(count=1200, items=[ITEM]))

    assert one == "Une image ne peut pas être imprimée"
    assert many[0] == "1\u202f200 images ne peuvent pas être imprimées"
    assert "et 1\u202f199 autres" in many[1].text


def test_who_may_change_the_card_is_led_to_it() -> None:
    led = MailFacts(items=[ITEM], may_change_card=True)
    kind, words = MailKind.PAYMENTS_REFUSED, Words(Language.EN)

    assert "https://1.1/settings/card" in render(kind, words, led)[1].text
    assert "/settings/card" not in render(kind, words, MailFacts(items=[ITEM]))[1].text


def test_a_reminder_says_what_is_owed_and_since_when_and_becomes_firmer() -> None:
    said = {}
    for language in Language:
        words = Words(language)
        for tone in ReminderTone:
            item = NoticeFact(amount=123456, currency="EUR", tone=tone, due_on=NOW.date())
            subject, body = render(MailKind.OVERDUE, words, MailFacts(shop="99", items=[item]))
            # However its lines are broken.
            text = " ".join(body.text.split())
            assert " ".join(words.money(123456, "EUR").split()) in text
            assert words.date(NOW.date()) in text
            said[language, tone] = (subject, text)

    assert len({subject for subject, _ in said.values()}) == len(Language) * len(ReminderTone)
    english = [said[Language.EN, tone][1] for tone in ReminderTone]
    assert ["suspend your account" in text for text in english] == [False, False, True]
    assert ["reminded you before" in text for text in english] == [False, True, True]


def test_operators_hear_that_merchants_were_reminded() -> None:
    item = NoticeFact(merchant="55", tone=ReminderTone.LAST, due_on=NOW.date(), currency="EUR")
    told = render(MailKind.MERCHANTS_OVERDUE, Words(Language.EN), MailFacts(items=[item]))[1].text

    assert "They were reminded." in told
    assert "once a week" not in told


def test_what_is_not_known_is_left_out() -> None:
    bare = MailFacts(items=[NoticeFact(order=17, subject=3)])
    shipped = render(MailKind.SHIPMENTS_SENT, Words(Language.EN), bare)[1].text
    parcel = render(
        MailKind.PARCEL_SENT, Words(Language.EN), bare, LetterTerms("77", "https://1.1")
    )
    device = render(MailKind.NEW_DEVICE, Words(Language.EN), MailFacts())[1].text
    invited = render(MailKind.MERCHANT_INVITATION, Words(Language.EN), MailFacts())[1].text

    assert "* Order 17\n  https://1.1/orders/17\n" in shipped
    assert "Follow" not in shipped
    assert "Tracking" not in parcel[1].text
    assert "emails" not in parcel[1].html
    assert "Browser" not in device
    assert "until ." in invited


@pytest.mark.parametrize("kind", MailKind)
def test_hostile_names_neither_run_nor_break_out(kind: MailKind) -> None:
    for hostile in HOSTILE[::7]:
        item = msgspec.structs.replace(
            ITEM, reference=hostile, text=hostile, merchant=hostile, tracking_number=hostile
        )
        facts = msgspec.structs.replace(
            FACTS, shop=hostile, browser=hostile, address=hostile, role=hostile, items=[item]
        )
        subject, body = render(kind, Words(Language.EN), facts, TERMS._replace(operator=hostile))

        shown = body.html.partition("</style>")[2]
        assert not re.search(r"<(script|img|svg|iframe|form|input|object|base|link)\b", shown)
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', shown))
        message = build_message(some_headers(subject=subject, sender_name=hostile), body)
        assert message.as_bytes().count(b"\r\nSubject:") == 1


def some_headers(**values: Any) -> MailHeaders:
    """Return the headers of a mail."""
    usual = {
        "sender": "service@print.example",
        "sender_name": "Fox",
        "to": "mary@shop.example",
        "subject": "Hello",
        "message_id": "1@print.example",
        "language": "en",
        "at": NOW,
    }
    return MailHeaders(**{**usual, **values})


@pytest.mark.parametrize(
    "hostile",
    [
        "Mary\r\nBcc: victim@shop.example",
        "Mary\nX-Evil: yes",
        "Mary\x0bBcc: victim@shop.example",
        "Mary\u2028Bcc: victim@shop.example",
        "Mary\x00\x1b[2J",
        '"Mary" <victim@shop.example>',
        "=?utf-8?q?Mary=0ABcc=3A_victim?=",
        "==?utf-8?b?TWFyeQpCY2M6IHZpY3RpbQ==?=",
        "M" * 5000,
        "\u041c\u0430\u0448\u0430 \u5f20\u4f1f \u202e!",
        "",
    ],
)
def test_no_name_becomes_a_header(hostile: str) -> None:
    # As long as that to a recipient.
    address = f"https://print.example/unsubscribe/parcel-sent/{'0' * 64}/{'1' * 32}?language=de"
    headers = some_headers(
        sender_name=hostile, to_name=hostile, subject=hostile, unsubscribe=address
    )

    message = build_message(headers, Body("text\n", "<p>html</p>"))

    raw = message.as_bytes().decode("ascii")
    head = raw.partition("\r\n\r\n")[0]
    names = re.findall(r"^([A-Za-z-]+):", head, re.MULTILINE)
    assert sorted(names) == HEADERS
    assert [each.addr_spec for each in message["To"].addresses] == ["mary@shop.example"]
    # Whole, as mail programs look for it.
    assert f"\r\nList-Unsubscribe: <{address}>\r\n" in raw
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert all(len(line) <= 998 for line in raw.split("\r\n"))


@pytest.mark.parametrize(
    "address", ["mary", "mary@", "@x.example", "a..b@x.example", "a@b\n.example"]
)
def test_what_is_no_address_is_refused_before_it_is_sent(address: str) -> None:
    with pytest.raises(BadRecipient):
        build_message(some_headers(to=address), Body("text\n", "<p>html</p>"))


def test_a_line_has_no_end_and_no_great_length() -> None:
    assert tidy_line("  a\r\nb\x00\u2029c\t ") == "a b c"
    assert tidy_line("x" * 20, 10) == "xxxxxxxxx…"
    assert set(NOTICES) <= set(MailKind)


def test_submitting_an_order_is_not_called_sending_it_in_spanish() -> None:
    catalogue = translating.read_catalogue(Language.ES)
    said = [
        message.string
        for message in catalogue
        if isinstance(message.id, str) and ("Submit" in message.id or "submitted" in message.id)
    ]

    assert said
    assert not [text for text in said if re.search(r"env[ií]", str(text))]


def test_the_steps_of_an_order_and_of_its_parcels_have_no_gender_in_french() -> None:
    catalogue = translating.read_catalogue(Language.FR)
    said = {name: str(catalogue[name].string) for name in ("Ordered", "Paid", "Sent", "Delivered")}

    # One word stands beside an order, which is feminine, and beside a parcel, which is not.
    assert not [text for text in said.values() if text.endswith("ée")]


def test_nobody_is_addressed_by_their_gender_or_by_their_first_name() -> None:
    familiar = {
        Language.DE: r"\b(du|dein\w*|dir|dich)\b",
        Language.FR: r"\b(tu|ton|tes|toi)\b|vous \w+( pas)?( été| être)? (invité|débité|dirigé)\b",
        Language.ES: r"\b(tú|tus?|invitado)\b",
    }
    for language, words in familiar.items():
        texts = [str(message.string) for message in translating.read_catalogue(language)]
        wrong = [one for one in texts if re.search(words, one, re.IGNORECASE)]
        assert wrong == [], language


@pytest.mark.parametrize(
    ("facts", "subject"),
    [
        ({"count": 1}, "Your invoice is ready"),
        ({"count": 1, "is_credit": True}, "Your credit note is ready"),
        ({"count": 500}, "500 invoices and credit notes are ready"),
    ],
)
def test_a_mail_about_invoices_says_what_is_ready(facts: dict[str, Any], subject: str) -> None:
    item = msgspec.structs.replace(ITEM, is_credit=facts.get("is_credit", False))
    told = msgspec.structs.replace(FACTS, count=facts["count"], items=[item])

    said, body = render(MailKind.INVOICES_READY, Words(Language.EN), told)

    assert said == subject
    assert "https://1.1/invoices/2026-000001/pdf" in body.text
    assert ("and 499 more" in body.text) is (facts["count"] == 500)
