"""What programs asked, written down for their authors without keeping a request waiting."""

import threading
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

import structlog

from printworks.api.exchange import Known, Request
from printworks.store.accounts.requests import (
    LONGEST_PATH,
    NewRequest,
    note_key_uses,
    write_requests,
)
from printworks.store.engine.database import OUTAGES, Database

log = structlog.get_logger(__name__)

# Written at once as soon as there are so many, else after a second.
BATCH: Final = 500
SECONDS_TO_COLLECT: Final = 1.0
# Of those that cannot be written, the latest are kept: a few megabytes, whatever happens.
MOST_KEPT: Final = 10_000
SECONDS_AFTER_OUTAGE: Final = 2.0
# A stop does not wait longer for a database that does not answer.
SECONDS_TO_STOP: Final = 5.0


class _Entry(NamedTuple):
    known: Known
    method: str
    path: str
    status: int
    milliseconds: int
    request_id: str


class RequestLog:
    """Collects what was asked, and writes it down from a thread of its own.

    It is a log and no ledger: a stop writes down what was collected, a kill loses it, and while
    the database is away only the latest are kept. No request waits for it or fails because of it.
    Requests that were refused before anybody looked at their credentials belong to nobody, as
    those of strangers do, and are left out.
    """

    def __init__(self, database: Database, *, most_kept: int = MOST_KEPT) -> None:
        self._database = database
        self._most_kept = most_kept
        self._entries: deque[_Entry] = deque()
        # Those that nobody will ever see, since this was last said.
        self._lost = 0
        self._is_away = False
        self._changed = threading.Condition(threading.Lock())
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    @property
    def native_ids(self) -> list[int]:
        """The numbers by which the kernel knows the threads."""
        number = self._thread.native_id
        return [] if number is None else [number]

    def note(self, request: Request, status: int, seconds: float) -> None:
        """Remember how a request was answered, if it is known whose it was."""
        known = request.asker.known
        if known is None:
            return
        entry = _Entry(
            known,
            request.method,
            request.path[:LONGEST_PATH],
            status,
            round(seconds * 1000),
            request.request_id,
        )
        with self._changed:
            if len(self._entries) >= self._most_kept:
                self._entries.popleft()
                self._lost += 1
            self._entries.append(entry)
            if len(self._entries) in (1, BATCH):
                self._changed.notify()

    def close(self) -> None:
        """Write down what was collected, and end the thread."""
        with self._changed:
            self._closing.set()
            self._changed.notify()
        self._thread.join(SECONDS_TO_STOP)
        with self._changed:
            self._lost += len(self._entries)
            self._entries.clear()
        self._tell_lost()

    def _run(self) -> None:
        while batch := self._take():
            is_last_try = self._closing.is_set()
            if not self._write(batch):
                self._put_back(batch)
                if is_last_try:
                    return
                self._closing.wait(SECONDS_AFTER_OUTAGE)

    def _take(self) -> list[_Entry]:
        """Wait for something to write, and return it; nothing is the end."""
        closing = self._closing.is_set
        with self._changed:
            self._changed.wait_for(lambda: self._entries or closing())
            self._changed.wait_for(
                lambda: len(self._entries) >= BATCH or closing(), SECONDS_TO_COLLECT
            )
            count = min(BATCH, len(self._entries))
            return [self._entries.popleft() for _ in range(count)]

    def _put_back(self, batch: Sequence[_Entry]) -> None:
        with self._changed:
            room = max(0, self._most_kept - len(self._entries))
            self._entries.extendleft(islice(reversed(batch), room))
            self._lost += max(0, len(batch) - room)

    def _write(self, batch: Sequence[_Entry]) -> bool:
        """Write down what was taken; say whether that is done with."""
        try:
            with self._database.writing() as db:
                write_requests(db, [_describe(entry) for entry in batch])
                note_key_uses(db, {known.key_hash: known.at for known, *_ in batch})
        except OUTAGES as error:
            # Said once: while a database is away, it would be said every few seconds.
            if not self._is_away:
                log.warning("requests not written yet", error=type(error).__name__)
            self._is_away = True
            return False
        except Exception:
            # What is wrong with these would be wrong the next time too.
            log.exception("requests not written")
            with self._changed:
                self._lost += len(batch)
        self._is_away = False
        self._tell_lost()
        return True

    def _tell_lost(self) -> None:
        with self._changed:
            lost, self._lost = self._lost, 0
        if lost:
            log.warning("requests lost", count=lost)


def _describe(entry: _Entry) -> NewRequest:
    known, method, path, status, milliseconds, request_id = entry
    return NewRequest(
        merchant_id=known.merchant_id,
        at=known.at,
        method=method,
        path=path,
        status=status,
        milliseconds=milliseconds,
        request_id=request_id,
    )
