"""The pages of a merchant."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.merchant.account import account
from printworks.dashboard.merchant.integrations import callback, integrations, keys, requests
from printworks.dashboard.merchant.issues import issues
from printworks.dashboard.merchant.orders import address, images, new_order, order, orders
from printworks.dashboard.merchant.sandbox import sandbox
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import MerchantVisit

PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    # Before those of an order, which would take `new` for a number.
    *new_order.PAGES,
    *images.PAGES,
    *orders.PAGES,
    *order.PAGES,
    *address.PAGES,
    *sandbox.PAGES,
    *integrations.PAGES,
    *callback.PAGES,
    *keys.PAGES,
    *requests.PAGES,
    *account.PAGES,
    *issues.PAGES,
    security_page("/settings"),
)
