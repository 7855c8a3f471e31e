"""`printworks merchant`: who may use the API, and how they pay."""

import re
from typing import Annotated

import typer
from msgspec import UNSET, UnsetType

from printworks.actions.accounts.merchants import (
    BillingTerms,
    add_merchant,
    change_billing,
    change_invoicing,
)
from printworks.catalogue.products import Currency
from printworks.cli import (
    merchant_callbacks,
    merchant_lifecycle,
    merchant_limits,
    merchant_mail,
    merchant_people,
    merchant_reminders,
    merchant_shop,
)
from printworks.cli.keys import show_key
from printworks.cli.options import MerchantId
from printworks.cli.output import Columns, align, write_debt, write_money
from printworks.cli.session import CommandSession, command
from printworks.rules.invoices import Invoicing
from printworks.rules.payments import Billing
from printworks.store.accounts.merchants import get_merchant, list_merchants
from printworks.store.money.ledger import read_books, read_credit_limit
from printworks.store.money.payments import SavedCard, get_card

app = typer.Typer(no_args_is_help=True)


@command(app, "add")
def add(
    session: CommandSession,
    name: Annotated[str, typer.Argument(help="What the merchant is called.")],
    *,
    currency: Annotated[
        Currency | None,
        typer.Option(
            case_sensitive=False,
            help="What it is charged in; the first of the catalogue's currencies if not given.",
        ),
    ] = None,
    billing: Annotated[
        Billing | None,
        typer.Option(
            case_sensitive=False, help="How it pays; by card, unless `payments` is `account`."
        ),
    ] = None,
) -> None:
    """Add a merchant, and print its ID and its API key, which is shown only once."""
    usual = Billing.ACCOUNT if session.settings.payments == "account" else Billing.CARD
    with session.system_work() as system:
        new = add_merchant(system, name, currency=currency, billing=billing or usual)
    show_key(session, new.merchant.code, new.api_key)


@command(app, "list")
def list_all(session: CommandSession) -> None:
    """List all merchants, oldest first."""
    with session.reading() as db:
        found = [
            {"merchantId": one.code, "name": one.name, "state": one.state}
            for one in list_merchants(db)
        ]
    columns: Columns = {"merchant ID": "merchantId", "name": "name", "state": "state"}
    session.show_list(found, columns, "There is no merchant yet.")


@command(app, "billing")
def show_billing(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    by: Annotated[
        Billing | None,
        typer.Option(case_sensitive=False, help="How the merchant pays from now on."),
    ] = None,
    limit: Annotated[
        str | None, typer.Option(metavar="PENCE|none", help="The most that the merchant may owe.")
    ] = None,
    card: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="CUSTOMER METHOD",
            help="The saved card, by the provider's IDs, such as `cus_… pm_…`.",
        ),
    ] = None,
    invoicing: Annotated[
        Invoicing | None,
        typer.Option(
            case_sensitive=False, help="When it is sent invoices, where there is a seller."
        ),
    ] = None,
) -> None:
    """Show how a merchant pays, what it owes and may owe, and change that."""
    terms = BillingTerms(
        billing=UNSET if by is None else by,
        credit_limit=_read_limit(limit),
        card=UNSET if card is None else _read_card(card),
    )
    with session.work(merchant_id) as work:
        change_billing(work, terms)
        if invoicing is not None:
            change_invoicing(work, invoicing)
        merchant = get_merchant(work.db, work.merchant.id)
        allowed = read_credit_limit(work.db, merchant.id)
        owed = read_books(work.db, merchant.id).balance
        saved = get_card(work.db, merchant.id).payment_method
    facts = {
        "merchantId": merchant.code,
        "billing": merchant.billing,
        "card": saved,
        "currency": merchant.currency,
        "owed": owed,
        "creditLimit": allowed,
        "invoicing": merchant.invoicing,
    }
    texts = {
        "pays by": merchant.billing,
        "card": saved or "none saved",
        "owes": write_debt(owed, merchant.currency),
        "limit": "none" if allowed is None else write_money(allowed, merchant.currency),
        "invoice": merchant.invoicing,
    }
    session.show(facts, *align(texts))


def _read_limit(limit: str | None) -> int | UnsetType | None:
    if limit is None:
        return UNSET
    if limit == "none":
        return None
    if not (limit.isascii() and limit.isdigit() and len(limit) <= 12):
        raise typer.BadParameter("The limit is a whole number of pence or cents, or `none`.")
    return int(limit)


def _read_card(card: tuple[str, str]) -> SavedCard:
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{1,100}", word) for word in card):
        raise typer.BadParameter("The IDs of a card are letters, digits, `_` and `-`.")
    return SavedCard(*card)


app.add_typer(
    merchant_callbacks.app,
    name="callback",
    help="Where a merchant's callbacks go: set it, test it.",
)
app.add_typer(merchant_people.app)
app.add_typer(merchant_limits.app)
app.add_typer(merchant_lifecycle.app)
app.add_typer(merchant_mail.app)
app.add_typer(merchant_reminders.app)
app.add_typer(merchant_shop.app)
