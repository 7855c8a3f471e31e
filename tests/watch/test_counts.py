"""What processes count is kept, added up and never falls."""

import asyncio
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from printworks.watch.counts import (
    Counts,
    JobsAlike,
    RequestsAlike,
    SavedCounts,
    sum_jobs,
    sum_requests,
    sum_states,
)
from printworks.watch.shared_counts import (
    FOLDER,
    WEB,
    WORKER,
    CountPlace,
    CountsOfProcess,
    keep_sharing,
    list_counts,
)

GET = RequestsAlike("3.0", "GET /orders", 200)


def some_counts(requests: int) -> Counts:
    """Count so many requests."""
    counts = Counts()
    for _ in range(requests):
        counts.note_request("3.0", "GET", "/orders", 200, 0.003)
    return counts


def share(counts: Counts, data: Path, role: str = WEB) -> None:
    """Share what was counted, and end as a process does that is told to stop."""

    async def play() -> None:
        saved = asyncio.Event()

        def note() -> float:
            saved.set()
            return 1

        counts.show("saved", note)
        sharing = asyncio.create_task(keep_sharing(counts, data, role))
        await saved.wait()
        sharing.cancel()
        await asyncio.gather(sharing, return_exceptions=True)

    asyncio.run(play())


def count_all(data: Path) -> int:
    """Return how many requests all processes have counted."""
    return sum_requests([each.counts for each in list_counts(data)])[GET].count


def test_times_are_sorted_into_classes() -> None:
    counts = Counts()
    for seconds in (0.0001, 0.001, 0.003, 60):
        counts.note_request("2.6", "PUT", "/orders/{id}", 201, seconds)
    counts.note_job("fetch-image", "done", 0.2)

    saved = counts.save()

    ((alike, times),) = saved.requests
    assert alike == RequestsAlike("2.6", "PUT /orders/{id}", 201)
    assert times.classes == [2, 0, 1, *[0] * 9, 1]
    assert times.count == 4
    assert times.seconds == pytest.approx(60.0041)
    assert sum_jobs([saved])[JobsAlike("fetch-image", "done")].count == 1


def test_whoever_comes_next_goes_on_counting(tmp_path: Path) -> None:
    share(some_counts(2), tmp_path)
    share(some_counts(3), tmp_path)

    assert count_all(tmp_path) == 5
    assert [each.place for each in list_counts(tmp_path)] == ["web-1"]


def test_processes_have_places_of_their_own_and_states_end_with_them(tmp_path: Path) -> None:
    first = CountPlace.take(tmp_path, WEB)
    counts = some_counts(1)
    counts.show("connections", lambda: 7)

    share(counts, tmp_path, WEB)
    share(some_counts(1), tmp_path, WORKER)

    assert first is not None
    first.write(b'{"requests":[],"jobs":[],"states":{"connections":3}}')
    found = list_counts(tmp_path)
    assert [(each.place, each.is_alive) for each in found] == [
        ("web-1", True),
        ("web-2", False),
        ("worker-1", False),
    ]
    assert sum_states([each.counts for each in found]) == {"connections": 3}
    first.leave()


def test_a_file_that_cannot_be_read_counts_for_nothing(tmp_path: Path) -> None:
    share(some_counts(1), tmp_path)
    (tmp_path / FOLDER / "web-1.json").write_bytes(b"{")
    share(some_counts(1), tmp_path, WORKER)

    assert list_counts(tmp_path)[0].place == "worker-1"
    share(some_counts(4), tmp_path)
    assert list_counts(tmp_path)[0] == CountsOfProcess(
        "web-1", False, SavedCounts(some_counts(4).save().requests, [], {})
    )


def test_without_a_folder_nothing_is_shared_and_nothing_fails(tmp_path: Path) -> None:
    (tmp_path / FOLDER).write_text("in the way")

    with capture_logs() as said:
        assert CountPlace.take(tmp_path, WEB) is None
        asyncio.run(keep_sharing(Counts(), tmp_path, WEB))

    assert {line["event"] for line in said} == {"counts are not shared"}
    assert list_counts(tmp_path) == []


def test_a_disk_that_fails_costs_only_the_counts(tmp_path: Path) -> None:
    place = CountPlace.take(tmp_path, WEB)
    assert place is not None
    (tmp_path / FOLDER / "web-1.new").mkdir()

    with capture_logs() as said:
        place.write(b"{}")

    assert [line["event"] for line in said] == ["counts not written"]
    place.leave()
