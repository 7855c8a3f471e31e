"""The child: a jailed process that handles one picture."""

import os
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from printworks.imaging import mockups, rendering
from printworks.imaging.jail import confine
from printworks.imaging.messages import (
    Answer,
    Confinement,
    Failed,
    MockupTask,
    PrepareTask,
    ProofTask,
    RenderingRefused,
    RenderTask,
    Task,
)
from printworks.imaging.pictures import PictureRefusal

WORK: Final[Mapping[type[Task], Callable[[Any], Answer]]] = {
    PrepareTask: rendering.prepare,
    ProofTask: rendering.proof,
    RenderTask: rendering.render,
    MockupTask: mockups.draw,
}


def run(
    task: Task,
    confinement: Confinement,
    *,
    parent: int,
    answers: int,
    work: Mapping[type[Task], Callable[[Any], Answer]] = WORK,
) -> None:
    """Run the task in the jail and write one line to `answers`; then the process must end."""
    answers = _close_all_files_but(answers)
    try:
        confine(
            confinement, task.limits, parent=parent, source=Path(task.source), out=Path(task.out)
        )
        answer = _try(lambda: work[type(task)](task))
    except OSError as error:
        answer = Failed(reason=f"The child could not be confined: {error.strerror}.")
    _write_all(answers, msgspec.json.encode(answer) + b"\n")


def _try(work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    except PictureRefusal as refusal:
        return RenderingRefused(reason=str(refusal))
    except MemoryError:
        return RenderingRefused(reason="The picture needs too much memory.")
    except OSError as error:
        return Failed(reason=f"A file could not be read or written: {error.strerror}.")
    except Exception as error:  # noqa: BLE001  (it must affect this picture only)
        return Failed(reason=f"Unexpected error: {type(error).__name__}.")


def _close_all_files_but(answers: int) -> int:
    """Close all files but one, so that the child cannot write to those of the zygote."""
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    if answers != 3:
        os.dup2(answers, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return 3


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
