"""Changing the address or shipping method of an order while its labs allow it."""

from collections.abc import Mapping
from typing import Final

from printworks.actions.orders.orders import change_order
from printworks.actions.orders.quotes import find_shipping
from printworks.actions.payments.balances import read_owed
from printworks.actions.payments.charges import charge_order, refund_charge
from printworks.actions.production.lab_limits import check_lab_of_key
from printworks.actions.production.release import (
    enqueue_sending,
    offer_to_labs,
    permissions_of,
    record_shipments,
    stop_labs,
)
from printworks.actions.taxes import tax_other_shipping
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.rules.events import OrderChanged
from printworks.rules.issues import check_not_compensated
from printworks.rules.merchants import check_same_currency
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import is_on_account, may_owe
from printworks.rules.reasons import AT_LABS, drop_reasons
from printworks.store.images.images import list_images, sum_items
from printworks.store.issues.issues import is_compensated
from printworks.store.money.ledger import lock_books, read_credit_limit
from printworks.store.orders.orders import Order, update_order
from printworks.store.orders.shipments import Shipments, list_shipments

# Not the country: another one may have other products.
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


def change_shipping(work: Work, order: Order, values: Mapping[str, object]) -> Order:
    """Give an order another address or shipping method; the names are those of `CHANGEABLE`.

    The lab jobs of a submitted order are cancelled and offered again; another shipping method
    is charged instead of the old one.
    """
    assert values.keys() <= CHANGEABLE  # noqa: S101
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        return change_order(work, order, values)
    check_lab_of_key(work, order)
    shipments = list_shipments(work.db, order.id)
    if not permissions_of(order, shipments, work.catalogue).update_shipping:
        message = f"The address of an order that is {order.status} can no longer be changed."
        raise WrongState(message)
    changed = {name: value for name, value in values.items() if getattr(order, name) != value}
    if not changed:
        return order
    # What kept its jobs at their labs ends with them.
    reasons = drop_reasons(order.reasons, AT_LABS)
    values = {**changed, "reasons": reasons, "updated_at": work.now}
    updated = update_order(work.db, order, values)
    work.record(order.id, OrderChanged(sorted(changed)))
    work.audit("change-shipping", f"order {order.id}", fields=sorted(changed))
    if "shipping_method" in changed:
        work.check_may_spend()
        updated = _reprice(work, order, updated, shipments)
    # Always: a job that is being sent to a lab now has the old address.
    _reoffer(work, updated)
    return updated


def _reprice(work: Work, before: Order, order: Order, shipments: Shipments) -> Order:
    check_not_compensated(is_compensated=is_compensated(work.db, before.id))
    currency = order.currency or work.merchant.currency
    check_same_currency(currency, work.merchant.currency)
    items = sum_items(work.db, order.id)
    shipping = find_shipping(order, items, work.catalogue, currency)
    price = before.price - before.shipping_price + shipping
    taxed = tax_other_shipping(work, order, shipping)
    repriced = update_order(work.db, order, {"price": price, "shipping_price": shipping, **taxed})
    _require_credit(work, repriced.total - before.total)
    refund_charge(work, before)
    charge_order(work, repriced, list_images(work.db, order.id), shipments)
    return repriced


def _require_credit(work: Work, added: int) -> None:
    """Refuse a difference beyond the merchant's credit: no card is charged for it."""
    # Locked, so that two orders at once cannot exceed the same limit.
    lock_books(work.db, work.merchant.id)
    owed = read_owed(work.db, work.merchant.id)
    limit = read_credit_limit(work.db, work.merchant.id)
    on_account = is_on_account(work.merchant.billing, work.cards)
    if added > 0:
        work.check_may_order()
    if added > 0 and not may_owe(added, owed=owed, limit=limit, on_account=on_account):
        raise WrongState("The order cannot be changed: AccountBalanceInsufficient.")


def _reoffer(work: Work, order: Order) -> None:
    stop_labs(work, order)
    images = list_images(work.db, order.id)
    offered = offer_to_labs(work, order, images)
    record_shipments(work, order, offered, [shipment.id for shipment in offered])
    enqueue_sending(work, order, offered, images)
