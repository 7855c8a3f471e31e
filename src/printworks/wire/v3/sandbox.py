"""The sandbox clock as 3.0 shows and moves it."""

import re
from datetime import datetime, timedelta
from typing import Annotated, Final, Self

import msgspec
from msgspec import Meta

from printworks.clock import LONGEST_ADVANCE
from printworks.errors import BadInput
from printworks.wire.reading import text
from printworks.wire.timestamps import show_timestamp

_DURATION: Final = re.compile(
    r"P(?=.)(?:(?P<weeks>\d{1,4})W)?(?:(?P<days>\d{1,4})D)?"
    r"(?:T(?=.)(?:(?P<hours>\d{1,5})H)?(?:(?P<minutes>\d{1,7})M)?(?:(?P<seconds>\d{1,9})S)?)?",
    re.ASCII,
)


class AdvanceClock(msgspec.Struct, frozen=True):
    """How far to move the clock, as ISO 8601 writes it: `PT30H`, `P5D`, `P1DT2H30M`."""

    advance: Annotated[str, Meta(max_length=50), text(50)]

    def to_duration(self) -> timedelta:
        found = _DURATION.fullmatch(self.advance.strip().upper())
        if found is None:
            raise BadInput("`advance` must be a duration such as PT30H, P5D or P1DT2H30M.")
        parts = {name: int(digits) for name, digits in found.groupdict().items() if digits}
        duration = timedelta(**parts)
        if duration > LONGEST_ADVANCE:
            raise BadInput(f"`advance` must be at most {LONGEST_ADVANCE.days} days.")
        return duration


class ClockOut(msgspec.Struct, frozen=True):
    """The merchant's time, and by how many seconds it is ahead of the real one."""

    now: str
    aheadBySeconds: int

    @classmethod
    def of(cls, now: datetime, ahead: timedelta) -> Self:
        return cls(show_timestamp(now), int(ahead.total_seconds()))
