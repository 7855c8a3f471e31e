"""Mails in a real browser, in the sizes and colours in which people read them."""

from datetime import UTC, datetime
from typing import Final

import pytest

from printworks.language.words import Words
from printworks.mail.letter import LetterTerms
from printworks.mail.letters import write_letter
from printworks.mail.rendering import render_letter
from printworks.rules.languages import Language
from printworks.rules.mail import MailFacts, MailKind, NoticeFact
from tests.browser.conftest import LOOKS, NewPage
from tests.browser.inspecting import check_page
from tests.scale import some_of

AT: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)
TERMS: Final = LetterTerms(
    "Fox & Sons Print",
    "https://print.example",
    f"https://print.example/invitations/{'0123456789abcdef' * 3}",
    f"https://print.example/unsubscribe/overdue/1/{'0' * 32}",
)
ITEM: Final = NoticeFact(
    order=48210,
    reference="A-reference-of-a-shop-that-is-as-long-as-it-may-be-and-has-no-space-in-it",
    subject=7,
    text="The address could not be reached. It must be public. " * 4,
    amount=123456,
    currency="EUR",
    carrier="DPD",
    tracking_number="01505012345678",
    tracking_url="https://track.example/01505012345678",
    merchant="Kranich & Töchter",
    merchant_code="abc",
)
FACTS: Final = MailFacts(
    shop="Kranich & Töchter",
    until=AT,
    at=AT,
    browser="Firefox/145.0 Linux",
    address="2001:db8:1234:5678:9abc:def0:1234:5678",
    count=1000,
    items=[ITEM] * 3,
)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_mail_can_be_read_by_everybody(open_page: NewPage, size: str, scheme: str) -> None:
    page = open_page(size, scheme)
    # The longest words, at least in this respect.
    words = Words(Language.DE)
    for kind in some_of(list(MailKind)):
        facts = FACTS if kind is not MailKind.PARCEL_SENT else MailFacts(shop="Fox", items=[ITEM])
        letter = write_letter(kind, facts, words, TERMS)
        page.set_content(render_letter(letter, words, TERMS).html)
        check_page(page)
