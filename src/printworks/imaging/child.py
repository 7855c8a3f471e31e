"""One picture, one process: forked, locked in, done, gone."""

import os
import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from printworks.imaging import drawing
from printworks.imaging.jail import confine
from printworks.imaging.messages import (
    Answer,
    DrawingRefused,
    Failed,
    PrepareTask,
    ProofTask,
    Ready,
    RenderTask,
    Task,
)
from printworks.imaging.pictures import PictureRefusal

WORK: Final[Mapping[type[Task], Callable[[Any], Answer]]] = {
    PrepareTask: drawing.prepare,
    ProofTask: drawing.proof,
    RenderTask: drawing.render,
}


def run(
    task: Task,
    means: Ready,
    *,
    parent: int,
    answers: int,
    work: Mapping[type[Task], Callable[[Any], Answer]] = WORK,
) -> None:
    """Do the task in jail and write one line to `answers`; the process must end afterwards."""
    answers = _let_go_of_everything_but(answers)
    try:
        confine(means, task.limits, parent=parent, source=Path(task.source), out=Path(task.out))
        answer = _try(lambda: work[type(task)](task))
    except OSError as error:
        answer = Failed(reason=f"The child could not be confined: {error.strerror}.")
    _write_all(answers, msgspec.json.encode(answer) + b"\n")


def _try(work: Callable[[], Answer]) -> Answer:
    try:
        return work()
    except PictureRefusal as refusal:
        return DrawingRefused(reason=str(refusal))
    except MemoryError:
        return DrawingRefused(reason="The picture needs too much memory.")
    except OSError as error:
        return Failed(reason=f"A file could not be read or written: {error.strerror}.")
    except Exception as error:  # noqa: BLE001  (whatever it is, it costs this picture only)
        return Failed(reason=f"Something unforeseen happened: {type(error).__name__}.")


def _let_go_of_everything_but(answers: int) -> int:
    """Keep one file open, so that nothing of the zygote's can be written to from here."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    if answers != 3:
        os.dup2(answers, 3)
    os.closerange(4, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
    return 3


def _write_all(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]
