"""The bell rings for what is news, and for whom it is."""

from printworks.rules.events import OrderCreated, OrderMoved, ShipmentFact, ShipmentsChanged
from printworks.rules.mail import NOTICES, MailKind
from printworks.rules.news import NEWS, count_sent, is_completed, may_hear
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Realm, Role

_S = OrderStatus


def shipment(number: int, *, is_shipped: bool) -> ShipmentFact:
    return ShipmentFact(
        id=number,
        items=[1],
        is_shipped=is_shipped,
        carrier=None,
        tracking_number=None,
        tracking_url=None,
    )


def test_news_is_for_the_people_of_a_merchant() -> None:
    assert all(NOTICES[kind].realm is Realm.MERCHANT for kind in NEWS)
    # A shop has many of these: they are told in groups.
    assert MailKind.SHIPMENTS_SENT not in NEWS


def test_what_is_owed_is_no_news_for_those_who_do_not_see_the_account() -> None:
    assert may_hear(MailKind.OVERDUE, Role.FINANCE)
    assert not may_hear(MailKind.OVERDUE, Role.MEMBER)
    assert may_hear(MailKind.IMAGES_FAILED, Role.VIEWER)


def test_only_parcels_that_have_just_left_are_counted() -> None:
    parcels = [shipment(1, is_shipped=True), shipment(2, is_shipped=True)]
    parcels.append(shipment(3, is_shipped=False))
    event = ShipmentsChanged(
        status=_S.SUBMITTED, merchant_order_id=None, changed=[2, 3], shipments=parcels
    )

    assert count_sent(event) == 1
    assert count_sent(OrderCreated(_S.NOT_YET_SUBMITTED, None)) == 0


def test_an_order_is_complete_when_it_has_moved_there() -> None:
    assert is_completed(OrderMoved(_S.SUBMITTED, _S.COMPLETE, None))
    assert not is_completed(OrderMoved(_S.NOT_YET_SUBMITTED, _S.SUBMITTED, None))
    assert not is_completed(OrderCreated(_S.COMPLETE, None))
