"""Valid things to test with: each test states only what matters to it."""

from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy import Connection

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.orders.orders import create_order
from printworks.rules.orders import ShippingMethod
from printworks.store.accounts.merchants import Merchant
from printworks.store.orders.orders import NewOrder, Order

NOON: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)


def a_merchant(db: Connection, name: str = "Alice", **values: Any) -> Merchant:
    """Add a merchant."""
    return add_merchant(db, name, environment="sandbox", now=NOON, **values).merchant


def a_new_order(**values: Any) -> NewOrder:
    """Say what makes an order."""
    given = {
        "recipient_name": "Mary Fox",
        "destination_country": "GB",
        "shipping_method": ShippingMethod.STANDARD,
        **values,
    }
    return NewOrder(**given)


def an_order(db: Connection, merchant: Merchant, **values: Any) -> Order:
    """Add an order."""
    return create_order(db, merchant, a_new_order(**values), now=NOON)
