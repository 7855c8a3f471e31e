"""Months as people choose them; they begin at midnight in UTC."""

import re
from datetime import UTC, datetime
from typing import Final, NamedTuple, Self

from printworks.store.money.statements import StatementPeriod

_WRITTEN: Final = re.compile(r"([1-9][0-9]{3})-(0[1-9]|1[0-2])", re.ASCII)


class Month(NamedTuple):
    """A month of a year."""

    year: int
    month: int

    @classmethod
    def of(cls, timestamp: datetime) -> Self:
        utc = timestamp.astimezone(UTC)
        return cls(utc.year, utc.month)

    @classmethod
    def read(cls, text: str) -> Self | None:
        """Read `2026-11`; None if it is not written so."""
        found = _WRITTEN.fullmatch(text)
        # The end of the last month that there is cannot be written.
        if found is None or text == "9999-12":
            return None
        return cls(int(found[1]), int(found[2]))

    @property
    def before(self) -> Self:
        year, month = (self.year, self.month - 1) if self.month > 1 else (self.year - 1, 12)
        return type(self)(year, month)

    @property
    def after(self) -> Self:
        year, month = (self.year, self.month + 1) if self.month < 12 else (self.year + 1, 1)
        return type(self)(year, month)

    @property
    def span(self) -> StatementPeriod:
        """Return when it begins, and when the next one does."""
        after = self.after
        return StatementPeriod(
            datetime(self.year, self.month, 1, tzinfo=UTC),
            datetime(after.year, after.month, 1, tzinfo=UTC),
        )

    @property
    def name(self) -> str:
        """Its name, such as `November 2026`."""
        return f"{self.span.since:%B %Y}"

    def __str__(self) -> str:
        return f"{self.year:04}-{self.month:02}"


def list_months(first: Month, last: Month, *, most: int) -> list[Month]:
    """Return the months from one to another, newest first; the oldest are left out."""
    months: list[Month] = []
    while first <= last and len(months) < most:
        months.append(last)
        last = last.before
    return months
