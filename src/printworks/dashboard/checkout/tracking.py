"""The page at which a recipient follows an order that somebody else has paid for: without prices."""

from collections.abc import Sequence
from typing import NamedTuple

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.orders.tracking import TrackedOrder, find_tracked_order
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.checkout.checkout_view import show_live
from printworks.dashboard.checkout.order_view import (
    Item,
    OrderMaking,
    OrderProgress,
    describe_progress,
    view_item,
    view_shop,
    write_address,
)
from printworks.dashboard.checkout.readers import (
    RecipientReader,
    ShopView,
    find_reader,
    name_facts,
    refuse_unknown_order,
    show_message_to,
)
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import Message
from printworks.dashboard.site.services import PageServices
from printworks.rules.orders import OrderStatus
from printworks.wire.links import Links


class TrackingView(NamedTuple):
    """An order on its way to its recipient."""

    shop: ShopView
    order: str
    items: tuple[Item, ...]
    address: tuple[str, ...]
    progress: OrderProgress
    # Another one whenever the page would show something else.
    version: str


def tracking_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the page for those who have not paid themselves."""
    pages = TrackingPages(services)
    limiter = PageLimiter(services, lambda request: find_reader(request).words)
    return [Route("/track/{order}/{signature}", limiter.page(pages.show))]


class TrackingPages:
    """Serves the page at which an order is followed."""

    def __init__(self, services: PageServices) -> None:
        self._services = services

    def show(self, request: Request) -> Response:
        """Show how far an order is, to whoever has its link."""
        tracked, links = self._find(request)
        if tracked is None:
            return refuse_unknown_order(find_reader(request))
        reader = find_reader(request, tracked.order.destination_country)
        if tracked.order.status is OrderStatus.CANCELLED:
            return _say_cancelled(tracked, reader)
        view = _describe(tracked, reader, self._services.catalogue, links)
        return show_tracking(view, reader, request)

    def _find(self, request: Request) -> tuple[TrackedOrder | None, Links]:
        order_id = read_number(request.path_params["order"])
        with self._services.database.reading() as db:
            links = self._services.links(db)
            signature = request.path_params["signature"]
            if order_id is None or not links.is_tracked(order_id, signature):
                return None, links
            return find_tracked_order(self._services.system_work(db), order_id), links


def show_tracking(view: TrackingView, reader: RecipientReader, request: Request) -> Response:
    """Show where an order is, and look for news."""
    return show_live(reader, request, "recipient/tracking.html", view)


def _say_cancelled(tracked: TrackedOrder, reader: RecipientReader) -> Response:
    say, shop = reader.words.say, view_shop(tracked.shop)
    message = Message(
        tone="warn",
        title=say("This order was cancelled"),
        sentences=(
            say("Nothing is printed or sent."),
            say("If you have questions, ask {shop}.", shop=shop.name),
        ),
        facts=name_facts(reader, shop.name, _name(tracked)),
    )
    return show_message_to(reader, message, shop=shop)


def _name(tracked: TrackedOrder) -> str:
    return tracked.order.merchant_order_id or str(tracked.order.id)


def _describe(
    tracked: TrackedOrder, reader: RecipientReader, catalogue: Catalogue, links: Links
) -> TrackingView:
    order, words = tracked.order, reader.words
    zone = tracked.shop.profile.time_zone
    making = OrderMaking(order, tracked.images, tracked.shipments, catalogue, zone)
    ordered = words.say("Ordered")
    return TrackingView(
        shop=view_shop(tracked.shop),
        order=_name(tracked),
        items=tuple(view_item(image, catalogue, links) for image in tracked.images),
        address=write_address(order, words.country(order.destination_country)),
        progress=describe_progress(making, words, begun_as=ordered, begun_at=order.created_at),
        version=str((order.version, tracked.shop.profile)),
    )
