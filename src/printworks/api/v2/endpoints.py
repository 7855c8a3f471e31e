"""The operations of 2.3, 2.5 and 2.6, in the order of the contract: one table for all three."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from printworks.api.endpoints import DELETE, GET, POST, PUT, ApiFamily, Endpoint, QueryParameter
from printworks.api.orders import prepare_move
from printworks.api.v2 import catalogue, countries, issues, logs, orders, photos
from printworks.errors import BadInput, NotFound, ServiceError, ServiceUnavailable, WrongState
from printworks.rules.images import MOST_IN_BATCH
from printworks.rules.orders import OrderStatus
from printworks.store.orders.marks import mark_order, mark_settled
from printworks.wire.images import FillImage
from printworks.wire.orders import SetStatus
from printworks.wire.v2.answers import DoneOut, PaymentRequired, WrongCredentials
from printworks.wire.v2.catalogue import CatalogueOut
from printworks.wire.v2.countries import CountryOut
from printworks.wire.v2.issues import CreateIssue, IssueListOut, IssueOut, UpdateIssue
from printworks.wire.v2.logs import LogsOut
from printworks.wire.v2.orders import ChangeShipping, CreateOrder, OrderOut, UpdateOrder
from printworks.wire.v2.photos import AddPhoto, AddPhotoByUrl, BatchOut, PhotoOut
from printworks.wire.v2.submission import SubmissionStatusOut
from printworks.wire.v2.versions import (
    V2_3,
    V2_5,
    V2_6,
    Version,
    narrow,
    only,
    refusal_of,
    refuse,
    shape_in,
    since,
)
from printworks.wire.v2.words import say_in_words

SUCCESSOR: Final = "3.0"
# The day on which 3.0 became the version to use.
DEPRECATED_AT: Final = datetime(2026, 1, 1, tzinfo=UTC)

_PAGING: Final = (
    QueryParameter("count", "How many orders to show.", 100, 250),
    QueryParameter("offset", "How many of the newest orders to skip.", 0),
    QueryParameter("orderStatus", "Show only orders in this status.", choices=tuple(OrderStatus)),
    QueryParameter("merchantOrderId", "Show only orders with this reference."),
)
# The contract answers these with 400 when it is too late.
_BAD_STATE: Final[Mapping[type[ServiceError], int]] = {WrongState: 400}


ENDPOINTS: Final = (
    GET("/Orders/{id}", orders.get_order, shows=OrderOut, mark=mark_order, refuses=(NotFound,)),
    GET(
        "/Orders",
        orders.list_all_orders,
        shape_one=orders.shape_order,
        shows=list[OrderOut],
        refuses=(NotFound,),
        versions=only(V2_3),
    ),
    GET(
        "/Orders",
        orders.list_orders,
        shape_one=orders.shape_order,
        query=_PAGING,
        shows=list[OrderOut],
        refuses=(BadInput, NotFound),
        versions=since(V2_5),
    ),
    POST("/Orders", orders.create_order, takes=CreateOrder, shows=OrderOut, refuses=(BadInput,)),
    PUT(
        "/Orders/{id}",
        orders.update_order,
        shape_one=orders.shape_order,
        takes=UpdateOrder,
        shows=OrderOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    GET(
        "/Orders/{id}/SubmissionStatus",
        orders.get_submission_status,
        shows=SubmissionStatusOut,
        mark=mark_settled,
        refuses=(NotFound,),
    ),
    POST(
        "/Orders/{id}/Status",
        orders.set_status,
        prepare=prepare_move,
        takes=SetStatus,
        shows=DoneOut,
        also_shows={402: PaymentRequired},
        refuses=(BadInput, WrongState, NotFound, ServiceUnavailable),
    ),
    POST(
        "/Orders/{id}/Hold",
        orders.hold_order,
        shows=OrderOut,
        refuses=(WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    POST(
        "/Orders/{id}/Shipping",
        orders.update_shipping,
        takes=ChangeShipping,
        shows=OrderOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    POST(
        "/Orders/{id}/Cancel",
        orders.cancel_order,
        shows=OrderOut,
        refuses=(WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    GET(
        "/Orders/{orderId}/Photos/{photoId}", photos.get_photo, shows=PhotoOut, refuses=(NotFound,)
    ),
    GET(
        "/Orders/{id}/Photos",
        photos.list_photos,
        shows=list[PhotoOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    POST(
        "/Orders/{orderId}/Photos/",
        photos.add_photo,
        takes=AddPhoto,
        takes_file=True,
        file_is_optional=True,
        shows=PhotoOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    POST(
        "/Orders/{orderId}/Photos/Batch",
        photos.add_photos,
        prepare=photos.prepare_photos,
        takes=Annotated[list[AddPhotoByUrl], Meta(max_length=MOST_IN_BATCH)],
        shows=BatchOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    PUT(
        "/Orders/{orderId}/Photos/{photoId}",
        photos.fill_photo,
        takes=FillImage,
        takes_file=True,
        file_is_optional=True,
        shows=PhotoOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    DELETE(
        "/Orders/{orderId}/Photos/{photoId}",
        photos.delete_photo,
        shows=DoneOut,
        refuses=(WrongState, NotFound),
    ),
    GET(
        "/Catalogue/{countryCode}/{qualityLevel}",
        catalogue.get_catalogue,
        shows=CatalogueOut,
        refuses=(NotFound,),
    ),
    GET("/Country", countries.list_countries, shows=list[CountryOut]),
    GET(
        "/Orders/{orderId}/Issues/{issueId}",
        issues.get_issue,
        shows=IssueOut,
        refuses=(BadInput, NotFound),
    ),
    GET("/Orders/{orderId}/Issues", issues.list_issues, shows=IssueListOut, refuses=(NotFound,)),
    POST(
        "/Orders/{orderId}/Issues",
        issues.create_issue,
        takes=CreateIssue,
        shows=IssueOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
    ),
    PUT(
        "/Orders/{orderId}/Issues/{issueId}",
        issues.update_issue,
        takes=UpdateIssue,
        shows=IssueOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
    ),
    GET("/Orders/{orderId}/Logs", logs.list_logs, shows=LogsOut, refuses=(NotFound,)),
)


def _refuse(endpoint: Endpoint | None, status: int, message: str) -> Any:
    if status == 401:
        return WrongCredentials(message, message, message)
    shape = DoneOut if endpoint is None else endpoint.shows
    return refuse(shape, say_in_words(message))


def _endpoint_in(version: Version, endpoint: Endpoint) -> Endpoint:
    shows = shape_in(version, endpoint.shows)
    also: Mapping[int, Any] = {
        status: shape_in(version, shape) for status, shape in endpoint.also_shows.items()
    }
    return msgspec.structs.replace(
        endpoint,
        takes=shape_in(version, endpoint.takes),
        shows=shows,
        # An operator may switch any of these versions off.
        also_shows={**also, 410: refusal_of(shows)},
    )


def make_family(version: Version) -> ApiFamily:
    endpoints = [
        _endpoint_in(version, one) for one in ENDPOINTS if version in (one.versions or Version)
    ]
    return ApiFamily(
        version=version.value,
        endpoints=tuple(endpoints),
        refuse=_refuse,
        show=narrow,
        successor=SUCCESSOR,
        deprecated_at=DEPRECATED_AT,
    )


FAMILIES: Final = tuple(make_family(version) for version in Version)
