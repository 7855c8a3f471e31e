"""Dates and times as the reader writes them.

Pages speak English, and English is written in many countries: whose browser asks for American
English reads `Nov 4, 2026, 3:09 PM`, everybody else `4 Nov 2026, 15:09`.
"""

from contextvars import ContextVar
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton, format_time, get_datetime_format

_USUAL: Final = "en_GB"
# Whoever sends more than this is not a browser.
_MOST_WISHES: Final = 10
# A name, not a locale: it is the default of every thread.
_locale: ContextVar[str] = ContextVar("locale of the reader", default=_USUAL)


def read_for(accept_language: str) -> None:
    """Write dates from now on, in this request, as its `Accept-Language` header asks."""
    _locale.set(_find_locale(accept_language[:200]))


@lru_cache(maxsize=100)
def _is_known(wish: str) -> bool:
    try:
        return Locale.parse(wish, sep="-").territory is not None
    except (UnknownLocaleError, ValueError):
        return False


def _find_locale(accept_language: str) -> str:
    """Return the first English that is asked for; browsers name the best first."""
    for wish in accept_language.split(",")[:_MOST_WISHES]:
        name = wish.partition(";")[0].strip()
        if name.lower().startswith("en-") and _is_known(name):
            return name.replace("-", "_")
    return _USUAL


def write_date(day: date) -> str:
    """Return `4 Nov 2026`."""
    return format_date(day, "medium", locale=_locale.get())


def write_day(day: date) -> str:
    """Return `Wed, 4 Nov 2026`."""
    return format_skeleton("yMMMEd", _as_time(day), locale=_locale.get())


def write_stored_day(day: str) -> str:
    """Return a day that is stored as `2026-11-04` as people write it."""
    return write_day(date.fromisoformat(day))


def write_day_of_year(day: date) -> str:
    """Return `4 Nov`, where the year is clear."""
    return format_skeleton("MMMd", _as_time(day), locale=_locale.get())


def write_time(at: datetime) -> str:
    """Return `15:09`."""
    return format_time(at, "short", locale=_locale.get())


def write_timestamp(at: datetime) -> str:
    """Return `4 Nov 2026, 15:09`."""
    return _join(write_date(at), write_time(at))


def write_instant(at: datetime) -> str:
    """Return `4 Nov 2026, 15:09:30`, for logs."""
    return _join(write_date(at), format_time(at, "medium", locale=_locale.get()))


def write_soon(at: datetime) -> str:
    """Return `4 Nov, 15:09:30`, for times within days."""
    return _join(write_day_of_year(at), format_time(at, "medium", locale=_locale.get()))


def write_days(first: date, last: date) -> str:
    """Return one day, or `Wed, 4 Nov 2026 to Fri, 6 Nov 2026`."""
    return write_day(first) if first == last else f"{write_day(first)} to {write_day(last)}"


def _join(day: str, time: str) -> str:
    # Without the quotation marks that the pattern has around its words.
    together = str(get_datetime_format("medium", locale=_locale.get())).replace("'", "")
    return together.format(time, day)


def _as_time(day: date) -> datetime:
    return day if isinstance(day, datetime) else datetime(day.year, day.month, day.day)  # noqa: DTZ001
