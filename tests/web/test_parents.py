"""A process that is started hears every signal, however early it comes."""

import multiprocessing
import os
import signal
from collections.abc import Iterator

import pytest

from printworks.web.parents import holding_signals, release_signals

_Process = multiprocessing.get_context("fork").Process


@pytest.fixture
def heard() -> Iterator[list[int]]:
    """What this process heard, which handles SIGTERM itself as one that starts others does."""
    heard: list[int] = []
    before = signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    yield heard
    signal.signal(signal.SIGTERM, before)


def stay() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    release_signals()
    while True:
        signal.pause()


def test_a_signal_that_comes_with_the_start_ends_the_new_process(heard: list[int]) -> None:
    with holding_signals():
        process = _Process(target=stay)
        process.start()
        assert process.pid is not None
        os.kill(process.pid, signal.SIGTERM)

    process.join(30)

    assert process.exitcode == -signal.SIGTERM
    assert heard == []


def test_what_came_meanwhile_is_heard_afterwards(heard: list[int]) -> None:
    with holding_signals():
        # To this thread: one of the test runner's own has not blocked it.
        signal.raise_signal(signal.SIGTERM)
        assert heard == []

    assert heard == [signal.SIGTERM]
