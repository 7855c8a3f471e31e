"""`printworks clock`: the clocks of sandbox merchants."""

from typing import Annotated

import typer

from printworks.cli.options import Data, load_settings, make_console, open_database

app = typer.Typer(help="The clocks of sandbox merchants.", no_args_is_help=True)

MerchantId = Annotated[str, typer.Argument(help="The merchant's id.")]


@app.command()
def show(context: typer.Context, merchant_id: MerchantId, *, data: Data = None) -> None:
    """Say what time it is for a merchant."""
    from printworks.clock import system_clock
    from printworks.store.merchants import get_merchant_by_code

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
    now = system_clock() + merchant.clock_offset
    make_console().print(f"{now:%Y-%m-%d %H:%M:%S} UTC, ahead by {merchant.clock_offset}")


@app.command()
def advance(
    context: typer.Context,
    merchant_id: MerchantId,
    by: Annotated[str, typer.Argument(metavar="30s|10m|24h|30d", help="How far to move it.")],
    *,
    data: Data = None,
) -> None:
    """Move a merchant's clock; whatever falls due until then happens."""
    from printworks.clock import system_clock
    from printworks.settings import BadSetting, parse_duration
    from printworks.store.merchants import get_merchant_by_code
    from printworks.worker.advance import ClockMover

    settings = load_settings(context, data)
    if settings.environment != "sandbox":
        message = "Only the clocks of a sandbox can be moved."
        raise BadSetting(message)
    try:
        duration = parse_duration(by)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    with open_database(settings) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
    mover = ClockMover(settings, system_clock)
    try:
        now = mover.advance(merchant.id, duration)
    finally:
        mover.close()
    make_console().print(f"It is now {now:%Y-%m-%d %H:%M:%S} UTC for {merchant.code}.")
