"""`printworks clock`: the clocks of sandbox merchants."""

from datetime import timedelta
from typing import Annotated, Final

import typer

from printworks import log
from printworks.actions.accounts.clock import audit_clock_move
from printworks.cli.options import MerchantId, read_duration
from printworks.cli.output import write
from printworks.cli.session import CommandSession, command
from printworks.settings import BadSetting
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.worker.advance import ClockMover

# In one move, as through the API: a clock cannot be moved back.
LONGEST: Final = timedelta(days=366)

app = typer.Typer(no_args_is_help=True)


@command(app, "show")
def show(session: CommandSession, merchant_id: MerchantId) -> None:
    """Show what time it is for a merchant."""
    with session.reading() as db:
        ahead = get_merchant_by_code(db, merchant_id).clock_offset
    now = session.services.clock() + ahead
    how = f"ahead by {ahead}" if ahead else "which is the real time"
    session.show(
        {"now": now, "aheadBySeconds": int(ahead.total_seconds())},
        f"It is {write(now)} for {merchant_id}, {how}.",
    )


@command(app, "advance")
def advance(
    session: CommandSession,
    merchant_id: MerchantId,
    by: Annotated[str, typer.Argument(metavar="30s|10m|24h|30d", help="How far to move it.")],
) -> None:
    """Move a sandbox merchant's clock; everything that falls due until then happens."""
    if session.settings.environment != "sandbox":
        raise BadSetting("Only the clocks of a sandbox can be moved.")
    duration = read_duration(by, longest=LONGEST)
    with session.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
    # To standard error: what jobs log on the way must not end up in the answer.
    log.configure(session.settings)
    mover = ClockMover(session.settings, session.services.clock)
    try:
        mover.advance(merchant.id, duration)
    finally:
        mover.close()
    with session.work(merchant_id) as work:
        audit_clock_move(work, duration)
    show(session, merchant_id)
