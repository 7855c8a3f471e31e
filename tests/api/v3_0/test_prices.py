"""Operation 10 of the 3.0 contract: what products cost the merchant in a country."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from sqlalchemy import func, select

from printworks.actions.accounts.merchants import add_merchant
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.tables import idempotency_keys, jobs, order_events, orders
from printworks.web.app import build_app
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, an_order
from tests.api.images import PHOTO, add, create
from tests.catalogue.folders import a_product, a_whole_folder
from tests.factories import NOON, a_system_work
from tests.running import Answer

PATH: Final = "/catalogue/service%20direct/destination/GB/prices"
FRAME: Final = "FRA-INSTA-30X30"
CATALOGUE: Final = open_catalogue(None)
NO_CODES: Final[list[Any]] = [
    {"skus": 1}, {"skus": True}, {"skus": {}}, {"skus": {"a": 1}}, {"skus": [1]}, {"skus": [None]},
    {"skus": [[PHOTO]]}, [{"sku": PHOTO}], [PHOTO, 2], PHOTO, 5, True,
]  # fmt: skip


def price_of(sku: str, currency: Currency = Currency.GBP, country: str = "GB") -> dict[str, Any]:
    """Return the entry that the catalogue asks for."""
    price = CATALOGUE.get_product(sku).find_price(currency, country=country)
    assert price is not None
    return {"sku": sku, "price": price, "currency": currency.value}


def a_client(server: Server, database: Database, currency: Currency) -> Client:
    """Let a merchant in who pays in this currency."""
    with database.writing() as db:
        added = add_merchant(
            a_system_work(db, now=NOON, environment="sandbox"), "Carol", currency=currency
        )
    credentials = {
        "X-Service-MerchantId": added.merchant.code,
        "X-Service-REST-API-Key": added.api_key,
    }
    return Client(server, "/v3.0", credentials)


def ask(client: Client, path: str, skus: list[str]) -> Answer:
    """Ask for prices at a path that the document of the usual service does not have."""
    headers = {**client.credentials, "Content-Type": "application/json"}
    message = {"type": "http.request", "body": json.dumps(skus).encode()}
    return client.server.run(client.server.ask(make_scope("POST", path, headers), [message]))


@pytest.mark.both_databases
def test_prices_come_without_an_envelope_in_the_order_of_the_question(v3: Client) -> None:
    answer = v3.post(PATH, {"skus": [FRAME, PHOTO]})

    assert answer.status == 200
    assert answer.json() == {"prices": [price_of(FRAME), price_of(PHOTO)]}


@pytest.mark.parametrize(
    "path",
    [
        "/catalogue/service%20direct/destination/GB/prices",
        "/catalogue/service direct/destination/GB/prices",
        "/catalogue/service%20direct/destination/GB/prices/",
        "/catalogue/service%20direct/destination/gb/prices",
        "/Catalogue/Service%20Direct/Destination/GB/Prices",
        "/CATALOGUE/SERVICE%20DIRECT/DESTINATION/GB/PRICES/",
        "/catalogue/service%20direct/destination/GB/prices?",
    ],
)
def test_the_path_is_found_however_it_is_written(v3: Client, path: str) -> None:
    assert v3.post(path, {"skus": [PHOTO]}).json() == {"prices": [price_of(PHOTO)]}


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({"skus": [PHOTO]}, id="object"),
        pytest.param({"SKUs": [PHOTO]}, id="name in another case"),
        pytest.param([PHOTO], id="bare array"),
        pytest.param({"skus": PHOTO}, id="one as text"),
        pytest.param({"skus": [PHOTO.lower()]}, id="small letters"),
        pytest.param({"skus": [f" {PHOTO} "]}, id="blanks around it"),
        pytest.param({"skus": [PHOTO], "currency": "USD", "x": 1}, id="more than is asked for"),
    ],
)
def test_the_codes_may_come_in_several_ways(v3: Client, body: Any) -> None:
    assert v3.post(PATH, body).json() == {"prices": [price_of(PHOTO)]}


@pytest.mark.parametrize(
    ("fields", "skus"),
    [
        ([("skus", PHOTO)], [PHOTO]),
        ([("skus", PHOTO), ("skus", FRAME)], [PHOTO, FRAME]),
        ([("skus[]", PHOTO), ("skus[]", FRAME)], [PHOTO, FRAME]),
        ([("skus[0]", PHOTO), ("skus[1]", FRAME)], [PHOTO, FRAME]),
    ],
)
def test_a_form_will_do(v3: Client, fields: Sequence[tuple[str, object]], skus: list[str]) -> None:
    answer = v3.post_form(PATH, fields)

    assert answer.json() == {"prices": [price_of(sku) for sku in skus]}


def test_what_is_asked_twice_is_told_twice(v3: Client) -> None:
    assert v3.post(PATH, [PHOTO, PHOTO]).json() == {"prices": [price_of(PHOTO)] * 2}


def test_unknown_codes_are_left_out(v3: Client) -> None:
    answer = v3.post(PATH, {"skus": ["NO-SUCH-SKU", PHOTO, "", "\u00df", "x" * 500]})

    assert answer.json() == {"prices": [price_of(PHOTO)]}


@pytest.mark.parametrize("body", [{"skus": []}, [], {"skus": ["NO-SUCH-SKU"]}])
def test_nothing_known_costs_nothing(v3: Client, body: Any) -> None:
    answer = v3.post(PATH, body)

    assert (answer.status, answer.json()) == (200, {"prices": []})


def test_what_is_not_sold_there_is_left_out(v3: Client) -> None:
    elsewhere = next(
        product
        for product in CATALOGUE.products
        if not product.is_sold_to("GB") and product.is_sold_to("AU")
    )
    there = PATH.replace("/GB/", "/AU/")

    assert v3.post(PATH, [elsewhere.sku, PHOTO]).json() == {"prices": [price_of(PHOTO)]}
    assert v3.post(there, [elsewhere.sku]).json() == {
        "prices": [price_of(elsewhere.sku, country="AU")]
    }


@pytest.mark.parametrize("currency", Currency)
def test_prices_are_in_the_merchants_currency(
    server: Server, database: Database, currency: Currency
) -> None:
    client = a_client(server, database, currency)

    answer = client.post(PATH, [PHOTO, FRAME])

    assert answer.json() == {"prices": [price_of(PHOTO, currency), price_of(FRAME, currency)]}


def test_the_currencies_are_those_that_merchants_may_have() -> None:
    assert {currency.value for currency in Currency} >= {"GBP", "USD", "EUR", "AUD"}


@pytest.mark.parametrize("country", ["GB", "US", "IE", "AU"])
def test_an_image_costs_what_was_quoted(v3: Client, country: str) -> None:
    [entry] = v3.post(PATH.replace("/GB/", f"/{country}/"), [PHOTO]).json()["prices"]

    image = add(v3, create(v3, countryCode=country))

    assert image["price"] == entry["price"]


@pytest.mark.parametrize("country", ["QQ", "GBR", "U", "12", "%C3%A9%C3%A9", "%00%00", "United"])
def test_a_country_that_there_is_not_is_not_found(v3: Client, country: str) -> None:
    answer = v3.post(PATH.replace("/GB/", f"/{country}/"), [PHOTO])

    assert answer.status == 404
    assert answer.error.startswith("Country with code ")
    assert answer.json() == {
        "data": None,
        "errorMessage": answer.error,
        "statusTxt": answer.error,
        "statusCode": 404,
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({}, "`skus` is required."),
        ({"skus": None}, "`skus` is required."),
        ({"sku": [PHOTO]}, "`skus` is required."),
        *((body, "`skus` must be an array of product codes.") for body in NO_CODES),
        ({"skus": ["x"] * 1001}, "`skus` must have at most 1000 elements, not 1001."),
    ],
)
def test_codes_that_are_missing_or_none_are_refused(v3: Client, body: Any, message: str) -> None:
    answer = v3.post(PATH, body)

    assert answer.status == 400
    assert answer.json() == {
        "data": None,
        "errorMessage": message,
        "statusTxt": message,
        "statusCode": 400,
    }


def test_an_empty_body_lacks_its_codes(v3: Client) -> None:
    answer = v3.post(PATH)

    assert (answer.status, answer.error) == (400, "`skus` is required.")


def test_strangers_are_told_nothing(stranger: Client) -> None:
    answer = stranger.post(PATH, [PHOTO])

    assert answer.status == 401
    assert "prices" not in answer.json()


def test_it_is_no_page_to_look_at(v3: Client) -> None:
    assert v3.get(PATH).status == 405


def test_xml_is_given_to_whoever_wants_it(v3: Client) -> None:
    answer = v3.post(PATH, [PHOTO], Accept="application/xml")

    assert answer.headers["content-type"].startswith("application/xml")
    assert f"<sku>{PHOTO}</sku>".encode() in answer.body


def test_asking_leaves_no_trace(v3: Client, database: Database) -> None:
    v3.post("/orders", an_order())
    tables = (orders, order_events, jobs, idempotency_keys)

    def count() -> list[int]:
        with database.reading() as db:
            return [
                db.execute(select(func.count()).select_from(table)).scalar_one() for table in tables
            ]

    before = count()

    first = v3.post(PATH, [PHOTO], Idempotency_Key="once")
    # Nothing happened that could happen twice: the key is nobody's.
    second = v3.post(PATH, [FRAME], Idempotency_Key="once")

    assert (first.status, second.status) == (200, 200)
    assert count() == before


class TestAnotherName:
    @pytest.fixture
    def server(self, database: Database, tmp_path: Path, clock: MovableClock) -> Iterator[Server]:
        """A service under a brand of its own."""
        settings = Settings.load(tmp_path, {"PRINTWORKS_CATALOGUE_NAME": "Acme Prints"})
        url = database.url.render_as_string(hide_password=False)
        server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
        yield server
        server.close()

    @pytest.mark.parametrize("name", ["Acme%20Prints", "acme%20prints", "ACME Prints"])
    def test_it_is_found_under_the_name_that_was_set(self, v3: Client, name: str) -> None:
        answer = ask(v3, f"/v3.0/catalogue/{name}/destination/GB/prices", [PHOTO])

        assert (answer.status, answer.json()) == (200, {"prices": [price_of(PHOTO)]})

    def test_the_usual_name_is_unknown_then(self, v3: Client) -> None:
        answer = ask(v3, f"/v3.0{PATH}", [PHOTO])

        assert answer.status == 404
        assert answer.json()["statusCode"] == 404

    def test_its_document_says_so(self, v3: Client) -> None:
        document = v3.get("/openapi.json").json()

        assert "/catalogue/Acme%20Prints/destination/{countryCode}/prices" in document["paths"]
        assert PATH.replace("GB", "{countryCode}") not in document["paths"]


def test_prices_of_an_own_catalogue_may_differ_by_country(
    database: Database, tmp_path: Path, clock: MovableClock
) -> None:
    folder = a_whole_folder(tmp_path, a_product(price="{ GBP = 20, EUR = 25 }"))
    settings = Settings.load(tmp_path, {"PRINTWORKS_CATALOGUE": str(folder)})
    url = database.url.render_as_string(hide_password=False)
    server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))

    try:
        answers = {
            currency: a_client(server, database, currency).post(PATH, ["PHOTO-4X6"]).json()
            for currency in (Currency.GBP, Currency.EUR, Currency.USD)
        }
    finally:
        server.close()

    assert answers == {
        Currency.GBP: {"prices": [{"sku": "PHOTO-4X6", "price": 20, "currency": "GBP"}]},
        Currency.EUR: {"prices": [{"sku": "PHOTO-4X6", "price": 25, "currency": "EUR"}]},
        # A catalogue without the merchant's currency has no price to show.
        Currency.USD: {"prices": []},
    }
