"""The pages of a merchant."""

from typing import Final

from printworks.dashboard.desk import Page
from printworks.dashboard.security import security_page
from printworks.dashboard.visits import MerchantVisit

PAGES: Final[tuple[Page[MerchantVisit], ...]] = (security_page("/settings"),)
