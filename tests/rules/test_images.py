"""What can become of an image, and how long it is waited for."""

from datetime import timedelta

import pytest

from printworks.errors import WrongState
from printworks.rules.images import (
    DOWNLOAD_ATTEMPTS,
    IMAGE_MOVES,
    ImageStatus,
    check_adding,
    wait_after_download,
)
from printworks.rules.orders import OrderStatus


def test_every_status_has_a_line_in_the_table() -> None:
    assert set(IMAGE_MOVES) == set(ImageStatus)


def test_a_download_is_tried_several_times_over_about_twenty_minutes() -> None:
    waits = [wait_after_download(attempts) for attempts in range(1, DOWNLOAD_ATTEMPTS)]

    total = sum((wait for wait in waits if wait), timedelta(0))
    assert None not in waits
    assert len(waits) >= 4
    assert timedelta(minutes=18) <= total <= timedelta(minutes=22)
    assert wait_after_download(DOWNLOAD_ATTEMPTS) is None


def test_each_wait_is_longer_than_the_one_before() -> None:
    waits = [wait_after_download(attempts) for attempts in range(1, DOWNLOAD_ATTEMPTS)]

    assert waits == sorted(set(waits))  # type: ignore[type-var]


@pytest.mark.parametrize("status", set(OrderStatus) - {OrderStatus.NOT_YET_SUBMITTED})
def test_only_an_open_order_takes_images(status: OrderStatus) -> None:
    with pytest.raises(WrongState, match=status):
        check_adding(status, present=0, added=1, most=1000)


def test_an_order_takes_so_many_images_and_no_more() -> None:
    check_adding(OrderStatus.NOT_YET_SUBMITTED, present=999, added=1, most=1000)

    with pytest.raises(WrongState, match="1000 at most"):
        check_adding(OrderStatus.NOT_YET_SUBMITTED, present=999, added=2, most=1000)
