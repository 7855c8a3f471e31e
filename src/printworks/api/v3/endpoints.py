"""The operations of 3.0, in the order of the contract."""

from typing import Annotated, Any, Final

from msgspec import Meta

from printworks.api.endpoints import (
    GET,
    PATCH,
    POST,
    PUT,
    ApiFamily,
    Endpoint,
    FileAnswer,
    QueryParameter,
)
from printworks.api.orders import prepare_move
from printworks.api.v3 import (
    callbacks,
    countries,
    images,
    invoices,
    orders,
    preflight,
    prices,
    sandbox,
)
from printworks.errors import BadInput, NotFound, ServiceUnavailable, StillRunning, WrongState
from printworks.rules.images import MOST_IN_BATCH
from printworks.rules.orders import OrderStatus
from printworks.store.orders.marks import mark_order, mark_settled
from printworks.wire.images import FillImage
from printworks.wire.orders import SetStatus
from printworks.wire.v3.callbacks import DeliveryOut, EventListOut, ReplayCallbacks, ReplayOut
from printworks.wire.v3.countries import CountryOut
from printworks.wire.v3.envelope import Envelope, Nothing, refuse
from printworks.wire.v3.images import AddImage, BatchOut, ChangeImage, ImageOut
from printworks.wire.v3.invoices import InvoiceListOut, InvoiceOut
from printworks.wire.v3.orders import CreateOrder, OrderListOut, OrderOut, UpdateOrder
from printworks.wire.v3.payments import PaymentRequired
from printworks.wire.v3.preflight import CheckImage, ImageCheckOut
from printworks.wire.v3.prices import FetchPrices, PricesOut, ShippingRateOut
from printworks.wire.v3.sandbox import AdvanceClock, ClockOut
from printworks.wire.v3.submission import SubmissionStatusOut

_PAGING: Final = (
    QueryParameter("limit", "How many orders to show.", 100, 250),
    QueryParameter("start", "How many of the newest orders to skip.", 0),
    QueryParameter("count", "Another name of `limit`.", 100, 250),
    QueryParameter("offset", "Another name of `start`.", 0),
)
_FILTERS: Final = (
    QueryParameter("status", "Only orders with this status.", choices=tuple(OrderStatus)),
    QueryParameter("merchantOrderId", "Only orders with this reference of yours."),
    QueryParameter(
        "createdFrom",
        "Only orders created at or after this time; UTC unless it names a zone. A day will do.",
    ),
    QueryParameter(
        "createdTo",
        "Only orders created at or before this time. A day counts to its end.",
    ),
)
_FEED: Final = (
    QueryParameter("after", "The number of the last event that you know.", 0),
    QueryParameter("limit", "How many events to show.", 100, 250),
)

_INVOICES: Final = (
    QueryParameter("limit", "How many invoices to show.", 100, 250),
    QueryParameter("before", "The `id` of the last invoice that you know; older ones follow.", 0),
    QueryParameter("year", "Only invoices of this year.", 0),
)

ENDPOINTS: Final = (
    GET(
        "/orders/{id}",
        orders.get_order,
        shows=Envelope[OrderOut],
        mark=mark_order,
        refuses=(NotFound,),
    ),
    GET(
        "/orders",
        orders.list_orders,
        shape_one=orders.shape_order,
        query=(*_PAGING, *_FILTERS),
        shows=Envelope[OrderListOut],
        refuses=(BadInput, NotFound),
    ),
    POST(
        "/orders",
        orders.create_order,
        takes=CreateOrder,
        shows=Envelope[OrderOut],
        refuses=(BadInput,),
    ),
    PUT(
        "/orders/{id}",
        orders.update_order,
        shape_one=orders.wrap_order,
        takes=UpdateOrder,
        shows=Envelope[OrderOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    GET(
        "/orders/{id}/SubmissionStatus",
        orders.get_submission_status,
        shows=Envelope[SubmissionStatusOut],
        mark=mark_settled,
        refuses=(NotFound,),
    ),
    POST(
        "/orders/{id}/status",
        orders.set_status,
        prepare=prepare_move,
        takes=SetStatus,
        shows=Envelope[Nothing],
        also_shows={402: PaymentRequired},
        refuses=(BadInput, WrongState, NotFound, ServiceUnavailable),
    ),
    POST(
        "/orders/{orderId}/images",
        images.add_image,
        takes=AddImage,
        shows=Envelope[ImageOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    POST(
        "/orders/{orderId}/images/batch",
        images.add_images,
        prepare=images.prepare_images,
        takes=Annotated[list[AddImage], Meta(max_length=MOST_IN_BATCH)],
        shows=BatchOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    PUT(
        "/orders/{orderId}/images/{imageId}",
        images.fill_image,
        takes=FillImage,
        takes_file=True,
        file_is_optional=True,
        shows=Envelope[ImageOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    PATCH(
        "/orders/{orderId}/images/{imageId}",
        images.change_image,
        takes=ChangeImage,
        shows=Envelope[ImageOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    POST(
        "/images/check",
        preflight.check_image,
        takes=CheckImage,
        takes_file=True,
        outside_transaction=True,
        changes_nothing=True,
        shows=Envelope[ImageCheckOut],
        refuses=(BadInput,),
    ),
    GET(
        "/events",
        callbacks.list_events,
        query=_FEED,
        shows=Envelope[EventListOut],
        refuses=(BadInput,),
    ),
    POST(
        "/callbacks/{id}/resend",
        callbacks.resend_callback,
        shows=Envelope[DeliveryOut],
        refuses=(WrongState, NotFound),
        alone=True,
    ),
    POST(
        "/callbacks/replay",
        callbacks.replay_callbacks,
        takes=ReplayCallbacks,
        shows=Envelope[ReplayOut],
        refuses=(BadInput, WrongState),
        alone=True,
    ),
    GET(
        "/invoices",
        invoices.list_invoices,
        query=_INVOICES,
        shows=Envelope[InvoiceListOut],
        refuses=(BadInput,),
    ),
    GET(
        "/invoices/{number}",
        invoices.get_invoice,
        shows=Envelope[InvoiceOut],
        refuses=(NotFound,),
    ),
    GET(
        "/invoices/{number}/pdf",
        invoices.download_invoice,
        shows=FileAnswer,
        refuses=(NotFound,),
    ),
    GET("/sandbox/clock", sandbox.get_clock, shows=Envelope[ClockOut], sandbox_only=True),
    POST(
        "/sandbox/clock",
        sandbox.advance_clock,
        takes=AdvanceClock,
        shows=Envelope[ClockOut],
        refuses=(BadInput, StillRunning),
        outside_transaction=True,
        sandbox_only=True,
    ),
    GET("/countries", countries.list_countries, shows=Envelope[list[CountryOut]]),
    POST(
        "/catalogue/service direct/destination/{countryCode}/prices",
        prices.fetch_prices,
        takes=FetchPrices,
        shows=PricesOut,
        refuses=(BadInput, NotFound),
        outside_transaction=True,
        changes_nothing=True,
    ),
    GET(
        "/catalogue/service direct/destination/{countryCode}/shippingRates",
        prices.list_shipping_rates,
        shows=Envelope[list[ShippingRateOut]],
        refuses=(NotFound,),
        outside_transaction=True,
    ),
)


def _refuse(_endpoint: Endpoint | None, status: int, message: str) -> Any:
    # 3.0 writes all errors alike.
    return refuse(status, message)


V3_0: Final = ApiFamily(version="3.0", endpoints=ENDPOINTS, refuse=_refuse)
