"""The commands: each is loaded when it is called, so that the program starts quickly."""

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_group

from printworks import __version__
from printworks.starting import without_collecting


class Place(NamedTuple):
    """Which module of this folder has a command, or a group of commands as its `app`."""

    module: str
    help: str
    is_group: bool = True


PLACES: Final = {
    "serve": Place("processes", "Run everything: API, dashboard and worker.", is_group=False),
    "web": Place("processes", "Run the HTTPS API and the dashboard alone.", is_group=False),
    "work": Place("processes", "Run a worker alone.", is_group=False),
    "migrate": Place("processes", "Bring the database up to date.", is_group=False),
    "top": Place("top", "Show what the service is doing now, live.", is_group=False),
    "doctor": Place("doctor", "Check the installation; say what to do.", is_group=False),
    "probe": Place("probe", "Ask whether the web process is alive or ready.", is_group=False),
    "backup": Place("backup", "Back up the database and the files, while running.", is_group=False),
    "restore": Place("backup", "Restore a backup into an empty installation.", is_group=False),
    "copy": Place("copying", "Copy everything to another database or place.", is_group=False),
    "verify": Place("verify", "Check that all rows, files and money are whole.", is_group=False),
    "quarantine": Place("quarantine", "Quarantine: what may have happened; let nothing out."),
    "listen": Place("listen", "Show callbacks as they happen, and forward them.", is_group=False),
    "merchant": Place("merchants", "Merchants: add and list them, their billing and people."),
    "key": Place("keys", "API keys: create, list, replace and revoke them."),
    "secrets": Place("secrets", "Secrets at rest: the keys that encrypt them, and new ones."),
    "operator": Place("operators", "Operators: who may sign in to the console, in which role."),
    "jobs": Place("jobs", "Jobs: list them, retry or cancel one."),
    "catalogue": Place("catalogue", "The catalogue: check it; products, labs and shipping."),
    "prices": Place("prices", "Price lists: of merchants and of groups of merchants."),
    "quotes": Place("quotes", "Quotes: prices of orders that are not submitted."),
    "image": Place("images", "Images: see how one would be printed."),
    "order": Place("orders", "Orders: find, show, explain, hold and cancel them."),
    "privacy": Place("privacy", "Privacy: find, export and erase a person; receipts."),
    "issue": Place("issues", "Issues: list, show, take and resolve what merchants report."),
    "lab": Place("labs", "Labs: what they have to make, and reporting on their behalf."),
    "ledger": Place("ledger", "The ledger: verify it, read it, post to it."),
    "invoice": Place("invoices", "Invoices: list, show and export them."),
    "callback": Place("callbacks", "Callbacks: list them, and send them again."),
    "mail": Place("mail", "Mail: send a test, list what was sent, send one again."),
    "brand": Place("brand", "The brand: name, logo, colour, sender, legal notice and terms."),
    "seller": Place("sellers", "The seller: its company, its registrations, the rates of tax."),
    "clock": Place("clock", "The clocks of sandbox merchants."),
}


def load(name: str) -> Any:
    """Return a command or a group of commands, with everything that it needs."""
    place = PLACES[name]
    with without_collecting():
        module = import_module(f"printworks.cli.{place.module}")
    group = get_group(module.app)
    if not place.is_group:
        return group.commands[name]
    group.help = place.help
    return group


class _LoadedWhenCalled(TyperGroup):
    """Lists commands by their help alone, and loads the one that is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        name, command, rest = super().resolve_command(ctx, args)
        return name, command if name is None else load(name), rest


app = typer.Typer(
    name="printworks",
    cls=_LoadedWhenCalled,
    help="The print-fulfilment service that anyone can run.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _stand_in() -> None:
    """Stand in the list of commands for one that is not loaded."""


for _name, _place in PLACES.items():
    app.command(_name, help=_place.help)(_stand_in)


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
            help="The data folder (./data by default).",
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
