"""Lab jobs at the console: looked at, and spoken for in the lab's place."""

import msgspec
import pytest
from sqlalchemy import insert, select

from printworks.catalogue.opening import open_catalogue
from printworks.dashboard.shared.dates import write_stored_day
from printworks.dashboard.shared.order_routing import name_lab
from printworks.rules.events import OrderHeld
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.orders.events import list_events
from printworks.store.orders.shipments import list_shipments, update_shipment
from printworks.store.tables import jobs, shipments
from tests.api.client import Server
from tests.api.images import add, create
from tests.dashboard.scenes import (
    HOSTILE,
    hand_in,
    hear,
    last_entry,
    see_order,
    see_shipment,
)
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import NOON


def taken_back(database: Database) -> list[int]:
    """Return the jobs that labs are told to forget."""
    with database.reading() as db:
        wanted = select(jobs.c.args).where(jobs.c.kind == JobKind.CANCEL_AT_LAB)
        return [args["shipment"] for args in db.execute(wanted).scalars()]


@pytest.mark.both_databases
def test_a_job_shows_what_is_printed_for_whom_and_by_when(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice, merchant_order_id="A-7")

    said = operator.words(f"/console/shipments/{job.id}")

    for word in (f"Lab job {job.id}", "Offered", "Alice", "A-7", "Mary Fox", "YO1 1AA"):
        assert word in said
    assert "Dispatch by" in said
    assert write_stored_day(job.latest_arrival) in said
    assert "GLOBAL-PHO-4X6-PRO" in said
    assert "The print file has not been rendered yet" in said
    page = operator.open(f"/console/shipments/{job.id}").body.decode()
    assert f'href="/console/orders/{order.id}"' in page


@pytest.mark.both_databases
def test_it_is_accepted_begun_and_dispatched_and_the_order_is_complete(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    page = f"/console/shipments/{job.id}"

    assert "The job was accepted." in operator.follow(operator.do(page, "lab-accept"))
    assert "The job is in production." in operator.follow(operator.do(page, "lab-begin"))
    answer = operator.do(
        page,
        "lab-dispatch",
        carrier="DHL",
        tracking_number="JD 0123",
        tracking_url="https://dhl.example/JD0123",
    )
    said = operator.follow(answer)

    assert "The job was dispatched" in said
    assert "JD 0123" in said
    assert "by admin@works.example" in said
    sent = see_shipment(database, job)
    assert (sent.state, sent.carrier) == (LabState.DISPATCHED, "DHL")
    assert sent.tracking_url == "https://dhl.example/JD0123"
    assert see_order(database, order).status is OrderStatus.COMPLETE
    entry = last_entry(database)
    assert (entry.action, entry.subject) == ("report-for-lab", f"shipment {job.id}")
    assert entry.merchant_id == order.merchant_id
    assert entry.details == {"state": "dispatched", "fields": ["carrier", "tracking"]}


@pytest.mark.both_databases
def test_what_the_carrier_has_delivered_is_shown_to_the_merchant(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    page = f"/console/shipments/{job.id}"
    assert "Mark as delivered" not in operator.words(page)
    hear(database, job, LabState.DISPATCHED)

    assert "The job was delivered." in operator.follow(operator.do(page, "lab-deliver"))
    assert operator.do(page, "lab-deliver").status == 400

    assert see_order(database, order).status is OrderStatus.COMPLETE
    said = alice.words(f"/orders/{order.id}")
    assert f"Order {order.id} Delivered" in said
    assert "This order was delivered on" in said
    assert "Delivered" in alice.words("/orders")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"carrier": "Pigeon"}, "Choose a carrier"),
        ({"tracking_number": "no digits"}, "A tracking number has"),
        ({"tracking_url": "javascript:alert(1)"}, "must start with https://"),
        ({"tracking_url": "https://a b"}, "must start with https://"),
        ({"tracking_url": "https://10.0.0.5/"}, "The address is not public"),
    ],
)
def test_a_dispatch_with_nonsense_in_it_is_refused_and_what_was_typed_stays(
    operator: Window,
    alice: Window,
    database: Database,
    fields: dict[str, str],
    reason: str,
) -> None:
    _, job = hand_in(database, alice)

    answer = operator.do(f"/console/shipments/{job.id}", "lab-dispatch", **fields)

    assert answer.status == 400
    assert reason in words_of(answer)
    assert see_shipment(database, job).state is LabState.OFFERED
    if "carrier" not in fields:
        assert f'value="{next(iter(fields.values()))}"' in answer.body.decode()


def test_what_is_no_news_is_refused_with_the_state(
    operator: Window, alice: Window, database: Database
) -> None:
    _, job = hand_in(database, alice)
    hear(database, job, LabState.DISPATCHED)

    answer = operator.do(f"/console/shipments/{job.id}", "lab-accept")

    assert answer.status == 400
    assert "is dispatched, so it cannot become accepted" in words_of(answer)


@pytest.mark.both_databases
def test_what_a_lab_rejects_goes_to_another_and_is_taken_back_from_the_first(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    with database.writing() as db:
        update_shipment(db, job, {"sent_at": NOON})
    page = f"/console/shipments/{job.id}"

    assert operator.do(page, "lab-reject", reason="  ").status == 400
    said = operator.follow(operator.do(page, "lab-reject", reason=HOSTILE))

    assert "offered to other labs" in said
    assert HOSTILE in said
    assert HOSTILE not in operator.open(page).body.decode()
    assert see_shipment(database, job).state is LabState.REJECTED
    with database.reading() as db:
        [other] = list_shipments(db, order.id)
    assert (other.state, other.lab != job.lab) == (LabState.OFFERED, True)
    assert f"Lab job {other.id} at {name_lab(other.lab, open_catalogue(None))}" in said
    assert taken_back(database) == [job.id]
    assert last_entry(database).details == {"state": "rejected", "fields": ["reason"]}


def test_what_never_came_to_the_lab_is_not_taken_back(
    operator: Window, alice: Window, database: Database
) -> None:
    _, job = hand_in(database, alice)

    operator.do(f"/console/shipments/{job.id}", "lab-dispatch")

    assert see_shipment(database, job).state is LabState.DISPATCHED
    assert taken_back(database) == []


@pytest.mark.both_databases
def test_what_failed_is_offered_again(operator: Window, alice: Window, database: Database) -> None:
    order, job = hand_in(database, alice)
    page = f"/console/shipments/{job.id}"
    assert operator.do(page, "lab-offer-again").status == 400

    operator.do(page, "lab-fail", reason="The roll is torn.")
    assert "The roll is torn." in operator.words(page)
    answer = operator.do(page, "lab-offer-again")

    with database.reading() as db:
        [other] = list_shipments(db, order.id)
    assert other.id != job.id
    assert answer.headers["location"].startswith(f"/console/shipments/{other.id}?")
    assert see_order(database, order).reasons is None
    assert last_entry(database).action == "offer-again"


def test_what_nobody_can_make_is_given_up_once_the_rest_has_left(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    page = f"/console/shipments/{job.id}"
    operator.do(page, "lab-fail", reason="The roll is torn.")
    assert "Cancel job" not in operator.words(page)
    with database.writing() as db:
        db.execute(
            insert(shipments).values(
                {**msgspec.structs.asdict(job), "id": 987_654, "state": LabState.DISPATCHED}
            )
        )

    assert "Cancel job" in operator.words(page)
    assert operator.do(page, "lab-cancel", reason=" ").status == 400
    said = operator.follow(operator.do(page, "lab-cancel", reason="Nobody makes it."))

    assert "The job was cancelled. Refund it in an issue." in said
    assert "Cancelled by hand" in said
    assert see_shipment(database, job).state is LabState.CANCELLED
    assert see_order(database, order).status is OrderStatus.COMPLETE
    assert last_entry(database).action == "cancel-shipment"
    assert "Cancel job" not in operator.words(page)


@pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)
def test_the_order_is_held_for_the_operators_reason_until_its_lab_has_begun(
    operator: Window, alice: Window, database: Database
) -> None:
    order, job = hand_in(database, alice)
    page = f"/console/shipments/{job.id}"
    reason = "The address is odd."

    assert "The order is on hold." in operator.follow(operator.do(page, "lab-hold", reason=reason))
    assert see_order(database, order).held_at is not None
    with database.reading() as db:
        held = [event for event in list_events(db, order.id) if isinstance(event, OrderHeld)]
    assert [event.reason for event in held] == [reason]
    assert "The order was released." in operator.follow(operator.do(page, "lab-release"))
    assert see_order(database, order).held_at is None

    hear(database, job, LabState.IN_PRODUCTION)
    refused = operator.do(page, "lab-hold", reason=reason)
    assert refused.status == 400
    assert "cannot be held now" in words_of(refused)
    assert operator.do(page, "lab-release").status == 400


def test_a_role_that_only_looks_sees_no_forms(
    server: Server, alice: Window, database: Database
) -> None:
    _, job = hand_in(database, alice)
    viewer = open_console(server, database, Role.VIEWER)

    page = viewer.open(f"/console/shipments/{job.id}")

    assert "Your role can view lab jobs" in words_of(page)
    assert 'name="do"' not in page.body.decode()


def test_there_is_no_job_before_an_order_is_submitted(
    operator: Window, alice: Window, database: Database
) -> None:
    order = create(alice.api)
    add(alice.api, order)
    alice.api.get(f"/orders/{order}")
    with database.reading() as db:
        [planned] = list_shipments(db, order)

    for page in ("", "/sheet", "/prints/1"):
        assert operator.open(f"/console/shipments/{planned.id}{page}").status == 404
    assert operator.open("/console/shipments/987654321").status == 404
    assert operator.open("/console/shipments/999999999999999999999999").status == 404
