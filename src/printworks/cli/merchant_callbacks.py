"""`printworks merchant callback`: where a merchant is told of events, and how it knows us."""

from datetime import datetime
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
from printworks.rules.callbacks import CallbackFormat

if TYPE_CHECKING:
    from printworks.store.callbacks.settings import CallbackSettings

app = typer.Typer(help="Where a merchant is told of events: set it, test it.", no_args_is_help=True)

MerchantId = Annotated[str, typer.Argument(metavar="MERCHANT", help="The merchant's id.")]


@app.command()
def show(
    context: typer.Context, merchant_id: MerchantId, *, data: Data = None, json: Json = False
) -> None:
    """Show where a merchant is told of events, and in which format."""
    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.callbacks.settings import read_callback_settings

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        settings = read_callback_settings(db, merchant.id)
    _show(settings, json=json)


@app.command("set")
def set_address(
    context: typer.Context,
    merchant_id: MerchantId,
    url: Annotated[str, typer.Argument(help="An http or https address that anybody can reach.")],
    *,
    wanted: Annotated[
        CallbackFormat | None,
        typer.Option(
            "--format",
            help="In which format; by default that of the version that made the order.",
        ),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Tell a merchant of events at this address from now on; the secret stays as it is."""
    from printworks.actions.callbacks.callbacks import set_callback
    from printworks.store.accounts.merchants import get_merchant_by_code

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        settings = set_callback(db, merchant, url, wanted)
    _show(settings, json=json)


@app.command()
def clear(context: typer.Context, merchant_id: MerchantId, *, data: Data = None) -> None:
    """Tell a merchant of no more events; they stay in its feed."""
    from printworks.actions.callbacks.callbacks import set_callback
    from printworks.store.accounts.merchants import get_merchant_by_code

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        set_callback(db, get_merchant_by_code(db, merchant_id), None)
    make_console().print(f"{merchant_id} gets no callbacks any more.")


@app.command()
def secret(
    context: typer.Context,
    merchant_id: MerchantId,
    *,
    rotate: Annotated[
        bool,
        typer.Option("--rotate", help="Make a new one; the last one stays valid for a day."),
    ] = False,
    data: Data = None,
    json: Json = False,
) -> None:
    """Print the secret with which a merchant's callbacks are signed."""
    from printworks.actions.callbacks.callbacks import rotate_secret
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.callbacks.settings import read_callback_settings

    now = system_clock()
    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        if rotate:
            settings = rotate_secret(db, merchant, now=now)
        else:
            settings = read_callback_settings(db, merchant.id)
    valid = [one for one in settings.secrets if one.until is None or one.until > now]
    if json:
        print_json([{"secret": one.text, "until": one.until} for one in valid])
        return
    console = make_console()
    for one in valid:
        end = "" if one.until is None else f"  until {_write(one.until)}"
        console.print(f"{one.text}{end}")
    if not valid:
        console.print("There is no secret yet; set an address, or use --rotate.")


@app.command("test")
def send_example(
    context: typer.Context, merchant_id: MerchantId, *, data: Data = None, json: Json = False
) -> None:
    """Send an example to a merchant's address, once."""
    from printworks.actions.callbacks.callbacks import send_test
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant_by_code

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        callback = send_test(db, merchant, now=system_clock() + merchant.clock_offset)
    if json:
        print_json({"callback": callback})
        return
    make_console().print(
        f"Callback {callback} is on its way; `printworks callback show {callback}` tells how it went."
    )


def _show(settings: "CallbackSettings", *, json: bool) -> None:
    if json:
        print_json({"url": settings.url, "format": settings.format})
        return
    console = make_console()
    console.print(f"address  {settings.url or 'none'}")
    console.print(f"format   {settings.format or 'that of the version that made the order'}")


def _write(timestamp: datetime) -> str:
    return f"{timestamp:%Y-%m-%d %H:%M} UTC"
