"""Whatever somebody types, no page runs it."""

import base64
import hashlib
import re
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest

from printworks.rules.cards import CardState
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.money.cards import find_setup_by_key, update_setup
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import PHOTO, create
from tests.dashboard.hostile import HOSTILE, MARK
from tests.dashboard.reading_pages import PageReader
from tests.dashboard.visits import visit
from tests.dashboard.windows import PASSWORD, Window
from tests.dashboard.worlds import PAGES, World, make_world
from tests.running import Answer
from tests.scale import scaled, some_of

pytestmark = pytest.mark.slow

# Every text of an order that a merchant's program can set.
TEXTS: Final = (
    "recipientName",
    "address1",
    "address2",
    "addressTownOrCity",
    "stateOrCounty",
    "postalOrZipCode",
    "mobileTelephone",
    "telephone",
    "email",
    "merchantOrderId",
)
# These may have fifty characters.
SHORT: Final = frozenset({"mobileTelephone", "telephone"})
# Pages that somebody can ask for something, and what they can be asked with.
ASKED: Final = {
    "/orders": ("q", "status", "from", "to", "before"),
    "/requests": ("words", "method", "answer"),
    "/integrations": ("state", "replayed", "done"),
    "/keys": ("revoke", "replace"),
    "/team": ("change",),
    "/news": ("bell", "seen"),
    "/catalogue": ("q", "kind", "country", "sort", "from"),
    "/issues/new": ("order",),
    "/account": ("month", "before"),
    "/console/orders": ("q", "merchant", "status", "problem"),
    "/console/routing": ("country", "method", "sku1", "copies1", "at"),
    "/console/catalogue": ("q", "kind", "country"),
    "/console/merchants": ("q", "before"),
    "/console/prices": ("before", "group", "members"),
    "/console/production": ("lab", "state", "show"),
    "/console/jobs": ("kind", "state"),
    "/console/ledger": ("merchant", "before"),
    "/console/reports": ("from", "to", "by", "currency", "after"),
    "/console/audit": ("merchant",),
    "/mail": ("q", "state", "before"),
    "/console/mail": ("q", "state", "before"),
}
# Longer texts are cut off before anybody looks for them.
LONGEST_HANDFUL: Final = 190
# What is escaped does not depend on where it was kept.
ON_ONE: Final = pytest.mark.parametrize("backend", ["sqlite"], indirect=True)


def list_handfuls() -> list[str]:
    """Return all of them, as many at a time as are looked for at once."""
    handfuls = [HOSTILE[0]]
    for text in HOSTILE[1:]:
        together = f"{handfuls[-1]} {text}"
        if len(together) <= LONGEST_HANDFUL:
            handfuls[-1] = together
        else:
            handfuls.append(text)
    return handfuls


def check(answer: Answer, what: object) -> None:
    """Fail if a browser would find something to run."""
    assert answer.status != 429, what
    if answer.status == 303 or "text/html" not in answer.headers.get("content-type", ""):
        return
    page = answer.body.decode("utf-8", "replace")
    # What is printed has its style in itself, and the policy allows that one by its hash.
    for style in re.findall(r"<style>(.*?)</style>", page, flags=re.DOTALL):
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        if f"'sha256-{digest}'" in answer.headers["content-security-policy"]:
            page = page.replace(f"<style>{style}</style>", "", 1)
    assert PageReader(page).dangers == [], what


def test_there_are_two_hundred_and_every_one_of_them_would_be_seen() -> None:
    assert len(set(HOSTILE)) >= 200
    seen = [text for text in HOSTILE if PageReader(f"<p>{text}</p>").dangers]
    assert len(seen) >= 150


@ON_ONE
def test_no_page_runs_what_a_program_has_written(
    alice: Window, operator: Window, clock: MovableClock, v3: Client
) -> None:
    orders = [create(v3, **write_everywhere(text), countryCode="GB") for text in some_of(HOSTILE)]
    for order in orders[:3]:
        body = {"sku": PHOTO, "url": f"https://shop.example/{HOSTILE[order]}", "copies": 1}
        v3.post(f"/orders/{order}/images", body)

    for order in orders:
        clock.advance(seconds=1)
        check(alice.open(f"/orders/{order}"), order)
        check(operator.open(f"/console/orders/{order}"), order)
    page = alice.open("/orders")
    assert MARK.encode() in page.body
    check(page, "the list")


def write_everywhere(text: str) -> dict[str, str]:
    """Return the same text for every member of an order that may hold one, as much as fits."""
    return {name: text[:50] if name in SHORT else text for name in TEXTS}


@pytest.mark.parametrize("address", ASKED)
def test_no_page_runs_what_stands_in_its_address(
    alice: Window, operator: Window, clock: MovableClock, address: str
) -> None:
    window = operator if address.startswith("/console") else alice
    for text in some_of(list_handfuls()):
        clock.advance(seconds=5)
        asked = urlencode(dict.fromkeys(ASKED[address], text))
        page = window.open(f"{address}?{asked}")
        assert page.status in {200, 404}, text
        check(page, text)


def test_no_public_page_runs_what_an_operator_has_written(
    operator: Window, browser: Client, clock: MovableClock
) -> None:
    for text in some_of(list_handfuls()):
        clock.advance(seconds=5)
        written = {"name": "Fox", "imprint": text, "terms": f"{text}\n\n{text}"}
        operator.follow(operator.do("/console/brand", "change-brand", **written))
        for address in ("/imprint", "/terms"):
            page = visit(browser, address)
            assert page.status == 200
            check(page, text)


def test_neither_page_of_a_card_runs_what_a_provider_says(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    for text in some_of(list_handfuls()):
        clock.advance(seconds=5)
        asked = alice.do("/settings/card", "replace-card")
        [key] = re.findall(r"/bank/cards/(\S+)", asked.headers["refresh"])
        bank = alice.open(f"/bank/cards/{key}")
        assert b"Simulated bank" in bank.body
        check(bank, text)
        with database.writing() as db:
            setup = find_setup_by_key(db, key)
            assert setup is not None
            update_setup(db, setup, {"state": CardState.REFUSED, "reason": text})
        back = alice.open(f"/payments/cards/{key}")
        assert b"No card was saved" in back.body
        check(back, text)


def test_no_page_runs_what_its_path_says(alice: Window, clock: MovableClock) -> None:
    for text in some_of(HOSTILE):
        clock.advance(seconds=1)
        check(alice.open(f"/orders/{text.replace('/', '')}"), text)


def fill_in_everything(window: Window, clock: MovableClock, realm: Realm, world: World) -> int:
    """Send every form with every one of them in every field; return how many fields those are.

    All fields of a form at once, and then each alone, so that what is refused is shown again and
    what is not is kept. In a smaller run each form gets a part of them, and the next form the next.
    """
    handfuls = list_handfuls()
    rounds = scaled(len(handfuls), part=12)
    begun = fields = 0
    for page in PAGES[realm]:
        address = world.address_of(page)
        looked = window.open(address)
        if looked.status != 200 or "text/html" not in looked.headers["content-type"]:
            continue
        for form in PageReader(looked.body.decode()).forms:
            if form.method != "post" or form.fields.get("do", "") in ENDS_THE_SESSION:
                continue
            fields += len(form.filled_in)
            attempts = [
                {
                    name: handfuls[(begun + at + place) % len(handfuls)]
                    for place, name in enumerate(form.filled_in)
                }
                for at in range(rounds if form.filled_in else 0)
            ]
            begun += rounds
            attempts += [{name: HOSTILE[fields % len(HOSTILE)]} for name in form.filled_in]
            for typed in attempts:
                # Nobody may send forms as quickly as a test does.
                clock.advance(seconds=1)
                # What asks for the password once more gets it, so that the rest is done.
                sent = {**form.fields, **typed, "current_password": PASSWORD}
                answer = window.send(address, sent)
                check(answer, (page.path, form.fields.get("do"), typed))
        check(window.open(address), page.path)
    return fields


# Nothing more could be tried after these.
ENDS_THE_SESSION: Final = frozenset({"", "sign-out-everywhere", "change-password"})


@ON_ONE
# Orders can be held, so that this form is there, too.
@pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)
@pytest.mark.parametrize(("realm", "fields"), [(Realm.MERCHANT, 28), (Realm.OPERATOR, 15)])
def test_no_form_runs_what_was_typed(
    database: Database,
    settings: Settings,
    tmp_path: Path,
    alice: Window,
    operator: Window,
    clock: MovableClock,
    realm: Realm,
    fields: int,
) -> None:
    world = make_world(database, settings, tmp_path, alice, operator)
    window = alice if realm is Realm.MERCHANT else operator

    assert fill_in_everything(window, clock, realm, world) >= fields
    for other, its_realm in ((alice, Realm.MERCHANT), (operator, Realm.OPERATOR)):
        for page in PAGES[its_realm]:
            clock.advance(seconds=1)
            check(other.open(world.address_of(page)), page.path)
