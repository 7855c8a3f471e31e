"""What happened to an order, as the 2.x family tells it."""

from datetime import datetime
from typing import Self

import msgspec

from printworks.wire.timestamps import show_timestamp


class LogLineOut(msgspec.Struct, frozen=True):
    """Something that happened."""

    title: str
    message: str
    created: str

    @classmethod
    def of(cls, title: str, message: str, at: datetime) -> Self:
        return cls(title, message, show_timestamp(at))


class LogsOut(msgspec.Struct, frozen=True):
    """All that happened to an order, oldest first."""

    logs: list[LogLineOut]
    errorMessage: str | None = None
