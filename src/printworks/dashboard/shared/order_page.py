"""What the merchant's and the operator's page of an order both show."""

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from printworks.dashboard.shared.invoices import KINDS
from printworks.dashboard.shared.order_images import describe_image
from printworks.dashboard.shared.order_timeline import describe_timeline
from printworks.dashboard.shared.paging import choose_page
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.visits import Visit
from printworks.store.callbacks.callbacks import Attempt, Callback, list_callbacks_of_order
from printworks.store.images.images import Image
from printworks.store.money.invoices import list_invoices_of_order
from printworks.store.orders.history import (
    list_attempts_of_order,
    list_entries_of_order,
    list_latest_events,
)
from printworks.store.orders.orders import Order

# What is listed of each: a page stays small, however large the order is.
IMAGES_ON_A_PAGE: Final = 60
# So many are shown large.
_FEW_IMAGES: Final = 6
MOST_SHIPMENTS: Final = 24
_MOST_TIMELINE_ENTRIES: Final = 60
_MOST_CALLBACKS: Final = 12
_MOST_ATTEMPTS: Final = 40
_MOST_ENTRIES: Final = 20
# An order of a thousand images has two events of each, which become two lines.
_MOST_EVENTS: Final = 1000


class SentCallback(NamedTuple):
    """A callback of an order, and how the latest attempts went."""

    callback: Callback
    attempts: Sequence[Attempt]
    # How many attempts there were that are not listed.
    older: int


def describe_images(visit: Visit, order: Order, images: Sequence[Image]) -> dict[str, Any]:
    """Return the page of images that the address asks for."""
    page = choose_page(visit, images, IMAGES_ON_A_PAGE)
    services, links = visit.services, visit.links
    shown = [
        describe_image(image, order, services.catalogue, links, services.sharpness)
        for image in page.shown
    ]
    return {
        "images": shown,
        # The one whose details the address asks for.
        "opened": read_number(visit.query.get("image", "")),
        "has_few_images": len(images) <= _FEW_IMAGES,
        "image_count": len(images),
        "first_image": page.first + 1,
        "last_image": page.first + len(page.shown),
        "pages": page.links,
    }


def describe_history(visit: Visit, order: Order) -> dict[str, Any]:
    """Return the timeline of an order, its money, and its callbacks."""
    db, merchant_id = visit.db, order.merchant_id
    happenings = list_latest_events(db, merchant_id, order.id, limit=_MOST_EVENTS)
    timeline = describe_timeline(happenings)
    return {
        "timeline": timeline[:_MOST_TIMELINE_ENTRIES],
        "is_cut": len(timeline) > _MOST_TIMELINE_ENTRIES or len(happenings) == _MOST_EVENTS,
        "entries": list_entries_of_order(db, merchant_id, order.id, limit=_MOST_ENTRIES),
        "invoices": list_invoices_of_order(db, order.id, limit=_MOST_ENTRIES),
        "invoice_kinds": KINDS,
        "told": list_sent_callbacks(visit, order),
    }


def list_sent_callbacks(visit: Visit, order: Order) -> list[SentCallback]:
    """Return the latest callbacks of an order, with the latest attempts of each."""
    db, merchant_id = visit.db, order.merchant_id
    attempts = list_attempts_of_order(db, merchant_id, order.id, limit=_MOST_ATTEMPTS)
    return [
        SentCallback(
            callback,
            attempts.get(callback.id, ()),
            max(0, callback.attempts - len(attempts.get(callback.id, ()))),
        )
        for callback in list_callbacks_of_order(db, merchant_id, order.id, limit=_MOST_CALLBACKS)
    ]
