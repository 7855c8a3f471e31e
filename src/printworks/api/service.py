"""Answers requests: authenticates the caller and runs the endpoint in one transaction."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import structlog
from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.actions.work import Work
from printworks.api.answers import AnswerWriter
from printworks.api.authentication import Authenticator
from printworks.api.bodies import check_headers, close_files, parse_body, parse_form
from printworks.api.credentials import Credentials, PresentedKey, VerifiedKey
from printworks.api.endpoints import Call, Unfinished
from printworks.api.idempotency import KeyedRequest, StartedRequest, answer_once
from printworks.api.kept_answers import MarkedAnswers
from printworks.api.links import LinkMaker
from printworks.api.messages import Request, Response
from printworks.api.pending import Pending, PendingRequests
from printworks.api.refusals import answer_error
from printworks.api.routing import MatchedRequest
from printworks.api.tags import Tags
from printworks.api.unchanged import UnchangedOrders
from printworks.trace_parent import caused_by
from printworks.wire.reading import by_lower_name, last_of

log = structlog.get_logger(__name__)

# The largest body that is parsed in the writer thread; a larger one would delay others.
LARGEST_SHARED_BODY: Final = 16_384

# So many digits of the hash of a key are enough to know it again.
FINGERPRINT: Final = 8

Perform = Callable[[Connection], Response | Unfinished[Any]]


class SharedRequest(NamedTuple):
    """A request that may share a transaction with others."""

    matched: MatchedRequest
    # What was read of it and prepared, if its endpoint prepares anything.
    read: "_Read | None" = None


class _Read(NamedTuple):
    """A parsed request, ready for its transaction."""

    presented: PresentedKey
    known: VerifiedKey
    query: Mapping[str, object]
    body: object
    prepared: Any = None


class ApiService:
    """Answers requests; safe to use from many threads."""

    def __init__(self, services: Services, links: LinkMaker) -> None:
        self._services = services
        self._database = services.database
        self._clock = services.clock
        self._links = links
        self._credentials = Credentials(services.database, services.settings)
        self._authenticator = Authenticator(self._credentials, services.clock)
        marked = MarkedAnswers(Tags(services.settings.public_url, lambda: services.catalogue))
        self._answers = AnswerWriter(marked, services.clock)
        # For those who poll.
        self.unchanged: Final = UnchangedOrders(
            services.database, self._authenticator, marked, links
        )
        # For what `answer` and `answer_together` have only begun.
        self.pending: Final = PendingRequests(services.database, self._answers, services.clock)

    def answer(self, matched: MatchedRequest) -> Response | Pending:
        """Answer a request, or start it and return what is pending."""
        try:
            if matched.endpoint.writes:
                return self._answer_write(matched)
            return self._answer_read(matched)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return answer_error(matched, error)

    def may_share(self, matched: MatchedRequest) -> bool:
        """Whether a request may share a transaction with others."""
        return (
            self._database.is_sqlite
            and matched.endpoint.writes
            and not matched.endpoint.alone
            and matched.request.upload is None
            and len(matched.request.body) <= LARGEST_SHARED_BODY
            and "idempotency-key" not in matched.request.headers
        )

    def prepare(self, matched: MatchedRequest) -> SharedRequest | Response:
        """Prepare a request that may share a transaction; return the answer if it is refused."""
        try:
            return SharedRequest(matched, self._prepare(matched, self._read(matched)))
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return answer_error(matched, error)

    def answer_together(self, group: Sequence[SharedRequest]) -> list[Response | Pending]:
        """Answer several requests in one transaction, each as if it were alone.

        SQLite commits one transaction at a time; sharing it lets many clients create orders at
        once. The refusal of one request does not affect the others.
        """
        answers: dict[int, Response | Pending] = {}
        works: dict[int, Perform] = {}
        verified: dict[PresentedKey, VerifiedKey] = {}
        for place, (matched, read) in enumerate(group):
            try:
                works[place] = self._make_perform(matched, read or self._read(matched), verified)
            except Exception as error:  # noqa: BLE001  (nothing may get past this)
                answers[place] = answer_error(matched, error)
        outcomes = self._write_together(list(works.values()))
        for place, outcome in zip(works, outcomes, strict=True):
            match outcome:
                case Exception():
                    answers[place] = answer_error(group[place].matched, outcome)
                case Unfinished():
                    answers[place] = Pending(group[place].matched, StartedRequest(outcome))
                case _:
                    answers[place] = outcome
        return [answers[place] for place in range(len(group))]

    def _write_together(
        self, works: Sequence[Perform]
    ) -> Sequence[Response | Unfinished[Any] | Exception]:
        try:
            return self._database.write_together(works)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return [error] * len(works)

    def refuse_unread(self, matched: MatchedRequest) -> Response | None:
        """Refuse what the headers say, before a large body is read; None if nothing is wrong."""
        try:
            self._authenticator.authenticate(matched)
            check_headers(matched.request.headers)
            if matched.endpoint.takes_file:
                self._services.check_room()
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            return answer_error(matched, error)
        return None

    def describe_caller(self, request: Request) -> dict[str, object]:
        """Return whose request it was, for the log: never a key, only the fingerprint of one."""
        identity = request.caller.identity
        if identity is not None:
            return {"merchant": identity.merchant_id, "key": identity.key_hash[:FINGERPRINT]}
        presented = self._credentials.hash_presented(request.headers)
        return {"refused_key": presented[:FINGERPRINT]} if presented else {}

    def _answer_read(self, matched: MatchedRequest) -> Response | Pending:
        presented, known = self._authenticator.authenticate(matched)
        # What an endpoint does not ask for is not read, whatever it is.
        asks = matched.request.query and matched.endpoint.query
        query = parse_form(matched.request.query) if asks else {}
        body: object = {}
        if matched.endpoint.outside_transaction:
            body = parse_body(matched.request.headers, matched.request.body, matched.request.upload)
        try:
            with self._database.reading() as db:
                work = self._read_work(db, known, matched)
                result = self._perform(work, matched, _Read(presented, known, query, body))
            return (
                Pending(matched, StartedRequest(result))
                if isinstance(result, Unfinished)
                else result
            )
        finally:
            close_files(body)

    def _answer_write(self, matched: MatchedRequest) -> Response | Pending:
        read = self._read(matched)
        answer: Response | StartedRequest | None = None
        try:
            read = self._prepare(matched, read)
            answer = self._begin(matched, read)
        finally:
            if not isinstance(answer, StartedRequest):
                close_files(read.body)
        return Pending(matched, answer, read.body) if isinstance(answer, StartedRequest) else answer

    def _begin(self, matched: MatchedRequest, read: _Read) -> Response | StartedRequest:
        perform = self._make_perform(matched, read, {})
        if "idempotency-key" not in matched.request.headers:
            with self._database.writing() as db:
                result = perform(db)
            return StartedRequest(result) if isinstance(result, Unfinished) else result
        keyed = KeyedRequest(read.known.merchant.id, matched.request, read.body)
        return answer_once(self._database, keyed, perform, now=self._clock())

    def _read(self, matched: MatchedRequest) -> _Read:
        request = matched.request
        # Unauthenticated requests must not wait for the writer.
        presented, known = self._authenticator.authenticate(matched)
        query = parse_form(request.query) if request.query else {}
        body = parse_body(request.headers, request.body, request.upload)
        # Some clients send the fields of a PUT in its query string, with an empty body.
        if request.method == "PUT" and not body:
            body = query
        return _Read(presented, known, query, body)

    def _make_perform(
        self, matched: MatchedRequest, read: _Read, verified: dict[PresentedKey, VerifiedKey]
    ) -> Perform:
        def perform(db: Connection) -> Response | Unfinished[Any]:
            # Once verified in a writing transaction, a key stays valid until its end.
            known = verified.get(read.presented)
            if known is None:
                known = self._credentials.verify(db, read.presented, now=self._clock())
                verified[read.presented] = known
            request_id = matched.request.request_id
            work = self._services.work(db, known.merchant, known.actor, request_id)
            return self._perform(work, matched, read)

        parent = matched.request.trace_parent
        return perform if parent is None else _trace(perform, parent)

    def _prepare(self, matched: MatchedRequest, read: _Read) -> _Read:
        """Let the endpoint calculate what would take too long in its transaction."""
        prepare = matched.endpoint.prepare
        if prepare is None:
            return read
        with self._database.reading() as db:
            work = self._read_work(db, read.known, matched)
            return read._replace(prepared=prepare(self._make_call(work, matched, read)))

    def _read_work(self, db: Connection, known: VerifiedKey, matched: MatchedRequest) -> Work:
        # In a sandbox, its clock may have been moved since its credentials were verified.
        return self._services.work(
            db,
            known.merchant,
            known.actor,
            matched.request.request_id,
            is_clock_old=self._services.is_sandbox,
        )

    def _perform(
        self, work: Work, matched: MatchedRequest, read: _Read
    ) -> Response | Unfinished[Any]:
        result = matched.endpoint.handler(self._make_call(work, matched, read))
        return result if isinstance(result, Unfinished) else self._answers.write(matched, result)

    def _make_call(self, work: Work, matched: MatchedRequest, read: _Read) -> Call:
        return Call(
            services=self._services,
            work=work,
            path=matched.path,
            query={name: last_of(value) for name, value in by_lower_name(read.query).items()},
            body=read.body,
            links=self._links.make(work.db),
            version=matched.family.version,
            prepared=read.prepared,
        )


def _trace(perform: Perform, parent: str) -> Perform:
    def perform_traced(db: Connection) -> Response | Unfinished[Any]:
        with caused_by(parent):
            return perform(db)

    return perform_traced
