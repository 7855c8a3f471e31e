"""The statuses of an image, and the retries of its download."""

from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Final

from printworks.errors import WrongState
from printworks.rules.orders import PERMISSIONS, OrderStatus

# The most images that one request may add.
MOST_IN_BATCH: Final = 250
MOST_COPIES: Final = 100_000


class ImageStatus(StrEnum):
    """How far an image has come."""

    AWAITING_URL_OR_DATA = "AwaitingUrlOrData"
    NOT_YET_DOWNLOADED = "NotYetDownloaded"
    OK = "Ok"
    FILE_NOT_FOUND_AT_URL = "FileNotFoundAtUrl"
    INVALID = "Invalid"


class AcceptedFiles(StrEnum):
    """The file formats of an image, if not all are accepted."""

    JPEG = "jpeg"


_S = ImageStatus

IMAGE_MOVES: Final[Mapping[ImageStatus, frozenset[ImageStatus]]] = {
    _S.AWAITING_URL_OR_DATA: frozenset({_S.NOT_YET_DOWNLOADED, _S.OK, _S.INVALID}),
    _S.NOT_YET_DOWNLOADED: frozenset({_S.OK, _S.FILE_NOT_FOUND_AT_URL, _S.INVALID}),
    # A file may turn out to be damaged only when it is rendered completely.
    _S.OK: frozenset({_S.INVALID}),
    _S.FILE_NOT_FOUND_AT_URL: frozenset(),
    _S.INVALID: frozenset(),
}

# The waits before the second and every later attempt to download: about 20 minutes in all.
DOWNLOAD_WAITS: Final = tuple(timedelta(seconds=seconds) for seconds in (10, 30, 60, 180, 300, 600))
DOWNLOAD_ATTEMPTS: Final = len(DOWNLOAD_WAITS) + 1


def wait_after_download(attempts: int) -> timedelta | None:
    """Return the wait after this many attempts, or None after the last one."""
    return DOWNLOAD_WAITS[attempts - 1] if attempts <= len(DOWNLOAD_WAITS) else None


def check_adding(order_status: OrderStatus, *, present: int, added: int, most: int) -> None:
    """Refuse images for an order that is no longer open or would have too many.

    There is a limit because an order is always shown with all its images.
    """
    if order_status is not OrderStatus.NOT_YET_SUBMITTED:
        raise WrongState(
            f"Images cannot be added to an order that is {order_status}; "
            "only to one that is NotYetSubmitted."
        )
    if present + added > most:
        raise WrongState(
            f"The order has {present} images and may have {most} at most; "
            "create another order for the others."
        )


def check_removing(order_status: OrderStatus) -> None:
    """Refuse to remove an image from an order that is no longer open."""
    if not PERMISSIONS[order_status].remove_images:
        raise WrongState(
            f"Images cannot be removed from an order that is {order_status}; "
            "only from one that is NotYetSubmitted."
        )


def check_editing(order_status: OrderStatus) -> None:
    """Refuse to change how an image is printed in an order that is no longer open."""
    if order_status is not OrderStatus.NOT_YET_SUBMITTED:
        raise WrongState(
            f"Images of an order that is {order_status} cannot be changed; "
            "only those of one that is NotYetSubmitted."
        )


def check_filling(order_status: OrderStatus, image_status: ImageStatus) -> None:
    """Refuse a file for an order that has ended, or for an image that does not await one."""
    if order_status in {OrderStatus.COMPLETE, OrderStatus.CANCELLED}:
        raise WrongState(f"Files cannot be added to an order that is {order_status}.")
    if image_status is not ImageStatus.AWAITING_URL_OR_DATA:
        raise WrongState(
            f"The image is {image_status}; only one that is "
            f"{ImageStatus.AWAITING_URL_OR_DATA} takes a file."
        )


# What stands in the way of an order until there is another picture.
_FAILED: Final = frozenset({_S.FILE_NOT_FOUND_AT_URL, _S.INVALID})


def check_replacing(order_status: OrderStatus, image_status: ImageStatus) -> None:
    """Refuse another picture unless the order is open, or this one keeps it from being printed."""
    if order_status is OrderStatus.NOT_YET_SUBMITTED:
        return
    if order_status in {OrderStatus.COMPLETE, OrderStatus.CANCELLED}:
        raise WrongState(f"Pictures cannot be replaced in an order that is {order_status}.")
    if image_status not in _FAILED:
        raise WrongState(
            f"The image is {image_status}, and the order is {order_status}: only a picture that "
            "could not be fetched or printed can be replaced now."
        )
