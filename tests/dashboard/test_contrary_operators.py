"""Two operators who do contrary things at the same moment: one of them comes too late."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Final, NamedTuple

import pytest

from printworks.actions.payments.ledger import verify_ledgers
from printworks.rules.events import OrderMoved
from printworks.rules.orders import OrderStatus
from printworks.rules.production import DROPPED, LabState
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, list_every_shipment
from tests.api.client import Server
from tests.dashboard.scenes import hand_in, hear, see_order
from tests.dashboard.windows import Window, open_console
from tests.running import Answer
from tests.scale import IS_FULL

pytestmark = pytest.mark.both_databases

# Each pair meets so often, since who is first is left to chance.
_ROUNDS: Final = 3 if IS_FULL else 1
_REASON: Final = "No paper left."


class Wish(NamedTuple):
    """What an operator asks for: of the job, or of its order."""

    form_action: str
    fields: dict[str, str] = {}  # noqa: RUF012  (nobody writes to it)
    is_of_order: bool = False

    def find_page(self, order: Order, job: Shipment) -> str:
        """Return where the form is."""
        return f"/console/orders/{order.id}" if self.is_of_order else f"/console/shipments/{job.id}"


DISPATCH: Final = Wish("lab-dispatch", {"tracking_number": "JD 1"})
DISPATCH_TOO: Final = Wish("lab-dispatch", {"tracking_number": "JD 2"})
ACCEPT: Final = Wish("lab-accept")
REJECT: Final = Wish("lab-reject", {"reason": _REASON})
FAIL: Final = Wish("lab-fail", {"reason": _REASON})
OFFER_AGAIN: Final = Wish("lab-offer-again")
CANCEL: Final = Wish("support-cancel", is_of_order=True)
# Some of them may both come true, one after the other: what is accepted can still be rejected.
PAIRS: Final = [
    (DISPATCH, CANCEL),
    (DISPATCH, DISPATCH_TOO),
    (DISPATCH, REJECT),
    (DISPATCH, FAIL),
    (REJECT, ACCEPT),
    (REJECT, REJECT),
    (REJECT, CANCEL),
    (CANCEL, CANCEL),
]


@pytest.fixture
def another(server: Server, database: Database) -> Window:
    """A second operator, at a window of their own."""
    return open_console(server, database, email="another@works.example")


def meet(
    windows: tuple[Window, Window], wishes: tuple[Wish, Wish], order: Order, job: Shipment
) -> list[Answer]:
    """Let both ask at the same moment, each from a page that was open before."""
    begun = Barrier(2)

    def ask(window: Window, wish: Wish) -> Answer:
        page = wish.find_page(order, job)
        token = window.token(page)
        begun.wait(30)
        return window.send(page, {"form_token": token, "do": wish.form_action, **wish.fields})

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(ask, windows, wishes))


def read_balance(database: Database, order: Order) -> int:
    """Return what the merchant owes."""
    with database.reading() as db:
        return read_books(db, order.merchant_id).balance


def check_whole(database: Database, order: Order, *, owed_before: int) -> None:
    """See that nothing is half done: the order, its jobs, its money and what is told agree."""
    now = see_order(database, order)
    with database.reading() as db:
        every = list_every_shipment(db, order.id)
        moves = [event for event in list_events(db, order.id) if isinstance(event, OrderMoved)]
        assert verify_ledgers(db).faults == []
    owed = read_balance(database, order) - owed_before
    left = [one for one in every if one.state not in DROPPED]
    printed = sorted(number for one in left for number in one.image_ids)
    ends = [move.status for move in moves if move.status is not OrderStatus.SUBMITTED]
    match now.status:
        case OrderStatus.CANCELLED:
            assert (left, owed, ends) == ([], -order.price, [OrderStatus.CANCELLED])
            return
        case OrderStatus.COMPLETE:
            assert {one.state for one in left} == {LabState.DISPATCHED}
            assert ends == [OrderStatus.COMPLETE]
        case _:
            assert LabState.DISPATCHED not in {one.state for one in left}
            assert ends == []
    assert owed == 0
    # Each picture is printed by one lab: none is forgotten, and none made twice.
    assert printed == sorted({number for one in every for number in one.image_ids})


@pytest.mark.parametrize(
    "wishes", PAIRS, ids=[f"{one.form_action} and {other.form_action}" for one, other in PAIRS]
)
def test_nothing_is_half_done(
    operator: Window,
    another: Window,
    alice: Window,
    database: Database,
    wishes: tuple[Wish, Wish],
) -> None:
    for turn in range(_ROUNDS):
        order, job = hand_in(database, alice)
        owed = read_balance(database, order)
        with database.reading() as db:
            done_before = len(list_audit(db, limit=500))
        # Neither is always the first to knock.
        windows = (operator, another) if turn % 2 else (another, operator)

        answers = meet(windows, wishes, order, job)

        statuses = [answer.status for answer in answers]
        assert set(statuses) <= {303, 400}
        assert 303 in statuses
        if REJECT not in wishes or wishes[0] == wishes[1]:
            assert sorted(statuses) == [303, 400]
        with database.reading() as db:
            assert len(list_audit(db, limit=500)) - done_before == statuses.count(303)
        check_whole(database, order, owed_before=owed)


def test_what_two_offer_again_is_printed_once(
    operator: Window, another: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    hear(database, job, LabState.FAILED, reason=_REASON)
    owed = read_balance(database, order)

    answers = meet((operator, another), (OFFER_AGAIN, OFFER_AGAIN), order, job)

    assert sorted(answer.status for answer in answers) == [303, 400]
    check_whole(database, order, owed_before=owed)
