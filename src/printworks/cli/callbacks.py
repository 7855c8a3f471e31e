"""`printworks callback`: what merchants were told, how that went, and telling it again."""

from datetime import datetime
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

    from printworks.store.accounts.merchants import Merchant
    from printworks.store.callbacks.callbacks import Attempt, Callback

app = typer.Typer(
    help="Callbacks: look at them, and send them again.",
    no_args_is_help=True,
)

Id = Annotated[int, typer.Argument(help="The number of the callback.")]
MerchantId = Annotated[str, typer.Argument(metavar="MERCHANT", help="The merchant's id.")]


@app.command("list")
def list_newest(
    context: typer.Context,
    merchant_id: MerchantId,
    *,
    order: Annotated[int | None, typer.Option(help="Only callbacks of this order.")] = None,
    given_up: Annotated[
        bool, typer.Option("--given-up", help="Only those that nobody acknowledged.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests", help="The tests instead.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")] = 50,
    data: Data = None,
    json: Json = False,
) -> None:
    """List a merchant's callbacks, the newest first."""
    from rich.table import Table

    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.callbacks.callbacks import list_callbacks, list_tests

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        if tests:
            found = list_tests(db, merchant.id, limit=limit)
        else:
            found = list_callbacks(
                db, merchant.id, order_id=_bound(order), is_failed=given_up, limit=limit
            )
    if json:
        print_json([_describe(callback) for callback in found])
        return
    table = Table("id", "event", "order", "when", "what", "state", "attempts", box=None)
    for one in found:
        table.add_row(
            str(one.id),
            "test" if one.number is None else str(one.number),
            str(one.order_id or ""),
            _write(one.created_at),
            _kind_of(one) or "",
            one.state,
            str(one.attempts),
        )
    make_console().print(table if found else "There is no such callback.")


@app.command()
def show(context: typer.Context, callback_id: Id, *, data: Data = None, json: Json = False) -> None:
    """Show what is known about a callback, and how each attempt went."""
    from printworks.store.callbacks.callbacks import list_attempts

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant, callback = _find(db, callback_id)
        attempts = list_attempts(db, callback.id)
    facts = {"merchant": merchant.code, **_describe(callback)}
    if json:
        print_json({**facts, "history": attempts})
        return
    console = make_console()
    for name, value in facts.items():
        shown = _write(value) if isinstance(value, datetime) else value
        console.print(f"{name:<12} {'' if shown is None else shown}")
    for attempt in attempts:
        console.print(_write_attempt(attempt))


@app.command("send-again")
def send_one_again(context: typer.Context, callback_id: Id, *, data: Data = None) -> None:
    """Send a callback now, whatever became of it, with all its attempts."""
    from printworks.actions.callbacks.callbacks import send_again
    from printworks.clock import system_clock

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant, _ = _find(db, callback_id)
        now = system_clock() + merchant.clock_offset
        send_again(db, merchant, callback_id, now=now)
    make_console().print(f"Callback {callback_id} is on its way.")


@app.command()
def replay(
    context: typer.Context,
    merchant_id: MerchantId,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            metavar="MOMENT",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
            help="Whatever happened since, in the merchant's time and UTC: 2026-11-15T12:00.",
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(min=0, max=2**62, help="Whatever follows the event of this number."),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Send all callbacks of a merchant again, from some moment or event on."""
    from datetime import UTC

    from printworks.actions.callbacks.callbacks import replay as replay_page
    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import get_merchant_by_code

    if (since is None) == (after is None):
        raise typer.BadParameter("Give either --since or --after.")
    first: datetime | int | None = since.replace(tzinfo=UTC) if since else (after or 0) + 1
    sent = 0
    with open_database(load_settings(context, data)) as database:
        while first is not None:
            # Each page in a transaction of its own: others want to write meanwhile.
            with database.writing() as db:
                merchant = get_merchant_by_code(db, merchant_id)
                now = system_clock() + merchant.clock_offset
                done = replay_page(db, merchant, since=first, now=now)
            sent += done.sent
            first = done.go_on_at
    if json:
        print_json({"sent": sent})
        return
    verdict = "1 callback is on its way." if sent == 1 else f"{sent} callbacks are on their way."
    make_console().print(verdict)


def _find(db: "Connection", callback_id: int) -> tuple["Merchant", "Callback"]:
    """Return a callback and whose it is; operators may see everybody's."""
    from printworks.errors import NotFound
    from printworks.store.accounts.merchants import get_merchant
    from printworks.store.callbacks.callbacks import get_callback
    from printworks.store.callbacks.deliveries import load_deliveries

    known = load_deliveries(db, [_bound(callback_id) or 0]).get(callback_id)
    if known is None:
        raise NotFound(f"There is no callback {callback_id}.")
    merchant = get_merchant(db, known.merchant_id)
    return merchant, get_callback(db, merchant.id, callback_id)


def _bound(number: int | None) -> int | None:
    """Return a number that a database can look for; 0, which is nobody's, if it is none."""
    return number if number is None or 0 < number < 2**63 else 0


def _kind_of(callback: "Callback") -> str | None:
    return None if callback.event is None else str(callback.event.__struct_config__.tag)


def _describe(callback: "Callback") -> dict[str, Any]:
    return {
        "id": callback.id,
        "event": callback.number,
        "order": callback.order_id,
        "sequence": callback.sequence,
        "kind": _kind_of(callback),
        "status": callback.event and callback.event.status,
        "createdAt": callback.created_at,
        "state": callback.state,
        "failures": callback.failures,
        "attempts": callback.attempts,
        "nextAt": callback.next_at,
        "deliveredAt": callback.delivered_at,
    }


def _write_attempt(attempt: "Attempt") -> str:
    said = attempt.error or f"status {attempt.status}"
    heard = f": {attempt.answer.splitlines()[0][:100]}" if attempt.answer.strip() else ""
    return (
        f"attempt {attempt.number:<4} {_write(attempt.at)}  {attempt.url}  "
        f"{said}{heard} ({attempt.milliseconds} ms)"
    )


def _write(timestamp: datetime) -> str:
    return f"{timestamp:%Y-%m-%d %H:%M:%S} UTC"
