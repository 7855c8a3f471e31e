"""`printworks order`: find and show orders, why one is where it is; hold, release, cancel."""

from collections.abc import Iterator, Sequence
from datetime import date
from typing import Annotated, Any, NamedTuple

import typer

from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.release import find_routing
from printworks.actions.production.routing import FINE
from printworks.actions.work import Work
from printworks.cli.options import Limit, OnlyMerchant
from printworks.cli.order_lists import (
    COLUMNS,
    OrderProblem,
    WantedOrders,
    describe_order,
    find_orders,
)
from printworks.cli.output import note, pick, write_money
from printworks.cli.session import CommandSession, command
from printworks.errors import ServiceError
from printworks.rules.orders import OrderStatus
from printworks.rules.price_explaining import explain_picked
from printworks.rules.price_lists import read_terms
from printworks.rules.quotes import keeps_quote
from printworks.rules.routing.explaining import RoutingWords
from printworks.rules.routing.explaining import explain as explain_routing
from printworks.rules.routing.model import Routed
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import Image, list_images
from printworks.store.orders.orders import Order, get_any_order_to_change
from printworks.store.orders.shipments import (
    Decision,
    Shipment,
    list_decisions,
    list_shipments,
    sum_costs,
)

app = typer.Typer(no_args_is_help=True)

OrderId = Annotated[int, typer.Argument(metavar="ORDER", help="The number of the order.")]


class _Explained(NamedTuple):
    """An order, and why it is where it is."""

    order: Order
    images: Sequence[Image]
    decisions: Sequence[Decision]
    shipments: Sequence[Shipment]


@command(app, "list")
def list_newest(
    session: CommandSession,
    *,
    search: Annotated[
        str,
        typer.Option(help="A number, reference, name, postcode, email address or tracking number."),
    ] = "",
    merchant: OnlyMerchant = None,
    status: Annotated[
        OrderStatus | None, typer.Option(case_sensitive=False, help="Only in this status.")
    ] = None,
    problem: Annotated[
        OrderProblem | None, typer.Option(help="Only those that are held, or stuck.")
    ] = None,
    since: Annotated[str, typer.Option(metavar="DAY", help="Created on this day or later.")] = "",
    until: Annotated[str, typer.Option(metavar="DAY", help="Created on this day or before.")] = "",
    limit: Limit = 50,
) -> None:
    """List orders, the newest first, of all merchants or of one."""
    wanted = WantedOrders(
        search.strip(), merchant, status, problem, _read_day(since), _read_day(until)
    )
    with session.reading() as db:
        found = find_orders(db, wanted, limit=limit)
    session.show_list(found.orders, COLUMNS, "There is no such order.")
    if found.left_out:
        note(found.left_out)


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError as error:
        raise typer.BadParameter(f"{text} is not a day such as 2026-05-31.") from error


@command(app, "show")
def show(session: CommandSession, order_id: OrderId) -> None:
    """Show everything about an order, its images, shipments and issues."""
    with session.reading() as db:
        facts, lines = describe_order(db, order_id)
    session.show(facts, *lines)


@command(app, "cancel")
def cancel(
    session: CommandSession,
    order_ids: Annotated[
        list[int], typer.Argument(metavar="ORDER...", help="The numbers of the orders.")
    ],
) -> None:
    """Cancel orders if their labs still permit it, and refund them; exit with 1 if one is refused."""
    results = []
    for order_id in dict.fromkeys(order_ids):
        try:
            with session.system_work() as system:
                cancel_order(*system.lock_order(order_id))
            results.append({"ok": True, "orderId": order_id, "outcome": "Cancelled."})
        except ServiceError as refusal:
            results.append({"ok": False, "orderId": order_id, "outcome": refusal.message})
    session.show_list(results, {"order": "orderId", "outcome": "outcome"}, "")
    if not all(result["ok"] for result in results):
        raise typer.Exit(1)


@command(app, "explain")
def explain(session: CommandSession, order_id: OrderId) -> None:
    """Say how the price of an order came about, which labs make it, and why no other lab does."""
    with session.reading() as db:
        order = get_any_order_to_change(db, order_id)
        work = session.services.work(db, get_merchant(db, order.merchant_id))
        order = get_planned_order(work, session.services.database, order_id).order
        images = list_images(db, order_id)
        decisions = list_decisions(db, order_id) or _decide_now(work, order, images)
        found = _Explained(order, images, decisions, list_shipments(db, order_id))
    session.show(_describe(found), *_write(found))


def _decide_now(work: Work, order: Order, images: Sequence[Image]) -> list[Decision]:
    """Route an order that is not submitted as it would be if it were."""
    routing = find_routing(work, order, images)
    return [] if routing is None else [Decision(routing, [], work.now)]


def _write(found: _Explained) -> Iterator[str]:
    order = found.order
    yield f"Order {order.id} is {order.status}{' and held' if order.held_at else ''}."
    for image in found.images:
        copies = "1 copy" if image.copies == 1 else f"{image.copies} copies"
        problem = f" It is {image.status}: {image.error_message}" if image.error_message else ""
        yield f"Item {image.id} is {copies} of {image.sku}.{problem}"
    yield from _write_prices(found)
    yield from _write_decisions(order, found.decisions)
    if found.shipments:
        yield _write_margin(found)
    for shipment in found.shipments:
        if shipment.state is not None:
            reason = f": {shipment.reason}" if shipment.reason else "."
            held = f" It is held: {shipment.held_because}" if shipment.held_because else ""
            yield f"Shipment {shipment.id}, at {shipment.lab}, is {shipment.state}{reason}{held}"


def _write_prices(found: _Explained) -> Iterator[str]:
    """Say how the price of each product came about, and until when it is kept."""
    order, terms = found.order, read_terms(found.order.price_terms)
    currency = order.currency or ""
    if terms is not None:
        by = f"price list {terms.list_id}, “{terms.name}” (change {terms.revision})"
        for sku, picked in terms.items.items():
            said = explain_picked(picked, by, lambda amount: write_money(amount, currency))
            yield f"{sku} costs {said}"
    elif order.currency is not None:
        yield "Its prices are those of the catalogue."
    ends = order.quote_expires_at
    if ends is not None and keeps_quote(order.status, ends, order.payment_request_id):
        yield f"Its quote is valid until {ends:%Y-%m-%d %H:%M} UTC, by the clock of its merchant."


def _write_margin(found: _Explained) -> str:
    order, (items_cost, shipping_cost) = found.order, sum_costs(found.shipments)

    def write(amount: int) -> str:
        return f"{amount / 100:,.2f} {order.currency or ''}".strip()

    tax = f"Of {write(order.total)} in all, {write(order.tax)} is tax. " if order.tax else ""
    return (
        f"The price is {write(order.price)}, of which {write(order.shipping_price)} is shipping. "
        f"{tax}"
        f"The planned cost is {write(items_cost)} for printing and {write(shipping_cost)} for "
        f"shipping, which leaves {write(order.net - items_cost - shipping_cost)}."
    )


def _write_decisions(order: Order, decisions: Sequence[Decision]) -> Iterator[str]:
    def write_amount(amount: int) -> str:
        return f"{amount / FINE / 100:,.2f} {order.currency or ''}".strip()

    if not decisions:
        needed = "a destination country and an image that is sold there"
        yield f"There is nothing to route yet: an order needs {needed}."
    for decision in decisions:
        if decision.without:
            yield f"\nAfter {', '.join(decision.without)} had rejected it:"
        yield from explain_routing(decision.routing, RoutingWords(money=write_amount))


def _describe(found: _Explained) -> dict[str, Any]:
    order, (items_cost, shipping_cost) = found.order, sum_costs(found.shipments)
    return {
        "orderId": order.id,
        **pick(order, "status", "held_at", "currency", "price", "shipping_price", "tax", "total"),
        **pick(order, "destination_country", "print_country"),
        "priceTerms": order.price_terms,
        "quoteExpiresAt": order.quote_expires_at,
        "itemsCost": items_cost,
        "shippingCost": shipping_cost,
        "items": [{"image": one.id, "sku": one.sku, "copies": one.copies} for one in found.images],
        "decisions": [_describe_decision(decision) for decision in found.decisions],
        "shipments": [
            {**pick(one, "id", "lab", "state", "reason", "held_because"), "images": one.image_ids}
            for one in found.shipments
        ],
    }


def _describe_decision(decision: Decision) -> dict[str, Any]:
    """Show a decision with its amounts in minor units, as everywhere else."""
    routing = decision.routing
    plan = routing.plan if isinstance(routing, Routed) else None
    return {
        "decidedAt": decision.created_at,
        "without": decision.without,
        "printedElsewhere": plan.printed_elsewhere if plan else [],
        "packages": [
            {
                **pick(package, "lab", "service", "method"),
                "images": package.items,
                "itemsCost": package.items_cost / FINE,
                "shippingCost": package.shipping_cost / FINE,
                "dispatchBy": package.dispatch.latest,
                "arrivesBy": package.arrival.latest,
            }
            for package in (plan.shipments if plan else ())
        ],
        "verdicts": [
            {
                **pick(verdict, "lab", "finding", "reason", "arrives_by"),
                "images": verdict.items,
                "extraCost": None if verdict.extra_cost is None else verdict.extra_cost / FINE,
            }
            for verdict in routing.verdicts
        ],
    }


@command(app, "hold")
def hold(
    session: CommandSession,
    order_id: OrderId,
    *,
    reason: Annotated[
        str, typer.Option(help="Why, in a sentence that the merchant can read.")
    ] = "The operator asked for it.",
) -> None:
    """Keep an order from being sent to a lab."""
    with session.system_work() as system:
        work, order = system.lock_order(order_id)
        hold_order(work, order, reason=reason)
    session.done(f"Order {order_id} is held.", orderId=order_id)


@command(app, "release")
def release(session: CommandSession, order_id: OrderId) -> None:
    """Release a held order."""
    with session.system_work() as system:
        work, order = system.lock_order(order_id)
        release_order(work, order)
    session.done(f"Order {order_id} was released.", orderId=order_id)
