"""The operations of 2.3, 2.5 and 2.6, in the order of the contract: one table for all three."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta

from printworks.api.endpoints import ApiFamily, Endpoint, QueryParameter
from printworks.api.v2 import catalogue, countries, issues, logs, orders, photos
from printworks.errors import BadInput, NotFound, ServiceError, ServiceUnavailable, WrongState
from printworks.rules.images import MOST_IN_BATCH
from printworks.rules.orders import OrderStatus
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
    Endpoint(
        method="GET",
        path="/Orders/{id}",
        handler=orders.get_order,
        summary="Get one order",
        shows=OrderOut,
        refuses=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/Orders",
        handler=orders.list_all_orders,
        summary="List all orders, newest first",
        shows=list[OrderOut],
        refuses=(NotFound,),
        versions=only(V2_3),
    ),
    Endpoint(
        method="GET",
        path="/Orders",
        handler=orders.list_orders,
        summary="List orders, newest first",
        query=_PAGING,
        shows=list[OrderOut],
        refuses=(BadInput, NotFound),
        versions=since(V2_5),
    ),
    Endpoint(
        method="POST",
        path="/Orders",
        handler=orders.create_order,
        summary="Create an order",
        takes=CreateOrder,
        shows=OrderOut,
        refuses=(BadInput,),
    ),
    Endpoint(
        method="PUT",
        path="/Orders/{id}",
        handler=orders.update_order,
        summary="Update an order that is NotYetSubmitted",
        takes=UpdateOrder,
        shows=OrderOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="GET",
        path="/Orders/{id}/SubmissionStatus",
        handler=orders.get_submission_status,
        summary="Validate an order",
        shows=SubmissionStatusOut,
        refuses=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{id}/Status",
        handler=orders.set_status,
        summary="Submit or cancel an order, or let its recipient pay",
        takes=SetStatus,
        shows=DoneOut,
        also_shows={402: PaymentRequired},
        refuses=(BadInput, WrongState, NotFound, ServiceUnavailable),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{id}/Hold",
        handler=orders.hold_order,
        summary="Keep an order from being sent to a lab",
        shows=OrderOut,
        refuses=(WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{id}/Shipping",
        handler=orders.update_shipping,
        summary="Change where an order goes and how fast",
        takes=ChangeShipping,
        shows=OrderOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{id}/Cancel",
        handler=orders.cancel_order,
        summary="Cancel an order, even one that is Submitted if its labs allow that",
        shows=OrderOut,
        refuses=(WrongState, NotFound),
        statuses=_BAD_STATE,
        versions=since(V2_6),
    ),
    Endpoint(
        method="GET",
        path="/Orders/{orderId}/Photos/{photoId}",
        handler=photos.get_photo,
        summary="Get one photo",
        shows=PhotoOut,
        refuses=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/Orders/{id}/Photos",
        handler=photos.list_photos,
        summary="List the photos of an order",
        shows=list[PhotoOut],
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{orderId}/Photos/",
        handler=photos.add_photo,
        summary="Add one photo: with its file, by its address, or for later",
        takes=AddPhoto,
        takes_file=True,
        file_is_optional=True,
        shows=PhotoOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{orderId}/Photos/Batch",
        handler=photos.add_photos,
        summary="Add several photos by their addresses, all or none",
        takes=Annotated[list[AddPhotoByUrl], Meta(max_length=MOST_IN_BATCH)],
        shows=BatchOut,
        refuses=(BadInput, WrongState, NotFound),
    ),
    Endpoint(
        method="DELETE",
        path="/Orders/{orderId}/Photos/{photoId}",
        handler=photos.delete_photo,
        summary="Delete a photo of an order that is NotYetSubmitted",
        shows=DoneOut,
        refuses=(WrongState, NotFound),
    ),
    Endpoint(
        method="GET",
        path="/Catalogue/{countryCode}/{qualityLevel}",
        handler=catalogue.get_catalogue,
        summary="Get what is sold to a country in a quality level",
        shows=CatalogueOut,
        refuses=(NotFound,),
    ),
    Endpoint(
        method="GET",
        path="/Country",
        handler=countries.list_countries,
        summary="List countries",
        shows=list[CountryOut],
    ),
    Endpoint(
        method="GET",
        path="/Orders/{orderId}/Issues/{issueId}",
        handler=issues.get_issue,
        summary="Get one issue",
        shows=IssueOut,
        refuses=(BadInput, NotFound),
    ),
    Endpoint(
        method="GET",
        path="/Orders/{orderId}/Issues",
        handler=issues.list_issues,
        summary="List the issues of an order",
        shows=IssueListOut,
        refuses=(NotFound,),
    ),
    Endpoint(
        method="POST",
        path="/Orders/{orderId}/Issues",
        handler=issues.create_issue,
        summary="Complain about an order",
        takes=CreateIssue,
        shows=IssueOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
    ),
    Endpoint(
        method="PUT",
        path="/Orders/{orderId}/Issues/{issueId}",
        handler=issues.update_issue,
        summary="Comment on an issue, or drop it",
        takes=UpdateIssue,
        shows=IssueOut,
        refuses=(BadInput, WrongState, NotFound),
        statuses=_BAD_STATE,
    ),
    Endpoint(
        method="GET",
        path="/Orders/{orderId}/Logs",
        handler=logs.list_logs,
        summary="List what happened to an order",
        shows=LogsOut,
        refuses=(NotFound,),
    ),
)


def _refuse(endpoint: Endpoint | None, status: int, message: str) -> Any:
    if status == 401:
        return WrongCredentials(message, message, message)
    return refuse(DoneOut if endpoint is None else endpoint.shows, message)


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
    """Return the endpoints of one version."""
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
