"""The company that a merchant buys as: its name and address on invoices, and its VAT ID."""

from starlette.responses import Response

from printworks.actions.sellers import change_business
from printworks.dashboard.shared.companies import read_company
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.businesses import LONGEST, Business
from printworks.rules.people import Duty
from printworks.store.money.sellers import find_business


@page_at("/settings/business", duty=Duty.ACCOUNT)
def show_business(visit: MerchantVisit) -> Response:
    """Show the company that a merchant buys as, and let it be changed."""
    is_typed = visit.sent.text("do") == "change-business"
    stored = find_business(visit.db, visit.merchant.id)
    return visit.render(
        "merchant/business.html",
        said=read_company(visit.sent) if is_typed else stored or Business(),
        is_known=stored is not None,
        longest=LONGEST,
        countries=COUNTRY_CHOICES,
    )


@show_business.action("change-business", "The company was saved. New quotes follow it.")
def save_business(visit: MerchantVisit) -> None:
    """Say as which company the merchant buys."""
    change_business(visit.work, read_company(visit.sent))


@show_business.action("remove-business", "The company was removed.")
def remove_business(visit: MerchantVisit) -> None:
    """Buy as nobody in particular again."""
    change_business(visit.work, Business())
