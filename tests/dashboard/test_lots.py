"""Work in lots at the dashboard: files of orders in and out, many at once, and orders again."""

import csv
import io
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import StreamingResponse

from printworks.dashboard.merchant.lots import exporting
from printworks.dashboard.merchant.orders.orders import read_search
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.lots import LotState
from printworks.rules.orders import OrderStatus
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.orders.orders import get_order
from printworks.store.orders.search import OrderSearch
from tests.api.images import create
from tests.dashboard.ordering import an_order, count_orders, make_order, number_of
from tests.dashboard.scenes import hand_in
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NO_LIMITS
from tests.running import Answer
from tests.worker.lots import a_file, lot_of, many_rows

SMALL = pytest.mark.parametrize(
    "settings", [{"IMPORT_SIZE": "2000", "IMPORT_ROWS": "3", "LOT_ORDERS": "2"}], indirect=True
)


@pytest.fixture
def settings(tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
    """The settings of the service; a test may give it others."""
    given = {"PRINTWORKS_PUBLIC_URL": "https://print.example", **NO_LIMITS}
    others = getattr(request, "param", {})
    given |= {f"PRINTWORKS_{name}": value for name, value in others.items()}
    return Settings.load(tmp_path, given)


def upload(window: Window, content: bytes, name: str = "orders.csv") -> Answer:
    """Send a file."""
    return window.upload("/orders/import", "check-file", [("file", name, content)])


def table_of(answer: Answer) -> list[dict[str, str]]:
    """Read a CSV answer as a spreadsheet does."""
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.body.decode("utf-8-sig"), newline="")))


def test_two_hundred_orders_with_five_bad_rows(alice: Window, database: Database) -> None:
    wrong = {
        10: {"country": "Atlantis"},
        50: {"sku": "NO-SUCH"},
        99: {"copies": "=2"},
        150: {"image_url": "nowhere"},
        200: {"recipient_name": ""},
    }
    rows = [{**row, **wrong.get(n, {})} for n, row in enumerate(many_rows(200), start=2)]

    sent = upload(alice, a_file(*rows))

    said = alice.follow(sent)
    page = sent.headers["location"]
    assert "Create the 195 good orders" in said
    assert "Orders with problems 5" in said
    for row, fields in wrong.items():
        assert re.search(rf"\b{row} {next(iter(fields))} S-{row - 2} ", said), row
    assert count_orders(alice) == 0

    for _ in range(2):
        assert "Creating orders: 0 of 195" in alice.follow(
            alice.do(page, "start-lot", submits="no")
        )
    corrections = table_of(alice.open(f"{page}/corrections.csv"))
    assert [row["reference"] for row in corrections] == [f"S-{n - 2}" for n in wrong]
    assert corrections[2]["copies"] == "'=2"
    assert corrections[0]["problem"].startswith("country: There is no such country")
    assert upload(alice, a_file(*rows)).headers["location"] == page
    # The same file again leads to the same import, which goes on.
    with database.reading() as db:
        merchant = merchant_of(db, alice)
    assert lot_of(database, merchant, int(page.rpartition("/")[2])).state is LotState.RUNNING
    assert "orders.csv" in alice.words("/orders/import")


@SMALL
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "has no orders"),
        (b"\x00" * 50, "cannot be read as text"),
        (b"name\nMary\n", "no column"),
        (a_file(*many_rows(4)), "more than 3 rows"),
        (a_file(*[{"address1": "x" * 2000}]), "larger than 0.0 MB"),
    ],
)
def test_a_file_that_is_none_is_refused_in_words(
    alice: Window, content: bytes, reason: str
) -> None:
    refused = upload(alice, content)
    assert refused.status == 400
    assert reason in words_of(refused)


@pytest.mark.both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("place", ["reference", "address2", "image_url", "head"])
def test_a_file_with_what_no_database_stores_is_refused_in_words(alice: Window, place: str) -> None:
    odd = a_file({place: "A\x00B"}) if place != "head" else a_file({"x\x00y": "A"})
    refused = upload(alice, odd)
    assert (refused.status, "Save it as" in words_of(refused)) == (400, True)


@pytest.mark.both_databases
@pytest.mark.parametrize("name", ["\u202ecsv.exe", "../../etc/passwd", "x" * 300, ".."])
def test_a_file_may_be_called_anything(alice: Window, name: str) -> None:
    said = alice.follow(upload(alice, a_file({}), name))
    assert "1 order can be created" in said
    assert "etc" not in said


@pytest.mark.parametrize(("rows", "said"), [(6, "one more problem"), (300, "295 more problems")])
def test_an_order_with_very_many_problems_names_the_first(
    alice: Window, rows: int, said: str
) -> None:
    sent = upload(alice, a_file(*[{"sku": "NO-SUCH"}] * rows))
    page = alice.open(sent.headers["location"])
    words = words_of(page)
    assert words.count("The catalogue has no product with this code.") == 5
    assert f"This order has {said}: download its rows" in words
    assert len(page.body) < 100_000
    corrections = table_of(alice.open(f"{sent.headers['location']}/corrections.csv"))
    assert [row["problem"][:4] for row in corrections] == ["sku:"] * rows


def test_no_file_is_refused(alice: Window) -> None:
    assert "Choose a CSV file." in words_of(alice.do("/orders/import", "check-file"))


def test_a_file_without_a_good_row_cannot_be_started(alice: Window) -> None:
    page = upload(alice, a_file({"sku": "?"})).headers["location"]
    assert "Nothing can be created" in alice.words(page)
    assert "No order of the file" in words_of(alice.do(page, "start-lot"))


def test_the_template_is_a_file_that_can_be_imported(alice: Window) -> None:
    template = alice.open("/orders/import/template.csv")
    [row] = table_of(template)
    assert row["reference"] == "SHOP-1001"
    assert "1 order can be created" in alice.follow(upload(alice, template.body))


@pytest.mark.both_databases
def test_the_orders_of_a_filter_come_as_a_table(alice: Window, database: Database) -> None:
    formula, _ = an_order(alice, merchantOrderId="=1+1", recipientName="+44")
    sent, shipment = hand_in(database, alice)
    create(alice.api, merchantOrderId="empty")

    every = table_of(alice.open("/orders/export.csv"))
    drafts = table_of(alice.open("/orders/export.csv?status=NotYetSubmitted&q=%3D1"))

    assert [row["order"] for row in every][1:] == [str(sent.id), str(formula)]
    assert [row["order"] for row in drafts] == [str(formula)]
    [row] = drafts
    assert (row["reference"], row["recipient"], row["status"]) == ("'=1+1", "'+44", "Not submitted")
    assert (row["images"], row["currency"]) == ("1", "GBP")
    assert float(row["product_amount"]) + float(row["shipping_amount"]) == float(row["total"])
    assert every[0]["total"] == ""
    assert shipment.order_id == sent.id


def test_what_is_exported_is_known_before_others_get_the_connection_of_the_page(
    alice: Window, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps: list[str] = []

    def read(visit: MerchantVisit) -> OrderSearch:
        steps.append("searched")
        return read_search(visit)

    def respond(*given: Any, **more: Any) -> StreamingResponse:
        steps.append("answered")
        return StreamingResponse(*given, **more)

    monkeypatch.setattr(exporting, "read_search", read)
    monkeypatch.setattr(exporting, "StreamingResponse", respond)

    assert alice.open("/orders/export.csv").status == 200
    assert steps == ["searched", "answered"]


def choose(window: Window, page: str, bulk_action: str, **fields: object) -> Answer:
    """Tick boxes, and press a button."""
    return window.do(page, "prepare-lot", bulk_action=bulk_action, once="once", **fields)


@pytest.mark.both_databases
def test_many_orders_are_chosen_and_asked_about_once_more(
    alice: Window, bob: Window, database: Database
) -> None:
    ids = [an_order(alice)[0] for _ in range(3)]
    listed = alice.open("/orders?choose=all").body.decode()
    assert listed.count(" checked>") == 3

    sent = choose(alice, "/orders?choose=none", "cancel", chosen=ids[:2])
    again = choose(alice, "/orders?choose=none", "cancel", chosen=ids[:2])

    page = sent.headers["location"]
    assert again.headers["location"] == page
    assert "Cancel the 2 orders" in alice.words(page)
    with database.reading() as db:
        states = {get_order(db, merchant_of(db, alice).id, one).status for one in ids}
    assert states == {OrderStatus.NOT_YET_SUBMITTED}
    assert "Cancelling orders: 0 of 2" in alice.follow(alice.do(page, "start-lot"))
    assert bob.open(page).status == 404


def test_many_orders_are_submitted_for_a_price_that_was_shown(
    alice: Window, database: Database
) -> None:
    ids = [an_order(alice)[0] for _ in range(2)]
    page = choose(alice, "/orders?choose=none", "submit", chosen=ids).headers["location"]
    asked = alice.words(page)
    with database.reading() as db:
        merchant = merchant_of(db, alice)
        prices = [get_order(db, merchant.id, one).price for one in ids]
    assert f"{format_money(sum(prices), merchant.currency)} in all, with shipping." in asked
    assert "Print pictures that will look blurred all the same." in asked

    alice.do(page, "start-lot", prints_blurred="yes")

    lot = lot_of(database, merchant, int(page.rpartition("/")[2]))
    assert (lot.state, lot.prints_blurred) == (LotState.RUNNING, True)


@SMALL
def test_all_orders_of_a_search_can_be_chosen_if_they_are_not_too_many(alice: Window) -> None:
    for reference in ("A-1", "A-2", "B-1"):
        an_order(alice, merchantOrderId=reference)

    few = choose(alice, "/orders?choose=none&q=A-", "submit", all="yes")
    many = choose(alice, "/orders?choose=none", "submit", all="yes")

    assert "Submit the 2 orders" in alice.follow(few)
    assert "More than 2 orders match. Narrow the search first." in words_of(many)
    assert "narrow it to at most 2" in alice.words("/orders?choose=none")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"bulk_action": "fly"}, "Choose what to do"),
        ({"bulk_action": "submit"}, "Choose at least one line"),
    ],
)
def test_nothing_is_prepared_by_mistake(alice: Window, fields: dict[str, str], reason: str) -> None:
    an_order(alice)
    refused = alice.do("/orders?choose=none", "prepare-lot", **fields)
    assert (refused.status, reason in words_of(refused)) == (400, True)


def test_an_order_is_ordered_again_with_its_picture(alice: Window) -> None:
    first = number_of(make_order(alice, reference="A-1001", copies="2"))

    said = alice.words(f"/orders/{first}/again")
    done = alice.do(f"/orders/{first}/again", "order-again")

    assert "to Mary Fox" in said
    second = number_of(done)
    assert second != first
    old, new = (alice.api.get(f"/orders/{one}").data for one in (first, second))
    assert new["merchantOrderId"] == old["merchantOrderId"]
    assert (new["status"], new["price"]) == ("NotYetSubmitted", old["price"])
    [image], [copy] = old["images"], new["images"]
    assert copy["id"] != image["id"]
    same = ("sku", "copies", "md5Hash", "status", "sizing")
    assert {name: copy.get(name) for name in same} == {name: image.get(name) for name in same}
    # Its proof is there, too.
    assert f"/{copy['id']}/" in alice.open(f"/orders/{second}").body.decode()


def test_a_picture_that_did_not_come_yet_is_fetched_again(alice: Window, bob: Window) -> None:
    _, page = an_order(alice)
    assert "downloaded from the same address again" in alice.words(f"{page}/again")

    again = number_of(alice.do(f"{page}/again", "order-again"))

    assert len(alice.api.get(f"/orders/{again}").data["images"]) == 1
    empty = f"/orders/{create(alice.api)}/again"
    asked = {"form_token": alice.token("/orders/new"), "do": "order-again"}
    assert "Nothing of this order" in words_of(alice.send(empty, asked))
    assert bob.open(f"{page}/again").status == 404


def test_the_list_says_how_many_match(alice: Window) -> None:
    for reference in ("A-1", "A-2", "B-1"):
        order, _ = an_order(alice, merchantOrderId=reference, addressTownOrCity="Whitby")
    assert "2 of 3 orders" in alice.words("/orders?q=A-")
    assert "3 of 3 orders" in alice.words("/orders?status=NotYetSubmitted")
    assert "3 of 3 orders" in alice.words("/orders?q=whit")
    assert "1 of 3 orders" in alice.words("/orders?q=B-1&status=NotYetSubmitted")
    [image] = alice.api.get(f"/orders/{order}").data["images"]
    said = alice.words(f"/orders?q={image['sku'].lower()}")
    assert "3 of 3 orders" in said
    assert "Only your newest 2,000 orders were searched" in said
    assert 'class="row-link"' in alice.open("/orders").body.decode()
