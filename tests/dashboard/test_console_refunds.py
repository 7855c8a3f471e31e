"""A refund that a bank rejected, on the page of its order: sent again, or noted as repaid."""

import pytest

from printworks.rules.payments import PaymentState
from printworks.rules.people import Role
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from printworks.store.money.payments import PaymentRequest, get_request
from tests.actions.test_refunds import a_rejected_payment
from tests.api.client import Server
from tests.dashboard.scenes import hand_in, last_entry
from tests.dashboard.windows import Window, merchant_of, open_console

pytestmark = pytest.mark.both_databases


@pytest.fixture
def rejected(alice: Window, database: Database) -> PaymentRequest:
    """A payment whose refund the bank rejected."""
    with database.writing() as db:
        return a_rejected_payment(db, merchant_of(db, alice))


@pytest.fixture
def page(rejected: PaymentRequest) -> str:
    """The page of its order."""
    return f"/console/orders/{rejected.order_id}"


def see(database: Database, payment: PaymentRequest) -> PaymentState:
    with database.reading() as db:
        return get_request(db, payment.id).state


def test_the_page_says_what_happened_and_what_to_do(operator: Window, page: str) -> None:
    said = operator.words(page)

    assert "The bank rejected a refund of £" in said
    assert "The card has expired or was cancelled. The merchant has not been repaid." in said
    assert "Refund rejected" in said
    assert "Payment came back: the bank rejected it" in said


def test_what_was_paid_in_another_way_is_noted(
    operator: Window, alice: Window, database: Database, rejected: PaymentRequest, page: str
) -> None:
    assert operator.do(page, "note-repaid", payment=str(rejected.id), memo="").status == 400
    done = operator.do(page, "note-repaid", payment=str(rejected.id), memo="transfer of 3 May")

    said = operator.follow(done)
    assert "Repaid in another way" in said
    assert "has not been repaid" not in said
    assert "Rejected refund" not in operator.words("/console")
    assert see(database, rejected) is PaymentState.REPAID
    with database.reading() as db:
        assert read_books(db, merchant_of(db, alice).id).balance == 0
    noted = last_entry(database)
    assert (noted.action, noted.subject) == ("note-repaid", f"order {rejected.order_id}")
    assert f"Payment for order {rejected.order_id} came back" in alice.words("/account")


def test_the_refund_is_sent_again(
    operator: Window, database: Database, rejected: PaymentRequest, page: str
) -> None:
    said = operator.follow(operator.do(page, "refund-again", payment=str(rejected.id)))

    assert "The refund is being sent again." in said
    assert see(database, rejected) is PaymentState.REFUNDING
    twice = operator.do(page, "refund-again", payment=str(rejected.id))
    assert twice.status in {400, 409}


@pytest.mark.parametrize("number", ["", "x", "2", "9" * 30])
def test_a_payment_of_another_order_is_let_be(
    operator: Window, alice: Window, database: Database, rejected: PaymentRequest, number: str
) -> None:
    other, _ = hand_in(database, alice)

    for given in (number, str(rejected.id)):
        answer = operator.do(f"/console/orders/{other.id}", "refund-again", payment=given)
        assert answer.status == 400

    assert see(database, rejected) is PaymentState.REFUND_REJECTED


def test_only_those_who_handle_money_may_act(
    server: Server, database: Database, rejected: PaymentRequest, page: str
) -> None:
    support = open_console(server, database, Role.SUPPORT, email="sue@works.example")

    body = support.open(page).body.decode()

    assert "has not been repaid" in support.words(page)
    assert "note-repaid" not in body
    assert "refund-again" not in body
    assert support.do(page, "refund-again", payment=str(rejected.id)).status == 403
    assert see(database, rejected) is PaymentState.REFUND_REJECTED
