"""How moments look on the wire: UTC, to the millisecond, without a zone."""

from datetime import UTC, date, datetime, timedelta

from printworks.errors import BadInput

_LAST = datetime.max.replace(tzinfo=UTC)


def show_timestamp(timestamp: datetime) -> str:
    """Write a moment as `2020-06-05T17:19:43.367`."""
    return timestamp.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00")


def read_timestamp(name: str, value: object) -> datetime:
    """Read a moment, which is UTC unless it names a zone; a day means its first."""
    return _read_moment(name, value, timedelta(0))


def read_end(name: str, value: object) -> datetime:
    """Read the last moment of a span, or its last day; return the first moment after it."""
    try:
        date.fromisoformat(value.strip() if isinstance(value, str) else "")
    except ValueError:
        return _read_moment(name, value, timedelta(milliseconds=1))
    return _read_moment(name, value, timedelta(days=1))


def _read_moment(name: str, value: object, later: timedelta) -> datetime:
    given = value.strip() if isinstance(value, str) else ""
    try:
        # In a query string, the sign of a zone may have become a blank.
        moment = datetime.fromisoformat(given.replace(" ", "+") if "T" in given else given)
        # What we show has no zone, and is UTC.
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        # Some programs write "for ever" as the last day that there is.
        return min(moment, _LAST - later) + later
    except (ValueError, OverflowError) as error:
        raise BadInput(f"`{name}` must be a moment such as 2026-11-15T12:00:00.") from error
