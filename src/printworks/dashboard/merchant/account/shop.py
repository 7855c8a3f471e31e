"""What recipients see of the shop: its name, logo and contact, and the slip in its parcels."""

from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.shops import LARGEST_LOGO, change_logo, change_profile
from printworks.actions.production.shop_slips import SlipFacts, describe_slip
from printworks.dashboard.shared.logos import address_of_logo
from printworks.dashboard.shared.sent_logos import take_logo
from printworks.dashboard.shared.slips import SlipResponse
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.people import Duty
from printworks.rules.shops import LONGEST, PLACEHOLDERS, ShopProfile, list_time_zones
from printworks.store.accounts.shops import get_shop

_EXAMPLE: Final = (
    "Dear {recipient},\n\nthank you for your order {order}. In this parcel:\n\n{items}\n\n"
    "Something is wrong? Write to us, and we will put it right: {contact}"
)


@page_at("/settings/shop", forms=Duty.MANAGE)
def show_shop(visit: MerchantVisit) -> Response:
    """Show what recipients see of the shop, and let it be changed."""
    shop, sent = get_shop(visit.db, visit.merchant.id), visit.sent
    is_typed = sent.text("do") == "change-shop"
    return visit.render(
        "merchant/shop.html",
        shop=shop,
        profile=_read_profile(visit) if is_typed else shop.profile,
        logo=address_of_logo(shop.logo) if shop.logo else "",
        largest=LARGEST_LOGO // 1_000_000,
        longest=LONGEST,
        placeholders=PLACEHOLDERS,
        example=_EXAMPLE,
        zones=list_time_zones(),
    )


@show_shop.action("change-shop", "The shop was saved.")
def change_shop(visit: MerchantVisit) -> None:
    """Change what recipients see, and the time zone of the dashboard."""
    change_profile(visit.work, _read_profile(visit))


def _read_profile(visit: MerchantVisit) -> ShopProfile:
    return ShopProfile(**{name: visit.sent.text(name) for name in LONGEST})


@show_shop.action("change-logo", "The logo was saved.", alone=True)
def replace_logo(visit: MerchantVisit) -> None:
    """Render a picture that was sent, and make it the logo."""
    take_logo(visit, visit.work_in, change_logo)


@show_shop.action("remove-logo", "The logo was removed.")
def remove_logo(visit: MerchantVisit) -> None:
    change_logo(visit.work, None, None)


@page_at("/settings/shop/slip")
def show_slip_example(visit: MerchantVisit) -> Response:
    """Show the packing slip as it would be printed for an order that does not exist."""
    shop = get_shop(visit.db, visit.merchant.id)
    facts = SlipFacts(
        recipient="Mary Fox",
        reference="A-1001",
        number=123_456,
        ordered_at=visit.now,
        items=[f"2 \N{MULTIPLICATION SIGN} {_list_an_item(visit)}"],
        country="",
    )
    return SlipResponse(visit.services, describe_slip(visit.db, shop, facts))


def _list_an_item(visit: MerchantVisit) -> str:
    """Return what something that is sold here is called."""
    products = visit.services.catalogue.products
    return products[0].description if products else ""
