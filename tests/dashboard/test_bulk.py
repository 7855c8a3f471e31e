"""The same for many: orders, issues, lab jobs and jobs are chosen, and a report says what came of it."""

from typing import Any

import pytest

from printworks.dashboard.shared.code_words import speak
from printworks.rules.issues import IssueState
from printworks.rules.jobs import JobKind, JobState
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Role
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.issues.issues import get_any_issue
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.views.console.jobs import get_job
from tests.api.client import Server
from tests.dashboard.scenes import complain_about, hand_in, see_order, see_shipment
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import NOON

HOLDS = pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)
LISTS = ["/console/orders", "/console/issues", "/console/production", "/console/jobs"]
ACTIONS = {
    "/console/orders": "change-orders",
    "/console/issues": "change-issues",
    "/console/production": "report-many",
    "/console/jobs": "change-jobs",
}


@HOLDS
@pytest.mark.both_databases
def test_orders_are_held_released_and_cancelled(
    operator: Window, alice: Window, database: Database
) -> None:
    (first, _), (second, _), (third, _) = (hand_in(database, alice) for _ in range(3))
    page = "/console/orders?choose=none"
    assert f'name="chosen" value="{first.id}"' in operator.open(page).body.decode()

    held = operator.do(
        page,
        "change-orders",
        bulk_action="hold",
        reason="Stock-taking.",
        chosen=[first.id, second.id],
    )
    said = words_of(held)
    assert "Done: 2" in said
    assert f"Order {first.id} is on hold." in said
    assert see_order(database, second).held_at is not None
    assert see_order(database, third).held_at is None

    released = operator.do(
        page, "change-orders", bulk_action="release", chosen=[first.id, second.id, third.id]
    )
    said = words_of(released)
    assert ("Done: 2" in said, "Refused: 1" in said) == (True, True)
    assert f"Order {third.id}: The order is not held." in said

    operator.do(page, "change-orders", bulk_action="cancel", chosen=[first.id, 99])
    assert see_order(database, first).status is OrderStatus.CANCELLED
    assert see_order(database, second).status is OrderStatus.SUBMITTED


@pytest.mark.both_databases
def test_issues_are_taken_and_closed(operator: Window, alice: Window, database: Database) -> None:
    issues = [complain_about(database, alice).id for _ in range(2)]
    page = "/console/issues?choose=all"
    assert operator.open(page).body.decode().count(" checked>") == 2

    operator.do(page, "change-issues", bulk_action="take", chosen=issues)
    mute = operator.do(page, "change-issues", bulk_action="dismiss", chosen=issues)
    assert "Refused: 2" in words_of(mute)
    closed = operator.do(
        page, "change-issues", bulk_action="dismiss", comment="Sorry.", chosen=issues
    )

    assert "Done: 2" in words_of(closed)
    with database.reading() as db:
        states = {get_any_issue(db, issue).state for issue in issues}
    assert states == {IssueState.CLOSED_RESOLVED}


@pytest.mark.both_databases
def test_lab_jobs_are_reported_on(operator: Window, alice: Window, database: Database) -> None:
    (order, first), (_, second) = (hand_in(database, alice) for _ in range(2))
    page = "/console/production?choose=none"

    for bulk_action in ("accept", "begin"):
        operator.do(page, "report-many", bulk_action=bulk_action, chosen=[first.id, second.id])
    sent = operator.do(page, "report-many", bulk_action="dispatch", chosen=[first.id])
    again = operator.do(page, "report-many", bulk_action="accept", chosen=[first.id])
    offered = operator.do(page, "report-many", bulk_action="offer-again", chosen=[second.id])

    assert f"Lab job {first.id} is dispatched." in words_of(sent)
    assert f"Lab job {first.id}: Shipment {first.id} is dispatched" in words_of(again)
    assert "Refused: 1" in words_of(offered)
    assert see_order(database, order).status is OrderStatus.COMPLETE
    assert see_shipment(database, second).state is LabState.IN_PRODUCTION


@pytest.mark.both_databases
def test_jobs_are_run_and_cancelled(operator: Window, database: Database) -> None:
    with database.writing() as db:
        ids = [
            enqueue(db, NewJob(JobKind.SUM_DAYS, None, {"number": number}), now=NOON)
            for number in range(2)
        ]
    page = "/console/jobs?choose=none&periodic=yes"

    operator.do(page, "change-jobs", bulk_action="cancel", chosen=ids)
    done = operator.do(page, "change-jobs", bulk_action="retry", chosen=[*ids, 99])

    assert "Refused: 1 Job 99: There is no job 99." in words_of(done)
    with database.reading() as db:
        assert {get_job(db, job or 0).state for job in ids} == {JobState.DUE}


@pytest.mark.both_databases
def test_periodic_jobs_are_listed_if_they_are_asked_for_or_failed(
    operator: Window, database: Database
) -> None:
    with database.writing() as db:
        enqueue(db, NewJob(JobKind.POLL_LABS, None, {}), now=NOON)
        enqueue(db, NewJob(JobKind.REMOVE_FILES, None, {"files": []}), now=NOON)

    def listed(query: str) -> set[str]:
        body = operator.open(f"/console/jobs{query}").body.decode()
        rows = body.split("<tbody>")[1].split("</tbody>")[0]
        return {kind for kind in JobKind if f">{speak(kind)}</a>" in rows}

    assert listed("") == {JobKind.REMOVE_FILES}
    assert listed("?periodic=yes") == {JobKind.REMOVE_FILES, JobKind.POLL_LABS}
    assert listed("?kind=poll-labs") == {JobKind.POLL_LABS}
    assert listed("?state=due") == {JobKind.REMOVE_FILES}


@pytest.mark.parametrize("page", LISTS)
@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"bulk_action": ""}, "Choose what to do"),
        ({"bulk_action": "fly", "chosen": ["1"]}, "Choose what to do"),
        ({"chosen": []}, "Choose at least one line"),
        ({"chosen": ["x"]}, "Choose at least one line"),
    ],
)
def test_nothing_is_done_by_mistake(
    operator: Window,
    alice: Window,
    database: Database,
    page: str,
    fields: dict[str, Any],
    reason: str,
) -> None:
    hand_in(database, alice)
    bulk_actions = {"change-orders": "cancel", "change-issues": "take", "report-many": "accept"}
    known = {"bulk_action": bulk_actions.get(ACTIONS[page], "retry"), "chosen": ["1"]}

    refused = operator.do(f"{page}?choose=none", ACTIONS[page], **{**known, **fields})

    assert refused.status == 400
    assert reason in words_of(refused)


def test_a_hold_of_many_needs_a_reason(operator: Window, alice: Window, database: Database) -> None:
    order, _ = hand_in(database, alice)

    refused = operator.do(
        "/console/orders?choose=none", "change-orders", bulk_action="hold", chosen=[order.id]
    )

    assert (refused.status, "Enter a reason" in words_of(refused)) == (400, True)


@pytest.mark.parametrize("page", LISTS)
def test_whoever_may_only_look_has_no_boxes(
    server: Server, alice: Window, database: Database, page: str
) -> None:
    hand_in(database, alice)
    complain_about(database, alice)
    viewer = open_console(server, database, role=Role.VIEWER)

    assert 'type="checkbox"' not in viewer.open(f"{page}?choose=all").body.decode()
    assert viewer.do(page, ACTIONS[page], bulk_action="cancel", chosen=[1]).status == 403
