"""`printworks clock`: the clocks of sandbox merchants."""

import pytest

from printworks.rules.jobs import JobState
from printworks.rules.production import LabState
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.cli.operators import Operator
from tests.cli.program import run


def test_a_clock_that_nobody_moved_shows_the_real_time(keeper: Operator) -> None:
    ended = keeper.asks("clock", "show", keeper.merchant.code)

    assert ended.code == 0
    assert ended.said.endswith(f" UTC for {keeper.merchant.code}, which is the real time.\n")


@pytest.mark.both_databases
def test_a_clock_is_moved_and_stays_ahead(keeper: Operator) -> None:
    moved = keeper.asks("clock", "advance", keeper.merchant.code, "36h")
    shown = keeper.reads("clock", "show", keeper.merchant.code)

    assert moved.code == 0
    assert moved.said.endswith(f" UTC for {keeper.merchant.code}, ahead by 1 day, 12:00:00.\n")
    assert shown["aheadBySeconds"] == 36 * 3600


def test_moves_add_up(keeper: Operator) -> None:
    keeper.asks("clock", "advance", keeper.merchant.code, "1d")

    moved = keeper.reads("clock", "advance", keeper.merchant.code, "30s")

    assert moved["aheadBySeconds"] == 86430


def test_what_falls_due_on_the_way_happens(keeper: Operator) -> None:
    order, _ = keeper.submits_an_order()

    keeper.asks("clock", "advance", keeper.merchant.code, "1d")

    with keeper.database.reading() as db:
        due = JobFilter(merchant=keeper.merchant.code, state=JobState.DUE)
        left = list_jobs(db, due, limit=10)
    assert left == []
    # The print file was due, but its picture is nowhere.
    assert [one.state for one in keeper.shipments(order)] == [LabState.OFFERED]


@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_live_clock_is_nobodys_to_move(keeper: Operator) -> None:
    live = {
        "environment": "live",
        "public_url": "https://print.example",
        "payments": "account",
    }
    ended = keeper.asks("clock", "advance", keeper.merchant.code, "1d", **live)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == "printworks: Only the clocks of a sandbox can be moved.\n"
    assert keeper.reads("clock", "show", keeper.merchant.code)["aheadBySeconds"] == 0


@pytest.mark.parametrize("words", [["show", "nobody"], ["advance", "nobody", "1d"]])
@pytest.mark.parametrize("backend", ["sqlite"])
def test_an_unknown_merchant_is_one_sentence(keeper: Operator, words: list[str]) -> None:
    ended = keeper.asks("clock", *words)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == "printworks: There is no merchant 'nobody'.\n"


@pytest.mark.parametrize(
    ("by", "complaint"),
    [
        ("soon", "'soon' is not a duration such as 30s"),
        ("367d", "367d is more than 366 days."),
    ],
)
@pytest.mark.parametrize("backend", ["sqlite"])
def test_a_wrong_duration_is_explained(keeper: Operator, by: str, complaint: str) -> None:
    ended = keeper.asks("clock", "advance", keeper.merchant.code, by)

    assert ended.code == 2
    assert complaint in ended.complained


def test_a_duration_is_needed() -> None:
    ended = run("clock", "advance", "somebody")

    assert ended.code == 2
    assert "Missing argument" in ended.complained
