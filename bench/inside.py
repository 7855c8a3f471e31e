"""Prepares pictures in one process that stays, to tell what a process for each picture costs.

Reads one task a line and answers with one line of milliseconds, as a zygote would, but does
the work itself. Never do this with pictures of strangers.
"""

import sys
import time

import msgspec

from printworks.imaging import drawing
from printworks.imaging.messages import PrepareTask


def main() -> None:
    """Work until nobody asks any more."""
    read_task = msgspec.json.Decoder(PrepareTask).decode
    for line in sys.stdin.buffer:
        started, started_on_cpu = time.perf_counter(), time.process_time()
        drawing.prepare(read_task(line))
        took = {
            "cpu_ms": (time.process_time() - started_on_cpu) * 1000,
            "wall_ms": (time.perf_counter() - started) * 1000,
        }
        sys.stdout.buffer.write(msgspec.json.encode(took) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
