"""A process that has imported the image library once, and forks a child for every picture.

It reads one task a line and answers with one report a line. It never runs an operation of the
library itself: so it has one thread, may fork safely, and no picture ever touches it.
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

from printworks.imaging import child
from printworks.imaging.drawing import OPERATIONS
from printworks.imaging.formats import LOADERS
from printworks.imaging.jail import find_means, try_out
from printworks.imaging.messages import Answer, Cost, DrawingReport, Ready, Task

# More than any answer; what follows is not read.
LONGEST_LINE: Final = 16_384


def main(work: Mapping[type[Task], Callable[[Any], Answer]] = child.WORK) -> None:
    """Serve until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _block_loaders()
    _look_up_operations()
    means = try_out(find_means())
    gc.collect()
    gc.freeze()
    _say(msgspec.json.encode(means))
    read_task = msgspec.json.Decoder(Task).decode
    for line in sys.stdin.buffer:
        _say(msgspec.json.encode(_serve(read_task(line), means, work)))


def _block_loaders() -> None:
    """Leave the library only the loaders that are called by name."""
    pyvips.operation_block_set("VipsForeignLoad", True)  # noqa: FBT003  (the library's own words)
    for loader in LOADERS.values():
        pyvips.operation_block_set(loader.unblock, False)  # noqa: FBT003


def _look_up_operations() -> None:
    """Learn what arguments the operations take, once, instead of in every child.

    This runs none of them.
    """
    for name in (*(loader.operation for loader in LOADERS.values()), *OPERATIONS):
        pyvips.Introspect.get(name)


def _serve(
    task: Task, means: Ready, work: Mapping[type[Task], Callable[[Any], Answer]]
) -> DrawingReport:
    started = time.monotonic()
    parent = os.getpid()
    readable, writable = os.pipe()
    pid = os.fork()
    if pid == 0:
        _be_child(task, means, parent=parent, answers=writable, work=work)
    os.close(writable)
    line, was_late = _listen(readable, until=started + task.limits.wall_seconds)
    os.close(readable)
    # It has said all it had to, or is late, or is dying already: this hurries it along.
    os.kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return DrawingReport(
        line=line.decode(errors="replace"),
        signal=os.WTERMSIG(status) if os.WIFSIGNALED(status) else None,
        was_late=was_late,
        cost=Cost(
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            wall_seconds=time.monotonic() - started,
            peak_memory=usage.ru_maxrss * 1024,
        ),
    )


def _be_child(
    task: Task,
    means: Ready,
    *,
    parent: int,
    answers: int,
    work: Mapping[type[Task], Callable[[Any], Answer]],
) -> NoReturn:
    # It will be gone before there is anything worth collecting.
    gc.disable()
    try:
        child.run(task, means, parent=parent, answers=answers, work=work)
    finally:
        os._exit(0)


def _listen(answers: int, *, until: float) -> tuple[bytes, bool]:
    """Read the child's line; also say whether the time was up before its end."""
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


def _say(line: bytes) -> None:
    sys.stdout.buffer.write(line + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
