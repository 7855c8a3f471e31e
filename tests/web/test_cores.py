"""Threads that share an interpreter stay together."""

import os
import threading
from pathlib import Path

import pytest

from printworks.settings import Settings
from printworks.web.app import build_app
from printworks.web.cores import choose_core, keep_on
from tests.api.client import Client, Server

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


def test_all_that_answers_is_bound_with_the_first_request(sqlite_url: str, tmp_path: Path) -> None:
    core = max(os.sched_getaffinity(0))
    given = {
        "PRINTWORKS_PUBLIC_URL": "https://print.example",
        "PRINTWORKS_DATABASE_URL": sqlite_url,
    }
    server = Server(build_app(Settings.load(tmp_path, given), core=core))
    before = {thread.native_id for thread in threading.enumerate()}

    assert Client(server, "/v3.0", {}).get("/orders").status == 401

    answering = {
        thread.name: os.sched_getaffinity(thread.native_id)
        for thread in threading.enumerate()
        if thread.native_id is not None and thread.native_id not in before
    }
    server.close()
    assert answering == {"core-0": {core}}
