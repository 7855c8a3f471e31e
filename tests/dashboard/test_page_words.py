"""Every page of both tables, read aloud: words for people, and no codes of programs."""

import re
from collections.abc import Iterator
from datetime import timedelta
from enum import StrEnum
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from printworks.actions.accounts.clock import advance_clock
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.services import Carrier
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueAction, IssueKind, IssueState, Resolution
from printworks.rules.jobs import JobKind, JobState
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.people import Realm
from printworks.rules.production import LabState
from printworks.settings import Settings
from printworks.store.engine.database import Database
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import set_status
from tests.dashboard.hostile import HOSTILE
from tests.dashboard.scenes import hand_in, hear
from tests.dashboard.windows import Window, merchant_of
from tests.dashboard.worlds import PAGES, World, make_world
from tests.factories import a_work

pytestmark = pytest.mark.slow

# What is written for programs is marked as such, or typed by somebody.
_FOR_PROGRAMS: Final = frozenset({"code", "pre", "script", "style", "textarea", "datalist"})
_MARKED: Final = frozenset({"mono", "secret"})
_ALONE: Final = frozenset({"input", "img", "br", "link", "meta", "path", "rect", "circle", "image"})

_CODES: Final[tuple[type[StrEnum], ...]] = (
    *(CallbackState, EntryKind, ImageStatus, IssueAction, IssueKind, IssueState, JobKind),
    *(Carrier, JobState, LabState, OrderStatus, Payment, Resolution),
)
_CATALOGUE: Final = open_catalogue(None)
_CODED: Final = {
    *(code.value for codes in _CODES for code in codes),
    *(lab.code for lab in _CATALOGUE.labs),
    *(service.code for service in _CATALOGUE.services),
}
# Only those that no person would write: `accepted` is a word as well as a code.
_WIRE: Final = sorted(
    {code for code in _CODED if re.search(r"[a-z][A-Z]|[-_]", code)} - {Carrier.FEDEX},
    key=len,
    reverse=True,
)
_WRONG: Final = {
    "a code": re.compile(rf"(?<![\w/-])(?:{'|'.join(map(re.escape, _WIRE))})(?![\w-])"),
    "a name of a program": re.compile(r"\b[a-z]+_[a-z_]+\b"),
    "an ISO date": re.compile(r"\b\d{4}-\d\d-\d\d\b"),
    "a user agent": re.compile(r"\b(?:Mozilla|python|curl)/\d"),
    "a value of Python": re.compile(r"\b(?:None|True|False|datetime)\b"),
    "a plural for machines": re.compile(r"\w\(s\)"),
    "a minus sign": re.compile("\N{MINUS SIGN}"),
    "a delta": re.compile(r"\d+ days?, \d+:\d\d"),
    "a name in capitals": re.compile(r"\b[a-z]+[A-Z][a-z]+[A-Z]?\w*\b"),
}
# What programs are called, and how keys end.
_NAMES: Final = re.compile(r"\b(?:eBay|iPhone)\b|…[\w-]+")


class _Reader(HTMLParser):
    """Collects what a page says to people, piece by piece."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.said: list[str] = []
        self._path: list[tuple[str, bool]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _ALONE:
            return
        classes = set((dict(attrs).get("class") or "").split())
        self._path.append((tag, tag in _FOR_PROGRAMS or bool(classes & _MARKED)))

    def handle_endtag(self, tag: str) -> None:
        while self._path and self._path.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not any(is_for_programs for _, is_for_programs in self._path):
            self.said.append(data)


def read_aloud(page: str) -> str:
    """Return what a page says to people, without what somebody typed."""
    reader = _Reader()
    reader.feed(page.partition("<body")[2])
    text = " ".join(" ".join(reader.said).split())
    for typed in HOSTILE:
        text = text.replace(" ".join(typed.split()), "")
    return text


def find_wrong(text: str) -> Iterator[str]:
    """Return what no person would write."""
    for what, pattern in _WRONG.items():
        for found in pattern.finditer(_NAMES.sub("", text)):
            around = text[max(0, found.start() - 60) : found.end() + 30]
            yield f"{what}: {found[0]!r} in “{around}”"


@pytest.fixture
def world(
    database: Database, settings: Settings, tmp_path: Path, alice: Window, operator: Window
) -> World:
    """Something of everything, and orders in every state."""
    world = make_world(database, settings, tmp_path, alice, operator)
    for state in (LabState.ACCEPTED, LabState.IN_PRODUCTION, LabState.DISPATCHED, LabState.FAILED):
        _, job = hand_in(database, alice)
        hear(database, job, state)
    _, job = hand_in(database, alice)
    hear(database, job, LabState.DELIVERED)
    draft = create(alice.api)
    add(alice.api, draft)
    asked = create(alice.api, payment="InvoiceRecipient")
    add(alice.api, asked, priceToUser=1250)
    set_status(alice.api, asked, "AwaitingPayment")
    with database.writing() as db:
        advance_clock(a_work(db, merchant_of(db, alice)), timedelta(days=1, hours=2))
    return world


@pytest.mark.parametrize("realm", Realm)
def test_no_page_speaks_in_codes(
    world: World, alice: Window, operator: Window, clock: MovableClock, realm: Realm
) -> None:
    window = alice if realm is Realm.MERCHANT else operator
    addresses = {world.address_of(page) for page in PAGES[realm]}
    base = "/orders" if realm is Realm.MERCHANT else "/console/orders"
    addresses |= {f"{base}/{number}" for number in range(1, 12)}
    wrong = []
    for address in sorted(addresses):
        clock.advance(seconds=1)
        page = window.open(address)
        if page.status == 200 and "text/html" in page.headers["content-type"]:
            said = read_aloud(page.body.decode())
            wrong += [f"{address}: {found}" for found in find_wrong(said)]
    assert not wrong, "\n".join(wrong)


def test_a_page_that_speaks_in_codes_is_found_out() -> None:
    page = (
        "<body><p>NotYetSubmitted since 2026-11-04 by Mozilla/5.0, 3 image(s), gb-leeds"
        "<code>gb-bristol</code></p>"
    )

    assert len(list(find_wrong(read_aloud(page)))) == 5
