"""Arguments and options that several commands share."""

from datetime import timedelta
from typing import Annotated

import typer

from printworks.settings import parse_duration

MerchantId = Annotated[str, typer.Argument(metavar="MERCHANT", help="The merchant's ID.")]
OnlyMerchant = Annotated[str | None, typer.Option("--merchant", help="Only of this merchant.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="How many at most.")]
Host = Annotated[
    str | None, typer.Option("--host", help="The address to listen on; else the setting `host`.")
]
Port = Annotated[
    int | None,
    typer.Option(
        "--port", min=1, max=65535, help="The port to listen on; else the setting `port`."
    ),
]
Email = Annotated[str, typer.Argument(help="The email address to sign in with.")]


def read_duration(text: str, *, longest: timedelta | None = None) -> timedelta:
    """Return a duration such as 30s, 10m, 24h or 30d; refuse the command if it is none."""
    try:
        duration = parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    if longest is not None and duration > longest:
        raise typer.BadParameter(f"{text} is more than {longest.days} days.")
    return duration
