"""`printworks merchant` and `printworks key`: who may use the API."""

import re
from datetime import datetime, timedelta
from typing import Annotated

import typer

from printworks.catalogue.products import Currency
from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)
from printworks.rules.payments import Billing

merchant_app = typer.Typer(help="Merchants: let one in, list them.", no_args_is_help=True)
key_app = typer.Typer(help="API keys: give a merchant a new one, list them.", no_args_is_help=True)


@merchant_app.command("add")
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="What the merchant is called.")],
    *,
    currency: Annotated[
        Currency, typer.Option(case_sensitive=False, help="What it is charged in.")
    ] = Currency.GBP,
    billing: Annotated[
        Billing | None,
        typer.Option(
            case_sensitive=False,
            help="How it pays; by card, unless `payments` is `account`.",
        ),
    ] = None,
    data: Data = None,
    json: Json = False,
) -> None:
    """Let a merchant in, and print its id and its API key, which is shown this once."""
    from printworks.actions.accounts.merchants import add_merchant
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    usual = Billing.ACCOUNT if settings.payments == "account" else Billing.CARD
    with open_database(settings) as database, database.writing() as db:
        new = add_merchant(
            db,
            name,
            environment=settings.environment,
            currency=currency,
            billing=billing or usual,
            now=system_clock(),
        )
    _show_key(new.merchant.code, new.api_key, json=json)


@merchant_app.command("list")
def list_all(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """List all merchants, oldest first."""
    from rich.table import Table

    from printworks.store.accounts.merchants import list_merchants

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        found = list_merchants(db)
    if json:
        print_json([{"merchantId": merchant.code, "name": merchant.name} for merchant in found])
        return
    table = Table("merchant id", "name", box=None)
    for merchant in found:
        table.add_row(merchant.code, merchant.name)
    make_console().print(table if found else "There is no merchant yet.")


@merchant_app.command("billing")
def show_billing(
    context: typer.Context,
    merchant_id: Annotated[str, typer.Argument(help="The merchant's id.")],
    *,
    by: Annotated[
        Billing | None,
        typer.Option(case_sensitive=False, help="How the merchant pays from now on."),
    ] = None,
    limit: Annotated[
        str | None,
        typer.Option(metavar="PENCE|none", help="The most that the merchant may owe."),
    ] = None,
    card: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="CUSTOMER METHOD",
            help="The saved card, by the provider's ids, such as `cus_… pm_…`.",
        ),
    ] = None,
    data: Data = None,
) -> None:
    """Show how a merchant pays, what it owes and may owe, and change that."""
    from printworks.store.accounts.merchants import get_merchant_by_code, set_billing
    from printworks.store.money.ledger import read_books, read_credit_limit, set_credit_limit
    from printworks.store.money.payments import SavedCard, get_card, save_card

    if limit is not None and limit != "none" and not (limit.isdigit() and len(limit) <= 12):
        raise typer.BadParameter("The limit is a whole number of pence or cents, or `none`.")
    if card is not None and not all(re.fullmatch(r"[A-Za-z0-9_-]{1,100}", word) for word in card):
        raise typer.BadParameter("The ids of a card are letters, digits, `_` and `-`.")
    with open_database(load_settings(context, data)) as database, database.writing() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        if limit is not None:
            set_credit_limit(db, merchant.id, None if limit == "none" else int(limit))
        if by is not None:
            set_billing(db, merchant.id, by)
        if card is not None:
            save_card(db, merchant.id, SavedCard(*card))
        merchant = get_merchant_by_code(db, merchant_id)
        allowed = read_credit_limit(db, merchant.id)
        owed = read_books(db, merchant.id).balance
        saved = get_card(db, merchant.id)
    console = make_console()
    console.print(f"pays by  {merchant.billing}")
    console.print(f"card     {saved.payment_method or 'none saved'}")
    console.print(f"owes     {owed / 100:,.2f} {merchant.currency}")
    console.print(
        "limit    none" if allowed is None else f"limit    {allowed / 100:,.2f} {merchant.currency}"
    )


@key_app.command("rotate")
def rotate(
    context: typer.Context,
    merchant_id: Annotated[str, typer.Argument(help="The merchant's id.")],
    *,
    old_key_valid_for: Annotated[
        str, typer.Option(metavar="30s|10m|24h|30d|0", help="How long the old key still works.")
    ] = "24h",
    data: Data = None,
    json: Json = False,
) -> None:
    """Give a merchant a new API key, and print it; the old one works for a while longer."""
    from printworks.actions.accounts.merchants import rotate_key
    from printworks.cli.demo import replace_demo_key
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    with open_database(settings) as database, database.writing() as db:
        key = rotate_key(
            db,
            merchant_id,
            old_key_valid_for=_read_duration(old_key_valid_for),
            environment=settings.environment,
            now=system_clock(),
        )
    replace_demo_key(settings.data, merchant_id, key)
    _show_key(merchant_id, key, json=json)


@key_app.command("list")
def list_keys(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """List the API keys that work now, by their last four characters, and their last use."""
    from rich.table import Table

    from printworks.clock import system_clock
    from printworks.store.accounts.merchants import list_valid_keys

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        found = list_valid_keys(db, now=system_clock())
    if json:
        print_json(
            [
                {
                    "merchantId": key.merchant_code,
                    "endsWith": key.hint,
                    "createdAt": key.created_at,
                    "expiresAt": key.expires_at,
                    "lastUsedAt": key.last_used_at,
                }
                for key in found
            ]
        )
        return
    table = Table("merchant id", "key", "made", "ends", "last used", box=None)
    for key in found:
        moments = (key.created_at, key.expires_at, key.last_used_at)
        table.add_row(key.merchant_code, f"...{key.hint}", *map(_write, moments))
    make_console().print(table if found else "There is no key yet.")


def _show_key(merchant_id: str, api_key: str, *, json: bool) -> None:
    if json:
        print_json({"merchantId": merchant_id, "apiKey": api_key})
        return
    console = make_console()
    console.print(f"merchant id  {merchant_id}\nAPI key      {api_key}", style="bold")
    console.print("Keep the key: only its fingerprint is stored.", style="dim")


def _read_duration(text: str) -> timedelta:
    from printworks.settings import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error


def _write(timestamp: datetime | None) -> str:
    return "never" if timestamp is None else f"{timestamp:%Y-%m-%d %H:%M} UTC"
