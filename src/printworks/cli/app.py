"""The commands, put together."""

from pathlib import Path
from typing import Annotated

import typer

from printworks import __version__
from printworks.cli import (
    callbacks,
    catalogue,
    clock,
    doctor,
    images,
    issues,
    jobs,
    labs,
    ledger,
    listen,
    merchant_callbacks,
    merchants,
    orders,
    people,
    processes,
)

app = typer.Typer(
    name="printworks",
    help="The print-fulfilment service that anyone can run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(processes.serve)
app.command()(processes.web)
app.command()(processes.work)
app.command()(processes.migrate)
app.command()(doctor.doctor)
app.command()(listen.listen)
app.add_typer(merchants.merchant_app, name="merchant")
merchants.merchant_app.add_typer(merchant_callbacks.app, name="callback")
merchants.merchant_app.command("invite")(people.invite_merchant)
merchants.merchant_app.command("people")(people.list_merchants_people)
merchants.merchant_app.command("invite-colleague")(people.invite_colleague)
merchants.merchant_app.command("reset")(people.reset_merchants_person)
app.add_typer(merchants.key_app, name="key")
app.add_typer(people.app, name="operator")
app.add_typer(jobs.app, name="jobs")
app.add_typer(catalogue.app, name="catalogue")
app.add_typer(images.app, name="image")
app.add_typer(orders.app, name="order")
app.add_typer(issues.app, name="issue")
app.add_typer(labs.app, name="lab")
app.add_typer(ledger.app, name="ledger")
app.add_typer(callbacks.app, name="callback")
app.add_typer(clock.app, name="clock")


def _print_version(*, wanted: bool) -> None:
    if wanted:
        typer.echo(f"printworks {__version__}")
        raise typer.Exit


@app.callback()
def choose_data(
    context: typer.Context,
    *,
    data: Annotated[
        Path | None,
        typer.Option(
            "--data",
            metavar="DIR",
            envvar="PRINTWORKS_DATA",
            help="The folder in which everything lives (./data by default).",
        ),
    ] = None,
    version: Annotated[  # noqa: ARG001  (handled as soon as it is read)
        bool,
        typer.Option(
            "--version", help="Print the version.", is_eager=True, callback=_print_version
        ),
    ] = False,
) -> None:
    """Remember the data folder for the command that follows."""
    context.obj = data
