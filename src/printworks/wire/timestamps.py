"""How moments look on the wire: UTC, to the millisecond, without a zone."""

from datetime import UTC, datetime


def show_timestamp(timestamp: datetime) -> str:
    """Write a moment as `2020-06-05T17:19:43.367`."""
    return timestamp.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")
