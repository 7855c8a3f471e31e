"""What callers rely on, whoever takes the money."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.error import HTTPError

import pytest

from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Paid,
    PaymentProvider,
    ProviderUnavailable,
    Refunded,
    Unknown,
)
from tests.payments.banks import AccountBank, Bank, ask_payer_until_known, ask_until_known


def charge_and_wait(bank: Bank) -> tuple[Charge, NeedsAuthorisation]:
    """Charge what needs authorisation."""
    charge = bank.a_charge("waiting")
    waiting = bank.provider.charge(charge)
    assert isinstance(waiting, NeedsAuthorisation)
    return charge, waiting


def test_charging_twice_with_one_key_is_charging_once(any_bank: AccountBank | Bank) -> None:
    charge = any_bank.a_charge("paid")

    first = any_bank.provider.charge(charge)
    second = any_bank.provider.charge(charge)

    assert isinstance(first, Paid)
    assert first == second
    assert first.provider == any_bank.provider.name


def test_what_was_paid_can_be_looked_up_with_and_without_its_reference(
    any_bank: AccountBank | Bank,
) -> None:
    charge = any_bank.a_charge("paid")

    paid = any_bank.provider.charge(charge)

    assert isinstance(paid, Paid)
    assert any_bank.provider.look_up(charge) == paid
    assert any_bank.provider.look_up(charge, paid.reference) == paid


def test_refunding_twice_is_harmless(any_bank: AccountBank | Bank) -> None:
    charge = any_bank.a_charge("paid")
    paid = any_bank.provider.charge(charge)
    assert isinstance(paid, Paid)

    outcomes = [any_bank.provider.refund(charge, paid) for _ in range(2)]

    assert outcomes == [Refunded()] * 2
    assert any_bank.provider.look_up_refund(charge, paid) == Refunded()
    assert any_bank.provider.look_up(charge) == paid


def test_cancelling_what_is_paid_says_so(any_bank: AccountBank | Bank) -> None:
    charge = any_bank.a_charge("paid")
    paid = any_bank.provider.charge(charge)
    assert isinstance(paid, Paid)

    assert any_bank.provider.cancel(charge, paid.reference) == paid


def test_a_provider_has_a_name(provider: PaymentProvider) -> None:
    assert provider.name in {"account", "simulated", "stripe"}


def test_money_is_taken_once_and_given_back_once(bank: Bank) -> None:
    charge = bank.a_charge("paid")
    paid = bank.provider.charge(charge)
    assert isinstance(paid, Paid)
    bank.provider.charge(charge)
    assert bank.count(charge) == (1, 0)

    bank.provider.refund(charge, paid)
    bank.provider.refund(charge, paid)

    assert bank.count(charge) == (1, 1)


def test_a_charge_may_be_tried_by_many_at_the_same_time(bank: Bank) -> None:
    charge = bank.a_charge("paid")

    def try_it(_turn: int) -> object:
        try:
            return bank.provider.charge(charge)
        except ProviderUnavailable:
            return None  # It is still at work on the same charge for somebody else.

    with ThreadPoolExecutor(8) as pool:
        outcomes = set(pool.map(try_it, range(16))) - {None}

    assert len(outcomes) == 1
    assert bank.count(charge) == (1, 0)


def test_another_key_is_another_charge(bank: Bank) -> None:
    first, second = bank.a_charge("paid"), bank.a_charge("paid")

    assert bank.provider.charge(first) != bank.provider.charge(second)


def test_what_was_never_charged_is_unknown(bank: Bank) -> None:
    charge = bank.a_charge("paid")

    assert bank.provider.look_up(charge) == Unknown()
    assert bank.count(charge) == (0, 0)


def test_a_refusal_is_an_answer_with_a_sentence(bank: Bank) -> None:
    charge = bank.a_charge("declined")

    declined = bank.provider.charge(charge)

    assert declined == Declined(reason="The bank declined the card.")
    assert bank.provider.charge(charge) == declined
    assert bank.provider.look_up(charge) == declined
    assert bank.count(charge) == (0, 0)


def test_nothing_is_taken_before_it_is_authorised(bank: Bank) -> None:
    charge, waiting = charge_and_wait(bank)

    assert waiting.url.startswith("https://")
    assert bank.provider.charge(charge) == waiting
    assert bank.provider.look_up(charge) == waiting
    assert bank.provider.look_up(charge, waiting.reference) == waiting
    assert bank.count(charge) == (0, 0)


def test_what_is_authorised_is_paid(bank: Bank) -> None:
    charge, waiting = charge_and_wait(bank)

    bank.authorise(waiting.reference, agrees=True)

    paid = Paid(provider=bank.provider.name, reference=waiting.reference)
    assert bank.provider.look_up(charge) == paid
    assert bank.provider.look_up(charge, waiting.reference) == paid
    assert bank.provider.charge(charge) == paid
    assert bank.count(charge) == (1, 0)


def test_what_the_payer_refuses_is_declined(bank: Bank) -> None:
    charge, waiting = charge_and_wait(bank)

    bank.authorise(waiting.reference, agrees=False)

    assert bank.provider.look_up(charge) == Declined(reason="The payment was not authorised.")
    assert bank.provider.charge(charge) == Declined(reason="The payment was not authorised.")
    assert bank.count(charge) == (0, 0)


def test_what_is_cancelled_while_it_waits_is_never_taken(bank: Bank) -> None:
    charge, waiting = charge_and_wait(bank)

    first = bank.provider.cancel(charge, waiting.reference)
    second = bank.provider.cancel(charge, waiting.reference)

    assert first == second == Declined(reason="The payment was cancelled.")
    assert bank.provider.look_up(charge) == first
    assert bank.provider.charge(charge) == first
    assert bank.count(charge) == (0, 0)


def test_an_authorisation_that_is_quicker_than_the_cancelling_holds(bank: Bank) -> None:
    charge, waiting = charge_and_wait(bank)
    bank.authorise(waiting.reference, agrees=True)

    outcome = bank.provider.cancel(charge, waiting.reference)

    assert outcome == Paid(provider=bank.provider.name, reference=waiting.reference)
    assert bank.count(charge) == (1, 0)


@pytest.mark.parametrize(("outcome", "taken"), [("paid", 1), ("waiting", 0)])
def test_a_lost_answer_can_be_looked_up(bank: Bank, outcome: str, taken: int) -> None:
    charge = bank.a_charge(outcome, lost=True)
    with pytest.raises(ProviderUnavailable):
        bank.provider.charge(charge)

    found = bank.provider.look_up(charge)

    assert isinstance(found, Paid if taken else NeedsAuthorisation)
    assert bank.provider.charge(charge) == found
    assert bank.count(charge) == (taken, 0)


def test_whoever_takes_over_after_a_lost_answer_charges_no_second_time(bank: Bank) -> None:
    charge = bank.a_charge("paid", lost=True)
    with pytest.raises(ProviderUnavailable):
        bank.provider.charge(charge)

    outcomes = [ask_until_known(bank.provider, charge) for _ in range(3)]

    assert len(set(outcomes)) == 1
    assert bank.count(charge) == (1, 0)


def ask_and_wait(bank: Bank) -> tuple[Charge, NeedsAuthorisation]:
    """Ask somebody who has not paid yet."""
    charge = bank.a_charge_to_ask_for()
    waiting = bank.provider.ask_payer(charge)
    assert isinstance(waiting, NeedsAuthorisation)
    return charge, waiting


def test_asking_twice_with_one_key_is_asking_once(any_bank: AccountBank | Bank) -> None:
    charge = any_bank.a_charge_to_ask_for()

    first = any_bank.provider.ask_payer(charge)
    second = any_bank.provider.ask_payer(charge)

    assert isinstance(first, NeedsAuthorisation | Declined)
    assert first == second


def test_on_account_nobody_but_the_merchant_can_pay() -> None:
    account = AccountBank()

    outcome = account.provider.ask_payer(account.a_charge_to_ask_for())

    assert outcome == Declined(reason="This service takes no cards.")


def test_nothing_is_taken_before_the_payer_pays(bank: Bank) -> None:
    charge, waiting = ask_and_wait(bank)

    assert waiting.url.startswith("https://")
    assert bank.provider.look_up(charge) == waiting
    assert bank.provider.look_up(charge, waiting.reference) == waiting
    assert bank.count(charge) == (0, 0)


def test_a_payer_may_be_asked_by_many_at_the_same_time(bank: Bank) -> None:
    charge = bank.a_charge_to_ask_for()

    def try_it(_turn: int) -> object:
        try:
            return bank.provider.ask_payer(charge)
        except ProviderUnavailable:
            return None  # It is still at work on the same charge for somebody else.

    with ThreadPoolExecutor(8) as pool:
        outcomes = set(pool.map(try_it, range(16))) - {None}

    assert len(outcomes) == 1


def test_another_key_asks_for_another_payment(bank: Bank) -> None:
    _, first = ask_and_wait(bank)
    _, second = ask_and_wait(bank)

    assert first.reference != second.reference
    assert first.url != second.url


def test_what_was_never_asked_for_is_unknown(bank: Bank) -> None:
    assert bank.provider.look_up(bank.a_charge_to_ask_for()) == Unknown()


def test_what_the_payer_pays_is_paid_once(bank: Bank) -> None:
    charge, waiting = ask_and_wait(bank)

    bank.pay(waiting.reference)

    paid = bank.provider.look_up(charge, waiting.reference)
    assert isinstance(paid, Paid)
    assert paid.provider == bank.provider.name
    assert bank.provider.look_up(charge) == paid
    assert bank.provider.look_up(charge, paid.reference) == paid
    assert bank.provider.ask_payer(charge) == paid
    assert bank.provider.cancel(charge, paid.reference) == paid
    assert bank.count(charge) == (1, 0)


def test_what_the_payer_paid_is_given_back_once(bank: Bank) -> None:
    charge, waiting = ask_and_wait(bank)
    bank.pay(waiting.reference)
    paid = bank.provider.look_up(charge)
    assert isinstance(paid, Paid)

    bank.provider.refund(charge, paid)
    bank.provider.refund(charge, paid)

    assert bank.count(charge) == (1, 1)
    assert bank.provider.look_up(charge) == paid


def test_what_is_cancelled_before_the_payer_pays_is_never_taken(bank: Bank) -> None:
    charge, waiting = ask_and_wait(bank)

    first = bank.provider.cancel(charge, waiting.reference)
    second = bank.provider.cancel(charge, waiting.reference)

    assert first == second == Declined(reason="The payment was cancelled.")
    assert isinstance(bank.provider.look_up(charge), Declined)
    assert isinstance(bank.provider.look_up(charge, waiting.reference), Declined)
    assert isinstance(bank.provider.ask_payer(charge), Declined)
    with suppress(HTTPError):
        bank.pay(waiting.reference)
    assert bank.count(charge) == (0, 0)


def test_a_payer_who_is_quicker_than_the_cancelling_has_paid(bank: Bank) -> None:
    charge, waiting = ask_and_wait(bank)
    bank.pay(waiting.reference)

    outcome = bank.provider.cancel(charge, waiting.reference)

    assert isinstance(outcome, Paid)
    assert bank.provider.look_up(charge) == outcome
    assert bank.count(charge) == (1, 0)


def test_what_is_not_paid_in_time_is_declined(bank: Bank) -> None:
    charge = bank.a_charge_without_time()
    waiting = bank.provider.ask_payer(charge)
    assert isinstance(waiting, NeedsAuthorisation)

    bank.run_out(waiting.reference)

    declined = bank.provider.look_up(charge, waiting.reference)
    assert isinstance(declined, Declined)
    assert declined.reason.endswith("in time.")
    assert bank.provider.look_up(charge) == declined
    assert bank.provider.ask_payer(charge) == declined
    assert isinstance(bank.provider.cancel(charge, waiting.reference), Declined)
    assert bank.count(charge) == (0, 0)


def test_an_address_that_was_lost_on_the_way_can_be_looked_up(bank: Bank) -> None:
    charge = bank.a_charge_to_ask_for(lost=True)
    with pytest.raises(ProviderUnavailable):
        bank.provider.ask_payer(charge)

    found = bank.provider.look_up(charge)

    assert isinstance(found, NeedsAuthorisation)
    assert bank.provider.ask_payer(charge) == found
    assert [ask_payer_until_known(bank.provider, charge) for _ in range(3)] == [found] * 3
