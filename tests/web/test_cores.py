"""Threads that share an interpreter stay together."""

import os
import threading

import pytest

from printworks.web.cores import choose_core, keep_on

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_getaffinity"), reason="Only Linux lets a program choose its cores."
)


def test_processes_are_spread_over_the_cores_they_may_use() -> None:
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) == 1:
        assert choose_core(0, first=0) is None
        return

    chosen = [choose_core(number, first=8443) for number in range(len(allowed))]

    assert sorted(core for core in chosen if core is not None) == allowed


def test_a_thread_can_be_bound_without_the_others() -> None:
    before = os.sched_getaffinity(0)
    core = min(before)
    seen: list[set[int]] = []

    def settle() -> None:
        keep_on(core, [threading.get_native_id()])
        seen.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=settle)
    thread.start()
    thread.join()

    assert seen == [{core}]
    assert os.sched_getaffinity(0) == before
