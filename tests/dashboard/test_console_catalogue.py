"""The catalogue in the console, and what would become of an order."""

import re
from urllib.parse import urlencode

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.services import Carrier
from printworks.dashboard.console.catalogue.lab_hours import write_days
from printworks.dashboard.console.catalogue.routing import read_timestamp
from printworks.dashboard.shared.products import find_products
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.orders.shipments import NewShipment, insert_shipments
from printworks.store.tables import metadata
from tests.api.images import create
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.factories import NOON

CATALOGUE = open_catalogue(None)
ROUTING = "/console/routing"


def count_rows(database: Database) -> dict[str, int]:
    """Return how many rows each table has."""
    with database.reading() as db:
        return {
            name: int(db.exec_driver_sql(f"SELECT count(*) FROM {name}").scalar_one())
            for name in metadata.tables
        }


@pytest.mark.parametrize("backend", ["sqlite"])
class TestProducts:
    def test_they_are_found_by_words_kind_and_country(self, operator: Window) -> None:
        every = operator.words("/console/catalogue")
        found = operator.words("/console/catalogue?q=can+8X8&kind=canvas&country=DE")
        none = operator.open("/console/catalogue?q=<script>&kind=<b>&country=<i>&from=99999")

        assert "685 products of 14 kinds" in every
        assert "1\N{EN DASH}25 of 685" in every
        assert "EU-CAN-8X8" in found
        assert "10.50 13.50 12.50 20.50" in found
        assert "No products found" in words_of(none)
        assert b"<script>alert" not in none.body

    def test_every_product_is_on_one_page_of_the_list(self, operator: Window) -> None:
        seen: list[str] = []
        address = "/console/catalogue?kind=frame"
        while address:
            page = operator.open(address).body.decode()
            assert len(page) < 100_000
            seen += re.findall(r'href="/console/catalogue/([^"]+)"', page)
            found = re.findall(r'href="([^"]+)" rel="next"', page)
            address = found[0].replace("&amp;", "&") if found else ""

        framed = find_products(CATALOGUE.products, kind="frame")
        assert seen == [product.sku.lower() for product in framed]

    def test_one_is_shown_with_the_labs_that_make_it(self, operator: Window) -> None:
        said = operator.words("/console/catalogue/EU-CAN-8x8")

        assert "Leeds £5.54 2" in said
        assert "ImageWrap, MirrorWrap, White, Black" in said
        assert "38 countries" in said
        for sku in ("none", "%00", "<b>"):
            assert operator.open(f"/console/catalogue/{sku}").status == 404


@pytest.mark.parametrize("backend", ["sqlite"])
class TestLabs:
    def test_each_has_a_page_with_hours_costs_and_services(self, operator: Window) -> None:
        listed = operator.words("/console/labs")
        page = operator.open("/console/labs/gb-leeds?currency=EUR")
        said = words_of(page)

        for lab in CATALOGUE.labs:
            assert lab.name in listed
        # It is noon on a Sunday, in winter.
        assert "14:00 Cut-off (local time now: 12:00)" in said
        assert "Mon, 16 Nov 2026 Start of an order placed now" in said
        assert "Monday to Friday (closed today)" in said
        assert "Fri, 25 Dec 2026" in said
        assert "2nd Class Royal Mail" in said
        assert "€" in said
        assert len(page.body) < 100_000
        assert operator.open("/console/labs/nowhere").status == 404

    def test_days_are_written_as_people_say_them(self, operator: Window) -> None:
        assert write_days(frozenset(range(5))) == "Monday to Friday"
        assert write_days(frozenset({0, 2})) == "Monday, Wednesday"
        assert write_days(frozenset({6})) == "Sunday"


class TestWhatWouldHappen:
    def ask(self, operator: Window, **question: object) -> str:
        """Ask, and return what the page says."""
        return operator.words(f"{ROUTING}?{urlencode(question)}")

    def test_an_order_is_routed_priced_and_explained_and_nothing_changes(
        self, operator: Window, database: Database
    ) -> None:
        before = count_rows(database)

        said = self.ask(
            operator,
            country="DE",
            method="Standard",
            currency="EUR",
            at="2026-11-15T12:00",
            sku1="eu-can-8x8",
            copies1=2,
            sku2="EU-CAN-8X10",
        )

        assert "Leipzig (Germany) ships 3 copies" in said
        assert "Dispatched by Fri, 20 Nov 2026" in said
        assert "Merchant pays €" in said
        assert "It meets the promise of" in said
        assert re.search(r"Leeds \(United Kingdom\) would cost €[0-9.]+ more for item 1\.", said)
        assert "Lyon (France) cannot make items 1 and 2: canvas is not in its range." in said
        assert count_rows(database) == before

    def test_the_merchant_pays_the_tariff_wherever_it_is_printed(self, operator: Window) -> None:
        asked = {"country": "FR", "at": "2026-11-15T12:00", "sku1": "GLOBAL-PHO-4X6-PRO"}

        here, abroad = (self.ask(operator, **asked, print=code) for code in ("FR", "GB"))
        nowhere = self.ask(operator, **asked, print="ES")

        assert "Lyon (France) ships 1 copy" in here
        assert re.search(r"\(United Kingdom\) ships 1 copy", abroad)
        assert "a lab in the print country is in time." in abroad
        assert "No lab in Spain can make and send item 1 in time." in nowhere
        for said in (here, abroad, nowhere):
            assert "Shipping £2.60" in said
        assert "£3.50 for shipping." in abroad

    def test_what_waits_at_labs_counts_unless_it_is_ignored(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        lab = CATALOGUE.get_lab("de-leipzig")
        busy_for_months = NewShipment(
            state=LabState.OFFERED,
            lab=lab.code,
            band="Canvas",
            service="eu-parcel",
            carrier=Carrier.DHL,
            is_tracked=True,
            items_cost=0,
            shipping_cost=0,
            image_ids=[],
            copies=60 * lab.capacity,
            earliest_arrival="2026-11-20",
            latest_arrival="2026-11-20",
        )
        order_id = create(alice.api)
        with database.writing() as db:
            insert_shipments(db, order_id, [busy_for_months], now=NOON)
        question = {"country": "DE", "sku1": "EU-CAN-8X8", "at": "2026-11-15T12:00"}

        usual = self.ask(operator, **question)
        ignored = self.ask(operator, **question, backlog="no")

        assert "Leeds (United Kingdom) ships 1 copy" in usual
        assert "Leipzig (Germany) is too late for item 1" in usual
        assert "Leipzig (Germany) ships 1 copy" in ignored

    @pytest.mark.parametrize(
        ("question", "reason"),
        [
            ({"sku1": "<script>"}, "Line 1: there is no product <script>."),
            ({"sku2": "EU-CAN-8X8", "country": "US"}, "is not sold to United States."),
            ({"sku1": "EU-CAN-8X8", "copies1": "0"}, "copies must be a number from 1 to 10,000."),
            ({"sku1": "EU-CAN-8X8", "copies1": "٣"}, "copies must be a number"),
            ({"sku1": "EU-CAN-8X8", "copies1": "1" * 50}, "copies must be a number"),
        ],
    )
    def test_a_question_that_makes_no_sense_is_told_so(
        self, operator: Window, question: dict[str, str], reason: str
    ) -> None:
        page = operator.open(f"{ROUTING}?{urlencode({'country': 'DE', **question})}")

        assert page.status == 200
        assert reason in words_of(page)
        assert b"<script>." not in page.body

    def test_without_a_product_it_asks_for_one(self, operator: Window) -> None:
        page = operator.open(f"{ROUTING}?country=<b>&method=x&currency=y&at=z&tracked=yes")

        assert "Enter a product" in words_of(page)
        assert len(page.body) < 100_000

    def test_a_moment_is_read_in_utc_and_none_is_too_far_away(self) -> None:
        read = read_timestamp("2026-11-15T12:30")
        assert read is not None
        assert read.isoformat() == "2026-11-15T12:30:00+00:00"
        for text in ("", "x", "0001-01-01T00:00", "9999-12-31T23:59", "2026-13-01T00:00"):
            assert read_timestamp(text) is None
