"""How timestamps look on the wire: UTC, to the millisecond, without a zone."""

from datetime import UTC, date, datetime, timedelta

from printworks.errors import BadInput

_LAST = datetime.max.replace(tzinfo=UTC)


def show_timestamp(timestamp: datetime) -> str:
    """Write a timestamp as `2020-06-05T17:19:43.367`."""
    return timestamp.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")


def read_timestamp(name: str, value: object) -> datetime:
    """Read a timestamp, which is UTC unless it names a zone; a day means its beginning."""
    return _read(name, value, timedelta(0))


def read_end(name: str, value: object) -> datetime:
    """Read the last timestamp of a span, or its last day; return the first one after it."""
    try:
        date.fromisoformat(value.strip() if isinstance(value, str) else "")
    except ValueError:
        return _read(name, value, timedelta(milliseconds=1))
    return _read(name, value, timedelta(days=1))


def _read(name: str, value: object, later: timedelta) -> datetime:
    given = value.strip() if isinstance(value, str) else ""
    try:
        # In a query string, the sign of a zone may have become a blank.
        found = datetime.fromisoformat(given.replace(" ", "+") if "T" in given else given)
        # What we show has no zone, and is UTC.
        found = (found if found.tzinfo else found.replace(tzinfo=UTC)).astimezone(UTC)
        # Some programs write "for ever" as the last day that there is.
        return min(found, _LAST - later) + later
    except (ValueError, OverflowError) as error:
        raise BadInput(f"`{name}` must be a timestamp such as 2026-11-15T12:00:00.") from error
