"""The request log for merchants, written in the background."""

import threading
from collections import Counter, deque
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from typing import Final, NamedTuple

import msgspec
import structlog

from printworks.api.messages import Request, Response
from printworks.store.accounts.requests import (
    LONGEST_PATH,
    NewRequest,
    note_key_uses,
    write_requests,
)
from printworks.store.engine.database import Database, find_outages
from printworks.wire.exchanges import describe_answer, describe_sent, find_order_in

log = structlog.get_logger(__name__)

# Written as soon as there are this many, else after a second.
BATCH: Final = 500
SECONDS_TO_COLLECT: Final = 1.0
# Of one merchant's reads that succeed, more than this are not kept of a batch: whoever may ask so
# often would fill the disk with them, and find nothing in the log.
MOST_READS: Final = 200
# If they cannot be written, the latest stay in memory: a few megabytes.
MOST_STORED: Final = 10_000
SECONDS_AFTER_OUTAGE: Final = 2.0
# A stop does not wait longer for a database that does not answer.
SECONDS_TO_STOP: Final = 5.0


# What `printworks listen` calls itself: it asks every second, and nobody wants to read that.
LISTENER: Final = "printworks-listen"
_REFUSED: Final = 400
_READS: Final = frozenset({"GET", "HEAD"})
_LONGEST_REFUSAL: Final = 1000


class _Exchange(NamedTuple):
    """What was sent and answered, as it came: made presentable in the background."""

    sent_type: str
    sent: bytes
    answer_type: str
    answer: bytes


class _Entry(NamedTuple):
    key_hash: str
    at: datetime
    # None if only the use of the key is noted.
    request: NewRequest | None
    exchange: _Exchange | None = None

    def complete(self) -> NewRequest | None:
        """Return what is stored of it."""
        request = self.request
        if request is None or request.refusal is None:
            return request
        request = msgspec.structs.replace(request, order_id=find_order_in(request.path))
        if self.exchange is None:
            return request
        sent_type, sent, answer_type, answer = self.exchange
        return msgspec.structs.replace(
            request,
            body=describe_sent(sent_type, sent),
            answer=describe_answer(answer_type, answer),
        )


class RequestLog:
    """Collects requests, and writes them from a thread of its own.

    Entries may be lost: a stop writes them, a kill does not, and while the database is
    unavailable only the latest are stored. No request waits for it or fails because of it.
    Requests without valid credentials are left out, as they belong to no merchant; and so are reads
    that succeed, where one merchant makes hundreds in a second.
    """

    def __init__(
        self, database: Database, *, most_stored: int = MOST_STORED, with_bodies: bool = True
    ) -> None:
        self._database = database
        self._with_bodies = with_bodies
        self._most_stored = most_stored
        self._entries: deque[_Entry] = deque()
        # Reads that succeeded since a batch was last taken, by merchant.
        self._reads: Counter[int] = Counter()
        # Entries that were lost since this was last logged.
        self._lost = 0
        self._is_unavailable = False
        self._changed = threading.Condition(threading.Lock())
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="request-log", daemon=True)
        self._thread.start()

    @property
    def native_ids(self) -> list[int]:
        number = self._thread.native_id
        return [] if number is None else [number]

    def note(
        self, request: Request, response: Response, seconds: float, client: str | None = None
    ) -> None:
        """Add a request and its outcome, if its merchant is known."""
        caller, status = request.caller, response.status
        identity = caller.identity
        if identity is None:
            return
        if status < _REFUSED and request.method in _READS:
            self._reads[identity.merchant_id] += 1
            if self._reads[identity.merchant_id] > MOST_READS:
                return
        exchange = None
        if status >= _REFUSED and self._with_bodies and len(self._entries) < BATCH:
            # Of many that cannot be written now, most go without.
            sent_type = request.headers.get("content-type", "")
            exchange = _Exchange(sent_type, caller.body, response.media_type, response.body)
        noted = None
        if not _is_listening(request, status):
            noted = NewRequest(
                merchant_id=identity.merchant_id,
                at=identity.at,
                method=request.method,
                path=request.path[:LONGEST_PATH],
                status=status,
                milliseconds=round(seconds * 1000),
                request_id=request.request_id,
                key_hash=identity.key_hash,
                address=client,
                refusal=caller.refusal[:_LONGEST_REFUSAL] or None,
            )
        with self._changed:
            if len(self._entries) >= self._most_stored:
                self._entries.popleft()
                self._lost += 1
            self._entries.append(_Entry(identity.key_hash, identity.at, noted, exchange))
            if len(self._entries) in (1, BATCH):
                self._changed.notify()

    def close(self) -> None:
        """Write the collected entries, and end the thread."""
        with self._changed:
            self._closing.set()
            self._changed.notify()
        self._thread.join(SECONDS_TO_STOP)
        with self._changed:
            self._lost += len(self._entries)
            self._entries.clear()
        self._log_lost()

    def _run(self) -> None:
        while batch := self._take():
            is_last_attempt = self._closing.is_set()
            if not self._write(batch):
                self._put_back(batch)
                if is_last_attempt:
                    return
                self._closing.wait(SECONDS_AFTER_OUTAGE)

    def _take(self) -> list[_Entry]:
        """Wait for entries to write, and return them; none at the end."""
        closing = self._closing.is_set
        with self._changed:
            self._changed.wait_for(lambda: self._entries or closing())
            self._changed.wait_for(
                lambda: len(self._entries) >= BATCH or closing(), SECONDS_TO_COLLECT
            )
            self._reads = Counter()
            count = min(BATCH, len(self._entries))
            return [self._entries.popleft() for _ in range(count)]

    def _put_back(self, batch: Sequence[_Entry]) -> None:
        with self._changed:
            room = max(0, self._most_stored - len(self._entries))
            self._entries.extendleft(islice(reversed(batch), room))
            self._lost += max(0, len(batch) - room)

    def _write(self, batch: Sequence[_Entry]) -> bool:
        """Write entries; return False if they have to be retried."""
        stored = [request for entry in batch if (request := _complete(entry)) is not None]
        try:
            with self._database.writing() as db:
                write_requests(db, stored)
                note_key_uses(db, {entry.key_hash: entry.at for entry in batch})
        except find_outages() as error:
            # Logged once per outage, not every few seconds.
            if not self._is_unavailable:
                log.warning("requests not written yet", error=type(error).__name__)
            self._is_unavailable = True
            return False
        except Exception:
            # A retry would fail too.
            log.exception("requests not written")
            with self._changed:
                self._lost += len(batch)
        self._is_unavailable = False
        self._log_lost()
        return True

    def _log_lost(self) -> None:
        with self._changed:
            lost, self._lost = self._lost, 0
        if lost:
            log.warning("requests lost", count=lost)


def _is_listening(request: Request, status: int) -> bool:
    """Say whether a request only looks for news, as `printworks listen` does every second."""
    return (
        request.path.endswith("/events")
        and status < _REFUSED
        and request.headers.get("user-agent") == LISTENER
    )


def _complete(entry: _Entry) -> NewRequest | None:
    """Return what is stored of a request; whatever it was, the log goes on with the next."""
    try:
        return entry.complete()
    except Exception:
        log.exception("request not described")
        return None
