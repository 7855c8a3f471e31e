"""Merchants save, replace and remove their own card.

The provider is never called in a transaction. The page is written down before it is asked for, with
a job that finds out what became of it; the merchant's return, the provider's event and the job all
settle it, and the first one counts.
"""

import secrets

from printworks.actions.work import SystemWork, Work
from printworks.errors import WrongState
from printworks.payments.cards import CardDetails, CardOutcome, CardPage, CardRefused, CardRequest
from printworks.rules.cards import SAVE_WITHIN, CardState
from printworks.rules.jobs import JobKind
from printworks.rules.payments import CHECK_AFTER, is_on_account
from printworks.store.accounts.merchants import Merchant
from printworks.store.money.cards import (
    CardSetup,
    NewCardSetup,
    ShownCard,
    drop_shown_card,
    find_setup_by_key,
    give_up_setups,
    insert_setup,
    is_being_charged,
    lock_cards,
    lock_setup,
    update_setup,
    write_shown_card,
)
from printworks.store.money.payments import SavedCard, get_card, save_card

NO_CARDS = "This service charges no cards."


def begin_card(work: Work) -> CardSetup:
    """Write down that a merchant wants to save a card; a page that was open is not used any more."""
    if work.cards is None:
        raise WrongState(NO_CARDS)
    lock_cards(work.db, work.merchant.id)
    new = NewCardSetup(
        merchant_id=work.merchant.id,
        # Unique at the provider, even across deployments.
        key=secrets.token_urlsafe(24),
        provider=work.cards.provider,
        customer=get_card(work.db, work.merchant.id).customer,
        expires_at=work.real_now + SAVE_WITHIN,
    )
    setup = insert_setup(work.db, new, now=work.real_now)
    work.enqueue_unowned(JobKind.CHECK_CARD, {"setup": setup.id}, wait=CHECK_AFTER)
    work.audit("replace-card", work.merchant.code)
    return setup


def describe_request(merchant: Merchant, setup: CardSetup) -> CardRequest:
    """Return what the provider is asked for."""
    return CardRequest(
        key=setup.key,
        merchant=merchant.code,
        currency=merchant.currency,
        customer=setup.customer,
    )


def settle_card(system: SystemWork, setup_id: int, outcome: CardOutcome) -> CardSetup:
    """Apply what a provider says about a page. Idempotent."""
    setup = lock_setup(system.db, setup_id)
    match outcome:
        case CardDetails():
            return _save(system, setup, outcome)
        case CardRefused() if setup.state is CardState.WAITING:
            refused = {"state": CardState.REFUSED, "reason": outcome.reason}
            return update_setup(system.db, setup, refused)
        case CardPage() if setup.state is CardState.WAITING and not setup.reference:
            return update_setup(system.db, setup, {"reference": outcome.reference})
    return setup


def _save(system: SystemWork, setup: CardSetup, card: CardDetails) -> CardSetup:
    if setup.state is CardState.SAVED:
        return setup
    if setup.state is CardState.REPLACED:
        # Entered on a page that was given up: a later one counts.
        _forget(system, setup.merchant_id, setup.provider, card.payment_method)
        return setup
    former = get_card(system.db, setup.merchant_id)
    save_card(system.db, setup.merchant_id, SavedCard(card.customer, card.payment_method))
    shown = ShownCard(
        provider=setup.provider,
        payment_method=card.payment_method,
        brand=card.brand,
        last_four=card.last_four,
        expires_month=card.expires_month,
        expires_year=card.expires_year,
    )
    write_shown_card(system.db, setup.merchant_id, shown, now=system.real_now)
    if former.payment_method not in {"", card.payment_method}:
        _forget(system, setup.merchant_id, setup.provider, former.payment_method)
    return update_setup(system.db, setup, {"state": CardState.SAVED, "reason": None})


def _forget(system: SystemWork, merchant_id: int, provider: str, payment_method: str) -> None:
    args = {"merchant": merchant_id, "provider": provider, "card": payment_method}
    key = f"{JobKind.FORGET_CARD}:{payment_method}"
    system.enqueue_unowned(JobKind.FORGET_CARD, args, dedupe_key=key)


def remove_card(work: Work) -> None:
    """Remove the card of a merchant, and let the provider forget it."""
    lock_cards(work.db, work.merchant.id)
    card = get_card(work.db, work.merchant.id)
    if not card.payment_method:
        raise WrongState("No card is saved.")
    if work.cards is not None and not is_on_account(work.merchant.billing, work.cards):
        raise WrongState(
            "Your orders are paid by this card, so it cannot be removed. Replace it, or ask the "
            "operator to let you order on account."
        )
    if is_being_charged(work.db, work.merchant.id, card.payment_method):
        raise WrongState("An order is being paid by this card. Wait until that has ended.")
    _drop(work, card)
    work.audit("remove-card", work.merchant.code)


def forget_cards(work: Work) -> None:
    """Remove what is saved of a merchant whose account is closed, and let no card be saved."""
    lock_cards(work.db, work.merchant.id)
    give_up_setups(work.db, work.merchant.id)
    card = get_card(work.db, work.merchant.id)
    if card.payment_method:
        _drop(work, card)


def _drop(work: Work, card: SavedCard) -> None:
    save_card(work.db, work.merchant.id, SavedCard(card.customer, ""))
    drop_shown_card(work.db, work.merchant.id)
    if work.cards is not None:
        _forget(work, work.merchant.id, work.cards.provider, card.payment_method)


def recheck_card(system: SystemWork, key: str, *, event_id: str) -> None:
    """Enqueue a look at a page about which its provider has sent an event.

    The event itself is not applied, because events arrive late, twice and in any order.
    """
    setup = find_setup_by_key(system.db, key)
    if setup is not None:
        dedupe_key = f"{setup.provider}:{event_id}"
        system.enqueue_unowned(JobKind.CHECK_CARD, {"setup": setup.id}, dedupe_key=dedupe_key)
