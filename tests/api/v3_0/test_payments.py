"""Operation 6 of the 3.0 contract where money is concerned: 402, refusals, and trouble."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from printworks.payments.gateway import Gateway
from printworks.rules.events import OrderCharged, OrderMoved
from printworks.rules.payments import Billing
from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant_by_code, set_billing
from printworks.store.engine.database import Database
from printworks.store.money.ledger import list_entries, set_credit_limit
from printworks.store.queue.quarantine import QuarantineWatch
from printworks.store.tables import payment_requests
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, an_order, sign_up
from tests.api.images import add, create
from tests.api.production import all_rows, events_of, see, set_status
from tests.running import Answer

REFUSED = "The order was not paid for. The bank declined the card."


def a_draft(client: Client, **members: Any) -> int:
    """Create an order that lacks nothing."""
    order_id = create(client, **members)
    add(client, order_id)
    return order_id


def submit(client: Client, order_id: int, **headers: str) -> Answer:
    """Ask for the status Submitted."""
    return client.post(f"/orders/{order_id}/status", {"status": "Submitted"}, **headers)


def keys(database: Database) -> list[str]:
    """Return the keys of all payments, oldest first."""
    query = select(payment_requests.c.key).order_by(payment_requests.c.id)
    with database.reading() as db:
        return list(db.execute(query).scalars())


def count_charges(database: Database, order_id: int) -> int:
    """Say how often an order was charged."""
    return len(events_of(database, order_id, OrderCharged))


@pytest.fixture
def gateway(database: Database, settings: Settings) -> Gateway:
    """The bank behind the service."""
    return Gateway(settings, database, QuarantineWatch(database))


@pytest.mark.both_databases
class TestWhoseBankAgrees:
    def test_the_order_is_submitted_and_paid(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3)

        answer = submit(v3, order_id)

        assert (answer.status, answer.json()) == (
            200,
            {"data": {}, "statusTxt": "OK", "statusCode": 200},
        )
        assert see(v3, order_id)["status"] == "Submitted"
        [charged] = events_of(database, order_id, OrderCharged)
        assert (charged.amount, charged.provider) == (see(v3, order_id)["price"], "simulated")

    def test_of_many_requests_at_once_one_is_charged(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3)

        with ThreadPoolExecutor(8) as pool:
            answers = [pool.submit(submit, v3, order_id) for _ in range(8)]
            statuses = {answer.result().status for answer in answers}

        # Who came too late finds an order that is submitted already.
        assert statuses <= {200, 403}
        assert 200 in statuses
        assert see(v3, order_id)["status"] == "Submitted"
        assert count_charges(database, order_id) == 1
        assert len(keys(database)) == 1


@pytest.mark.both_databases
class TestWhoseBankAsks:
    @pytest.fixture
    def order_id(self, v3: Client) -> int:
        """An order to France."""
        return a_draft(v3, countryCode="FR")

    def test_the_answer_says_where_to_authorise_it(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        answer = submit(v3, order_id)

        assert answer.status == 402
        [key] = keys(database)
        assert answer.json() == {
            "data": {"url": f"https://print.example/payments/{key}", "paymentRequest": 1},
            "statusTxt": "Payment Authorization Required",
            "statusCode": 402,
        }

    def test_the_order_waits_and_can_only_be_cancelled(self, v3: Client, order_id: int) -> None:
        submit(v3, order_id)

        order = see(v3, order_id)
        assert (order["status"], order["errorMessage"]) == ("AwaitingPayment", None)
        flags = [order[name] for name in ("canCancel", "canHold", "canUpdateShipping")]
        assert flags == [True, False, False]

    def test_asking_again_gives_the_same_payment(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        first = submit(v3, order_id)

        assert submit(v3, order_id).json() == first.json()
        assert submit(v3, order_id).json() == first.json()
        assert len(keys(database)) == 1
        moves = events_of(database, order_id, OrderMoved)
        assert [move.status for move in moves] == ["AwaitingPayment"]

    def test_the_page_sends_on_to_the_bank(
        self, v3: Client, order_id: int, database: Database
    ) -> None:
        submit(v3, order_id)
        [key] = keys(database)

        page = Client(v3.server, "", {}).get(f"/payments/{key}")

        assert page.status == 303
        assert page.headers["location"] == f"https://print.example/bank/{key}"

    def test_once_authorised_asking_again_is_refused_like_any_second_submission(
        self, v3: Client, order_id: int, database: Database, gateway: Gateway
    ) -> None:
        submit(v3, order_id)
        [key] = keys(database)
        gateway.bank.authorise(key)
        Client(v3.server, "", {}).get(f"/payments/{key}")

        assert see(v3, order_id)["status"] == "Submitted"
        assert submit(v3, order_id).status == 403
        assert count_charges(database, order_id) == 1

    def test_once_declined_the_order_says_why(
        self, v3: Client, order_id: int, database: Database, gateway: Gateway
    ) -> None:
        submit(v3, order_id)
        [key] = keys(database)
        gateway.bank.refuse(key)
        Client(v3.server, "", {}).get(f"/payments/{key}")

        order = see(v3, order_id)
        assert order["status"] == "NotYetSubmitted"
        assert (
            order["errorMessage"] == "The order was not paid for. The payment was not authorised."
        )
        again = submit(v3, order_id)
        assert (again.status, again.json()["data"]["paymentRequest"]) == (402, 2)
        assert see(v3, order_id)["errorMessage"] is None

    @pytest.mark.parametrize("accept", ["application/xml"])
    def test_it_can_be_had_as_xml(self, v3: Client, order_id: int, accept: str) -> None:
        answer = submit(v3, order_id, Accept=accept)

        assert answer.status == 402
        assert b"<paymentRequest>1</paymentRequest>" in answer.body

    def test_it_can_be_cancelled(self, v3: Client, order_id: int) -> None:
        submit(v3, order_id)

        assert set_status(v3, order_id, "Cancelled").status == 200
        assert see(v3, order_id)["status"] == "Cancelled"


class TestWhoseBankDeclines:
    def test_the_refusal_says_so_and_the_order_can_be_submitted_again(
        self, v3: Client, database: Database
    ) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-declined")

        answer = submit(v3, order_id)

        assert (answer.status, answer.json()["errorMessage"]) == (403, REFUSED)
        order = see(v3, order_id)
        assert (order["status"], order["errorMessage"]) == ("NotYetSubmitted", REFUSED)
        assert count_charges(database, order_id) == 0
        assert submit(v3, order_id).status == 403
        assert len(set(keys(database))) == 2


@pytest.mark.both_databases
class TestABankThatDoesNotAnswer:
    def test_is_503_and_the_order_waits_for_the_answer(self, v3: Client) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-down")

        answer = submit(v3, order_id)

        assert answer.status == 503
        assert answer.headers["retry-after"] == "5"
        assert "it is paid for once" in answer.json()["errorMessage"]
        assert see(v3, order_id)["status"] == "NotYetSubmitted"
        changed = v3.put(
            f"/orders/{order_id}",
            {
                "recipientName": "Ann",
                "countryCode": "GB",
                "preferredShippingMethod": "Standard",
            },
        )
        assert (changed.status, "being paid for" in changed.json()["errorMessage"]) == (403, True)

    def test_the_order_says_so_meanwhile_and_is_the_merchants_again_after_a_day(
        self, v3: Client
    ) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-down")
        submit(v3, order_id)

        v3.post("/sandbox/clock", {"advance": "PT10M"})
        meanwhile = see(v3, order_id)
        v3.post("/sandbox/clock", {"advance": "PT23H50M"})
        afterwards = see(v3, order_id)

        assert meanwhile["status"] == afterwards["status"] == "NotYetSubmitted"
        assert meanwhile["errorMessage"].startswith(
            "The payment provider does not answer. We keep asking until 2026-11-16 12:00 UTC;"
        )
        assert afterwards["errorMessage"].startswith(
            "The order was not paid for. The payment provider did not answer in time;"
        )
        changed = v3.put(
            f"/orders/{order_id}",
            {"recipientName": "Ann", "countryCode": "GB", "preferredShippingMethod": "Standard"},
        )
        assert changed.status == 200

    def test_asked_again_it_may_answer(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-late")

        assert submit(v3, order_id).status == 503
        assert submit(v3, order_id).status == 200
        assert len(keys(database)) == 1
        assert count_charges(database, order_id) == 1

    def test_whose_answer_was_lost_has_charged_once(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-lost")

        assert submit(v3, order_id).status == 503
        assert see(v3, order_id)["status"] == "NotYetSubmitted"
        assert submit(v3, order_id).status == 200
        assert len(keys(database)) == 1
        assert count_charges(database, order_id) == 1


class TestTheSameKeyOfARequest:
    def test_gives_the_same_402(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3, countryCode="FR")
        key = {"Idempotency_Key": "one"}

        first = submit(v3, order_id, **key)
        again = submit(v3, order_id, **key)

        assert (first.status, again.json()) == (402, first.json())
        assert again.headers["idempotent-replayed"] == "true"

    def test_is_not_kept_while_the_bank_does_not_answer(self, v3: Client) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-late")
        key = {"Idempotency_Key": "one"}

        assert submit(v3, order_id, **key).status == 503
        assert submit(v3, order_id, **key).status == 200

    def test_may_pay_after_the_bank_has_declined(self, v3: Client, database: Database) -> None:
        order_id = a_draft(v3, merchantOrderId="pay-declined")
        key = {"Idempotency_Key": "one"}

        assert submit(v3, order_id, **key).status == 403
        v3.put(f"/orders/{order_id}", an_order(merchantOrderId="paid"))
        assert submit(v3, order_id, **key).status == 200
        assert count_charges(database, order_id) == 1


@pytest.mark.both_databases
class TestOnAccount:
    @pytest.fixture
    def debtor(self, server: Server, database: Database) -> Client:
        """A merchant that pays by invoice, and may owe ten pounds."""
        client = sign_up(server, database, "Carol")
        with database.writing() as db:
            merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
            set_billing(db, merchant.id, Billing.ACCOUNT)
            set_credit_limit(db, merchant.id, 1000)
        return client

    def test_nobody_is_asked(self, debtor: Client, database: Database) -> None:
        order_id = a_draft(debtor, countryCode="FR")

        assert submit(debtor, order_id).status == 200
        assert keys(database) == []

    def test_what_does_not_fit_the_limit_is_refused(
        self, debtor: Client, database: Database
    ) -> None:
        order_id = create(debtor)
        add(debtor, order_id, copies=200)

        status = debtor.get(f"/orders/{order_id}/SubmissionStatus").data
        assert status["generalErrors"] == ["AccountBalanceInsufficient"]
        before = all_rows(database)
        answer = submit(debtor, order_id)
        assert (answer.status, "AccountBalanceInsufficient" in answer.json()["errorMessage"]) == (
            403,
            True,
        )
        assert all_rows(database) == before

    def test_a_card_pays_for_what_an_account_may_not_owe(
        self, debtor: Client, database: Database
    ) -> None:
        with database.writing() as db:
            merchant = get_merchant_by_code(db, debtor.credentials["X-Service-MerchantId"])
            set_billing(db, merchant.id, Billing.CARD)
        order_id = create(debtor)
        add(debtor, order_id, copies=200)

        assert debtor.get(f"/orders/{order_id}/SubmissionStatus").data["isValid"] is True
        assert submit(debtor, order_id).status == 200
        with database.reading() as db:
            kinds = [booked.entry.kind for booked in list_entries(db, merchant.id)]
        assert kinds == ["payment", "charge"]


class TestWhereNobodyChargesCards:
    @pytest.fixture
    def plain(self, database: Database, tmp_path: Path, clock: MovableClock) -> Iterator[Client]:
        """A merchant of a service that only sends invoices."""
        settings = Settings.load(tmp_path, {"PRINTWORKS_PAYMENTS": "account"})
        url = database.url.render_as_string(hide_password=False)
        server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
        yield sign_up(server, database, "Dora")
        server.close()

    def test_orders_to_europe_are_submitted_at_once(self, plain: Client) -> None:
        assert submit(plain, a_draft(plain, countryCode="FR")).status == 200

    def test_recipients_cannot_pay(self, plain: Client) -> None:
        order_id = a_draft(plain, payment="InvoiceRecipient")

        answer = set_status(plain, order_id, "AwaitingPayment")

        assert (answer.status, answer.json()["errorMessage"]) == (
            403,
            "Recipients cannot pay here; set `payment` to InvoiceMe.",
        )

    def test_validation_says_that_recipients_cannot_pay(self, plain: Client) -> None:
        order_id = a_draft(plain, payment="InvoiceRecipient")

        status = plain.get(f"/orders/{order_id}/SubmissionStatus").data

        assert (status["isValid"], status["generalErrors"]) == (False, [])
        assert status["errorMessage"] == "Recipients cannot pay here; set `payment` to InvoiceMe."
