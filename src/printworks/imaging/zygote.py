"""The zygote: has imported the image library once, and forks a child for every picture.

It reads one task per line and answers with one report per line. It never runs an operation of
the library itself: so it has one thread, can fork safely, and never handles picture data.
"""

import gc
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, NoReturn

import msgspec
import pyvips

from printworks.imaging import child, drawing
from printworks.imaging.formats import LOADERS
from printworks.imaging.jail import find_confinement, verify_confinement
from printworks.imaging.messages import Answer, ChildReport, Confinement, Cost, Task
from printworks.imaging.rendering import OPERATIONS

# More than any answer; what follows is not read.
LONGEST_LINE: Final = 16_384


def main(work: Mapping[type[Task], Callable[[Any], Answer]] = child.WORK) -> None:
    """Serve tasks until standard input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _block_loaders()
    _look_up_operations()
    confinement = verify_confinement(find_confinement())
    gc.collect()
    gc.freeze()
    _send(msgspec.json.encode(confinement))
    read_task = msgspec.json.Decoder(Task).decode
    for line in sys.stdin.buffer:
        _send(msgspec.json.encode(_serve(read_task(line), confinement, work)))


def _block_loaders() -> None:
    """Allow only the loaders that are called by name."""
    pyvips.operation_block_set("VipsForeignLoad", True)  # noqa: FBT003  (the library's API)
    for loader in LOADERS.values():
        pyvips.operation_block_set(loader.unblock, False)  # noqa: FBT003


def _look_up_operations() -> None:
    """Look up the arguments of the operations once, not in every child. This runs none."""
    for name in (
        *(loader.operation for loader in LOADERS.values()),
        *OPERATIONS,
        *drawing.OPERATIONS,
    ):
        pyvips.Introspect.get(name)


def _serve(
    task: Task, confinement: Confinement, work: Mapping[type[Task], Callable[[Any], Answer]]
) -> ChildReport:
    started = time.monotonic()
    parent = os.getpid()
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        _run_child(task, confinement, parent=parent, answers=writable, work=work)
    os.close(writable)
    line, was_late = _read_answer(readable, until=started + task.limits.wall_seconds)
    os.close(readable)
    # It has answered, is late, or is ending anyway: do not wait for it.
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return ChildReport(
        line=line.decode(errors="replace"),
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        was_late=was_late,
        cost=Cost(
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            wall_seconds=time.monotonic() - started,
            peak_memory=usage.ru_maxrss * 1024,
        ),
    )


def _run_child(
    task: Task,
    confinement: Confinement,
    *,
    parent: int,
    answers: int,
    work: Mapping[type[Task], Callable[[Any], Answer]],
) -> NoReturn:
    # The process is too short-lived for garbage collection.
    gc.disable()
    try:
        child.run(task, confinement, parent=parent, answers=answers, work=work)
    finally:
        os._exit(0)


def _read_answer(answers: int, *, until: float) -> tuple[bytes, bool]:
    """Read the child's line; also return whether it came too late."""
    poll = select.poll()
    poll.register(answers, select.POLLIN)
    line = b""
    while b"\n" not in line and len(line) < LONGEST_LINE:
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return line, True
        part = os.read(answers, LONGEST_LINE)
        if not part:
            break
        line += part
    return line, False


def _send(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
