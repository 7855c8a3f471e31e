"""Changing where an order goes and how fast, for as long as every lab of it allows that."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from printworks.actions.orders.moves import CHANGED_MEANWHILE
from printworks.actions.orders.orders import change_order
from printworks.actions.orders.quotes import find_quote
from printworks.actions.payments.charges import charge_order, refund_charge
from printworks.actions.production.production import (
    enqueue_sending,
    offer_to_labs,
    permissions_of,
    record_shipments,
    stop_labs,
)
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.rules.events import OrderChanged
from printworks.rules.issues import check_not_compensated
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import list_images
from printworks.store.issues.issues import is_compensated
from printworks.store.labs.shipments import list_shipments
from printworks.store.money.ledger import lock_books, read_credit_limit
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, update_order

# What may be changed; another country could mean other products.
CHANGEABLE: Final = frozenset(
    {
        "recipient_name",
        "address1",
        "address2",
        "town_or_city",
        "state_or_county",
        "postal_code",
        "shipping_method",
    }
)


def change_shipping(
    db: Connection,
    merchant: Merchant,
    order: Order,
    values: Mapping[str, object],
    *,
    catalogue: Catalogue,
    now: datetime,
) -> Order:
    """Give an order another address or shipping method; the names are those of `CHANGEABLE`.

    Of an order that is submitted, what labs were told is called off and offered anew; and if it
    travels otherwise, it is charged anew.
    """
    assert values.keys() <= CHANGEABLE  # noqa: S101
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        return change_order(db, merchant, order, values, catalogue=catalogue, now=now)
    shipments = list_shipments(db, order.id)
    if not permissions_of(order, shipments, catalogue).update_shipping:
        message = f"The address of an order that is {order.status} can no longer be changed."
        raise WrongState(message)
    changed = {name: value for name, value in values.items() if getattr(order, name) != value}
    if not changed:
        return order
    updated = update_order(db, order, {**changed, "updated_at": now})
    if updated is None:
        raise WrongState(CHANGED_MEANWHILE)
    record_event(db, order.id, OrderChanged(sorted(changed)), now=now)
    if "shipping_method" in changed:
        updated = _charge_anew(db, merchant, order, updated, catalogue, now=now)
    # Always: what is just being handed over has the old address on it.
    _offer_anew(db, merchant, updated, catalogue, now=now)
    return updated


def _charge_anew(
    db: Connection,
    merchant: Merchant,
    before: Order,
    order: Order,
    catalogue: Catalogue,
    *,
    now: datetime,
) -> Order:
    check_not_compensated(is_compensated=is_compensated(db, before.id))
    quote = find_quote(merchant, order, list_images(db, order.id), catalogue, now=now)
    prices = {"price": before.price - before.shipping_price + quote.shipping}
    _require_room(db, merchant, prices["price"] - before.price)
    refund_charge(db, merchant, before, now=now)
    repriced = update_order(db, order, {**prices, "shipping_price": quote.shipping}) or order
    charge_order(db, merchant, repriced, now=now)
    return repriced


def _require_room(db: Connection, merchant: Merchant, added: int) -> None:
    """Refuse what the merchant may not owe: no card is charged for the difference."""
    owed, limit = lock_books(db, merchant.id).balance, read_credit_limit(db, merchant.id)
    if limit is not None:
        is_allowed = owed + added <= limit
    else:
        # Who pays by card may owe the difference of one order, and has to pay that first.
        is_allowed = merchant.billing is Billing.ACCOUNT or owed <= 0
    if added > 0 and not is_allowed:
        raise WrongState("The order cannot be changed: AccountBalanceInsufficient.")


def _offer_anew(
    db: Connection, merchant: Merchant, order: Order, catalogue: Catalogue, *, now: datetime
) -> None:
    stop_labs(db, merchant, order, now=now)
    images = list_images(db, order.id)
    offered = offer_to_labs(db, merchant, order, images, catalogue, now=now)
    record_shipments(db, order, offered, [shipment.id for shipment in offered], now=now)
    enqueue_sending(db, merchant, order, offered, images, now=now)
