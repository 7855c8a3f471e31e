"""What processes cost, as the operating system counts it."""

from pathlib import Path


def read_memory(number: int) -> float:
    """Return the megabytes that a process has in memory, shared ones included."""
    lines = Path(f"/proc/{number}/status").read_text().splitlines()
    (resident,) = (line for line in lines if line.startswith("VmRSS:"))
    return int(resident.split()[1]) / 1024


def list_last_children(number: int) -> list[int]:
    """Return the processes below this one that have started no others: those that do the work."""
    children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
    return [last for child in children for last in list_last_children(int(child))] or [number]
