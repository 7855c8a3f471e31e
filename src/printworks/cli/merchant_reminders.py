"""`printworks merchant reminders`: how a merchant is reminded of what is overdue."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from printworks.actions.mail.reminders import pause_reminders, resume_reminders
from printworks.cli.options import Limit, MerchantId
from printworks.cli.output import align, write_money
from printworks.cli.session import CommandSession, command
from printworks.store.money.reminders import Reminder, list_reminders, read_reminder_standing

app = typer.Typer()


@command(app, "reminders")
def show_reminders(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    pause: Annotated[
        str | None,
        typer.Option(metavar="REASON", help="Remind it of nothing; other operators read why."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Remind it again.")] = False,
    limit: Limit = 20,
) -> None:
    """Show the reminders of a merchant, newest first; pause or resume them."""
    if pause is not None and resume:
        raise typer.BadParameter("Reminders are paused or resumed: choose one.")
    with session.work(merchant_id) as work:
        if pause is not None:
            pause_reminders(work, pause)
        if resume:
            resume_reminders(work)
        standing = read_reminder_standing(work.db, work.merchant.id)
        found = list_reminders(work.db, work.merchant.id, limit=limit)
    facts = {
        "merchantId": merchant_id,
        "overdueSince": standing.overdue_since,
        "paused": standing.reminders_paused,
        "reminders": [_describe(one) for one in found],
    }
    texts = {
        "overdue since": standing.overdue_since or "nothing is overdue",
        "paused": standing.reminders_paused or "no",
    }
    session.show(facts, *align(texts), *_write_lines(found))


def _describe(one: Reminder) -> dict[str, object]:
    return {
        "step": one.step,
        "tone": one.tone,
        "amount": one.amount,
        "currency": one.currency,
        "dueOn": one.due_on,
        "readers": one.readers,
        "sentAt": one.sent_at,
    }


def _write_lines(found: Sequence[Reminder]) -> Iterator[str]:
    for one in found:
        told = "" if one.readers else ", told to nobody"
        amount = write_money(one.amount, one.currency)
        yield f"{one.sent_at:%Y-%m-%d %H:%M} UTC  {one.tone}  {amount}, due on {one.due_on}{told}"
