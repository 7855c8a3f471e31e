"""`printworks quotes`: prices of orders that are not submitted."""

from typing import Annotated, Final

import typer

from printworks.actions.orders.renewing import end_quotes
from printworks.cli.options import OnlyMerchant
from printworks.cli.output import write_count
from printworks.cli.session import CommandSession, command
from printworks.store.accounts.merchants import get_merchant_by_code

app = typer.Typer(no_args_is_help=True)

# In one transaction, so that no other writer waits for long.
_ENDED_TOGETHER: Final = 200


@app.callback()
def _have_subcommands() -> None:
    """Be a group, although there is one command."""


@command(app, "refresh")
def refresh(
    session: CommandSession,
    *,
    merchant: OnlyMerchant = None,
    order: Annotated[int | None, typer.Option(help="Only of this order.")] = None,
) -> None:
    """End the quotes of open orders: they are calculated again before they can be submitted."""
    merchant_id = None
    if merchant is not None:
        with session.reading() as db:
            merchant_id = get_merchant_by_code(db, merchant).id
    total = 0
    while True:
        with session.system_work() as system:
            ended = end_quotes(
                system, merchant_id=merchant_id, order_id=order, most=_ENDED_TOGETHER
            )
        total += len(ended)
        if len(ended) < _ENDED_TOGETHER:
            break
    orders = write_count(total, "order", "orders")
    session.done(
        f"The quotes of {orders} have ended. Each is calculated again when its merchant looks at it.",
        orders=total,
    )
