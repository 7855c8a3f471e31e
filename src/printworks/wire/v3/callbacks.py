"""Events and the telling of them as 3.0 shows them: additions to the contract."""

from datetime import datetime
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import Meta

from printworks.errors import BadInput
from printworks.rules.callbacks import CallbackEvent, CallbackFormat
from printworks.rules.events import CallbackState
from printworks.store.callbacks.callbacks import Callback
from printworks.wire.callbacks import carries_news, message_id, render_callback
from printworks.wire.reading import Reader, read_integer
from printworks.wire.timestamps import read_timestamp, show_timestamp

HIGHEST_NUMBER: Final = 2**62


def _read_number(name: str, value: object) -> int:
    return read_integer(name, value, lowest=0, highest=HIGHEST_NUMBER)


class DeliveryOut(msgspec.Struct, frozen=True):
    """How far the telling of an event has come."""

    callbackId: int
    state: CallbackState
    attempts: int
    nextAttempt: str | None
    delivered: str | None

    @classmethod
    def of(cls, callback: Callback) -> Self:
        return cls(
            callbackId=callback.id,
            state=callback.state,
            attempts=callback.attempts,
            nextAttempt=_show(callback.next_at),
            delivered=_show(callback.delivered_at),
        )


class EventOut(msgspec.Struct, frozen=True):
    """Something that happened to an order, in the words of its callback."""

    number: int
    orderId: int
    sequence: int
    at: str
    kind: str
    messageId: str
    # Whether its callback tells more than that of the event before it in the order.
    hasNews: bool
    callback: dict[str, Any]
    delivery: DeliveryOut

    @classmethod
    def of(
        cls,
        told: Callback,
        before: CallbackEvent | None,
        *,
        environment: str,
        format: CallbackFormat,  # noqa: A002
    ) -> Self:
        """Show an event of the feed, which has all that a test lacks."""
        if told.event is None or told.number is None:
            raise ValueError(f"Callback {told.id} is a test and no event.")
        order_id, at = told.order_id or 0, told.created_at
        body = render_callback(
            told.event, order_id=order_id, environment=environment, at=at, format=format
        )
        return cls(
            number=told.number,
            orderId=order_id,
            sequence=told.sequence or 0,
            at=show_timestamp(at),
            kind=str(told.event.__struct_config__.tag),
            messageId=message_id(told.id),
            hasNews=before is None or carries_news(told.event, before, format=format),
            callback=msgspec.json.decode(body),
            delivery=DeliveryOut.of(told),
        )


class EventListOut(msgspec.Struct, frozen=True):
    """Events in the order in which they happened, and the number of the last there is."""

    events: list[EventOut]
    last: int


class ReplayCallbacks(msgspec.Struct, frozen=True, kw_only=True):
    """From when on callbacks are wanted again: a moment, or what follows the event of a number."""

    since: (
        Annotated[
            datetime,
            Meta(description="In your time; UTC unless it names a zone."),
            Reader(read_timestamp),
        ]
        | None
    ) = None
    after: Annotated[int, Meta(ge=0), Reader(_read_number)] | None = None

    def to_first(self) -> datetime | int:
        """Return the moment, or the number of the first event."""
        if self.since is not None and self.after is None:
            return self.since
        if self.after is not None and self.since is None:
            return self.after + 1
        raise BadInput("Give either `since` or `after`.")


class ReplayOut(msgspec.Struct, frozen=True):
    """How many callbacks are sent again; if there are more, ask for those after this number."""

    count: int
    after: int | None


def _show(timestamp: datetime | None) -> str | None:
    return None if timestamp is None else show_timestamp(timestamp)
