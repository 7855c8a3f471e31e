"""`printworks key`: the API keys of merchants."""

from typing import Annotated

import typer

from printworks.actions.accounts.merchants import add_key, replace_key, revoke_key, rotate_key
from printworks.actions.work import Work
from printworks.cli.demo import replace_demo_key
from printworks.cli.options import MerchantId, OnlyMerchant, read_duration
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput, NotFound
from printworks.rules.keys import KeyAccess, KeyLimits
from printworks.store.accounts.merchants import (
    ApiKey,
    get_merchant_by_code,
    list_keys,
    list_valid_keys,
)

app = typer.Typer(no_args_is_help=True)

_WAIT = "30s|10m|24h|30d|0"
KeyName = Annotated[
    str, typer.Argument(metavar="KEY", help="Its number, its name or its last four characters.")
]
OldKeyValidFor = Annotated[
    str, typer.Option(metavar=_WAIT, help="How long the old key still works.")
]


@command(app, "create")
def create(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    name: Annotated[str, typer.Option(help="What it is for, such as a program.")] = "",
    access: Annotated[
        KeyAccess,
        typer.Option(
            case_sensitive=False,
            help="Everything; all but submitting orders and letting recipients pay; or reading.",
        ),
    ] = KeyAccess.FULL,
    lab: Annotated[
        str | None, typer.Option(help="Only for orders that this lab makes, by its code.")
    ] = None,
    valid_for: Annotated[
        str | None, typer.Option(metavar="12h|90d", help="When it ends; by default never.")
    ] = None,
) -> None:
    """Give a merchant another API key, and print it; its other keys stay as they are."""
    duration = None if valid_for is None else read_duration(valid_for)
    with session.work(merchant_id) as work:
        key = add_key(work, KeyLimits(name, access, lab), valid_for=duration)
    show_key(session, merchant_id, key)


@command(app, "revoke")
def revoke(session: CommandSession, merchant_id: MerchantId, key: KeyName) -> None:
    """Revoke an API key at once; programs that use it are refused."""
    with session.work(merchant_id) as work:
        ended = revoke_key(work, _find(work, key).id)
    session.done(f"The key ...{ended.hint} was revoked.", merchantId=merchant_id, **_show(ended))


@command(app, "replace")
def replace(
    session: CommandSession,
    merchant_id: MerchantId,
    key: KeyName,
    *,
    old_key_valid_for: OldKeyValidFor = "24h",
) -> None:
    """Replace one API key by a new one with its name and limits, and print that."""
    valid_for = read_duration(old_key_valid_for)
    with session.work(merchant_id) as work:
        new = replace_key(work, _find(work, key).id, old_key_valid_for=valid_for)
    show_key(session, merchant_id, new)


@command(app, "rotate")
def rotate(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    old_key_valid_for: OldKeyValidFor = "24h",
) -> None:
    """Replace all API keys of a merchant by a new one, and print it; the old ones work a while longer."""
    valid_for = read_duration(old_key_valid_for)
    with session.work(merchant_id) as work:
        key = rotate_key(work, old_key_valid_for=valid_for)
    replace_demo_key(session.settings.data, merchant_id, key)
    show_key(session, merchant_id, key)


@command(app, "list")
def list_all(session: CommandSession, *, merchant: OnlyMerchant = None) -> None:
    """List the API keys that work now, what they may do, and their last use."""
    with session.reading() as db:
        now = session.services.clock()
        if merchant is None:
            keys = list_valid_keys(db, now=now)
        else:
            keys = list_keys(db, get_merchant_by_code(db, merchant).id, now=now)
    found = [{"merchantId": key.merchant_code, **_show(key)} for key in keys]
    columns: Columns = {
        "merchant ID": "merchantId",
        "number": "id",
        "key": lambda key: f"...{key['endsWith']}",
        "name": "name",
        "may": lambda key: _describe(key["access"], key["lab"]),
        "made": "createdAt",
        "ends": lambda key: key["expiresAt"] or "never",
        "last used": lambda key: key["lastUsedAt"] or "never",
    }
    session.show_list(found, columns, "There is no key yet.")


def _show(key: ApiKey) -> dict[str, object]:
    return {
        "id": key.id,
        "endsWith": key.hint,
        **pick(key, "name", "access", "lab", "created_at", "expires_at", "last_used_at"),
    }


def _describe(access: str, lab: str | None) -> str:
    what = {"full": "everything", "no-money": "all but spend", "read-only": "read"}[access]
    return what if lab is None else f"{what}, only {lab}"


def _find(work: Work, key: str) -> ApiKey:
    keys = list_keys(work.db, work.merchant.id, now=work.real_now)
    found = [one for one in keys if key in {str(one.id), one.name, one.hint}]
    if len(found) > 1:
        numbers = ", ".join(str(one.id) for one in found)
        raise BadInput(f"Several keys are called {key!r}; name one by its number: {numbers}.")
    if not found:
        raise NotFound(f"{work.merchant.code} has no key {key!r} that works now.")
    return found[0]


def show_key(session: CommandSession, merchant_id: str, api_key: str) -> None:
    """Print a key that cannot be shown again."""
    session.show(
        {"merchantId": merchant_id, "apiKey": api_key},
        f"merchant ID  {merchant_id}",
        f"API key      {api_key}",
        "Store the key now: it is not shown again.",
    )
