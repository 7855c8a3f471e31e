"""Orders that are paid for through Stripe, as far as the test server is like it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.payments import SavedCard, save_card
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, sign_up
from tests.api.images import add, create
from tests.api.production import see, set_status
from tests.payments.banks import CARDS, SECRET_KEY, StripeServer, run_stripe


@pytest.fixture(scope="module")
def stripe() -> Iterator[StripeServer]:
    """The test server for Stripe."""
    with run_stripe() as server:
        yield server


@pytest.fixture
def clock() -> MovableClock:
    """A clock that begins with the real time: Stripe's list goes by that."""
    clock = MovableClock()
    clock.now = datetime.now(UTC)
    return clock


@pytest.fixture
def settings(tmp_path: Path, stripe: StripeServer) -> Settings:
    """A sandbox that charges test cards there."""
    return Settings.load(
        tmp_path,
        {
            "PRINTWORKS_PAYMENTS": "stripe",
            "PRINTWORKS_STRIPE_SECRET_KEY": SECRET_KEY,
            "PRINTWORKS_STRIPE_URL": stripe.base,
        },
    )


@pytest.fixture
def server(database: Database, settings: Settings, clock: MovableClock) -> Iterator[Server]:
    """A running service."""
    url = database.url.render_as_string(hide_password=False)
    server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
    yield server
    server.close()


def give_card(database: Database, client: Client, stripe: StripeServer, card: str) -> str:
    """Save a card for a merchant, and return its customer's id."""
    customer, method = stripe.save_card(CARDS[card])
    with database.writing() as db:
        merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
        save_card(db, merchant.id, SavedCard(customer, method))
    return customer


def count_paid(stripe: StripeServer, customer: str) -> int:
    """Say how often a customer has paid."""
    return sum(intent["status"] == "succeeded" for intent in stripe.list_intents(customer))


def a_draft(client: Client) -> int:
    """Create an order that lacks nothing."""
    order_id = create(client)
    add(client, order_id)
    return order_id


@pytest.mark.both_databases
def test_a_saved_card_is_charged(server: Server, database: Database, stripe: StripeServer) -> None:
    client = sign_up(server, database, "Fay")
    customer = give_card(database, client, stripe, "paid")
    order_id = a_draft(client)

    assert set_status(client, order_id, "Submitted").status == 200

    assert see(client, order_id)["status"] == "Submitted"
    [intent] = stripe.list_intents(customer)
    assert intent["amount"] == see(client, order_id)["price"]


def test_a_merchant_without_a_card_is_refused(server: Server, database: Database) -> None:
    client = sign_up(server, database, "Gus")
    order_id = a_draft(client)
    status = client.get(f"/orders/{order_id}/SubmissionStatus").data

    answer = set_status(client, order_id, "Submitted")

    assert answer.status == 403
    assert "No card is saved for this merchant." in answer.json()["errorMessage"]
    assert (status["isValid"], status["errorMessage"]) == (False, answer.json()["errorMessage"])
    assert see(client, order_id)["errorMessage"] is None


def test_whose_answer_was_lost_pays_once_even_when_stripe_has_forgotten_the_key(
    server: Server, database: Database, stripe: StripeServer, clock: MovableClock
) -> None:
    client = sign_up(server, database, "Hal")
    customer = give_card(database, client, stripe, "paid")
    order_id = a_draft(client)
    stripe.fail("drop after")
    assert set_status(client, order_id, "Submitted").status == 503
    stripe.forget_keys()
    clock.advance(minutes=1)

    assert set_status(client, order_id, "Submitted").status == 200

    assert count_paid(stripe, customer) == 1
    assert see(client, order_id)["status"] == "Submitted"


def test_a_bank_that_asks_is_402_with_our_page(
    server: Server, database: Database, stripe: StripeServer
) -> None:
    client = sign_up(server, database, "Ida")
    customer = give_card(database, client, stripe, "waiting")
    order_id = a_draft(client)

    answer = set_status(client, order_id, "Submitted")

    assert answer.status == 402
    assert "/payments/" in answer.json()["data"]["url"]
    assert see(client, order_id)["status"] == "AwaitingPayment"
    assert count_paid(stripe, customer) == 0
