"""`printworks order`: why an order is where it is, holding it and letting it go on."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from printworks.settings import Settings
    from printworks.store.images.images import Image
    from printworks.store.labs.shipments import Decision, Shipment
    from printworks.store.orders.orders import Order

app = typer.Typer(help="Orders: why they are where they are.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(metavar="ORDER", help="The number of the order.")]


@app.command()
def explain(context: typer.Context, order_id: Id, *, data: Data = None, json: Json = False) -> None:
    """Say which labs make an order, how it travels, and why no other lab was chosen."""
    from printworks.store.images.images import list_images
    from printworks.store.labs.shipments import list_decisions, list_shipments
    from printworks.store.orders.orders import get_any_order_to_change

    settings = load_settings(context, data)
    with open_database(settings) as database, database.reading() as db:
        order = get_any_order_to_change(db, order_id)
        images = list_images(db, order_id)
        decisions = list_decisions(db, order_id) or _decide_now(db, settings, order, images)
        shipments = list_shipments(db, order_id)
    if json:
        print_json(_describe(order, images, decisions, shipments))
        return
    console = make_console()
    held = " and held" if order.held_at else ""
    console.print(f"Order {order_id} is {order.status}{held}.")
    for image in images:
        console.print(_tell_item(image))
    for sentence in _tell_decisions(order, decisions):
        console.print(sentence)
    for shipment in shipments:
        if shipment.state is not None:
            console.print(_tell_shipment(shipment))


def _decide_now(
    db: "Connection", settings: "Settings", order: "Order", images: Sequence["Image"]
) -> list["Decision"]:
    """Route an order that is not submitted as it would be if it were."""
    from printworks.actions.production.routing import route_order
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant
    from printworks.store.labs.shipments import Decision, count_backlog

    merchant = get_merchant(db, order.merchant_id)
    now = system_clock() + merchant.clock_offset
    routing = route_order(
        order,
        images,
        open_catalogue(settings.catalogue),
        currency=merchant.currency,
        now=now,
        backlog=count_backlog(db),
    )
    return [] if routing is None else [Decision(routing, [], now)]


def _tell_decisions(order: "Order", decisions: Sequence["Decision"]) -> Iterator[str]:
    from printworks.actions.production.routing import FINE
    from printworks.rules.routing.explaining import explain as tell

    def write(amount: int) -> str:
        return f"{amount / FINE / 100:,.2f} {order.currency or ''}".strip()

    if not decisions:
        needed = "a destination country and an image that is sold there"
        yield f"There is nothing to route yet: an order needs {needed}."
    for decision in decisions:
        if decision.without:
            yield f"\nAfter {', '.join(decision.without)} had rejected it:"
        yield from tell(decision.routing, write)


def _tell_item(image: "Image") -> str:
    copies = "1 copy" if image.copies == 1 else f"{image.copies} copies"
    trouble = f" It is {image.status}: {image.error_message}" if image.error_message else ""
    return f"Item {image.id} is {copies} of {image.sku}.{trouble}"


def _tell_shipment(shipment: "Shipment") -> str:
    because = f": {shipment.reason}" if shipment.reason else "."
    held = f" It is held: {shipment.held_because}" if shipment.held_because else ""
    return f"Shipment {shipment.id}, at {shipment.lab}, is {shipment.state}{because}{held}"


def _describe(
    order: "Order",
    images: Sequence["Image"],
    decisions: Sequence["Decision"],
    shipments: Sequence["Shipment"],
) -> dict[str, Any]:
    return {
        "orderId": order.id,
        "status": order.status,
        "heldAt": order.held_at,
        "currency": order.currency,
        "items": [{"image": one.id, "sku": one.sku, "copies": one.copies} for one in images],
        "decisions": [_describe_decision(decision) for decision in decisions],
        "shipments": [
            {
                "id": one.id,
                "lab": one.lab,
                "state": one.state,
                "images": one.image_ids,
                "reason": one.reason,
                "heldBecause": one.held_because,
            }
            for one in shipments
        ],
    }


def _describe_decision(decision: "Decision") -> dict[str, Any]:
    """Show a decision with its amounts in minor units, as everywhere else."""
    from printworks.actions.production.routing import FINE
    from printworks.rules.routing.plans import Routed

    routing = decision.routing
    return {
        "decidedAt": decision.created_at,
        "without": decision.without,
        "packages": [
            {
                "lab": package.lab,
                "images": package.items,
                "service": package.service,
                "method": package.method,
                "price": package.price / FINE,
                "dispatchBy": package.dispatch.latest,
                "arrivesBy": package.arrival.latest,
            }
            for package in (routing.plan.packages if isinstance(routing, Routed) else ())
        ],
        "verdicts": [
            {
                "lab": verdict.lab,
                "images": verdict.items,
                "finding": verdict.finding,
                "reason": verdict.reason,
                "arrivesBy": verdict.arrives_by,
                "extraCost": None if verdict.extra_cost is None else verdict.extra_cost / FINE,
            }
            for verdict in routing.verdicts
        ],
    }


@app.command()
def hold(context: typer.Context, order_id: Id, *, data: Data = None) -> None:
    """Keep an order from being sent to a lab."""
    from printworks.actions.production.production import hold_order
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant
    from printworks.store.orders.orders import get_any_order_to_change

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database, database.writing() as db:
        order = get_any_order_to_change(db, order_id)
        now = system_clock() + get_merchant(db, order.merchant_id).clock_offset
        hold_order(db, order, catalogue=catalogue, now=now)
    make_console().print(f"Order {order_id} is held.")


@app.command()
def release(context: typer.Context, order_id: Id, *, data: Data = None) -> None:
    """Let a held order go on."""
    from printworks.actions.production.production import release_order
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant
    from printworks.store.orders.orders import get_any_order_to_change

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        order = get_any_order_to_change(db, order_id)
        merchant = get_merchant(db, order.merchant_id)
        release_order(db, merchant, order, now=system_clock() + merchant.clock_offset)
    make_console().print(f"Order {order_id} goes on.")
