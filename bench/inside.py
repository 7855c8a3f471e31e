"""Prepare images in one long-lived process, to measure the cost of a process per image.

Reads one task per line and answers with one line of milliseconds, as a zygote would, but does
the work itself. Never do this with images from strangers.
"""

import sys
import time

import msgspec

from printworks.imaging import rendering
from printworks.imaging.messages import PrepareTask


def main() -> None:
    """Answer requests until the input ends."""
    read_task = msgspec.json.Decoder(PrepareTask).decode
    for line in sys.stdin.buffer:
        started, started_on_cpu = time.perf_counter(), time.process_time()
        rendering.prepare(read_task(line))
        took = {
            "cpu_ms": (time.process_time() - started_on_cpu) * 1000,
            "wall_ms": (time.perf_counter() - started) * 1000,
        }
        sys.stdout.buffer.write(msgspec.json.encode(took) + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
