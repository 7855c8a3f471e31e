"""The list of a merchant's orders: searched, filtered, paged, refreshed, and worked on in lots."""

import secrets
from collections.abc import Mapping
from datetime import date
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from starlette.responses import Response

from printworks.actions.lots.lots import prepare_lot
from printworks.dashboard.shared.bulk import is_choosing, read_chosen
from printworks.dashboard.shared.labels import label
from printworks.dashboard.site.forms import find_choice, read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import LONGEST_SEARCH, MerchantVisit
from printworks.errors import BadInput
from printworks.rules.lots import LotKind
from printworks.rules.orders import OrderStatus
from printworks.store.callbacks.log import FailingCallbacks, find_failing
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.orders.filters import count_orders
from printworks.store.orders.lookups import OrderCount
from printworks.store.orders.pages import list_orders
from printworks.store.orders.search import NEWEST, OrderSearch, search_orders

_ON_A_PAGE: Final = 50
# What a filter is called in the address.
_FILTERS: Final = ("q", "status", "from", "to")


class ListDeed(StrEnum):
    """What can be done with many orders of the list."""

    SUBMIT = "submit"
    CANCEL = "cancel"


_KINDS: Final[Mapping[ListDeed, LotKind]] = {
    ListDeed.SUBMIT: LotKind.SUBMIT,
    ListDeed.CANCEL: LotKind.CANCEL,
}


@page_at("/orders")
def show_orders(visit: MerchantVisit) -> Response:
    """Show a page of orders; a refresh without news gets an empty answer."""
    wanted, before = read_search(visit), visit.cursor()
    merchant_id = visit.merchant.id
    total = list_orders(visit.db, merchant_id, limit=0, start=0).total
    found = search_orders(visit.db, merchant_id, wanted, before=before, limit=_ON_A_PAGE)
    is_filtered = wanted != OrderSearch(zone=wanted.zone)
    matching = OrderCount(total)
    if found.is_too_common:
        # Counting would cost as much as searching, and end no sooner.
        matching = OrderCount(len(found.orders), is_least=True)
    elif is_filtered:
        matching = count_orders(visit.db, merchant_id, wanted)
    failing = _find_failing(visit)
    etag = visit.etag(total, matching.number, found.orders, failing)
    most = visit.services.settings.lot_orders
    return visit.render(
        "merchant/orders.html",
        etag=etag,
        # Searching for a name again and again would cost too much.
        is_live=before is None and not wanted.text and not is_choosing(visit),
        is_choosing=is_choosing(visit),
        once=visit.sent.text("once") or secrets.token_hex(16),
        orders=found.orders,
        total=total,
        matching=matching,
        may_choose_all=0 < matching.number <= most and not matching.is_least,
        most=most,
        searched_newest=NEWEST if wanted.sku else 0,
        is_too_common=found.is_too_common,
        is_filtered=is_filtered,
        failing=failing,
        pages=visit.pages(found.next),
        statuses=[(status.value, label(status)) for status in OrderStatus],
        values=_read_values(visit),
        longest=LONGEST_SEARCH,
        export=visit.here(before=None, choose=None).replace("/orders", "/orders/export.csv", 1),
    )


@show_orders.action("prepare-lot")
def prepare(visit: MerchantVisit) -> str:
    """Write down which orders are to be submitted or cancelled; the next page asks once more."""
    bulk_action = read_choice(
        ListDeed, visit.sent.text("bulk_action"), "Choose what to do with the orders."
    )
    chosen = _find_all(visit) if visit.sent.text("all") else read_chosen(visit.sent)
    lot_id = prepare_lot(visit.work, _KINDS[bulk_action], chosen, once=visit.sent.text("once"))
    return f"/orders/lots/{lot_id}"


def _find_all(visit: MerchantVisit) -> list[int]:
    """Return all orders of the filter, if they are not too many."""
    wanted, most = read_search(visit), visit.services.settings.lot_orders
    found = search_orders(visit.db, visit.merchant.id, wanted, before=None, limit=most)
    if found.next is not None or found.is_too_common:
        raise BadInput(f"More than {most:,} orders match. Narrow the search first.")
    return [line.id for line in found.orders]


def _find_failing(visit: MerchantVisit) -> FailingCallbacks | None:
    if read_callback_settings(visit.db, visit.merchant.id).url is None:
        return None
    return find_failing(visit.db, visit.merchant.id)


def read_search(visit: MerchantVisit) -> OrderSearch:
    """Read from the address which orders are wanted."""
    text = visit.search_text
    product = visit.services.catalogue.find_product(text) if text else None
    return OrderSearch(
        text=text,
        sku=product.sku if product else None,
        status=find_choice(OrderStatus, visit.query.get("status", "")),
        from_day=_read_day(visit.query.get("from", "")),
        to_day=_read_day(visit.query.get("to", "")),
        zone=ZoneInfo(visit.time_zone),
    )


def _read_values(visit: MerchantVisit) -> dict[str, Any]:
    return {name: visit.query.get(name, "") for name in _FILTERS}


def _read_day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None
