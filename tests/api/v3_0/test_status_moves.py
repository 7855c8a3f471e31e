"""Operation 6 of the 3.0 contract: where an order may go from where it is, and what else it may."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from sqlalchemy import select, update

from printworks.actions.production.holds import hold_order
from printworks.actions.production.release import record_sent
from printworks.catalogue.opening import open_catalogue
from printworks.rules.events import OrderCharged, OrderMoved, OrderRefunded
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.production import LabState
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.orders.orders import get_any_order_to_change
from printworks.store.orders.shipments import get_shipment, list_shipments
from printworks.store.tables import jobs, orders
from printworks.store.tables import shipments as shipments_table
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, sign_up
from tests.api.images import add, an_image, create, receive
from tests.api.production import (
    CATALOGUE,
    all_rows,
    events_of,
    hear,
    hear_of,
    see,
    see_shipments,
    set_status,
    submit,
)
from tests.catalogue.folders import a_lab, a_product, a_service, a_tariff, a_whole_folder
from tests.factories import NOON, a_work_of

_S = OrderStatus
ME, RECIPIENT = Payment.INVOICE_ME, Payment.INVOICE_RECIPIENT
WANTED: Final = ("Submitted", "AwaitingPayment", "Cancelled")

# Read a line as: an order with this payment that is here ... answers this to each of `WANTED`.
# An order that the merchant pays for comes to AwaitingPayment only when its bank wants it so.
ANSWERS: Final = {
    (ME, _S.NOT_YET_SUBMITTED): (200, 403, 200),
    (ME, _S.SUBMITTED): (403, 403, 200),
    (ME, _S.COMPLETE): (403, 403, 403),
    (ME, _S.CANCELLED): (403, 403, 403),
    (RECIPIENT, _S.NOT_YET_SUBMITTED): (400, 200, 200),
    (RECIPIENT, _S.AWAITING_PAYMENT): (400, 403, 200),
    (RECIPIENT, _S.SUBMITTED): (403, 403, 200),
    (RECIPIENT, _S.COMPLETE): (403, 403, 403),
    (RECIPIENT, _S.CANCELLED): (403, 403, 403),
}
PAIRS: Final = [
    pytest.param(payment, status, wanted, answer, id=f"{payment}-{status}-{wanted}")
    for (payment, status), answers in ANSWERS.items()
    for wanted, answer in zip(WANTED, answers, strict=True)
]

# What each state permits: canCancel, canHold, canUpdateShipping. Images cannot be removed in 3.0.
FLAGS: Final = {
    _S.NOT_YET_SUBMITTED: (True, True, True),
    _S.AWAITING_PAYMENT: (True, False, False),
    _S.COMPLETE: (False, False, False),
    _S.CANCELLED: (False, False, False),
}

# By a lab's rule: what is permitted while a shipment is offered, accepted, in production.
UNTIL: Final = {
    "never": (False, False, False),
    "submitted": (True, False, False),
    "accepted": (True, True, False),
}
STATES: Final = (LabState.OFFERED, LabState.ACCEPTED, LabState.IN_PRODUCTION)

# Of the two kinds of products in the catalogues of `tests.catalogue.folders`.
BANDS: Final = ("Prints", "Canvas")
MAKES_PRINTS: Final = '{ kinds = ["print"], percent = 40 }'
MAKES_CANVAS: Final = '{ kinds = ["canvas"], percent = 40 }'


def an_order_that_is(
    status: OrderStatus, payment: Payment, client: Client, database: Database
) -> int:
    """Bring an order to a status, as a merchant, a lab and a recipient who pays would."""
    if status in (_S.SUBMITTED, _S.COMPLETE):
        order_id = submit(client)
        if status is _S.COMPLETE:
            hear(database, client, order_id, LabState.DISPATCHED)
        with database.writing() as db:
            db.execute(update(orders).where(orders.c.id == order_id).values(payment=payment))
        return order_id
    order_id = create(client, payment=payment)
    receive(database, add(client, order_id)["id"])
    if status is not _S.NOT_YET_SUBMITTED:
        assert set_status(client, order_id, status).status == 200
    return order_id


def flags(order: dict[str, Any]) -> tuple[bool, bool, bool]:
    """Return what an order says that it permits; images never."""
    assert order["canUpdateImages"] is False
    return order["canCancel"], order["canHold"], order["canUpdateShipping"]


def list_kinds(database: Database) -> list[str]:
    """Return the kinds of all jobs."""
    with database.reading() as db:
        return list(db.execute(select(jobs.c.kind).order_by(jobs.c.id)).scalars())


def hold(database: Database, order_id: int, catalogue: Any = CATALOGUE) -> None:
    """Hold an order, as other ways in than 3.0 can."""
    with database.writing() as db:
        order = get_any_order_to_change(db, order_id)
        hold_order(a_work_of(db, order, now=NOON, catalogue=catalogue), order)


class TestEveryMove:
    def test_the_table_leaves_nothing_out(self) -> None:
        every = {(payment, status) for payment in Payment for status in OrderStatus}

        assert every - set(ANSWERS) == {(ME, _S.AWAITING_PAYMENT)}

    @pytest.mark.parametrize(("payment", "status", "wanted", "answer"), PAIRS)
    @pytest.mark.both_databases
    def test_it_is_answered_as_the_table_says(
        self,
        v3: Client,
        database: Database,
        payment: Payment,
        status: OrderStatus,
        wanted: str,
        answer: int,
    ) -> None:
        order_id = an_order_that_is(status, payment, v3, database)
        before, rows = see(v3, order_id), all_rows(database)

        answered = set_status(v3, order_id, wanted)

        assert before["status"] == status
        assert answered.status == answer, answered.body
        if answer == 200:
            assert answered.json() == {"data": {}, "statusTxt": "OK", "statusCode": 200}
            assert see(v3, order_id)["status"] == wanted
            moved = events_of(database, order_id, OrderMoved)[-1]
            assert (moved.was, moved.status) == (status, wanted)
        else:
            assert answered.json() == {
                "data": None,
                "errorMessage": answered.error,
                "statusTxt": answered.error,
                "statusCode": answer,
            }
            assert wanted in answered.error
            assert (status if answer == 403 else "AwaitingPayment") in answered.error
            assert all_rows(database) == rows
            assert see(v3, order_id) == before

    @pytest.mark.parametrize("wanted", ["NotYetSubmitted", "Complete", "", "submit", None, 1])
    @pytest.mark.parametrize("status", OrderStatus)
    def test_no_other_status_can_be_wished_for(
        self, v3: Client, database: Database, status: OrderStatus, wanted: Any
    ) -> None:
        payment = RECIPIENT if status is _S.AWAITING_PAYMENT else ME
        order_id = an_order_that_is(status, payment, v3, database)
        rows = all_rows(database)

        answered = set_status(v3, order_id, wanted)

        assert answered.status == 400
        assert "`status`" in answered.error
        assert all_rows(database) == rows

    @pytest.mark.parametrize("wanted", WANTED)
    def test_somebody_elses_order_looks_like_none(
        self, v3: Client, somebody_else: Client, database: Database, wanted: str
    ) -> None:
        order_id = submit(v3)
        rows = all_rows(database)

        theirs = set_status(somebody_else, order_id, wanted)

        assert theirs.status == 404
        assert theirs.body == set_status(somebody_else, 999_999, wanted).body
        assert all_rows(database) == rows


class TestPermissions:
    @pytest.mark.parametrize("status", FLAGS)
    def test_a_status_permits_what_its_line_says(
        self, v3: Client, database: Database, status: OrderStatus
    ) -> None:
        payment = RECIPIENT if status is _S.AWAITING_PAYMENT else ME

        order_id = an_order_that_is(status, payment, v3, database)

        assert flags(see(v3, order_id)) == FLAGS[status]

    @pytest.mark.parametrize("state", [LabState.ACCEPTED, LabState.IN_PRODUCTION])
    def test_a_usual_lab_that_has_accepted_permits_nothing(
        self, v3: Client, database: Database, state: LabState
    ) -> None:
        order_id = submit(v3)

        hear(database, v3, order_id, state)

        assert flags(see(v3, order_id)) == (False, False, False)

    def test_what_a_lab_failed_to_make_can_be_cancelled(
        self, v3: Client, database: Database
    ) -> None:
        order_id = submit(v3)

        hear(database, v3, order_id, LabState.FAILED)

        assert flags(see(v3, order_id)) == (True, False, False)
        assert set_status(v3, order_id, "Cancelled").status == 200

    def test_a_held_order_cannot_be_held(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        add(v3, order_id)

        hold(database, order_id)

        order = see(v3, order_id)
        assert order["status"] == "NotYetSubmitted"
        assert flags(order) == (True, False, True)

    def test_the_list_says_the_same(self, v3: Client, database: Database) -> None:
        for status in OrderStatus:
            payment = RECIPIENT if status is _S.AWAITING_PAYMENT else ME
            an_order_that_is(status, payment, v3, database)

        listed = v3.get("/orders").data["content"]

        assert [flags(order) for order in listed] == [
            flags(see(v3, order["id"])) for order in listed
        ]


Open = Callable[..., Client]


class TestRulesOfLabs:
    @pytest.fixture
    def open_with(self, database: Database, tmp_path: Path, clock: MovableClock) -> Iterator[Open]:
        """A way to run a service with labs of its own."""
        servers = []

        def open_one(*labs: str) -> Client:
            codes = [lab.split('code = "')[1].split('"')[0] for lab in labs]
            products = [
                a_product(sku=f'"{code.upper()}"', type=None, kind=f'"{kind}"', band=f'"{band}"')
                for code, kind, band in zip(codes, ("print", "canvas"), BANDS, strict=False)
            ]
            price = "{ items = 50, GBP = [199, 80], EUR = [240, 95] }"
            bands = ", ".join(f"{band} = {price}" for band in BANDS)
            self.folder = a_whole_folder(
                tmp_path,
                *products,
                labs="".join(labs),
                services=a_service(labs=str(codes).replace("'", '"'), bands=f"{{ {bands} }}"),
                tariff=a_tariff(bands=f"{{ {bands} }}"),
            )
            settings = Settings.load(tmp_path, {"PRINTWORKS_CATALOGUE": str(self.folder)})
            url = database.url.render_as_string(hide_password=False)
            settings = msgspec.structs.replace(settings, database_url=url)
            servers.append(Server(build_app(settings, clock)))
            return sign_up(servers[-1], database, "Alice")

        yield open_one
        for server in servers:
            server.close()

    @pytest.mark.parametrize(("place", "state"), list(enumerate(STATES)))
    @pytest.mark.parametrize("until", UNTIL)
    @pytest.mark.parametrize(
        ("rule", "flag"),
        [
            ("can_cancel_until", "canCancel"),
            ("can_hold_until", "canHold"),
            ("can_change_shipping_until", "canUpdateShipping"),
        ],
    )
    def test_a_lab_decides_until_when(
        self,
        database: Database,
        open_with: Open,
        rule: str,
        flag: str,
        until: str,
        place: int,
        state: LabState,
    ) -> None:
        client = open_with(a_lab(MAKES_PRINTS, **{rule: f'"{until}"'}))
        order_id = submit_skus(client, "HILL")

        if state is not LabState.OFFERED:
            hear(database, client, order_id, state, open_catalogue(self.folder))

        order = see(client, order_id)
        assert order[flag] is UNTIL[until][place]
        # And what it says is what happens.
        rows = all_rows(database)
        answer = set_status(client, order_id, "Cancelled")
        if order["canCancel"]:
            assert answer.status == 200
        else:
            assert answer.status == 403
            assert "Submitted" in answer.error
            assert "Cancelled" in answer.error
            assert all_rows(database) == rows

    def test_without_rules_an_order_that_is_offered_can_be_cancelled_and_sent_elsewhere(
        self, database: Database, open_with: Open
    ) -> None:
        client = open_with(a_lab(MAKES_PRINTS))

        order_id = submit_skus(client, "HILL")

        assert flags(see(client, order_id)) == (True, False, True)

    def test_every_lab_must_agree(self, database: Database, open_with: Open) -> None:
        client = open_with(
            a_lab(MAKES_PRINTS, can_cancel_until='"accepted"', can_hold_until='"submitted"'),
            a_lab(
                MAKES_CANVAS,
                code='"lake"',
                name='"Lake"',
                can_hold_until='"submitted"',
                can_change_shipping_until='"never"',
            ),
        )
        order_id = submit_skus(client, "HILL", "LAKE")
        hill, lake = see_shipments(client, order_id)
        catalogue = open_catalogue(self.folder)

        seen = [flags(see(client, order_id))]
        for shipment in (hill, lake):
            hear_of(database, int(shipment["shipmentId"]), LabState.ACCEPTED, catalogue)
            seen.append(flags(see(client, order_id)))

        assert seen == [(True, True, False), (True, False, False), (False, False, False)]

    def test_a_submitted_order_that_is_held_goes_to_no_lab_and_cannot_be_submitted_again(
        self, database: Database, open_with: Open
    ) -> None:
        client = open_with(a_lab(MAKES_PRINTS, can_hold_until='"submitted"'))
        order_id = submit_skus(client, "HILL")

        hold(database, order_id, open_catalogue(self.folder))

        order = see(client, order_id)
        assert order["status"] == "Submitted"
        assert flags(order) == (True, False, True)
        answer = set_status(client, order_id, "Submitted")
        assert (answer.status, answer.error) == (
            403,
            "An order that is Submitted cannot become Submitted.",
        )


def submit_skus(client: Client, *skus: str) -> int:
    """Submit an order of these products, one of each."""
    order_id = create(client)
    client.post(f"/orders/{order_id}/images/batch", [an_image(sku=sku) for sku in skus])
    assert set_status(client, order_id, "Submitted").status == 200
    return order_id


@pytest.mark.both_databases
class TestCancelling:
    def test_what_was_charged_is_given_back(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)
        price = see(v3, order_id)["price"]

        set_status(v3, order_id, "Cancelled")

        [charged] = events_of(database, order_id, OrderCharged)
        [refunded] = events_of(database, order_id, OrderRefunded)
        assert msgspec.structs.asdict(refunded) == msgspec.structs.asdict(charged)
        assert refunded.amount == price

    @pytest.mark.parametrize("payment", Payment)
    def test_what_was_not_charged_is_not_given_back(
        self, v3: Client, database: Database, payment: Payment
    ) -> None:
        status = _S.NOT_YET_SUBMITTED if payment is ME else _S.AWAITING_PAYMENT
        order_id = an_order_that_is(status, payment, v3, database)

        set_status(v3, order_id, "Cancelled")

        assert events_of(database, order_id, OrderRefunded) == []

    def test_its_shipments_are_called_off(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)
        [shipment] = see_shipments(v3, order_id)

        set_status(v3, order_id, "Cancelled")

        with database.reading() as db:
            assert get_shipment(db, int(shipment["shipmentId"])).state is LabState.CANCELLED
            assert list_shipments(db, order_id) == []
        # The lab has not heard of it.
        assert JobKind.CANCEL_AT_LAB not in list_kinds(database)

    def test_a_lab_that_knows_of_it_is_told(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)
        with database.writing() as db:
            [shipment] = list_shipments(db, order_id)
            record_sent(a_work_of(db, shipment, now=NOON), shipment)

        set_status(v3, order_id, "Cancelled")

        assert list_kinds(database).count(JobKind.CANCEL_AT_LAB) == 1

    @pytest.mark.parametrize("state", [LabState.ACCEPTED, LabState.IN_PRODUCTION])
    def test_once_a_lab_has_begun_it_is_too_late(
        self, v3: Client, database: Database, state: LabState
    ) -> None:
        order_id = submit(v3)
        hear(database, v3, order_id, state)
        rows = all_rows(database)

        answer = set_status(v3, order_id, "Cancelled")

        assert answer.status == 403
        assert answer.error == (
            "An order that is Submitted and at a lab that has begun with it cannot become "
            "Cancelled."
        )
        assert all_rows(database) == rows

    def test_what_a_lab_says_afterwards_changes_nothing(
        self, v3: Client, database: Database
    ) -> None:
        order_id = submit(v3)
        [shipment] = see_shipments(v3, order_id)
        set_status(v3, order_id, "Cancelled")
        before = see(v3, order_id)

        with pytest.raises(AssertionError):
            hear_of(database, int(shipment["shipmentId"]), LabState.DISPATCHED)

        assert see(v3, order_id) == before

    def test_a_cancelled_order_leaves_room_for_others(self, v3: Client, database: Database) -> None:
        set_status(v3, submit(v3), "Cancelled")

        with database.reading() as db:
            states = list(db.execute(select(shipments_table.c.state)).scalars())

        assert states == [LabState.CANCELLED]


@pytest.mark.both_databases
class TestSubmitting:
    def test_it_ends_a_hold(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        receive(database, add(v3, order_id)["id"])
        hold(database, order_id)

        answer = set_status(v3, order_id, "Submitted")

        assert answer.status == 200
        with database.writing() as db:
            assert get_any_order_to_change(db, order_id).held_at is None
        assert list_kinds(database).count(JobKind.RENDER_IMAGE) == 1

    def test_a_refusal_keeps_the_hold(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        hold(database, order_id)
        rows = all_rows(database)

        answer = set_status(v3, order_id, "Submitted")

        assert (answer.status, answer.error) == (
            403,
            "The order cannot be submitted: NoItemsInOrder.",
        )
        assert all_rows(database) == rows

    def test_the_same_request_again_with_a_key_charges_once(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)
        body = {"status": "Submitted"}

        answers = [
            v3.post(f"/orders/{order_id}/status", body, Idempotency_Key="once") for _ in range(2)
        ]

        assert [answer.status for answer in answers] == [200, 200]
        assert len(events_of(database, order_id, OrderCharged)) == 1
