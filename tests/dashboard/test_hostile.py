"""Whatever somebody types, no page runs it."""

from typing import Any, Final
from urllib.parse import urlencode

import pytest

from printworks.dashboard import console, merchant
from printworks.dashboard.desk import Page
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import PHOTO, create
from tests.dashboard.hostile import HOSTILE, MARK
from tests.dashboard.reading_pages import PageReader
from tests.dashboard.test_every_form import address_of
from tests.dashboard.windows import Window
from tests.running import Answer

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
# Pages that somebody can ask for something, and what they can be asked with.
ASKED: Final = {
    "/orders": ("q", "status", "from", "to", "before"),
    "/requests": ("words", "method", "answer"),
    "/integrations": ("state", "replayed", "done"),
    "/issues/new": ("order",),
    "/account": ("month", "before"),
    "/console/orders": ("q", "merchant", "status", "trouble"),
    "/console/routing": ("country", "method", "sku1", "copies1", "at"),
    "/console/catalogue": ("q", "kind", "country"),
    "/console/merchants": ("q", "before"),
    "/console/production": ("lab", "state", "show"),
    "/console/jobs": ("kind", "state"),
    "/console/ledger": ("merchant", "before"),
    "/console/audit": ("merchant",),
}
ALL_AT_ONCE: Final = " ".join(HOSTILE)
# Longer texts are cut off before anybody looks for them.
LONGEST_HANDFUL: Final = 190


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
    assert PageReader(answer.body.decode("utf-8", "replace")).dangers == [], what


def test_there_are_two_hundred_and_every_one_of_them_would_be_seen() -> None:
    assert len(set(HOSTILE)) >= 200
    seen = [text for text in HOSTILE if PageReader(f"<p>{text}</p>").dangers]
    assert len(seen) >= 150


def test_no_page_runs_what_a_program_has_written(
    alice: Window, operator: Window, clock: MovableClock, v3: Client
) -> None:
    orders = [
        create(v3, **dict.fromkeys(TEXTS, text[:50]), countryCode="GB") for text in HOSTILE[::4]
    ]
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


@pytest.mark.parametrize("address", ASKED)
def test_no_page_runs_what_stands_in_its_address(
    alice: Window, operator: Window, clock: MovableClock, address: str
) -> None:
    window = operator if address.startswith("/console") else alice
    for text in list_handfuls():
        clock.advance(seconds=5)
        asked = urlencode(dict.fromkeys(ASKED[address], text))
        page = window.open(f"{address}?{asked}")
        assert page.status in {200, 404}, text
        check(page, text)


def test_no_page_runs_what_its_path_says(alice: Window, clock: MovableClock) -> None:
    for text in HOSTILE:
        clock.advance(seconds=1)
        check(alice.open(f"/orders/{text.replace('/', '')}"), text)


def fill_in_everything(
    window: Window, clock: MovableClock, pages: tuple[Page[Any], ...], **known: object
) -> int:
    """Send every form of every page with all of it in every field; return how many fields."""
    fields = 0
    for page in pages:
        address = address_of(page, **known)
        looked = window.open(address)
        if looked.status != 200 or "text/html" not in looked.headers["content-type"]:
            continue
        for form in PageReader(looked.body.decode()).forms:
            if form.method != "post" or form.fields.get("do", "") in ENDS_THE_SESSION:
                continue
            for name in form.filled_in:
                fields += 1
                for text in (ALL_AT_ONCE, HOSTILE[fields % len(HOSTILE)]):
                    sent = {**form.fields, name: text}
                    # Nobody may send forms as quickly as a test does.
                    clock.advance(seconds=1)
                    check(window.send(address, sent), (page.path, form.fields.get("do"), name))
        check(window.open(address), page.path)
    return fields


# Nothing more could be tried after these.
ENDS_THE_SESSION: Final = frozenset({"", "sign-out-everywhere", "change-password"})


def test_no_form_of_a_merchant_runs_what_was_typed(
    alice: Window, clock: MovableClock, v3: Client
) -> None:
    order = create(v3)
    assert fill_in_everything(alice, clock, merchant.PAGES, id=order) > 20


def test_no_form_of_the_operator_runs_what_was_typed(
    operator: Window, clock: MovableClock, v3: Client
) -> None:
    code = v3.credentials["X-Service-MerchantId"]
    assert fill_in_everything(operator, clock, console.PAGES, id=create(v3), code=code) > 5
