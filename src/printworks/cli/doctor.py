"""`printworks doctor`: is this installation well, and what to do if not."""

from typing import Annotated

import msgspec
import typer
from rich.text import Text

from printworks.cli.checks import DoctorFinding, DoctorVerdict, examine
from printworks.cli.session import CommandSession, command
from printworks.clock import system_clock
from printworks.redaction import redact
from printworks.settings import BadSetting

COLOURS = {DoctorVerdict.OK: "green", DoctorVerdict.WARN: "yellow", DoctorVerdict.FAIL: "bold red"}

app = typer.Typer()


Live = Annotated[
    bool, typer.Option("--live", help="Check, too, what a shop with real orders and money needs.")
]


@command(app, "doctor")
def doctor(session: CommandSession, *, live: Live = False) -> None:
    """Check settings, disk, files, database, TLS and clock; say what to do. Exit 1 on FAIL."""
    try:
        findings = list(examine(session.settings, now=system_clock()))
        if live:
            # Imported here: it tries the jail of pictures.
            from printworks.cli.live_checks import examine_live

            findings += examine_live(session.settings)
    except BadSetting as error:
        findings = [DoctorFinding("settings", DoctorVerdict.FAIL, str(error))]
    findings = [msgspec.structs.replace(each, message=redact(each.message)) for each in findings]
    session.show(findings, *map(_write, findings))
    if any(finding.verdict is DoctorVerdict.FAIL for finding in findings):
        raise typer.Exit(1)


def _write(finding: DoctorFinding) -> Text:
    verdict = (f"{finding.verdict:<5}", COLOURS[finding.verdict])
    return Text.assemble(verdict, f" {finding.check:<15}", finding.message)
