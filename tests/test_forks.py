"""Tests run in forks: each once, whatever becomes of the process it runs in."""

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
GOOD = """
    import os

    def test_one():
        print(os.environ["TEST_PROCESS"])

    def test_another():
        pass
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder of tests without any settings."""
    folder = tmp_path / "suite"
    folder.mkdir()
    (folder / "pytest.ini").write_text("[pytest]\n")
    return folder


def run(suite: Path, *options: str, **files: str) -> tuple[int, str]:
    """Run some files of tests in two forks."""
    for name, content in files.items():
        (suite / f"test_{name}.py").write_text(dedent(content))
    words = [sys.executable, "-m", "pytest", "-p", "tests.forks", "--processes", "2", *options]
    # Other plugins take longer to import than these tests.
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ended = subprocess.run(
        [*words, suite], cwd=ROOT, env=alone, capture_output=True, text=True, timeout=60
    )
    return ended.returncode, ended.stdout + ended.stderr


def test_every_test_is_run_once(suite: Path) -> None:
    code, said = run(suite, a=GOOD, b=GOOD, c=GOOD)

    assert code == 0
    assert "6 passed" in said


def test_a_folder_whose_tests_belong_together_is_run_by_one_process(suite: Path) -> None:
    one = """
        import pytest

        @pytest.mark.together
        def test_one(shared):
            shared.append(1)
    """
    (suite / "conftest.py").write_text(
        dedent("""
            import pytest

            @pytest.fixture(scope="session")
            def shared():
                found = []
                yield found
                assert len(found) == 3
        """)
    )

    code, said = run(suite, a=one, b=one, c=one)

    assert code == 0, said
    assert "3 passed" in said


def test_a_failure_is_reported_with_what_was_printed(suite: Path) -> None:
    code, said = run(suite, a=GOOD, b="def test_bad():\n    print('a hint')\n    assert 1 == 2")

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "1 failed, 2 passed" in said
    assert "a hint" in said
    assert "assert 1 == 2" in said


def test_a_test_whose_process_dies_fails_and_all_others_are_run(suite: Path) -> None:
    deadly = (
        "import os\ndef test_deadly():\n    os.kill(os.getpid(), 9)\ndef test_after():\n    pass"
    )

    code, said = run(suite, a=deadly, b=GOOD, c=GOOD)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "The process of this test ended with -9." in said
    assert "1 failed, 5 passed" in said


def test_a_process_that_hangs_is_ended_and_says_where_it_was(suite: Path) -> None:
    hung = "import threading\ndef test_hung():\n    threading.Event().wait()\n"

    code, said = run(suite, "--silence", "1", a=hung, b=GOOD)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "The process of this test ended with -6." in said
    assert "in test_hung" in said
    assert "1 failed, 2 passed" in said


def test_it_can_end_with_the_first_failure(suite: Path) -> None:
    bad = "def test_bad():\n    assert 0\n"

    code, said = run(suite, "-x", "--processes", "1", a=bad, b=GOOD)

    assert code == pytest.ExitCode.TESTS_FAILED
    assert "stopping after 1 failures" in said
    assert "passed" not in said


def test_what_stays_until_the_end_of_a_process_is_ended(suite: Path) -> None:
    shared = """
        import pathlib
        import pytest

        @pytest.fixture(scope="session")
        def shared():
            yield
            here = pathlib.Path(__file__).with_name("ended.txt")
            here.open("a").write("ended\\n")

        def test_one(shared):
            pass
    """

    code, _ = run(suite, a=shared, b=GOOD)

    assert code == 0
    assert (suite / "ended.txt").read_text() == "ended\n"


def test_a_process_that_cannot_end_its_fixtures_fails_the_run(suite: Path) -> None:
    shared = """
        import pytest

        @pytest.fixture(scope="session")
        def shared():
            yield
            raise ValueError("It would not end.")

        def test_one(shared):
            pass
    """

    code, said = run(suite, a=shared, b=GOOD)

    assert code != 0
    assert "It would not end." in said


def test_threads_are_found_before_they_are_lost(suite: Path) -> None:
    threaded = "import threading\nthreading.Timer(5, print).start()\n" + dedent(GOOD)

    code, said = run(suite, a=threaded)

    assert code == pytest.ExitCode.INTERNAL_ERROR
    assert "A fork would lack the other threads" in said
