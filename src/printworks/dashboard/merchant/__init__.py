"""The pages of a merchant."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.merchant import (
    account,
    adding_images,
    callback,
    integrations,
    issues,
    keys,
    new_order,
    order,
    order_address,
    orders,
    requests,
    sandbox,
)
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import MerchantVisit

PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    # Before those of an order, which would take `new` for a number.
    *new_order.PAGES,
    *adding_images.PAGES,
    *orders.PAGES,
    *order.PAGES,
    *order_address.PAGES,
    *sandbox.PAGES,
    *integrations.PAGES,
    *callback.PAGES,
    *keys.PAGES,
    *requests.PAGES,
    *account.PAGES,
    *issues.PAGES,
    security_page("/settings"),
)
