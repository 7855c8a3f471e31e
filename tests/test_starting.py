"""A start looks for no garbage, and everything after it does."""

import gc
import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import pytest

from printworks.starting import doing_without, without_collecting


def _can_choose_turns() -> bool:
    file = Path("/proc/self/sched")
    version = [int(number) for number in re.findall(r"\d+", platform.release())[:2]]
    return sys.platform == "linux" and version >= [6, 12] and "se.slice" in file.read_text()


def test_garbage_is_left_alone_until_the_end_of_the_block() -> None:
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_collected_again_after_a_failure() -> None:
    with pytest.raises(ValueError, match="bad"), without_collecting():
        raise ValueError("bad")
    assert gc.isenabled()


def test_what_stays_is_never_searched_again() -> None:
    # In a process of its own: here, much would stay that belongs to other tests.
    program = """
import gc
from printworks.starting import keep_for_good
stays = [[] for _ in range(1000)]
keep_for_good()
print(gc.get_freeze_count() >= len(stays), any(one is stays for one in gc.get_objects()))
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["True", "False"]


def test_a_library_does_without_a_package_that_it_does_not_need() -> None:
    with doing_without("a_package_of_nobody"), pytest.raises(ImportError):
        import a_package_of_nobody  # type: ignore[import-not-found]  # noqa: F401
    assert "a_package_of_nobody" not in sys.modules


def test_a_package_that_is_imported_already_stays() -> None:
    with doing_without("gc"):
        assert sys.modules["gc"] is gc
    assert sys.modules["gc"] is gc


@pytest.mark.slow
def test_a_command_that_prints_nothing_starts_without_what_prints_tables() -> None:
    program = """
import sys
from pathlib import Path
sys.argv = ["printworks", "--version"]
import printworks.cli
try:
    printworks.cli.main()
except SystemExit:
    pass
import printworks.cli.processes, printworks.web.server
print("rich" in sys.modules)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.splitlines()[-1] == "False"


@pytest.mark.slow
def test_a_database_is_migrated_without_what_colours_errors(tmp_path: Path) -> None:
    program = """
import sys
from printworks.store.engine.database import Database
from printworks.store.tables import schema
database = Database(f"sqlite:///{sys.argv[1]}/printworks.db")
schema.migrate(database)
print(schema.find_revision(database) == schema.LATEST, "pygments" in sys.modules)
"""
    said = subprocess.run(
        [sys.executable, "-c", program, tmp_path], capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == ["True", "False"]


def test_a_process_that_gives_way_does_so_for_all_sessions() -> None:
    program = """
import os
from pathlib import Path
from printworks.starting import give_way
give_way(5, leads_session=True)
of_session = Path("/proc/self/autogroup")
print(os.nice(0), of_session.read_text().split()[-1] if of_session.exists() else 5)
"""
    said = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        start_new_session=True,
    )
    assert said.stdout.split() == [str(min(os.nice(0) + 5, 19)), "5"]


@pytest.mark.skipif(not _can_choose_turns(), reason="Linux lets processes choose since 6.12")
def test_a_process_that_gives_way_can_be_interrupted_at_once() -> None:
    program = """
from pathlib import Path
from printworks.starting import give_way
give_way(5)
turns = [line for line in Path("/proc/self/sched").read_text().splitlines() if "se.slice" in line]
print(*turns)
"""
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert said.stdout.split()[-1] == "100000000"
