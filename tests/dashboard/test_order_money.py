"""The money of an order: who pays what, what is left, and what will be charged to what."""

import pytest
from msgspec.structs import replace

from printworks.actions.payments.by_hand import PostingByHand, post_money
from printworks.dashboard.merchant.account.means import Means, announce_charge
from printworks.dashboard.shared.money_words import (
    describe_balance,
    describe_entry,
    describe_their_balance,
)
from printworks.rules.ledger import EntryKind
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from tests.api.images import add, create
from tests.api.production import set_status
from tests.dashboard.scenes import hand_in, hear
from tests.dashboard.windows import Window, merchant_of
from tests.factories import a_work

CARD = Means(
    is_on_account=False,
    owed=0,
    limit=None,
    left=None,
    provider="stripe",
    card="4242",
    balance_pays=True,
)


def on_account(limit: int | None, left: int | None) -> Means:
    """Return the means of somebody who pays by invoice."""
    return replace(CARD, is_on_account=True, limit=limit, left=left, provider="", card="")


@pytest.mark.parametrize(
    ("means", "said"),
    [
        (CARD, "£33.70 will be charged to your saved card …4242."),
        (on_account(None, None), "£33.70 will be charged to your account."),
        (
            on_account(50_000, 12_000),
            "£33.70 will be charged to your account. "
            "Before that, £120.00 of your limit of £500.00 is left.",
        ),
    ],
)
def test_it_is_said_before_what_will_be_charged_to_what(means: Means, said: str) -> None:
    assert announce_charge(means, 3370, "GBP") == said


@pytest.mark.parametrize(
    ("means", "taken", "said"),
    [
        (
            CARD,
            500,
            "£5.00 will be taken from your balance, and £28.70 from your saved card …4242.",
        ),
        (
            replace(CARD, provider="simulated"),
            500,
            "£5.00 will be taken from your balance, and £28.70 from the test card of the sandbox.",
        ),
        (
            replace(CARD, card=""),
            3370,
            "£33.70 will be taken from your balance. Nothing will be charged to a card.",
        ),
    ],
)
def test_it_is_said_what_the_balance_pays(means: Means, taken: int, said: str) -> None:
    assert announce_charge(means, 3370, "GBP", from_balance=taken) == said


def test_what_is_free_is_not_charged() -> None:
    assert announce_charge(CARD, 0, "GBP") == "Nothing will be charged."


@pytest.mark.parametrize("kind", EntryKind)
def test_every_entry_is_a_sentence_without_a_sign(kind: EntryKind) -> None:
    assert "order 42" in describe_entry(kind, 100, 42)
    assert describe_entry(kind, 100)


def test_what_is_charged_as_nothing_is_free() -> None:
    assert describe_entry(EntryKind.CHARGE, 0, 42) == "Order 42, free of charge"
    assert describe_entry(EntryKind.CHARGE, 0) == "Free of charge"


def test_a_balance_says_who_owes_whom() -> None:
    assert describe_balance(1250, "GBP") == "You owe £12.50"
    assert describe_balance(-1250, "GBP") == "£12.50 in your favour"
    assert describe_balance(0, "GBP") == "You owe nothing"
    assert describe_their_balance(1250, "GBP") == "Owes £12.50"
    assert describe_their_balance(-1250, "GBP") == "£12.50 in their favour"
    assert describe_their_balance(0, "GBP") == "Owes nothing"


def test_an_order_says_what_it_will_charge_before_it_is_submitted(alice: Window) -> None:
    order = create(alice.api)
    add(alice.api, order)

    said = alice.words(f"/orders/{order}")

    assert "£2.27 will be charged to the test card of the sandbox. No money is taken." in said
    assert "£1.99 of it is shipping." in said
    assert "One shipment from" in said
    assert "It costs you £2.27" in said


@pytest.mark.both_databases
def test_an_order_says_what_the_balance_will_pay_and_it_does(
    alice: Window, database: Database
) -> None:
    with database.writing() as db:
        credit = PostingByHand(kind=EntryKind.CREDIT, amount=300, memo="sorry")
        post_money(a_work(db, merchant_of(db, alice)), credit)
    orders = [create(alice.api) for _ in range(2)]
    for order in orders:
        add(alice.api, order)

    first = alice.words(f"/orders/{orders[0]}")
    set_status(alice.api, orders[0], "Submitted")
    second = alice.words(f"/orders/{orders[1]}")
    account = alice.words("/account")
    set_status(alice.api, orders[1], "Submitted")

    assert "£2.27 will be taken from your balance. Nothing will be charged to a card." in first
    assert (
        "£0.73 will be taken from your balance, and £1.54 from the test card of the sandbox."
        in second
    )
    assert "It pays for your next orders before your card does" in account
    with database.reading() as db:
        assert read_books(db, merchant_of(db, alice).id).balance == 0


def test_several_shipments_are_explained(alice: Window) -> None:
    order = create(alice.api)
    add(alice.api, order)
    add(alice.api, order, sku="FRA-CLA-8X10", attributes={"frameColour": "black"})

    said = alice.words(f"/orders/{order}")

    assert "It travels in 2 shipments." in said
    assert "are packed differently and cannot share one." in said


def test_what_the_recipient_pays_and_what_it_costs_are_not_confused(alice: Window) -> None:
    order = create(alice.api, payment="InvoiceRecipient")
    add(alice.api, order, priceToUser=1250)

    open_page = alice.words(f"/orders/{order}")
    set_status(alice.api, order, "AwaitingPayment")
    asked = alice.words(f"/orders/{order}")

    assert (
        "The recipient is asked for £14.49. It costs you £2.27. Left for you: £12.22." in open_page
    )
    rows = "The recipient pays £14.49 Prints £0.28 Shipping £1.99 It costs you £2.27 Left for you £12.22"
    assert rows in asked


def test_a_complete_order_cannot_be_asked_to_be_cancelled(
    alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    hear(database, job, LabState.DISPATCHED)

    assert "Cancel this order?" not in alice.words(f"/orders/{order.id}?confirm=cancel-order")


def test_a_proof_opens_in_a_page(alice: Window, bob: Window, database: Database) -> None:
    order, _ = hand_in(database, alice)
    image = alice.api.get(f"/orders/{order.id}").data["images"][0]["id"]
    page = alice.open(f"/orders/{order.id}?image={image}").body.decode()

    assert f'href="/orders/{order.id}/proofs/' in page or "proof__none" in page
    said = alice.words(f"/orders/{order.id}/proofs/{image}")
    assert f"Image 1 of 2 of order {order.id}" in said
    assert "Next image" in said
    assert alice.open(f"/orders/{order.id}/proofs/999999").status == 404
    assert bob.open(f"/orders/{order.id}/proofs/{image}").status == 404
