"""Any order of any merchant, found by whatever somebody who asks about it can tell."""

from collections.abc import Sequence
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.shared.labels import operator_label
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant, find_merchant_by_code
from printworks.store.console.orders import (
    AnyOrder,
    list_any_orders,
    list_problem_orders,
)
from printworks.store.console.search import search_any_orders
from printworks.store.orders.search import OrderLine, OrderSearch, search_orders

ROWS: Final = 50
# The filters that the overview links to.
PROBLEMS: Final = {"held": True, "stuck": False}


class OrderListPage(msgspec.Struct, frozen=True):
    """A page of orders, and where the next one begins."""

    orders: Sequence[AnyOrder]
    next: int | None = None
    is_too_common: bool = False
    # Why nothing can be found.
    refusal: str = ""


@page_at("/console/orders")
def show_orders(visit: ConsoleVisit) -> Response:
    """Show the newest orders, or those that match a search."""
    found = _find(visit)
    etag = visit.etag(found.orders)
    text = visit.search_text
    return visit.render(
        "console/orders.html",
        etag=etag,
        # Searching for a name again and again would cost too much.
        is_live=visit.cursor() is None and not text,
        orders=found.orders,
        text=text,
        code=visit.query.get("merchant", ""),
        chosen=visit.query.get("status", ""),
        problem=_read_problem(visit),
        statuses=[(status.value, operator_label(status)) for status in OrderStatus],
        is_filtered=any(visit.query.get(name) for name in ("q", "merchant", "status", "problem")),
        is_too_common=found.is_too_common,
        unknown=found.refusal,
        pages=visit.pages(found.next),
    )


def _find(visit: ConsoleVisit) -> OrderListPage:
    problem, text = _read_problem(visit), visit.search_text
    if problem:
        is_held = PROBLEMS[problem]
        return _cut(
            list_problem_orders(visit.db, is_held=is_held, before=visit.cursor(), limit=ROWS + 1)
        )
    if visit.query.get("merchant", "").strip():
        return _find_of_merchant(visit, text)
    if text:
        found = search_any_orders(visit.db, text, limit=ROWS)
        return OrderListPage(found.orders, is_too_common=found.is_cut)
    return _cut(list_any_orders(visit.db, before=visit.cursor(), limit=ROWS + 1))


def _cut(orders: list[AnyOrder]) -> OrderListPage:
    shown, last = cut(orders, ROWS)
    return OrderListPage(shown, last.id if last else None)


def _find_of_merchant(visit: ConsoleVisit, text: str) -> OrderListPage:
    code = visit.query.get("merchant", "").strip()
    merchant = find_merchant_by_code(visit.db, code)
    if merchant is None:
        return OrderListPage([], refusal="There is no merchant with this code.")
    wanted = OrderSearch(text=text, status=find_choice(OrderStatus, visit.query.get("status", "")))
    found = search_orders(visit.db, merchant.id, wanted, before=visit.cursor(), limit=ROWS)
    orders = [_name_merchant(line, merchant) for line in found.orders]
    return OrderListPage(orders, found.next, found.is_too_common)


def _name_merchant(line: OrderLine, merchant: Merchant) -> AnyOrder:
    return AnyOrder(
        **msgspec.structs.asdict(line),
        merchant_id=merchant.id,
        merchant=merchant.name,
        merchant_code=merchant.code,
    )


def _read_problem(visit: ConsoleVisit) -> str:
    problem = visit.query.get("problem", "")
    return problem if problem in PROBLEMS else ""
