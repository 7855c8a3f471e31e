"""The asynchronous edge: reads a complete request within limits, then passes it to a thread.

Nothing here waits for anything but the network, so stalled clients do not slow down others.
"""

import asyncio
import time
from functools import partial
from typing import Final

import msgspec
import structlog

from printworks.api.endpoints import ApiFamily, Endpoint, Needs
from printworks.api.messages import Request, Response
from printworks.api.pending import Pending
from printworks.api.refusals import answer_error, refuse
from printworks.api.routing import FoundEndpoint, MatchedRequest, NoSuchMethod, NoSuchPath
from printworks.api.service import ApiService, SharedRequest
from printworks.errors import TooManyUploads
from printworks.log import info_often
from printworks.settings import Settings
from printworks.watch.counts import UNKNOWN
from printworks.watch.observing import Observer
from printworks.web.clients import find_client
from printworks.web.long_answers import LongAnswers
from printworks.web.open_uploads import OpenUploads
from printworks.web.pool import GroupThread, PoolFull, ThreadPool
from printworks.web.receiving import (
    BodyBroken,
    BodyLimits,
    BodyStalled,
    BodyTooLarge,
    ClientGone,
    Receive,
    Scope,
    Send,
    read_body,
    spool_body,
)
from printworks.web.request_log import RequestLog
from printworks.web.requests import begin_request
from printworks.web.shares import Sharer, Shares, Ticket
from printworks.web.unchanged import open_unchanged

log = structlog.get_logger(__name__)

_HAS_BODY: Final = frozenset({"POST", "PUT", "PATCH"})
ON_EVERY_ANSWER: Final = (
    (b"strict-transport-security", b"max-age=31536000"),
    (b"x-content-type-options", b"nosniff"),
)
# What has a tag may be kept, but must be asked for again before it is used.
_MAY_BE_KEPT: Final = (b"cache-control", b"private, no-cache")
_MUST_NOT_BE_KEPT: Final = (b"cache-control", b"no-store")
_NOT_MODIFIED: Final = 304
# Concurrent requests that wait for an external server, such as a payment provider.
OUTSIDE_THREADS: Final = 8
# Concurrent uploads in the image processor.
CPU_THREADS: Final = 2
# Large orders that are planned and shown at the same time; of one merchant, one.
LARGE_THREADS: Final = 2
# A submission or a batch writes about as much as this many creates.
HEAVY: Final = 4


class Edge:
    """Answers for every version of the API."""

    def __init__(
        self,
        service: ApiService,
        settings: Settings,
        requests: RequestLog,
        shares: Shares,
        observer: Observer,
    ) -> None:
        self._service = service
        self._shares = shares
        self._counts, self._tracer = observer
        self._requests = requests
        self._is_proxied = bool(settings.behind_proxy)
        self._pool = ThreadPool("core", threads=settings.web_threads, queue=settings.web_queue)
        # By what is left to do: whatever may take long must not block the core threads.
        self._pools = {
            Needs.LITTLE: self._pool,
            Needs.INTERPRETER: ThreadPool("large", threads=LARGE_THREADS, queue=settings.web_queue),
            Needs.PROCESS: ThreadPool("cpu", threads=CPU_THREADS, queue=settings.web_queue),
            Needs.SERVER: ThreadPool("outside", threads=OUTSIDE_THREADS, queue=settings.web_queue),
        }
        self._writer: GroupThread[SharedRequest, Response | Pending] = GroupThread(
            "writer", service.answer_together, queue=settings.web_queue, weigh=_weigh
        )
        self._unchanged = open_unchanged(service.unchanged, settings.web_queue)
        self._long = LongAnswers(settings)
        # All that has threads, in the order in which it is closed.
        self._parts = (
            *(self._unchanged, self._pool, self._writer),
            *(self._pools[Needs.INTERPRETER], self._pools[Needs.PROCESS]),
            *(self._pools[Needs.SERVER], requests),
        )
        self._spool_folder = settings.data
        self._small = BodyLimits(
            settings.json_limit, settings.body_timeout, settings.request_timeout
        )
        self._large = upload_limits(settings)
        self._uploads = OpenUploads(settings.open_uploads)
        # The headers of every answer of a version.
        self._constant_headers: dict[str, list[tuple[bytes, bytes]]] = {}

    @property
    def native_ids(self) -> list[int]:
        """The threads that there are before the first request, which starts the first of a pool."""
        return self._requests.native_ids

    def close(self) -> None:
        """Finish running requests."""
        for part in self._parts:
            part.close()
        self._long.close()

    async def answer(
        self,
        found: FoundEndpoint | NoSuchMethod | NoSuchPath,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer one request for what the router found."""
        began = time.perf_counter()
        request = begin_request(scope)
        endpoint = found.endpoint if isinstance(found, FoundEndpoint) else None
        span = None
        if self._tracer is not None:
            span = self._tracer.begin_request(_name(endpoint), request.headers)
            request = msgspec.structs.replace(request, trace_parent=span.parent)
        ticket = self._shares.admit(request, scope)
        status = size = 0
        try:
            response = await self._answer_any(found, request, scope, receive, ticket)
            status, size = response.status, len(response.body)
        except ClientGone:
            log.info("client gone", method=request.method, request_id=request.request_id)
            return
        finally:
            self._shares.settle(ticket, request.caller, status, size)
            if span is not None:
                span.end(status, request_id=request.request_id, version=found.family.version)
        if ticket.refusal:
            await ticket.sharer.refusals.hold()
        # Before it is sent: a client that hangs up needs the entry most.
        client = find_client(scope, request.headers, is_proxied=self._is_proxied)
        self._requests.note(request, response, time.perf_counter() - began, client)
        await self._send(send, request, response, found.family, ticket)
        seconds = time.perf_counter() - began
        self._count(found.family, endpoint, response.status, seconds)
        facts = {
            "method": request.method,
            "path": endpoint.path if endpoint else None,
            "status": response.status,
            "ms": round(seconds * 1000, 2),
            "request_id": request.request_id,
            "client": client,
            **self._service.describe_caller(request),
        }
        info_often("request", facts)

    def _count(
        self, family: ApiFamily, endpoint: Endpoint | None, status: int, seconds: float
    ) -> None:
        # Never what a client made up: there would be no end to what is counted.
        method, path = (endpoint.method, endpoint.path) if endpoint else ("", UNKNOWN)
        self._counts.note_request(family.version, method, path, status, seconds)

    async def _answer_any(
        self,
        found: FoundEndpoint | NoSuchMethod | NoSuchPath,
        request: Request,
        scope: Scope,
        receive: Receive,
        ticket: Ticket,
    ) -> Response:
        endpoint = found.endpoint if isinstance(found, FoundEndpoint) else None
        if ticket.refusal:
            when = ("Retry-After", str(ticket.retry_after))
            return refuse(found.family, endpoint, request, 429, ticket.refusal, when)
        if (refusal := scope.get("refusal")) is not None:
            return refuse(found.family, None, request, *refusal)
        if found.family.is_off:
            return self._refuse_ended(found, request)
        if isinstance(found, FoundEndpoint):
            return await self._answer(found, request, receive, ticket.sharer)
        return self._refuse_path(found, request)

    async def _answer(
        self, found: FoundEndpoint, request: Request, receive: Receive, sharer: Sharer
    ) -> Response:
        family, endpoint, path = found
        matched = MatchedRequest(family, endpoint, path, request)
        try:
            return await self._answer_matched(matched, receive, sharer)
        except PoolFull:
            message = "The service is busy; try again in a second."
            return refuse(family, endpoint, request, 503, message, ("Retry-After", "1"))
        except BodyStalled:
            return refuse(family, endpoint, request, 408, "The body did not arrive in time.")
        except BodyBroken:
            message = "The chunks of the body are malformed, or the last one is missing."
            return refuse(family, endpoint, request, 400, message)
        except ClientGone:
            raise
        except Exception as error:  # noqa: BLE001  (such as a disk that is full while it is spooled)
            return answer_error(matched, error)

    async def _answer_matched(
        self, matched: MatchedRequest, receive: Receive, sharer: Sharer
    ) -> Response:
        if self._service.unchanged.may_have(matched) and (
            unchanged := await self._unchanged.run(matched, sharer)
        ):
            return unchanged
        if matched.request.method not in _HAS_BODY:
            return await self._run(matched, sharer)
        return await self._receive_and_run(matched, receive, sharer)

    async def _receive_and_run(
        self, matched: MatchedRequest, receive: Receive, sharer: Sharer
    ) -> Response:
        limits = self._large if _has_file(matched) else self._small
        if not _has_file(matched):
            return await self._receive_within(matched, receive, limits, sharer)
        if refusal := await self._refuse_unread(matched, sharer):
            return refusal
        try:
            with self._uploads.hold(find_merchant(matched.request)):
                return await self._receive_within(matched, receive, limits, sharer)
        except TooManyUploads as error:
            return answer_error(matched, error)

    async def _receive_within(
        self, matched: MatchedRequest, receive: Receive, limits: BodyLimits, sharer: Sharer
    ) -> Response:
        try:
            matched = await self._receive(matched, receive, limits)
        except BodyTooLarge:
            family, endpoint, _, request = matched
            message = f"The body must have at most {limits.size} bytes."
            return await self._refuse_unread(matched, sharer) or refuse(
                family, endpoint, request, 413, message
            )
        return await self._run(matched, sharer)

    async def _refuse_unread(self, matched: MatchedRequest, sharer: Sharer) -> Response | None:
        """Refuse a request for what its headers say, before its large body is read."""
        return await self._pool.run(partial(self._service.refuse_unread, matched), sharer)

    async def _receive(
        self, matched: MatchedRequest, receive: Receive, limits: BodyLimits
    ) -> MatchedRequest:
        request = matched.request
        if _has_file(matched):
            upload = await spool_body(receive, request.headers, limits, self._spool_folder)
            return matched._replace(request=msgspec.structs.replace(request, upload=upload))
        body = request.caller.body = await read_body(receive, request.headers, limits)
        return matched._replace(request=msgspec.structs.replace(request, body=body))

    async def _run(self, matched: MatchedRequest, sharer: Sharer) -> Response:
        try:
            await sharer.begin()
            try:
                return await self._work_on(matched, sharer)
            finally:
                sharer.end()
        finally:
            if matched.request.upload is not None:
                matched.request.upload.close()

    async def _work_on(self, matched: MatchedRequest, sharer: Sharer) -> Response:
        answer = await self._begin(matched, sharer)
        answer = await self._finish(answer, sharer) if isinstance(answer, Pending) else answer
        if answer.long is None or matched.request.method == "HEAD":
            return answer
        return await self._long.begin(answer, matched)

    async def _begin(self, matched: MatchedRequest, sharer: Sharer) -> Response | Pending:
        if not self._service.may_share(matched):
            return await self._pool.run(partial(self._service.answer, matched), sharer)
        if matched.endpoint.prepare is None:
            return await self._writer.run(SharedRequest(matched), sharer)
        prepared = await self._pool.run(partial(self._service.prepare, matched), sharer)
        if isinstance(prepared, Response):
            return prepared
        return await self._writer.run(prepared, sharer)

    async def _finish(self, pending: Pending, sharer: Sharer) -> Response:
        """Finish a pending request in a pool of its own, unless it is as short as others."""
        try:
            large = self._service.pending.find_large_order(pending)
            if large is not None and self._long.is_ready():
                written = await self._long.write_order(large)
                pending = pending.answered_with(written) if written else pending
            pool = self._pools[pending.begun.work.needs]
            return await pool.run(partial(self._service.pending.finish, pending), sharer)
        except Exception:
            await asyncio.to_thread(self._service.pending.drop, pending)
            raise

    async def _send(
        self, send: Send, request: Request, response: Response, family: ApiFamily, ticket: Ticket
    ) -> None:
        constant = self._constant_headers.get(family.version)
        if constant is None:
            of_version = ((name.lower().encode(), text.encode()) for name, text in family.headers)
            constant = self._constant_headers[family.version] = [*ON_EVERY_ANSWER, *of_version]
        headers = [
            (b"x-request-id", request.request_id.encode()),
            _MUST_NOT_BE_KEPT if response.tag is None else _MAY_BE_KEPT,
            *constant,
            *ticket.headers,
            *((name.lower().encode(), text.encode()) for name, text in response.headers),
        ]
        if response.tag is not None:
            headers.append((b"etag", response.tag.encode()))
        if response.stream is not None or response.long is not None:
            headers.append((b"content-type", response.media_type.encode()))
        elif response.status != _NOT_MODIFIED:
            headers[:0] = (
                (b"content-type", response.media_type.encode()),
                (b"content-length", b"%d" % len(response.body)),
            )
        body = b"" if request.method == "HEAD" else response.body
        await send({"type": "http.response.start", "status": response.status, "headers": headers})
        if response.stream is not None:
            await self._long.send(response.stream, send, request.request_id)
        await send({"type": "http.response.body", "body": body})

    def _refuse_ended(
        self, found: FoundEndpoint | NoSuchMethod | NoSuchPath, request: Request
    ) -> Response:
        family = found.family
        endpoint = found.endpoint if isinstance(found, FoundEndpoint) else None
        message = (
            f"Version {family.version} has been switched off; use version {family.successor}, "
            f"which is described at /v{family.successor}/docs."
        )
        return refuse(family, endpoint, request, 410, message)

    def _refuse_path(self, found: NoSuchMethod | NoSuchPath, request: Request) -> Response:
        if isinstance(found, NoSuchMethod):
            allowed = ", ".join(found.allowed)
            message = f"{request.method} is not possible here, only {allowed}."
            return refuse(found.family, None, request, 405, message, ("Allow", allowed))
        message = "There is nothing at this address."
        if found.prefixes:
            message += f" Its path must begin with a version: {', '.join(found.prefixes)}."
        return refuse(found.family, None, request, 404, message)


def _name(endpoint: Endpoint | None) -> str:
    return f"{endpoint.method} {endpoint.path}" if endpoint else UNKNOWN


def upload_limits(settings: Settings) -> BodyLimits:
    """Return the limits for bodies with files: slow lines are fine, stalled ones are not."""
    return BodyLimits(
        settings.upload_limit,
        settings.body_timeout,
        15 * settings.request_timeout,
        settings.upload_rate,
    )


def find_merchant(request: Request) -> int:
    """Return the merchant of a request that was authenticated."""
    return request.caller.identity.merchant_id if request.caller.identity else 0


def _weigh(request: SharedRequest) -> int:
    """Say how many short requests this one takes as long as."""
    return HEAVY if request.matched.endpoint.prepare else 1


def _has_file(matched: MatchedRequest) -> bool:
    """Whether a body may have a file in it, which only a multipart body can."""
    content_type = matched.request.headers.get("content-type", "")
    return matched.endpoint.takes_file and content_type.lower().startswith("multipart/")
