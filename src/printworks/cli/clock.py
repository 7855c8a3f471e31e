"""`printworks clock`: the clocks of sandbox merchants."""

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Final

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
    from printworks.store.engine.database import Database

# In one move, as through the API: a clock cannot be moved back.
LONGEST: Final = timedelta(days=366)

app = typer.Typer(help="The clocks of sandbox merchants.", no_args_is_help=True)

MerchantId = Annotated[str, typer.Argument(metavar="MERCHANT", help="The merchant's id.")]


@app.command()
def show(
    context: typer.Context, merchant_id: MerchantId, *, data: Data = None, json: Json = False
) -> None:
    """Say what time it is for a merchant."""
    with open_database(load_settings(context, data)) as database:
        _show_clock(database, merchant_id, json=json)


@app.command()
def advance(
    context: typer.Context,
    merchant_id: MerchantId,
    by: Annotated[str, typer.Argument(metavar="30s|10m|24h|30d", help="How far to move it.")],
    *,
    data: Data = None,
    json: Json = False,
) -> None:
    """Move a sandbox merchant's clock; whatever falls due until then happens."""
    from printworks.clock import system_clock
    from printworks.settings import BadSetting
    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.worker.advance import ClockMover

    settings = load_settings(context, data)
    if settings.environment != "sandbox":
        message = "Only the clocks of a sandbox can be moved."
        raise BadSetting(message)
    duration = _read_duration(by)
    with open_database(settings) as database:
        with database.reading() as db:
            merchant = get_merchant_by_code(db, merchant_id)
        mover = ClockMover(settings, system_clock)
        try:
            mover.advance(merchant.id, duration)
        finally:
            mover.close()
        _show_clock(database, merchant_id, json=json)


def _show_clock(database: "Database", merchant_id: str, *, json: bool) -> None:
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant_by_code

    with database.reading() as db:
        ahead = get_merchant_by_code(db, merchant_id).clock_offset
    now = system_clock() + ahead
    if json:
        print_json({"now": now, "aheadBySeconds": int(ahead.total_seconds())})
        return
    how = f"ahead by {ahead}" if ahead else "which is the real time"
    make_console().print(f"It is {now:%Y-%m-%d %H:%M:%S} UTC for {merchant_id}, {how}.")


def _read_duration(text: str) -> timedelta:
    from printworks.settings import parse_duration

    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if duration > LONGEST:
        raise typer.BadParameter(f"{text} is more than {LONGEST.days} days.")
    return duration
