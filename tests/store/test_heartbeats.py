"""Workers say that they are alive, and others see when they stop."""

from datetime import timedelta

from printworks.rules.heartbeats import FORGOTTEN_AFTER, SILENT_AFTER, is_alive
from printworks.store.engine.database import Database
from printworks.store.queue.heartbeats import end_heartbeat, list_heartbeats, write_heartbeat
from tests.factories import NOON, a_heartbeat


def test_the_last_beat_of_each_worker_counts(database: Database) -> None:
    second = a_heartbeat("second", NOON)
    with database.writing() as db:
        write_heartbeat(db, a_heartbeat("first", NOON))
        write_heartbeat(db, second)
        write_heartbeat(db, a_heartbeat("first", NOON + timedelta(seconds=5), finished=7))

    with database.reading() as db:
        found = list_heartbeats(db)

    assert found == [a_heartbeat("first", NOON + timedelta(seconds=5), finished=7), second]


def test_a_worker_that_stops_leaves_nothing_and_a_killed_one_is_forgotten_later(
    database: Database,
) -> None:
    with database.writing() as db:
        for name in ("killed", "stopped"):
            write_heartbeat(db, a_heartbeat(name, NOON))
        end_heartbeat(db, "stopped")
        write_heartbeat(db, a_heartbeat("other", NOON + FORGOTTEN_AFTER))
        soon = [beat.worker for beat in list_heartbeats(db)]
        write_heartbeat(db, a_heartbeat("other", NOON + FORGOTTEN_AFTER + timedelta(seconds=1)))
        later = [beat.worker for beat in list_heartbeats(db)]

    assert soon == ["killed", "other"]
    assert later == ["other"]


def test_who_is_silent_for_six_beats_is_not_alive() -> None:
    beat = a_heartbeat("worker", NOON)

    assert is_alive(beat, now=NOON + SILENT_AFTER)
    assert not is_alive(beat, now=NOON + SILENT_AFTER + timedelta(seconds=1))
    assert is_alive(beat, now=NOON - timedelta(hours=1))
