"""Any order of any merchant, found by its number, its merchant or its reference."""

from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.console.words import name_state
from printworks.dashboard.shared.words import Words
from printworks.dashboard.site.etag import make_etag
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant, find_merchant_by_code
from printworks.store.console.orders import (
    AnyOrder,
    find_orders_by_id,
    find_orders_by_reference,
    list_any_orders,
    list_troubled_orders,
)
from printworks.store.orders.search import OrderLine, OrderSearch, search_orders

ROWS: Final = 50
_LONGEST_SEARCH: Final = 200
# What can be asked for by a link of the overview.
TROUBLES: Final = {"held": True, "stuck": False}


class OrderListLine(msgspec.Struct, frozen=True):
    """A line of the list."""

    order: AnyOrder
    state: Words


class FoundOrders(msgspec.Struct, frozen=True):
    """A page of orders, and where the next one begins."""

    orders: list[AnyOrder]
    next: int | None = None
    is_too_common: bool = False
    # Why nothing can be found.
    problem: str = ""


def show_orders(visit: ConsoleVisit) -> Response:
    """Show the newest orders, or those that were looked for."""
    found = _find(visit)
    etag = make_etag(found.orders)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    text = _read_text(visit)
    return visit.render(
        "console/orders.html",
        etag=etag,
        # To look for a name again and again costs more than it tells.
        is_live=visit.cursor() is None and not text,
        lines=[OrderListLine(order, name_state(order.status)) for order in found.orders],
        text=text,
        code=visit.query.get("merchant", ""),
        chosen=visit.query.get("status", ""),
        trouble=_read_trouble(visit),
        statuses=[(status.value, name_state(status).text) for status in OrderStatus],
        is_filtered=any(visit.query.get(name) for name in ("q", "merchant", "status", "trouble")),
        is_too_common=found.is_too_common,
        unknown=found.problem,
        pages=visit.pages(found.next),
    )


def _find(visit: ConsoleVisit) -> FoundOrders:
    trouble, text = _read_trouble(visit), _read_text(visit)
    if trouble:
        is_held = TROUBLES[trouble]
        return _cut(
            list_troubled_orders(visit.db, is_held=is_held, before=visit.cursor(), limit=ROWS + 1)
        )
    if visit.query.get("merchant", "").strip():
        return _find_of_merchant(visit, text)
    if text:
        return _find_anybodys(visit, text)
    return _cut(list_any_orders(visit.db, before=visit.cursor(), limit=ROWS + 1))


def _cut(orders: list[AnyOrder]) -> FoundOrders:
    shown = orders[:ROWS]
    return FoundOrders(shown, shown[-1].id if len(orders) > ROWS else None)


def _find_anybodys(visit: ConsoleVisit, text: str) -> FoundOrders:
    """Look for a number and a reference; names are looked for only within a merchant's orders."""
    number = read_number(text)
    found = [] if number is None else find_orders_by_id(visit.db, number)
    known = {order.id for order in found}
    named = find_orders_by_reference(visit.db, text, limit=ROWS)
    return FoundOrders([*found, *(order for order in named if order.id not in known)])


def _find_of_merchant(visit: ConsoleVisit, text: str) -> FoundOrders:
    code = visit.query.get("merchant", "").strip()
    merchant = find_merchant_by_code(visit.db, code)
    if merchant is None:
        return FoundOrders([], problem="There is no merchant with this code.")
    wanted = OrderSearch(text=text, status=_read_status(visit.query.get("status", "")))
    found = search_orders(visit.db, merchant.id, wanted, before=visit.cursor(), limit=ROWS)
    orders = [_name_merchant(line, merchant) for line in found.orders]
    return FoundOrders(orders, found.next, found.is_too_common)


def _name_merchant(line: OrderLine, merchant: Merchant) -> AnyOrder:
    return AnyOrder(
        **msgspec.structs.asdict(line),
        merchant_id=merchant.id,
        merchant=merchant.name,
        merchant_code=merchant.code,
    )


def _read_text(visit: ConsoleVisit) -> str:
    text = visit.query.get("q", "").replace("\0", "").encode("utf-8", "ignore").decode()
    return text.strip()[:_LONGEST_SEARCH]


def _read_status(text: str) -> OrderStatus | None:
    try:
        return OrderStatus(text)
    except ValueError:
        return None


def _read_trouble(visit: ConsoleVisit) -> str:
    trouble = visit.query.get("trouble", "")
    return trouble if trouble in TROUBLES else ""


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (Page(path="/console/orders", show=show_orders),)
