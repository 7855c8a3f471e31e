"""Requests that must ask another service, or calculate for long, between their transactions."""

from typing import Any, NamedTuple

from printworks.api.answers import AnswerWriter
from printworks.api.bodies import close_files
from printworks.api.endpoints import Needs, Unfinished, WrittenAnswer
from printworks.api.idempotency import StartedRequest, release_claim, store_response
from printworks.api.long_lists import LargeOrder
from printworks.api.messages import Response
from printworks.api.refusals import answer_error
from printworks.api.routing import MatchedRequest
from printworks.clock import Clock
from printworks.errors import ServiceError
from printworks.store.accounts.idempotency import KeyClaim
from printworks.store.engine.database import Database
from printworks.trace_parent import caused_by


class Pending(NamedTuple):
    """A request that needs `PendingRequests.finish`.

    That may take long, so it should run in another thread.
    """

    matched: MatchedRequest
    begun: StartedRequest
    # Its files stay open until then.
    body: object = None

    def answered_with(self, answer: WrittenAnswer) -> "Pending":
        """Return what is left to do after another process has written the answer."""
        work = Unfinished(lambda: answer, needs=Needs.LITTLE)
        return self._replace(begun=self.begun._replace(work=work))


class PendingRequests:
    """Finishes pending requests, or drops them; safe to use from many threads."""

    def __init__(self, database: Database, answers: AnswerWriter, clock: Clock) -> None:
        self._database = database
        self._answers = answers
        self._clock = clock

    def finish(self, pending: Pending) -> Response:
        """Do what was to be done outside the transaction, and answer the request."""
        matched, (work, claim), body = pending
        is_done = False
        try:
            response, is_done = self._conclude(matched, work, claim)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            response = answer_error(matched, error)
        finally:
            close_files(body)
        if not is_done:
            try:
                self._give_up(pending.begun)
            except Exception as error:  # noqa: BLE001  (nothing may get past this)
                response = answer_error(matched, error)
        return response

    def find_large_order(self, pending: Pending) -> LargeOrder | None:
        """Return what another process had better write, if there is such a thing."""
        order_id = pending.begun.work.large_order
        if order_id is None or pending.matched.endpoint.shape_one is None:
            return None
        return LargeOrder.of(pending.matched, order_id, now=self._clock())

    def drop(self, pending: Pending) -> None:
        """Drop a request that cannot be finished now, so that the client can send it again."""
        close_files(pending.body)
        self._give_up(pending.begun)

    def _conclude(
        self, matched: MatchedRequest, work: Unfinished[Any], claim: KeyClaim | None
    ) -> tuple[Response, bool]:
        """Return the answer, and whether it is no refusal."""
        reply = work.ask()
        if work.then is None:
            # Others that write do not wait until a large answer is written.
            response = self._answers.write(matched, reply)
            if claim is not None:
                with self._database.writing() as db:
                    store_response(db, claim, response, matched.request.path)
            return response, True
        with self._database.writing() as db, caused_by(matched.request.trace_parent):
            result = work.then(db, reply)
            response = self._answers.write(matched, result)
            is_refused = isinstance(result, ServiceError)
            if claim is not None and not is_refused:
                store_response(db, claim, response, matched.request.path)
        return response, not is_refused

    def _give_up(self, begun: StartedRequest) -> None:
        """Leave nothing in the way of the next try: a refusal leaves the key free, too."""
        if begun.work.otherwise is not None:
            with self._database.writing() as db:
                begun.work.otherwise(db)
        if begun.claim is not None:
            release_claim(self._database, begun.claim)
