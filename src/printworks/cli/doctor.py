"""`printworks doctor`: is this installation well, and what to do if not."""

import typer

from printworks.cli.options import Data, Json, load_settings, make_console, print_json


def doctor(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """Check settings, disk, files, database, TLS and clock; say what to do. Exit 1 on FAIL."""
    from rich.text import Text

    from printworks.cli.checks import DoctorFinding, DoctorVerdict, examine
    from printworks.clock import system_clock
    from printworks.settings import BadSetting

    try:
        findings = list(examine(load_settings(context, data), now=system_clock()))
    except BadSetting as error:
        findings = [DoctorFinding("settings", DoctorVerdict.FAIL, str(error))]
    if json:
        print_json(findings)
    else:
        console = make_console()
        colours = {
            DoctorVerdict.OK: "green",
            DoctorVerdict.WARN: "yellow",
            DoctorVerdict.FAIL: "bold red",
        }
        for finding in findings:
            verdict = (f"{finding.verdict:<5}", colours[finding.verdict])
            console.print(Text.assemble(verdict, f" {finding.check:<15}", finding.message))
    if any(finding.verdict is DoctorVerdict.FAIL for finding in findings):
        raise typer.Exit(1)
