"""Any order of any merchant, found by whatever somebody who asks about it can tell."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.orders.orders import cancel_order
from printworks.actions.production.holds import hold_order, release_order
from printworks.dashboard.console.production.shipments import read_reason
from printworks.dashboard.shared.bulk import BulkReport, do_each, is_choosing, read_chosen
from printworks.dashboard.shared.labels import operator_label
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import find_choice, read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import Merchant, find_merchant_by_code
from printworks.store.orders.search import OrderLine, OrderSearch, search_orders
from printworks.store.views.console.orders import (
    AnyOrder,
    list_any_orders,
    list_problem_orders,
)
from printworks.store.views.console.search import search_any_orders

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


class OrderBulkAction(StrEnum):
    """What can be done with many orders at once."""

    HOLD = "hold"
    RELEASE = "release"
    CANCEL = "cancel"


_BULK_ACTIONS: Final = (
    (OrderBulkAction.HOLD.value, "Hold"),
    (OrderBulkAction.RELEASE.value, "Release"),
    (OrderBulkAction.CANCEL.value, "Cancel and refund"),
)


@page_at("/console/orders")
def show_orders(visit: ConsoleVisit, report: BulkReport | None = None) -> Response:
    """Show the newest orders, or those that match a search."""
    found = _find(visit)
    may_support = visit.may(Duty.SUPPORT)
    etag = visit.etag(found.orders)
    text = visit.search_text
    return visit.render(
        "console/orders.html",
        etag=etag,
        # Searching for a name again and again would cost too much.
        is_live=visit.cursor() is None and not text and not is_choosing(visit),
        is_choosing=may_support and is_choosing(visit),
        bulk_actions=_BULK_ACTIONS if may_support else (),
        report=report,
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


@show_orders.action("change-orders", duty=Duty.SUPPORT, alone=True)
def change_many(visit: ConsoleVisit) -> Response:
    """Hold, release or cancel the chosen orders, each in a transaction of its own."""
    bulk_action = read_choice(
        OrderBulkAction,
        visit.sent.text("bulk_action"),
        "Choose what to do with the orders.",
        field="bulk_action",
    )
    chosen = read_chosen(visit.sent)
    reason = read_reason(visit.sent.text("reason")) if bulk_action is OrderBulkAction.HOLD else ""

    def change_one(order_id: int) -> str:
        with visit.services.database.writing() as db:
            work, order = visit.system_work_in(db).lock_order(order_id)
            match bulk_action:
                case OrderBulkAction.HOLD:
                    hold_order(work, order, reason=reason)
                    return f"Order {order_id} is on hold."
                case OrderBulkAction.RELEASE:
                    release_order(work, order)
                    return f"Order {order_id} was released."
                case OrderBulkAction.CANCEL:
                    cancel_order(work, order)
                    return f"Order {order_id} was cancelled."

    report = do_each(chosen, change_one, named="Order")
    with visit.services.database.reading() as db:
        return show_orders(visit.within(db), report)


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
