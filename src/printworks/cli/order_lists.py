"""`printworks order list` and `show`: orders of all merchants, and one completely."""

from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection

from printworks.cli.output import Columns, align, pick, write_money
from printworks.errors import BadInput
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import write_reasons
from printworks.store.accounts.merchants import get_merchant, get_merchant_by_code
from printworks.store.images.images import list_images_to_show
from printworks.store.issues.issues import list_issues
from printworks.store.orders.orders import Order
from printworks.store.orders.search import OrderSearch, search_orders
from printworks.store.orders.shipments import list_shipments
from printworks.store.views.console.orders import (
    MOST_READ,
    AnyOrder,
    get_any_order,
    list_any_orders,
    list_newest_with_status,
    list_problem_orders,
)
from printworks.store.views.console.search import search_any_orders


class OrderProblem(StrEnum):
    """What keeps an order from going on."""

    HELD = "held"
    STUCK = "stuck"


class WantedOrders(NamedTuple):
    """Which orders to list; all that is given must fit."""

    search: str = ""
    merchant: str | None = None
    status: OrderStatus | None = None
    problem: OrderProblem | None = None
    since: date | None = None
    until: date | None = None


class ListedOrders(NamedTuple):
    """Orders, newest first, and what the list leaves out, in a sentence."""

    orders: list[dict[str, Any]]
    left_out: str = ""


COLUMNS: Final[Columns] = {
    "order": "id",
    "merchant": "merchant",
    "reference": "merchantOrderId",
    "recipient": "recipientName",
    "country": "destinationCountry",
    "status": "status",
    "images": "imageCount",
    "created": "createdAt",
}
_MORE: Final = "There are more than {limit}; --limit shows more."


def find_orders(db: Connection, wanted: WantedOrders, *, limit: int) -> ListedOrders:
    """Return the orders that fit, at most so many."""
    if wanted.merchant is not None:
        return _find_of_merchant(db, wanted, limit)
    if wanted.since is not None or wanted.until is not None:
        raise BadInput("--since and --until need a --merchant.")
    if sum(map(bool, (wanted.search, wanted.status, wanted.problem))) > 1:
        raise BadInput("Without a --merchant, give only one of --search, --status and --problem.")
    if wanted.search:
        found = search_any_orders(db, wanted.search, limit=limit)
        left_out = "There are more; give more of the text, or a --merchant." if found.is_cut else ""
        return ListedOrders([_describe_line(order) for order in found.orders], left_out)
    if wanted.problem is not None:
        is_held = wanted.problem is OrderProblem.HELD
        return _cut(list_problem_orders(db, is_held=is_held, before=None, limit=limit + 1), limit)
    if wanted.status is not None:
        listed = _cut(list_newest_with_status(db, wanted.status, limit=limit + 1), limit)
        searched = f"Only the newest {MOST_READ:,} orders were searched; --merchant searches all."
        return listed if listed.left_out else listed._replace(left_out=searched)
    return _cut(list_any_orders(db, before=None, limit=limit + 1), limit)


def _find_of_merchant(db: Connection, wanted: WantedOrders, limit: int) -> ListedOrders:
    if wanted.problem is not None:
        raise BadInput("--problem lists orders of all merchants: leave --merchant out.")
    merchant = get_merchant_by_code(db, wanted.merchant or "")
    search = OrderSearch(
        text=wanted.search,
        # It may be the code of a product, as it is stored.
        sku=wanted.search or None,
        status=wanted.status,
        from_day=wanted.since,
        to_day=wanted.until,
    )
    found = search_orders(db, merchant.id, search, before=None, limit=limit)
    lines = [{**_describe(line), "merchant": merchant.code} for line in found.orders]
    is_cut = found.next is not None or found.is_too_common
    return ListedOrders(lines, _MORE.format(limit=limit) if is_cut else "")


def _cut(orders: list[AnyOrder], limit: int) -> ListedOrders:
    lines = [_describe_line(order) for order in orders[:limit]]
    return ListedOrders(lines, _MORE.format(limit=limit) if len(orders) > limit else "")


def _describe_line(order: AnyOrder) -> dict[str, Any]:
    return {**_describe(order), "merchant": order.merchant_code}


def _describe(line: Any) -> dict[str, Any]:
    return pick(
        line,
        *("id", "merchant_order_id", "recipient_name", "destination_country", "status"),
        *("held_at", "image_count", "currency", "price", "created_at"),
    )


def describe_order(db: Connection, order_id: int) -> tuple[dict[str, Any], list[str]]:
    """Return everything about an order: for programs, and in lines for people."""
    order = get_any_order(db, order_id)
    images, shipments = list_images_to_show(db, order.id), list_shipments(db, order.id)
    issues = list_issues(db, order.merchant_id, order.id)
    facts: dict[str, Any] = {
        "merchant": get_merchant(db, order.merchant_id).code,
        **pick(order, *(name for name in Order.__struct_fields__ if name not in _SECRET)),
        "reasons": write_reasons(order.reasons),
    }
    parts: Mapping[str, list[dict[str, Any]]] = {
        "images": [pick(one, "id", "sku", "copies", "status", "error_message") for one in images],
        "shipments": [
            pick(one, "id", "lab", "state", "carrier", "tracking_number", "shipped_at", "reason")
            for one in shipments
        ],
        "issues": [pick(one, "id", "kind", "state", "resolution") for one in issues],
    }
    return {**facts, **parts}, [*_write(order, facts), *_write_parts(parts)]


# The address at which the recipient pays is for the recipient only.
_SECRET: Final = frozenset({"payment_token", "merchant_id"})


def _write(order: Order, facts: Mapping[str, Any]) -> list[str]:
    shown = {name: value for name, value in facts.items() if value not in (None, "", False)}
    if order.currency is not None:
        shown["price"] = write_money(order.price, order.currency)
        shown["shippingPrice"] = write_money(order.shipping_price, order.currency)
    return align(shown)


def _write_parts(parts: Mapping[str, list[dict[str, Any]]]) -> list[str]:
    lines: list[str] = []
    for name, members in parts.items():
        if members:
            lines += ["", f"{name.capitalize()}:"]
        for one in members:
            told = [f"{key} {value}" for key, value in one.items() if value is not None]
            lines.append(f"  {', '.join(told)}")
    return lines
