"""Nothing is sold any more in a merchant's currency: sentences everywhere, and nothing is charged."""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import update

from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from printworks.store.tables import images
from tests.actions.complaints import a_draft
from tests.api.client import Client
from tests.api.images import PHOTO, an_addressed_order, an_image
from tests.api.v2 import shop
from tests.catalogue.folders import (
    WORDS,
    a_lab,
    a_product,
    a_service,
    a_tariff,
    a_whole_folder,
)
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.factories import NO_LIMITS
from tests.running import Answer

pytestmark = pytest.mark.both_databases

SAID: Final = "Nothing is sold any more in GBP, the currency of this account."


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A service that sells in euros alone."""
    step = "{ Prints = { items = 50, EUR = [240, 95] } }"
    folder = a_whole_folder(
        tmp_path,
        a_product(sku=f'"{PHOTO}"', price="{ EUR = 25 }"),
        words=WORDS.replace('"GBP", "EUR"', '"EUR"'),
        labs=a_lab(currency='"EUR"'),
        services=a_service(bands=step),
        tariff=a_tariff(bands=step),
        rates="",
    )
    return Settings.load(tmp_path, {"PRINTWORKS_CATALOGUE": str(folder), **NO_LIMITS})


@pytest.fixture
def draft(alice: Window, database: Database) -> int:
    """An order of Alice, who is charged in pounds, from when that was sold in."""
    with database.writing() as db:
        order = a_draft(db, get_merchant_by_code(db, alice.code))
        # The product of this catalogue has none.
        db.execute(update(images).values(attributes={}))
    return order.id


def owed(alice: Window, database: Database) -> int:
    """Return what Alice was charged."""
    with database.reading() as db:
        return read_books(db, get_merchant_by_code(db, alice.code).id).balance


def refusal(answer: Answer) -> str:
    """Return the sentence of an answer that refuses something."""
    assert 400 <= answer.status < 500, (answer.status, answer.body)
    return answer.body.decode()


def test_3_0_says_so_wherever_something_would_be_priced(
    alice: Window, database: Database, draft: int
) -> None:
    v3, order = alice.api, f"/orders/{draft}"
    gb = "/catalogue/service%20direct/destination/GB"
    before = v3.get(order).data

    assert v3.post(f"{gb}/prices", [PHOTO]).json() == {"prices": []}
    assert v3.get(f"{gb}/shippingRates").data == []
    created = v3.post("/orders", an_addressed_order())
    assert created.status == 200
    added = f"/orders/{created.data['id']}/images"
    assert SAID in refusal(v3.post(added, an_image()))
    assert SAID in refusal(v3.post(f"{added}/batch", [an_image(), an_image()]))
    assert SAID in refusal(v3.post(f"{order}/status", {"status": "Submitted"}))
    assert v3.get(f"{order}/SubmissionStatus").status == 200

    assert v3.get(order).data["price"] == before["price"]
    assert owed(alice, database) == 0


def test_2_x_says_so_wherever_something_would_be_priced(
    alice: Window, database: Database, draft: int
) -> None:
    v2 = replace(alice.api, prefix="/v2.6")

    assert v2.get("/Catalogue/GB/Pro").status == 200
    created = shop.create(v2)
    assert SAID in refusal(v2.post(f"/Orders/{created}/Photos/", shop.a_photo()))
    assert SAID in refusal(v2.post(f"/Orders/{created}/Photos/Batch", [shop.a_photo()]))
    assert SAID in refusal(shop.set_status(v2, draft, "Submitted"))
    assert v2.get(f"/Orders/{draft}/SubmissionStatus").status == 200
    assert shop.see(v2, draft)["id"] == draft
    assert owed(alice, database) == 0


def try_changes(v3: Client, order: dict[str, Any]) -> list[Answer]:
    """Change what an order costs in every other way."""
    path, image = f"/orders/{order['id']}", order["images"][0]
    changed = {**an_image(), "copies": 3}
    return [
        v3.put(path, an_addressed_order(preferredShippingMethod="Express")),
        v3.put(f"{path}/images/{image['id']}", changed),
        v3.post("/images/check", {"sku": PHOTO, "width": 600, "height": 900}),
        v3.get("/orders"),
        v3.delete(f"{path}/images/{image['id']}"),
        v3.post(f"{path}/status", {"status": "Submitted"}),
        v3.post(f"{path}/status", {"status": "Cancelled"}),
    ]


def test_no_change_of_such_an_order_fails_or_charges(
    alice: Window, database: Database, draft: int
) -> None:
    answers = try_changes(alice.api, alice.api.get(f"/orders/{draft}").data)

    assert all(answer.status < 500 for answer in answers), answers
    assert owed(alice, database) == 0


def test_every_page_that_prices_something_can_be_opened(
    alice: Window, database: Database, draft: int
) -> None:
    order = f"/orders/{draft}"
    said = alice.words(order)
    assert SAID in said

    assert SAID in alice.words("/orders/new")
    for page in (f"{order}/images", f"{order}/address", f"{order}/again"):
        assert alice.open(page).status in {200, 303, 404}, page
    for page in ("/home", "/orders", "/catalogue", f"/catalogue/{PHOTO}", "/orders/import"):
        assert alice.open(page).status == 200, page
    token = alice.token(order)
    refused = alice.send(order, {"form_token": token, "do": "submit-order"})
    assert refused.status < 500
    assert SAID in words_of(refused)
    assert owed(alice, database) == 0
