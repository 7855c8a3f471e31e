"""Answers those who poll in groups: with one look into the database for all who wait for it."""

import asyncio
import threading
from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import structlog

from printworks.api.messages import Response
from printworks.api.routing import MatchedRequest
from printworks.api.unchanged import Answers, AskedOrders, UnchangedOrders
from printworks.store.engine.readers import HeldReader
from printworks.store.orders.marks import OrderStates, ask_for_order_states, receive_order_states
from printworks.web.pool import GroupThread

log = structlog.get_logger(__name__)

# After a connection was lost, or could not be opened.
SECONDS_BETWEEN_ATTEMPTS: Final = 1.0

Waiting = asyncio.Future[Response | None]


def open_unchanged(
    unchanged: UnchangedOrders, queue: int
) -> "GroupThread[MatchedRequest, Response | None] | UnchangedInLoop":
    """Return what answers those who poll.

    SQLite is read in a thread. What PostgreSQL answers arrives in the event loop, like all else: a
    thread and the loop would take turns several times for it, which costs more than the look.
    """
    if unchanged.is_sqlite:
        return GroupThread("unchanged", unchanged.answer, queue=queue)
    return UnchangedInLoop(unchanged, queue=queue)


class _Flight(NamedTuple):
    """Those who wait for one answer of the database."""

    asked: AskedOrders
    waiting: Sequence[Waiting]


class UnchangedInLoop:
    """Asks PostgreSQL on a connection of its own, for all who have come since it last answered.

    Nobody waits for anything else. Who cannot be answered this way, because there is no connection
    or their credentials have to be verified, gets None and goes to a thread.
    """

    def __init__(self, unchanged: UnchangedOrders, *, queue: int) -> None:
        self._loop = asyncio.get_running_loop()
        self._unchanged = unchanged
        self._most = queue
        self._group: list[MatchedRequest] = []
        self._waiting: list[Waiting] = []
        self._flight: _Flight | None = None
        self._reader: HeldReader | None = None
        self._opening: threading.Thread | None = None
        # What the thread has opened, until the loop takes it.
        self._opened: HeldReader | None = None
        self._open_at = 0.0

    def run(self, matched: MatchedRequest, _lane: Hashable = None) -> Waiting:
        """Answer a request together with all others that wait."""
        waiting: Waiting = self._loop.create_future()
        if self._reader is None or len(self._waiting) >= self._most:
            waiting.set_result(None)
            self._open()
            return waiting
        if self._flight is None and not self._waiting:
            # Not at once: others may have arrived at the same time.
            self._loop.call_soon(self._ask)
        self._group.append(matched)
        self._waiting.append(waiting)
        return waiting

    def _ask(self) -> None:
        """Ask for the orders of all who wait, unless that was done or is under way."""
        if self._reader is None or self._flight is not None or not self._waiting:
            return
        group, self._group = self._group, []
        waiting, self._waiting = self._waiting, []
        self._flight = _Flight(self._unchanged.ask(group), waiting)
        if not self._flight.asked.wanted:
            self._answer({})
            return
        try:
            ask_for_order_states(self._reader.db, self._flight.asked.wanted.values())
        except Exception as error:  # noqa: BLE001  (whoever waits must hear of it)
            self._lose(self._reader, error)

    def _receive(self) -> None:
        """Answer those who waited, if all of the database's answer is there."""
        reader = self._reader
        if reader is None:
            return
        try:
            states = receive_order_states(reader.db)
        except Exception as error:  # noqa: BLE001  (whoever waits must hear of it)
            self._lose(reader, error)
            return
        if states is not None:
            self._answer(states)
            self._ask()

    def _answer(self, states: OrderStates) -> None:
        flight, self._flight = self._flight, None
        if flight is None:
            return
        answers: Answers | None = None
        try:
            answers = self._unchanged.choose(flight.asked, states)
        except Exception:
            log.exception("unchanged orders not answered")
        _deliver(flight.waiting, answers)

    def _lose(self, reader: HeldReader, error: Exception) -> None:
        """Do without, until there is another connection."""
        log.warning("connection lost", what="unchanged orders", error=str(error))
        self._open_at = self._loop.time() + SECONDS_BETWEEN_ATTEMPTS
        self._drop(reader)

    def _drop(self, reader: HeldReader) -> None:
        """Close the connection, and let threads answer whoever waits."""
        self._reader = None
        self._loop.remove_reader(reader.socket)
        flight, self._flight = self._flight, None
        waiting, self._waiting = self._waiting, []
        self._group = []
        _deliver([*(flight.waiting if flight else ()), *waiting], None)
        reader.close()

    def _open(self) -> None:
        """Open a connection in a thread, unless that is under way or has just failed."""
        if self._reader is None and self._opening is None and self._loop.time() >= self._open_at:
            self._open_at = self._loop.time() + SECONDS_BETWEEN_ATTEMPTS
            self._opening = threading.Thread(target=self._connect, name="unchanged", daemon=True)
            self._opening.start()

    def _connect(self) -> None:
        try:
            self._opened = self._unchanged.hold_reader()
        except Exception as error:  # noqa: BLE001  (threads answer meanwhile, and say what is wrong)
            log.warning("not connected", what="unchanged orders", error=str(error))
        self._loop.call_soon_threadsafe(self._take_opened)

    def _take_opened(self) -> None:
        self._opening = None
        self._reader, self._opened = self._opened, None
        if self._reader is not None:
            self._loop.add_reader(self._reader.socket, self._receive)

    def close(self) -> None:
        """Close the connection; whoever still waits is answered by a thread."""
        self._open_at = float("inf")
        if self._opening is not None:
            self._opening.join()
            self._take_opened()
        if self._reader is not None:
            self._drop(self._reader)


def _deliver(waiting: Sequence[Waiting], answers: Answers | None) -> None:
    for future, answer in zip(waiting, answers or [None] * len(waiting), strict=True):
        # The client may be gone.
        if not future.done():
            future.set_result(answer)
