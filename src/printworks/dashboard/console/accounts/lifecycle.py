"""What becomes of a merchant's account: suspended, closed, reopened, renamed, exported."""

from typing import Final

from starlette.responses import Response

from printworks.actions.accounts import lifecycle as actions
from printworks.actions.accounts.exporting import begin_merchant_export, write_merchant_archive
from printworks.actions.sellers import change_business
from printworks.catalogue.products import Currency
from printworks.dashboard.console.accounts.merchants import get_merchant_of
from printworks.dashboard.shared.archives import send_archive
from printworks.dashboard.shared.companies import read_company
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.businesses import LONGEST, Business
from printworks.rules.people import Duty
from printworks.store.accounts.lifecycle import count_open_orders, read_standing
from printworks.store.accounts.merchants import Merchant
from printworks.store.money.sellers import find_business

# Larger archives are written by the command line.
_MOST_BYTES: Final = 4_000_000_000


@page_at("/console/merchants/{code}/account", duty=Duty.ADMINISTER)
def show_account(visit: ConsoleVisit) -> Response:
    """Show the state of an account, and what can be done about it."""
    merchant = get_merchant_of(visit)
    return visit.render(
        "console/merchant_account.html",
        merchant=merchant,
        balance=read_standing(visit.db, merchant.id).balance,
        open_orders=count_open_orders(visit.db, merchant.id),
        currencies=visit.services.catalogue.currencies,
        company=_find_company(visit, merchant),
        longest=LONGEST,
        countries=COUNTRY_CHOICES,
    )


def _find_company(visit: ConsoleVisit, merchant: Merchant) -> Business:
    if visit.sent.text("do") == "change-company":
        return read_company(visit.sent)
    return find_business(visit.db, merchant.id) or Business()


@show_account.action("change-company", "The company was saved.", duty=Duty.ADMINISTER)
def change_company(visit: ConsoleVisit) -> None:
    """Say as which company a merchant buys."""
    change_business(visit.work_for(get_merchant_of(visit)), read_company(visit.sent))


@show_account.action(
    "suspend-merchant", "The account is suspended.", duty=Duty.ADMINISTER, needs_password=True
)
def suspend(visit: ConsoleVisit) -> None:
    actions.suspend_merchant(visit.work_for(get_merchant_of(visit)), visit.sent.text("reason"))


@show_account.action(
    "close-merchant", "The account is closed.", duty=Duty.ADMINISTER, needs_password=True
)
def close(visit: ConsoleVisit) -> None:
    actions.close_merchant(visit.work_for(get_merchant_of(visit)), visit.sent.text("reason"))


@show_account.action(
    "reopen-merchant", "The account is active again.", duty=Duty.ADMINISTER, needs_password=True
)
def reopen(visit: ConsoleVisit) -> None:
    actions.reopen_merchant(visit.work_for(get_merchant_of(visit)))


@show_account.action(
    "rename-merchant", "The name was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def rename(visit: ConsoleVisit) -> None:
    actions.rename_merchant(visit.work_for(get_merchant_of(visit)), visit.sent.text("name"))


@show_account.action(
    "change-currency", "The currency was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def change_currency(visit: ConsoleVisit) -> None:
    currency = read_choice(Currency, visit.sent.text("currency"), "Choose one of the currencies.")
    actions.change_currency(visit.work_for(get_merchant_of(visit)), currency)


@show_account.action(
    "export-merchant", needs_password=True, always_asks=True, duty=Duty.ADMINISTER, alone=True
)
def export(visit: ConsoleVisit) -> Response:
    """Send a ZIP with everything that the merchant has."""
    services = visit.services
    with services.database.writing() as db:
        merchant = get_merchant_of(visit.within(db))
        begun = begin_merchant_export(
            visit.system_work_in(db).for_merchant(merchant),
            with_pictures=bool(visit.sent.text("pictures")),
            most_bytes=_MOST_BYTES,
        )
    return send_archive(
        write_merchant_archive(services.database, services.files, begun), merchant.code, begun.at
    )
