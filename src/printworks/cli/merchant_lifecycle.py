"""`printworks merchant suspend` and others: what becomes of a merchant's account."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from printworks.actions.accounts import lifecycle
from printworks.actions.accounts.exporting import begin_merchant_export, write_merchant_archive
from printworks.catalogue.products import Currency
from printworks.cli.options import MerchantId
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput

app = typer.Typer()

Reason = Annotated[str, typer.Option(help="Why; the merchant reads it.")]


@command(app, "suspend")
def suspend(session: CommandSession, merchant_id: MerchantId, *, reason: Reason) -> None:
    """Stop a merchant from ordering; reading, cancelling and production go on."""
    with session.work(merchant_id) as work:
        lifecycle.suspend_merchant(work, reason)
    session.done(f"{merchant_id} is suspended.", merchantId=merchant_id, state="suspended")


@command(app, "close")
def close(session: CommandSession, merchant_id: MerchantId, *, reason: Reason) -> None:
    """Close an account with nothing open: sign its people out, and refuse its keys."""
    with session.work(merchant_id) as work:
        lifecycle.close_merchant(work, reason)
    session.done(f"{merchant_id} is closed.", merchantId=merchant_id, state="closed")


@command(app, "reopen")
def reopen(session: CommandSession, merchant_id: MerchantId) -> None:
    """Let a merchant that was suspended or closed order again."""
    with session.work(merchant_id) as work:
        lifecycle.reopen_merchant(work)
    session.done(f"{merchant_id} is active again.", merchantId=merchant_id, state="active")


@command(app, "rename")
def rename(
    session: CommandSession,
    merchant_id: MerchantId,
    name: Annotated[str, typer.Argument(help="What the merchant is called from now on.")],
) -> None:
    """Call a merchant something else."""
    with session.work(merchant_id) as work:
        lifecycle.rename_merchant(work, name)
    session.done(f"{merchant_id} is called {name.strip()}.", merchantId=merchant_id)


@command(app, "currency")
def change_currency(
    session: CommandSession,
    merchant_id: MerchantId,
    currency: Annotated[
        Currency, typer.Argument(case_sensitive=False, help="What it is charged in from now on.")
    ],
) -> None:
    """Charge a merchant in another currency, while no order and no balance is open."""
    with session.work(merchant_id) as work:
        lifecycle.change_currency(work, currency)
    session.done(
        f"{merchant_id} is charged in {currency}.", merchantId=merchant_id, currency=currency
    )


@command(app, "export")
def export(
    session: CommandSession,
    merchant_id: MerchantId,
    target: Annotated[Path, typer.Argument(metavar="FILE", help="The ZIP to write.")],
    *,
    pictures: Annotated[
        bool, typer.Option("--pictures/--no-pictures", help="Whether to include pictures.")
    ] = True,
) -> None:
    """Write all data of a merchant into a ZIP: orders, ledger and pictures."""
    if target.exists():
        raise BadInput(f"{target} exists already; name another file.")
    with session.work(merchant_id) as work:
        begun = begin_merchant_export(work, with_pictures=pictures, most_bytes=sys.maxsize)
    services = session.services
    # Nobody else may read it.
    handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "wb") as file:
        for piece in write_merchant_archive(services.database, services.files, begun):
            file.write(piece)
    session.done(
        f"{target} has the data of {merchant_id}.", merchantId=merchant_id, file=str(target)
    )
