"""`printworks order`: why an order is where it is, holding it and letting it go on."""

from typing import TYPE_CHECKING, Annotated

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

    from printworks.store.orders import Order

app = typer.Typer(help="Orders: why they are where they are.", no_args_is_help=True)

Id = Annotated[int, typer.Argument(help="The number of the order.")]


@app.command()
def explain(context: typer.Context, order_id: Id, *, data: Data = None, json: Json = False) -> None:
    """Say which labs make an order, how it travels, and why no other lab was chosen."""
    from printworks.actions.routing import FINE
    from printworks.rules.explaining import explain as tell
    from printworks.store.shipments import list_decisions

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        order = _find(db, order_id)
        decisions = list_decisions(db, order_id)
    if not decisions:
        make_console().print("There is nothing to route yet: the order has no images.")
        return
    if json:
        print_json(decisions)
        return

    def write(amount: int) -> str:
        return f"{amount / FINE / 100:,.2f} {order.currency or ''}".strip()

    for decision in decisions:
        if decision.without:
            make_console().print(f"\nAfter {', '.join(decision.without)} had rejected it:")
        for sentence in tell(decision.routing, write):
            make_console().print(sentence)


@app.command()
def hold(context: typer.Context, order_id: Id, *, data: Data = None) -> None:
    """Keep an order from being sent to a lab."""
    from printworks.actions.production import hold_order
    from printworks.catalogue.opening import open_catalogue
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    catalogue = open_catalogue(settings.catalogue)
    with open_database(settings) as database, database.writing() as db:
        hold_order(db, _find(db, order_id), catalogue=catalogue, now=system_clock())
    make_console().print(f"Order {order_id} is held.")


@app.command()
def release(context: typer.Context, order_id: Id, *, data: Data = None) -> None:
    """Let a held order go on."""
    from printworks.actions.production import release_order
    from printworks.clock import system_clock
    from printworks.store.merchants import get_merchant

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        order = _find(db, order_id)
        merchant = get_merchant(db, order.merchant_id)
        release_order(db, merchant, order, now=system_clock() + merchant.clock_offset)
    make_console().print(f"Order {order_id} goes on.")


def _find(db: "Connection", order_id: int) -> "Order":
    from printworks.store.orders import get_any_order_to_change

    return get_any_order_to_change(db, order_id)
