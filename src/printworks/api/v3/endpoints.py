"""The operations of 3.0, in the order of the contract."""

from typing import Annotated, Any, Final

from msgspec import Meta

from printworks.api.endpoints import ApiFamily, Endpoint, QueryParameter
from printworks.api.v3 import callbacks, countries, images, orders, preflight, prices, sandbox
from printworks.errors import BadInput, NotFound, ServiceUnavailable, StillRunning, WrongState
from printworks.rules.images import MOST_IN_BATCH
from printworks.wire.orders import SetStatus
from printworks.wire.v3.callbacks import DeliveryOut, EventListOut, ReplayCallbacks, ReplayOut
from printworks.wire.v3.countries import CountryOut
from printworks.wire.v3.envelope import Envelope, Nothing, refuse
from printworks.wire.v3.images import AddImage, BatchOut, ImageOut
from printworks.wire.v3.orders import CreateOrder, OrderListOut, OrderOut, UpdateOrder
from printworks.wire.v3.payments import PaymentRequired
from printworks.wire.v3.preflight import CheckImage, ImageCheckOut
from printworks.wire.v3.prices import FetchPrices, PricesOut
from printworks.wire.v3.sandbox import AdvanceClock, ClockOut
from printworks.wire.v3.submission import SubmissionStatusOut

_PAGING: Final = (
    QueryParameter("limit", "How many orders to show.", 100, 250),
    QueryParameter("start", "How many of the newest orders to skip.", 0),
    QueryParameter("count", "Another name of `limit`.", 100, 250),
    QueryParameter("offset", "Another name of `start`.", 0),
)
_FEED: Final = (
    QueryParameter("after", "The number of the last event that you know.", 0),
    QueryParameter("limit", "How many events to show.", 100, 250),
)

ENDPOINTS: Final = (
    Endpoint(
        method="GET",
        path="/orders/{id}",
        handler=orders.get_order,
        summary="Get one order",
        shows=Envelope[OrderOut],
        refuses=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/orders",
        handler=orders.list_orders,
        summary="List orders, newest first",
        query=_PAGING,
        shows=Envelope[OrderListOut],
        refuses=(BadInput, NotFound),
    ),
    Endpoint(
        method="POST",
        path="/orders",
        handler=orders.create_order,
        summary="Create an order",
        takes=CreateOrder,
        shows=Envelope[OrderOut],
        refuses=(BadInput,),
    ),
    Endpoint(
        method="PUT",
        path="/orders/{id}",
        handler=orders.update_order,
        summary="Update an order that is NotYetSubmitted",
        takes=UpdateOrder,
        shows=Envelope[OrderOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="GET",
        path="/orders/{id}/SubmissionStatus",
        handler=orders.get_submission_status,
        summary="Validate an order",
        shows=Envelope[SubmissionStatusOut],
        refuses=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/orders/{id}/status",
        handler=orders.set_status,
        summary="Submit or cancel an order, or let its recipient pay",
        takes=SetStatus,
        shows=Envelope[Nothing],
        also_shows={402: PaymentRequired},
        refuses=(BadInput, WrongState, NotFound, ServiceUnavailable),
    ),
    Endpoint(
        method="POST",
        path="/orders/{orderId}/images",
        handler=images.add_image,
        summary="Add one image",
        takes=AddImage,
        shows=Envelope[ImageOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="POST",
        path="/orders/{orderId}/images/batch",
        handler=images.add_images,
        summary="Add several images, all or none",
        takes=Annotated[list[AddImage], Meta(max_length=MOST_IN_BATCH)],
        shows=BatchOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="POST",
        path="/images/check",
        handler=preflight.check_image,
        summary="Look at a picture for a product; nothing is ordered or kept",
        takes=CheckImage,
        takes_file=True,
        outside_transaction=True,
        shows=Envelope[ImageCheckOut],
        refuses=(BadInput,),
    ),
    Endpoint(
        method="GET",
        path="/events",
        handler=callbacks.list_events,
        summary="List events, oldest first, whether or not their callbacks arrived",
        query=_FEED,
        shows=Envelope[EventListOut],
        refuses=(BadInput,),
    ),
    Endpoint(
        method="POST",
        path="/callbacks/{id}/resend",
        handler=callbacks.resend_callback,
        summary="Send a callback again, now",
        shows=Envelope[DeliveryOut],
        refuses=(WrongState, NotFound),
        alone=True,
    ),
    Endpoint(
        method="POST",
        path="/callbacks/replay",
        handler=callbacks.replay_callbacks,
        summary="Send callbacks again from some moment or event on",
        takes=ReplayCallbacks,
        shows=Envelope[ReplayOut],
        refuses=(BadInput, WrongState),
        alone=True,
    ),
    Endpoint(
        method="GET",
        path="/sandbox/clock",
        handler=sandbox.get_clock,
        summary="Read the sandbox clock",
        shows=Envelope[ClockOut],
        sandbox_only=True,
    ),
    Endpoint(
        method="POST",
        path="/sandbox/clock",
        handler=sandbox.advance_clock,
        summary="Move the sandbox clock; whatever falls due until then happens",
        takes=AdvanceClock,
        shows=Envelope[ClockOut],
        refuses=(BadInput, StillRunning),
        outside_transaction=True,
        sandbox_only=True,
    ),
    Endpoint(
        method="GET",
        path="/countries",
        handler=countries.list_countries,
        summary="List countries",
        shows=Envelope[list[CountryOut]],
    ),
    Endpoint(
        method="POST",
        path="/catalogue/service direct/destination/{countryCode}/prices",
        handler=prices.fetch_prices,
        summary="Fetch prices",
        takes=FetchPrices,
        shows=PricesOut,
        refuses=(BadInput, NotFound),
        outside_transaction=True,
    ),
)


def _refuse(_endpoint: Endpoint | None, status: int, message: str) -> Any:
    # 3.0 writes all errors alike.
    return refuse(status, message)


V3_0: Final = ApiFamily(version="3.0", endpoints=ENDPOINTS, refuse=_refuse)
