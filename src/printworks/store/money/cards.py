"""The cards of merchants, and the pages on which they are entered."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, delete, insert, select, update

from printworks.errors import NotFound
from printworks.rules.cards import CardState
from printworks.rules.payments import OPEN_PAYMENTS, Payer
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, find_struct
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import card_setups, merchants, payment_requests, saved_cards


class CardSetup(msgspec.Struct, frozen=True):
    """A page on which a merchant enters a card."""

    id: int
    merchant_id: int
    key: str
    provider: str
    state: CardState
    customer: str
    reference: str
    reason: str | None
    expires_at: datetime
    created_at: datetime


class NewCardSetup(msgspec.Struct, frozen=True, kw_only=True):
    """A page that a provider is about to be asked for."""

    merchant_id: int
    key: str
    provider: str
    customer: str
    expires_at: datetime


class ShownCard(msgspec.Struct, frozen=True):
    """What may be shown of a merchant's card."""

    provider: str
    payment_method: str
    brand: str
    last_four: str
    expires_month: int
    expires_year: int
    refusal: str | None = None


_SETUP: Final = columns_of(card_setups, CardSetup)
_SHOWN: Final = columns_of(saved_cards, ShownCard)


def insert_setup(db: Connection, new: NewCardSetup, *, now: datetime) -> CardSetup:
    """Add a page, before its provider is asked for it; those that were open are replaced."""
    give_up_setups(db, new.merchant_id)
    values = {**msgspec.structs.asdict(new), "state": CardState.WAITING, "created_at": now}
    return CardSetup(*db.execute(insert(card_setups).values(**values).returning(*_SETUP)).one())


def give_up_setups(db: Connection, merchant_id: int) -> None:
    """Let no card count that is entered on the pages of a merchant that are open."""
    waiting = update(card_setups).where(
        card_setups.c.merchant_id == merchant_id, card_setups.c.state == CardState.WAITING
    )
    db.execute(waiting.values(state=CardState.REPLACED))


def find_setup(db: Connection, setup_id: int) -> CardSetup | None:
    return find_struct(db, CardSetup, select(*_SETUP).where(card_setups.c.id == setup_id))


def find_setup_by_key(db: Connection, key: str) -> CardSetup | None:
    """Return a page by the key that its provider and its merchant know."""
    # PostgreSQL raises an error for some text, such as a zero byte.
    if not key.isascii() or not key.isprintable():
        return None
    return find_struct(db, CardSetup, select(*_SETUP).where(card_setups.c.key == key))


def lock_setup(db: Connection, setup_id: int) -> CardSetup:
    """Return a page, and let nobody else change the cards of its merchant until the end."""
    setup = find_setup(db, setup_id)
    if setup is None:
        raise NotFound(f"There is no card setup {setup_id}.")
    lock_cards(db, setup.merchant_id)
    query = select(*_SETUP).where(card_setups.c.id == setup_id)
    return CardSetup(*db.execute(query).one())


def purge_setups(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete pages that were over before then, unless nobody knows what became of them."""
    is_old = (card_setups.c.expires_at < before) & (card_setups.c.state != CardState.WAITING)
    return delete_oldest(db, card_setups.c.expires_at, is_old, limit=limit)


def lock_cards(db: Connection, merchant_id: int) -> None:
    """Let nobody else change the card of a merchant until the end."""
    # Rows that refer to the merchant, such as new orders, need not wait.
    mine = select(merchants.c.id).where(merchants.c.id == merchant_id)
    db.execute(mine.with_for_update(key_share=True)).one()


def update_setup(db: Connection, setup: CardSetup, values: Mapping[str, object]) -> CardSetup:
    """Change a page."""
    db.execute(update(card_setups).where(card_setups.c.id == setup.id).values(**values))
    return msgspec.structs.replace(setup, **values)


def find_shown_card(db: Connection, merchant_id: int) -> ShownCard | None:
    """Return what may be shown of a merchant's card; None if nothing is known of the one in use."""
    query = (
        select(*_SHOWN)
        .join_from(saved_cards, merchants)
        .where(
            saved_cards.c.merchant_id == merchant_id,
            saved_cards.c.payment_method == merchants.c.payment_method,
        )
    )
    return find_struct(db, ShownCard, query)


def write_shown_card(db: Connection, merchant_id: int, card: ShownCard, *, now: datetime) -> None:
    """Store what may be shown of a merchant's card."""
    values = {**msgspec.structs.asdict(card), "saved_at": now}
    db.execute(insert_or_update(db, saved_cards, {"merchant_id": merchant_id}, values))


def drop_shown_card(db: Connection, merchant_id: int) -> None:
    db.execute(delete(saved_cards).where(saved_cards.c.merchant_id == merchant_id))


def note_refusal(
    db: Connection, merchant_id: int, payment_method: str, refusal: str | None
) -> None:
    """Store why a card was refused, or that it was taken."""
    changed = update(saved_cards).where(
        saved_cards.c.merchant_id == merchant_id, saved_cards.c.payment_method == payment_method
    )
    if refusal is None:
        changed = changed.where(saved_cards.c.refusal.is_not(None))
    db.execute(changed.values(refusal=refusal))


def is_being_charged(db: Connection, merchant_id: int, payment_method: str) -> bool:
    """Whether a payment by this card is under way."""
    query = select(payment_requests.c.id).where(
        payment_requests.c.merchant_id == merchant_id,
        payment_requests.c.payer == Payer.MERCHANT,
        payment_requests.c.payment_method == payment_method,
        payment_requests.c.state.in_(sorted(OPEN_PAYMENTS)),
    )
    return db.execute(query.limit(1)).first() is not None
