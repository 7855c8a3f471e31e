"""`printworks key`: the API keys of merchants."""

from typing import Annotated

import typer

from printworks.actions.accounts.merchants import rotate_key
from printworks.cli.demo import replace_demo_key
from printworks.cli.options import MerchantId, read_duration
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.store.accounts.merchants import list_valid_keys

app = typer.Typer(no_args_is_help=True)


@command(app, "rotate")
def rotate(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    old_key_valid_for: Annotated[
        str, typer.Option(metavar="30s|10m|24h|30d|0", help="How long the old key still works.")
    ] = "24h",
) -> None:
    """Give a merchant a new API key, and print it; the old one works for a while longer."""
    valid_for = read_duration(old_key_valid_for)
    with session.work(merchant_id) as work:
        key = rotate_key(work, old_key_valid_for=valid_for)
    replace_demo_key(session.settings.data, merchant_id, key)
    show_key(session, merchant_id, key)


@command(app, "list")
def list_keys(session: CommandSession) -> None:
    """List the API keys that work now, by their last four characters, and their last use."""
    with session.reading() as db:
        keys = list_valid_keys(db, now=session.services.clock())
    found = [
        {
            "merchantId": key.merchant_code,
            "endsWith": key.hint,
            **pick(key, "created_at", "expires_at", "last_used_at"),
        }
        for key in keys
    ]
    columns: Columns = {
        "merchant id": "merchantId",
        "key": lambda key: f"...{key['endsWith']}",
        "made": "createdAt",
        "ends": lambda key: key["expiresAt"] or "never",
        "last used": lambda key: key["lastUsedAt"] or "never",
    }
    session.show_list(found, columns, "There is no key yet.")


def show_key(session: CommandSession, merchant_id: str, api_key: str) -> None:
    """Print a key that cannot be shown again."""
    session.show(
        {"merchantId": merchant_id, "apiKey": api_key},
        f"merchant id  {merchant_id}",
        f"API key      {api_key}",
        "Store the key now: it is not shown again.",
    )
