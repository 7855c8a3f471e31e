"""Finding a merchant by what somebody typed."""

from printworks.dashboard.visits import ConsoleVisit
from printworks.errors import NotFound
from printworks.store.merchants import Merchant, get_merchant_by_code


def find_merchant(visit: ConsoleVisit, code: str) -> Merchant | None:
    """Return the merchant with this id, or None."""
    # No database takes a zero byte.
    if not code or "\0" in code:
        return None
    try:
        return get_merchant_by_code(visit.db, code)
    except NotFound:
        return None
