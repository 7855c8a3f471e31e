"""The list of a merchant's orders: searched, filtered, paged and refreshed."""

from datetime import date
from typing import Any, Final

from starlette.responses import Response

from printworks.dashboard.shared.labels import label
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import LONGEST_SEARCH, MerchantVisit
from printworks.rules.orders import OrderStatus
from printworks.store.orders.orders import list_orders
from printworks.store.orders.search import OrderSearch, search_orders

_ON_A_PAGE: Final = 50
# What a filter is called in the address.
_FILTERS: Final = ("q", "status", "from", "to")


@page_at("/orders")
def show_orders(visit: MerchantVisit) -> Response:
    """Show a page of orders; a refresh without news gets an empty answer."""
    wanted, before = _read_search(visit), visit.cursor()
    merchant_id = visit.merchant.id
    total = list_orders(visit.db, merchant_id, limit=0, start=0).total
    found = search_orders(visit.db, merchant_id, wanted, before=before, limit=_ON_A_PAGE)
    etag = visit.etag(total, found.orders)
    return visit.render(
        "merchant/orders.html",
        etag=etag,
        # Searching for a name again and again would cost too much.
        is_live=before is None and not wanted.text,
        orders=found.orders,
        total=total,
        is_too_common=found.is_too_common,
        is_filtered=wanted != OrderSearch(),
        pages=visit.pages(found.next),
        statuses=[(status.value, label(status)) for status in OrderStatus],
        values=_read_values(visit),
        longest=LONGEST_SEARCH,
    )


def _read_search(visit: MerchantVisit) -> OrderSearch:
    return OrderSearch(
        text=visit.search_text,
        status=find_choice(OrderStatus, visit.query.get("status", "")),
        from_day=_read_day(visit.query.get("from", "")),
        to_day=_read_day(visit.query.get("to", "")),
    )


def _read_values(visit: MerchantVisit) -> dict[str, Any]:
    return {name: visit.query.get(name, "") for name in _FILTERS}


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
