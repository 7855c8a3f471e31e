"""`printworks ledger rejected-refunds`, `refund-again` and `repaid`: what a bank did not take."""

import pytest

from tests.actions.test_refunds import a_rejected_payment
from tests.cli.operators import NO_NUMBER, Operator


@pytest.fixture
def payment(keeper: Operator) -> str:
    """The number of a payment whose refund the bank rejected."""
    with keeper.database.writing() as db:
        return str(a_rejected_payment(db, keeper.merchant).id)


@pytest.mark.both_databases
def test_they_are_listed_until_they_were_repaid(keeper: Operator, payment: str) -> None:
    [found] = keeper.reads("ledger", "rejected-refunds")
    for_people = keeper.asks("ledger", "rejected-refunds").said.splitlines()

    noted = keeper.asks("ledger", "repaid", payment, "--memo", "transfer of 3 May")

    assert (str(found["id"]), found["payer"]) == (payment, "merchant")
    assert for_people[1].rstrip().endswith("The card has expired or was cancelled.")
    assert noted.said == f"Payment {payment} is noted as repaid.\n"
    assert keeper.asks("ledger", "rejected-refunds").said == "No refund was rejected.\n"
    assert "transfer of 3 May" in keeper.asks("ledger", "statement", keeper.merchant.code).said
    assert keeper.asks("ledger", "verify").code == 0


def test_one_is_sent_again_once(keeper: Operator, payment: str) -> None:
    sent = keeper.asks("ledger", "refund-again", payment)
    again = keeper.asks("ledger", "refund-again", payment)

    assert sent.said == f"The refund of payment {payment} is being sent again.\n"
    assert again.code == 1
    assert "No rejected refund of this payment" in again.complained


def test_a_payment_that_does_not_exist_is_a_mistake(keeper: Operator) -> None:
    ended = keeper.asks("ledger", "refund-again", NO_NUMBER)

    assert ended.code == 1
    assert ended.complained == f"printworks: There is no payment {NO_NUMBER}.\n"
