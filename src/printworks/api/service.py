"""From a whole request to a whole answer: who asks, what for, in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import structlog
from sqlalchemy import Connection

from printworks.api.answers import render
from printworks.api.bodies import close_files, parse_body, parse_form
from printworks.api.credentials import Credentials, Shown
from printworks.api.endpoints import (
    AdvanceClock,
    Call,
    Endpoint,
    Family,
    Unfinished,
    WithStatus,
)
from printworks.api.exchange import Known, Request, Response
from printworks.api.idempotency import Begun, answer_once, forget_claim, is_kept, keep_answer
from printworks.api.proofs import LinkMaker
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.errors import BadCredentials, ServiceError, ServiceUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.payments.gateway import Gateway
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import OUTAGES, Database
from printworks.wire.reading import by_lower_name

log = structlog.get_logger(__name__)

# What may be read in the one thread that writes; a larger body would keep others waiting.
LARGEST_SHARED_BODY: Final = 16_384

_SOON: Final = ("Retry-After", "5")
_CHALLENGE: Final = ("WWW-Authenticate", 'ApiKey realm="Printworks"')

_HEADERS: Final[Mapping[type[ServiceError], tuple[tuple[str, str], ...]]] = {
    BadCredentials: (_CHALLENGE,),
    ServiceUnavailable: (_SOON,),
}

Perform = Callable[[Connection], Response | Unfinished[Any]]


class Asked(NamedTuple):
    """A request and the line of the table that it is for."""

    family: Family
    endpoint: Endpoint
    path: Mapping[str, str]
    request: Request


class Pending(NamedTuple):
    """A request that cannot be answered before somebody outside was asked: `Service.finish` it.

    That may take long, so whoever does it should not be who answers the others.
    """

    asked: Asked
    begun: Begun
    # The files that came with it stay open until then.
    body: object = None


class _Read(NamedTuple):
    """A request that changes something, read and ready for its transaction."""

    shown: Shown
    known: Merchant
    query: Mapping[str, object]
    body: object


class ApiService:
    """Answers requests; safe to use from many threads."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        clock: Clock,
        *,
        catalogue: Catalogue,
        links: LinkMaker,
        processor: ImageProcessor,
        advance_clock: AdvanceClock,
        gateway: Gateway,
        open_files: Callable[[], Files],
    ) -> None:
        self._database = database
        self._clock = clock
        self._catalogue = catalogue
        self._links = links
        self._processor = processor
        self._advance_clock = advance_clock
        self._gateway = gateway
        self._open_files = open_files
        self._credentials = Credentials(database, settings)

    def answer(self, asked: Asked) -> Response | Pending:
        """Do what is asked, or say why not."""
        try:
            return self._change(asked) if asked.endpoint.writes else self._look(asked)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return self._answer_error(asked, error)

    def may_share(self, asked: Asked) -> bool:
        """Say whether a request may be one of several that are answered together."""
        return (
            self._database.is_sqlite
            and asked.endpoint.writes
            and not asked.endpoint.alone
            and asked.request.upload is None
            and len(asked.request.body) <= LARGEST_SHARED_BODY
            and "idempotency-key" not in asked.request.headers
        )

    def answer_together(self, group: Sequence[Asked]) -> list[Response | Pending]:
        """Answer several requests in one transaction, each as if it were alone.

        SQLite makes one transaction durable at a time; sharing it is what lets many clients
        create orders at once. One request's refusal takes nothing from the others.
        """
        answers: dict[int, Response | Pending] = {}
        works: dict[int, Perform] = {}
        verified: dict[Shown, Merchant] = {}
        for place, asked in enumerate(group):
            try:
                works[place] = self._performing(asked, self._read(asked), verified)
            except Exception as error:  # noqa: BLE001  (nothing may get past this)
                answers[place] = self._answer_error(asked, error)
        outcomes = self._write_together(list(works.values()))
        for place, outcome in zip(works, outcomes, strict=True):
            match outcome:
                case Exception():
                    answers[place] = self._answer_error(group[place], outcome)
                case Unfinished():
                    answers[place] = Pending(group[place], Begun(outcome))
                case _:
                    answers[place] = outcome
        return [answers[place] for place in range(len(group))]

    def finish(self, pending: Pending) -> Response:
        """Ask whoever must be asked, and answer the request after all."""
        asked, (work, claim), body = pending
        is_done = False
        try:
            heard = work.ask()
            with self._database.writing() as db:
                result = work.then(db, heard)
                response = self._shape(asked, result)
                if claim is not None and is_kept(result):
                    keep_answer(db, claim, response)
            is_done = is_kept(result)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            response = self._answer_error(asked, error)
        finally:
            close_files(body)
        # What was raised undid all: the same request may be performed anew.
        if claim is not None and not is_done:
            forget_claim(self._database, claim)
        return response

    def drop(self, pending: Pending) -> None:
        """Let the same request come again: nobody had the time to go on with this one."""
        close_files(pending.body)
        if pending.begun.claim is not None:
            forget_claim(self._database, pending.begun.claim)

    def _write_together(
        self, works: Sequence[Perform]
    ) -> Sequence[Response | Unfinished[Any] | Exception]:
        try:
            return self._database.write_together(works)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return [error] * len(works)

    def refuse_stranger(self, asked: Asked) -> Response | None:
        """Refuse wrong credentials before a large body is read; None if they are right."""
        try:
            self._recognise(asked.request)
        except ServiceError as refusal:
            return self._answer_error(asked, refusal)
        return None

    def refuse(
        self,
        family: Family,
        endpoint: Endpoint | None,
        request: Request,
        status: int,
        message: str,
        *headers: tuple[str, str],
    ) -> Response:
        """Write a refusal as the family does."""
        shape = family.refuse(endpoint, status, message)
        return render(status, shape, request.headers.get("accept", ""), headers)

    def _answer_error(self, asked: Asked, error: Exception) -> Response:
        family, endpoint, _, request = asked
        if isinstance(error, BadCredentials):
            # Perhaps of a key that was right a moment ago.
            request.asker.known = None
        if isinstance(error, ServiceError):
            status = endpoint.status_of(error)
            headers = _HEADERS.get(type(error), ())
            return self.refuse(family, endpoint, request, status, error.message, *headers)
        if isinstance(error, OUTAGES):
            # No trace: while a database is away, every request would write one.
            log.error(
                "database unusable", request_id=request.request_id, error=type(error).__name__
            )
            message = "The service cannot reach its data at the moment; try again in a few seconds."
            return self.refuse(family, endpoint, request, 503, message, _SOON)
        log.error(
            "request failed", request_id=request.request_id, path=endpoint.path, exc_info=error
        )
        message = f"Something went wrong here. Quote the request id {request.request_id}."
        return self.refuse(family, endpoint, request, 500, message)

    def _recognise(self, request: Request) -> tuple[Shown, Merchant]:
        """Find out who asks, and note it in the request."""
        shown, now = self._credentials.read(request.headers), self._clock()
        merchant, key_hash = self._credentials.verify_quickly(shown, now=now)
        request.asker.known = Known(merchant.id, key_hash, now)
        return shown, merchant

    def _look(self, asked: Asked) -> Response | Pending:
        _, merchant = self._recognise(asked.request)
        query = parse_form(asked.request.query) if asked.request.query else {}
        body: object = {}
        if asked.endpoint.outside_transaction:
            content_type = asked.request.headers.get("content-type", "")
            body = parse_body(content_type, asked.request.body, asked.request.upload)
        try:
            with self._database.reading() as db:
                result = self._perform(db, merchant, asked, query, body)
            return Pending(asked, Begun(result)) if isinstance(result, Unfinished) else result
        finally:
            close_files(body)

    def _change(self, asked: Asked) -> Response | Pending:
        read = self._read(asked)
        answer: Response | Begun | None = None
        try:
            answer = self._begin(asked, read)
        finally:
            if not isinstance(answer, Begun):
                close_files(read.body)
        return Pending(asked, answer, read.body) if isinstance(answer, Begun) else answer

    def _begin(self, asked: Asked, read: _Read) -> Response | Begun:
        perform = self._performing(asked, read, {})
        if "idempotency-key" not in asked.request.headers:
            with self._database.writing() as db:
                result = perform(db)
            return Begun(result) if isinstance(result, Unfinished) else result
        return answer_once(
            self._database,
            read.known,
            asked.request,
            perform,
            lambda refusal: self._answer_error(asked, refusal),
            body=read.body,
            now=self._clock(),
        )

    def _read(self, asked: Asked) -> _Read:
        request = asked.request
        # Strangers must not queue for the writer's place.
        shown, known = self._recognise(request)
        query = parse_form(request.query) if request.query else {}
        content_type = request.headers.get("content-type", "")
        body = parse_body(content_type, request.body, request.upload)
        # Some clients send the fields of a PUT in its query string, with an empty body.
        if request.method == "PUT" and not body:
            body = query
        return _Read(shown, known, query, body)

    def _performing(self, asked: Asked, read: _Read, verified: dict[Shown, Merchant]) -> Perform:
        def perform(db: Connection) -> Response | Unfinished[Any]:
            # Whoever was verified in a transaction that writes stays so until its end.
            merchant = verified.get(read.shown)
            if merchant is None:
                merchant = self._credentials.verify(db, read.shown, now=self._clock())
                verified[read.shown] = merchant
            return self._perform(db, merchant, asked, read.query, read.body)

        return perform

    def _perform(
        self,
        db: Connection,
        merchant: Merchant,
        asked: Asked,
        query: Mapping[str, object],
        body: object,
    ) -> Response | Unfinished[Any]:
        call = Call(
            db=db,
            merchant=merchant,
            now=self._clock() + merchant.clock_offset,
            clock=self._clock,
            path=asked.path,
            query=by_lower_name(query),
            body=body,
            catalogue=self._catalogue,
            links=self._links.make(db),
            processor=self._processor,
            advance_clock=self._advance_clock,
            gateway=self._gateway,
            open_files=self._open_files,
            version=asked.family.version,
            request_id=asked.request.request_id,
        )
        result = asked.endpoint.handler(call)
        return result if isinstance(result, Unfinished) else self._shape(asked, result)

    def _shape(self, asked: Asked, result: Any) -> Response:
        accept = asked.request.headers.get("accept", "")
        family, endpoint = asked.family, asked.endpoint
        match result:
            case ServiceError():
                return self._answer_error(asked, result)
            case WithStatus(status, shape):
                return render(status, family.show(endpoint.also_shows[status], shape), accept)
            case _:
                return render(200, family.show(endpoint.shows, result), accept)
