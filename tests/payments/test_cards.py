"""Saving a card: at Stripe in set-up mode, and at the simulated bank."""

import pytest

from printworks.payments.account import AccountProvider
from printworks.payments.cards import CardDetails, CardRefused, CardRequest
from printworks.payments.provider import Declined, Paid, ProviderUnavailable
from printworks.payments.quarantined import QuarantinedProvider
from tests.payments.banks import CARDS, SimulatedBank, StripeBank, a_charge

ALICE = CardRequest(key="k" * 24, merchant="alice", currency="GBP")


def test_a_card_is_saved_at_stripe_charged_and_forgotten(stripe_bank: StripeBank) -> None:
    provider = stripe_bank.provider
    request = CardRequest(key=a_charge().key, merchant="alice", currency="GBP")

    page = provider.ask_for_card(request)
    again = provider.ask_for_card(request)
    before = provider.look_up_card(page.reference)
    stripe_bank.server.save_on_page(page.reference, CARDS["paid"])
    saved = provider.look_up_card(page.reference)

    assert page == again == before
    assert isinstance(saved, CardDetails)
    assert (saved.brand, saved.last_four) == ("visa", "4242")
    assert (saved.expires_month, saved.expires_year) == (12, 2040)
    charge = a_charge(customer=saved.customer, payment_method=saved.payment_method)
    assert isinstance(provider.charge(charge), Paid)
    provider.forget_card(saved.payment_method)
    provider.forget_card(saved.payment_method)


def test_a_page_that_ran_out_saves_no_card(stripe_bank: StripeBank) -> None:
    key = a_charge().key
    page = stripe_bank.provider.ask_for_card(CardRequest(key=key, merchant="alice", currency="GBP"))
    stripe_bank.server.ask("POST", f"/v1/checkout/sessions/{page.reference}/expire")

    assert isinstance(stripe_bank.provider.look_up_card(page.reference), CardRefused)


def test_a_customer_is_used_again(stripe_bank: StripeBank) -> None:
    customer, _ = stripe_bank.server.save_card(CARDS["paid"])
    page = stripe_bank.provider.ask_for_card(
        CardRequest(key=a_charge().key, merchant="alice", currency="GBP", customer=customer)
    )
    stripe_bank.server.save_on_page(page.reference, CARDS["paid"])

    saved = stripe_bank.provider.look_up_card(page.reference)

    assert isinstance(saved, CardDetails)
    assert saved.customer == customer


def test_a_test_card_is_chosen_once_at_the_simulated_bank(simulated: SimulatedBank) -> None:
    bank = simulated.simulated
    page = bank.ask_for_card(ALICE)
    assert bank.ask_for_card(ALICE) == page == bank.look_up_card(page.reference)

    bank.save_card(page.reference, "4242")
    bank.refuse_card(page.reference)
    bank.forget_card("sim_4242_x")

    saved = bank.look_up_card(page.reference)
    assert isinstance(saved, CardDetails)
    assert (saved.brand, saved.last_four) == ("visa", "4242")


def test_a_bad_test_card_is_declined_and_none_is_refused(simulated: SimulatedBank) -> None:
    bank = simulated.simulated
    page = bank.ask_for_card(ALICE)
    bank.refuse_card(page.reference)

    assert isinstance(bank.look_up_card(page.reference), CardRefused)
    assert isinstance(bank.charge(a_charge(payment_method="sim_0002_x")), Declined)
    assert isinstance(bank.charge(a_charge(payment_method="sim_4242_x")), Paid)


def test_where_no_card_is_charged_none_is_saved() -> None:
    account, quarantined = AccountProvider(), QuarantinedProvider("stripe")
    account.forget_card("x")

    assert isinstance(account.look_up_card("x"), CardRefused)
    for provider in (account, quarantined):
        with pytest.raises(ProviderUnavailable):
            provider.ask_for_card(ALICE)
    with pytest.raises(ProviderUnavailable):
        quarantined.look_up_card("x")
    with pytest.raises(ProviderUnavailable):
        quarantined.forget_card("x")
