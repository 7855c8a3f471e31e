"""`printworks callback`: what was sent to merchants, with which result, and sending it again."""

from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from sqlalchemy import Connection

from printworks.actions.callbacks import replay as replay_page
from printworks.actions.callbacks import send_again
from printworks.cli.options import Limit, MerchantId
from printworks.cli.output import Columns, align, pick, write
from printworks.cli.session import CommandSession, command
from printworks.errors import NotFound
from printworks.store.accounts.merchants import Merchant, get_merchant, get_merchant_by_code
from printworks.store.callbacks.callbacks import (
    Attempt,
    Callback,
    get_callback,
    list_attempts,
    list_callbacks,
    list_callbacks_of_order,
    list_tests,
)
from printworks.store.callbacks.deliveries import load_deliveries
from printworks.store.engine.rows import possible_id

app = typer.Typer(no_args_is_help=True)

CallbackId = Annotated[int, typer.Argument(metavar="CALLBACK", help="The number of the callback.")]


@command(app, "list")
def list_newest(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    order: Annotated[int | None, typer.Option(help="Only callbacks of this order.")] = None,
    failed: Annotated[
        bool, typer.Option("--failed", help="Only those that no attempt delivered.")
    ] = False,
    tests: Annotated[bool, typer.Option("--tests", help="The tests instead.")] = False,
    limit: Limit = 50,
) -> None:
    """List a merchant's callbacks, the newest first."""
    with session.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        if tests:
            found = list_tests(db, merchant.id, limit=limit + 1)
        elif order is not None:
            found = list_callbacks_of_order(
                db, merchant.id, possible_id(order), is_failed=failed, limit=limit + 1
            )
        else:
            found = list_callbacks(db, merchant.id, is_failed=failed, limit=limit + 1)
    columns: Columns = {
        "id": "id",
        "event": lambda one: "test" if one["event"] is None else one["event"],
        "order": "order",
        "when": "createdAt",
        "what": "kind",
        "state": "state",
        "attempts": "attempts",
    }
    callbacks = [_describe(callback) for callback in found]
    session.show_list(callbacks, columns, "There is no such callback.", limit=limit)


@command(app, "show")
def show(session: CommandSession, callback_id: CallbackId) -> None:
    """Show what is known about a callback, and the result of each attempt."""
    with session.reading() as db:
        merchant, callback = _find(db, callback_id)
        attempts = list_attempts(db, callback.id)
    facts = {"merchant": merchant.code, **_describe(callback)}
    session.show({**facts, "history": attempts}, *align(facts), *map(_write_attempt, attempts))


@command(app, "send-again")
def send_one_again(session: CommandSession, callback_id: CallbackId) -> None:
    """Send a callback again now, whatever its state, with all its attempts."""
    with session.system_work() as system:
        merchant, _ = _find(system.db, callback_id)
        send_again(system.for_merchant(merchant), callback_id)
    session.done(f"Callback {callback_id} is on its way.", id=callback_id)


@command(app, "replay")
def replay(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    since: Annotated[
        datetime | None,
        typer.Option(
            metavar="TIME",
            formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
            help="All events since then, in the merchant's time and UTC: 2026-11-15T12:00.",
        ),
    ] = None,
    after: Annotated[
        int | None,
        typer.Option(min=0, max=2**62, help="All events after the one with this number."),
    ] = None,
) -> None:
    """Send all callbacks of a merchant again, from a point in time or an event on."""
    if (since is None) == (after is None):
        raise typer.BadParameter("Give either --since or --after.")
    first: datetime | int | None = since.replace(tzinfo=UTC) if since else (after or 0) + 1
    sent = 0
    while first is not None:
        # Each page in a transaction of its own: other processes want to write meanwhile.
        with session.work(merchant_id) as work:
            page = replay_page(work, since=first)
        sent += page.sent
        first = page.next_number
    sentence = "1 callback is on its way." if sent == 1 else f"{sent} callbacks are on their way."
    session.done(sentence, sent=sent)


def _find(db: Connection, callback_id: int) -> tuple[Merchant, Callback]:
    """Return a callback and its merchant; operators may see those of all merchants."""
    known = load_deliveries(db, [possible_id(callback_id)]).get(callback_id)
    if known is None:
        raise NotFound(f"There is no callback {callback_id}.")
    merchant = get_merchant(db, known.merchant_id)
    return merchant, get_callback(db, merchant.id, callback_id)


def _describe(callback: Callback) -> dict[str, Any]:
    event = callback.event
    return {
        "id": callback.id,
        "event": callback.number,
        "order": callback.order_id,
        "sequence": callback.sequence,
        "kind": None if event is None else str(event.__struct_config__.tag),
        "status": event and event.status,
        **pick(callback, "created_at", "state", "failures", "attempts", "next_at", "delivered_at"),
    }


def _write_attempt(attempt: Attempt) -> str:
    result = attempt.error or f"status {attempt.status}"
    answer = f": {attempt.answer.splitlines()[0][:100]}" if attempt.answer.strip() else ""
    return (
        f"attempt {attempt.number:<4} {write(attempt.at)}  {attempt.url}  "
        f"{result}{answer} ({attempt.milliseconds} ms)"
    )
