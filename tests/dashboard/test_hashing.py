"""The process that hashes passwords."""

import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from printworks.dashboard.auth.hashing import HashingProcess
from printworks.dashboard.auth.hashing_child import (
    NICENESS,
    HashAnswer,
    Hasher,
    HashTask,
    answer,
    encode,
    one_of,
)
from printworks.errors import ServiceUnavailable

pytestmark = pytest.mark.slow


@pytest.fixture
def process(tmp_path: Path) -> Iterator[HashingProcess]:
    """The process, as a web process starts it."""
    hashing = HashingProcess(tmp_path / "lock", slots=1)
    yield hashing
    hashing.close()


def test_it_hashes_at_low_priority_and_is_replaced_when_it_is_killed(
    process: HashingProcess,
) -> None:
    kept = process.hash("pässword \udcff")
    assert process._process is not None
    pid = process._process.pid

    assert os.getpriority(os.PRIO_PROCESS, pid) == min(os.nice(0) + NICENESS, 19)
    assert len(os.sched_getaffinity(pid)) == 1
    os.kill(pid, signal.SIGKILL)
    assert process.is_right(kept, "pässword \udcff")
    assert not process.is_right(kept, "another")
    assert not process.is_right("", "nobody has this password")
    assert process._process.pid != pid


def test_one_that_cannot_be_started_is_said_so(process: HashingProcess) -> None:
    process._arguments = ["/nowhere/python"]
    with pytest.raises(ServiceUnavailable, match="Try again in a minute"):
        process.hash("anything")


def test_one_that_says_nothing_is_given_up(
    process: HashingProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printworks.dashboard.auth.hashing._LONGEST_SECONDS", 0)
    with pytest.raises(ServiceUnavailable):
        process.hash("anything")


def test_only_so_many_hash_at_once_on_a_machine(tmp_path: Path) -> None:
    paths = [tmp_path / "lock", tmp_path / "lock.1"]
    ours = [os.open(path, os.O_RDWR | os.O_CREAT) for path in paths]
    others = [os.open(path, os.O_RDWR) for path in paths]
    fcntl.flock(others[0], fcntl.LOCK_EX)

    with one_of(ours, 0), pytest.raises(BlockingIOError):
        fcntl.flock(others[1], fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(others[1], fcntl.LOCK_EX | fcntl.LOCK_NB)

    for each in (*ours, *others):
        os.close(each)


def test_its_answers_are_those_of_the_hasher() -> None:
    hasher = Hasher()
    made = answer(hasher, msgspec.json.encode(HashTask(encode("a password"))))
    kept = msgspec.json.decode(made, type=HashAnswer).hash
    right = answer(hasher, msgspec.json.encode(HashTask(encode("a password"), kept)))
    wrong = answer(hasher, msgspec.json.encode(HashTask(encode("a password"), "no hash")))

    assert msgspec.json.decode(right, type=HashAnswer).is_right
    assert not msgspec.json.decode(wrong, type=HashAnswer).is_right
