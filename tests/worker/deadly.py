"""A zygote whose children die of certain pictures. Run as a program, in the place of the real one."""

import ctypes
import time
from pathlib import Path
from typing import Final

from printworks.imaging import child, zygote
from printworks.imaging.messages import Answer, PrepareTask, RenderTask

# A picture that ends with one of these words does so to its decoder.
CRASHES: Final = b"crashes"
CRASHES_IN_PRINT: Final = b"crashes in print"
HANGS_ONCE: Final = b"hangs once"
MARK: Final = "hanging"


def prepare(task: PrepareTask) -> Answer:
    """Do what the real one does, unless the picture has other plans."""
    content = Path(task.source).read_bytes()
    mark = Path(task.out) / MARK
    if content.endswith(CRASHES):
        ctypes.string_at(1)
    if content.endswith(HANGS_ONCE) and not mark.exists():
        mark.touch()
        time.sleep(3600)
    return child.WORK[PrepareTask](task)


def render(task: RenderTask) -> Answer:
    """Do what the real one does, unless the picture has other plans."""
    if Path(task.source).read_bytes().endswith(CRASHES_IN_PRINT):
        ctypes.string_at(1)
    return child.WORK[RenderTask](task)


if __name__ == "__main__":
    zygote.main({**child.WORK, PrepareTask: prepare, RenderTask: render})
