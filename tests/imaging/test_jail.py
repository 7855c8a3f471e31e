"""What takes over a child stays in the child, and ends with it."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import printworks.imaging.processor
from printworks.imaging.jail import find_confinement
from printworks.imaging.messages import MIB, ProcessLimits
from printworks.imaging.processor import (
    CannotBeProcessed,
    ImageProcessor,
    Invalid,
    PreparedImage,
    Rejected,
)
from printworks.imaging.slot import Slot
from tests.imaging import treacherous
from tests.imaging.pictures import CROPPED, a_noisy_picture, as_jpeg, written

LIMITS = ProcessLimits(memory=1024 * MIB, cpu_seconds=1, wall_seconds=2.0, file_size=4 * MIB)
# On a busy machine, two seconds are over before somebody has killed a child.
PATIENT = ProcessLimits(memory=1024 * MIB, cpu_seconds=1, wall_seconds=60)

needs_landlock = pytest.mark.skipif(
    not find_confinement().landlock, reason="the kernel has no Landlock"
)
needs_seccomp = pytest.mark.skipif(
    not find_confinement().seccomp, reason="the kernel has no seccomp"
)

Attempt = Callable[[str], PreparedImage | Rejected]


@pytest.fixture(autouse=True)
def not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no other test get a process that was stopped or killed here."""
    monkeypatch.setattr(printworks.imaging.processor, "Slot", Slot)


@pytest.fixture(scope="module")
def treacherous_processor() -> Iterator[ImageProcessor]:
    with ImageProcessor(slots=1, prepare_limits=LIMITS, zygote=[treacherous.__file__]) as processor:
        yield processor


@pytest.fixture
def attempt(treacherous_processor: ImageProcessor, tmp_path: Path, out: Path) -> Attempt:
    """Have a child try something."""

    def attempt(form_action: str) -> PreparedImage | Rejected:
        written(tmp_path, b"secret", "neighbour")
        source = written(tmp_path, form_action.encode())
        return treacherous_processor.prepare(source, CROPPED, out)

    return attempt


@pytest.mark.parametrize(
    ("form_action", "verdict"),
    [
        ("crash", CannotBeProcessed("The child was ended by SIGSEGV.")),
        ("hang", CannotBeProcessed("The child took too long.")),
        ("leave", CannotBeProcessed("The child ended without an answer.")),
        ("swell", Invalid("The picture needs too much memory.")),
        ("lie", CannotBeProcessed("The child did not write what it should have.")),
        ("invent", CannotBeProcessed("The child's answer is not valid.")),
        ("flood", CannotBeProcessed("A file could not be read or written: File too large.")),
    ],
)
def test_whatever_a_child_does_becomes_a_verdict(
    form_action: str, verdict: Rejected, attempt: Attempt
) -> None:
    assert attempt(form_action) == verdict


@pytest.mark.slow
def test_a_child_that_is_busy_for_too_long_is_ended(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, b"spin")
    with ImageProcessor(
        slots=1, prepare_limits=PATIENT, zygote=[treacherous.__file__]
    ) as processor:
        verdict = processor.prepare(source, CROPPED, out)

    assert verdict == CannotBeProcessed("The child exceeded its CPU time.")


def test_a_child_that_babbles_is_cut_short(attempt: Attempt) -> None:
    assert isinstance(attempt("babble"), CannotBeProcessed)


def test_a_verdict_on_one_is_none_on_the_next(attempt: Attempt) -> None:
    attempt("crash")

    assert attempt("lie") == CannotBeProcessed("The child did not write what it should have.")


@needs_seccomp
def test_a_child_reaches_nobody(attempt: Attempt) -> None:
    verdict = attempt("reach_out")

    assert isinstance(verdict, Invalid), verdict
    assert json.loads(verdict.reason) == []


@needs_landlock
def test_a_child_has_no_files_but_its_own(attempt: Attempt) -> None:
    verdict = attempt("pry")

    assert isinstance(verdict, Invalid), verdict
    assert json.loads(verdict.reason) == ["read own", "write own", "remove own"]


def test_a_child_inherits_no_secrets(
    attempt: Attempt, treacherous_processor: ImageProcessor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PRINTWORKS_SECRET", "secret")

    verdict = attempt("show_environment")

    assert isinstance(verdict, Invalid), verdict
    allowed = ("VIPS_", "LANG", "LC_", "MALLOC_", "GLIBC_", "PYTHONPATH", "LD_LIBRARY_PATH")
    assert all(name.startswith(allowed) for name in json.loads(verdict.reason))


def test_a_child_that_is_killed_costs_its_picture_only(tmp_path: Path, out: Path) -> None:
    hangs, lies = (written(tmp_path, word.encode(), word) for word in ("hang", "lie"))
    with (
        ThreadPoolExecutor(1) as pool,
        ImageProcessor(slots=1, prepare_limits=PATIENT, zygote=[treacherous.__file__]) as processor,
    ):
        # A zygote that starts has children, too: they try out whether they are confined.
        before = processor.prepare(lies, CROPPED, out)
        verdict = pool.submit(processor.prepare, hangs, CROPPED, out)
        os.kill(_wait_for_busy_child(treacherous.__file__), signal.SIGKILL)

        assert verdict.result(30) == CannotBeProcessed("The child was ended by SIGKILL.")
        after = processor.prepare(lies, CROPPED, out)

    assert before == after == CannotBeProcessed("The child did not write what it should have.")


def test_a_zygote_that_is_killed_takes_its_child_along_and_is_replaced(attempt: Attempt) -> None:
    with ThreadPoolExecutor(1) as pool:
        verdict = pool.submit(attempt, "hang")
        zygote = _wait_for_zygote(treacherous.__file__)
        orphan = _wait_for_child_of(zygote)
        os.kill(zygote, signal.SIGKILL)

        # Tried once more, by another.
        assert verdict.result(20) == CannotBeProcessed("The child took too long.")
    assert not _is_alive(orphan)


def test_a_picture_survives_the_death_of_an_idle_zygote(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    with ImageProcessor(slots=1) as processor:
        before = processor.prepare(source, CROPPED, out)
        os.kill(_wait_for_zygote("printworks.imaging.zygote"), signal.SIGKILL)

        after = processor.prepare(source, CROPPED, out)

    assert isinstance(before, PreparedImage), before
    assert isinstance(after, PreparedImage), after


@pytest.mark.slow
def test_a_zygote_that_stops_answering_is_replaced(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    limits = ProcessLimits(memory=1024 * MIB, cpu_seconds=1, wall_seconds=0.5)
    with ImageProcessor(slots=1, prepare_limits=limits) as processor:
        processor.prepare(source, CROPPED, out)
        os.kill(_wait_for_zygote("printworks.imaging.zygote"), signal.SIGSTOP)

        prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared


def test_a_zygote_that_cannot_start_is_a_verdict_too(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    with ImageProcessor(slots=1, zygote=["-c", "raise SystemExit(1)"]) as processor:
        verdict = processor.prepare(source, CROPPED, out)

    assert verdict == CannotBeProcessed(
        "The zygote did not start: EOFError.", is_infrastructure_error=True
    )


def test_missing_walls_are_reported_once(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    bare = """print('{"landlock": 0, "seccomp": false}')"""
    with capture_logs() as lines, ImageProcessor(slots=1, zygote=["-c", bare]) as processor:
        for _ in range(2):
            processor.prepare(source, CROPPED, out)

    assert [(line["landlock"], line["seccomp"]) for line in lines] == [(0, False)]


def test_a_closed_processor_says_so(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    with ImageProcessor(slots=1) as processor:
        pass

    with pytest.raises(RuntimeError, match="closed"):
        processor.prepare(source, CROPPED, out)


def test_several_threads_share_a_processor(tmp_path: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))

    def prepare(number: int) -> PreparedImage | Rejected:
        folder = tmp_path / str(number)
        folder.mkdir()
        return processor.prepare(source, CROPPED, folder)

    with ImageProcessor(slots=2) as processor, ThreadPoolExecutor(6) as pool:
        results = list(pool.map(prepare, range(24)))

    assert all(isinstance(result, PreparedImage) for result in results)


def test_a_closed_processor_leaves_no_process_behind(tmp_path: Path, out: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))
    with ImageProcessor(slots=2) as processor:
        processor.prepare(source, CROPPED, out)
        zygote = _wait_for_zygote("printworks.imaging.zygote")

    assert not _is_alive(zygote)


@pytest.mark.parametrize(
    ("name", "data", "verdict"),
    [
        (
            "missing",
            None,
            CannotBeProcessed("There is no such file.", is_infrastructure_error=True),
        ),
        ("empty", b"", Invalid("The file is empty.")),
    ],
)
def test_a_file_that_is_missing_or_empty_needs_no_child(
    name: str,
    data: bytes | None,
    verdict: Rejected,
    processor: ImageProcessor,
    tmp_path: Path,
    out: Path,
) -> None:
    if data is not None:
        written(tmp_path, data, name)

    assert processor.prepare(tmp_path / name, CROPPED, out) == verdict


def test_a_folder_that_is_missing_is_a_verdict(processor: ImageProcessor, tmp_path: Path) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()))

    verdict = processor.prepare(source, CROPPED, tmp_path / "nowhere")

    assert verdict == CannotBeProcessed(
        "There is no folder to write to.", is_infrastructure_error=True
    )


def _wait_for_zygote(program: str) -> int:
    """Find the youngest of our own processes that runs this program."""
    return _wait_for(lambda: _find_zygotes(program))


def _wait_for_busy_child(program: str) -> int:
    """Find the child that works for one of them; those that wait for a task have none."""
    return _wait_for(
        lambda: [child for zygote in _find_zygotes(program) for child in _children_of(zygote)]
    )


def _find_zygotes(program: str) -> list[int]:
    # Not by their numbers, which begin anew when they have run out.
    return sorted(
        (
            pid
            for pid in _children_of(os.getpid())
            if program in Path(f"/proc/{pid}/cmdline").read_text()
        ),
        key=_find_start,
    )


def _find_start(pid: int) -> int:
    """Return when a process was started, in ticks of the kernel."""
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


def _wait_for_child_of(pid: int) -> int:
    return _wait_for(lambda: _children_of(pid))


def _wait_for(find: Callable[[], list[int]]) -> int:
    until = time.monotonic() + 10
    while time.monotonic() < until:
        if found := find():
            return found[-1]
        time.sleep(0.01)
    raise TimeoutError


def _children_of(parent: int) -> list[int]:
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z":
            found.append(int(folder.name))
    return sorted(found)


def _is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
