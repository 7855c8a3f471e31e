"""The web process as one ASGI application: the API, the pages, their start and stop."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from printworks.actions.services import Services
from printworks.api.credentials import credential_headers
from printworks.api.endpoints import ApiFamily
from printworks.api.links import LinkMaker
from printworks.api.routing import NoSuchPath, Router
from printworks.api.service import ApiService
from printworks.api.tags import hash_program
from printworks.catalogue.public_holidays import find_delivery_calendar
from printworks.clock import Clock, system_clock
from printworks.settings import Settings
from printworks.starting import keep_for_good
from printworks.watch.counts import Counts
from printworks.watch.observing import Observer
from printworks.watch.readiness import Readiness
from printworks.watch.traces import Tracer, open_tracer
from printworks.web.cores import keep_on
from printworks.web.edge import (
    CPU_THREADS,
    LARGE_THREADS,
    OUTSIDE_THREADS,
    Edge,
    upload_limits,
)
from printworks.web.families import FAMILIES
from printworks.web.leftovers import ArrivingBody, Leftovers
from printworks.web.probes import PROBES, Probes
from printworks.web.receiving import Receive, Scope, Send
from printworks.web.request_log import RequestLog
from printworks.web.requests import begin_request
from printworks.web.shares import RefusalPace, Shares

if TYPE_CHECKING:
    from printworks.web.site import Site
    from printworks.worker.advance import ClockMover

# The pages take as long to import as all the rest, and no request of the API needs them. So they
# come after the first answers, but before most people ask for one.
SECONDS_ALONE: Final = 0.5
# A body that was refused may be this much larger than the largest upload, and is still received.
MORE_DISCARDED: Final = 100_000_000
# How pages refuse those who ask too often, and everybody while too many ask.
_TOO_MANY: Final = 429
_UNAVAILABLE: Final = 503


class Application:
    """The whole web process as one ASGI application."""

    def __init__(
        self, settings: Settings, clock: Clock, families: Sequence[ApiFamily], core: int | None
    ) -> None:
        self._settings = settings
        self._core = core
        self._clock = clock
        self._router = Router(families)
        self.counts = Counts()
        # For the core, the outside, the CPU and the large threads, what is unchanged, the writer, the
        # request log, the readiness, the catalogue, and the brand.
        connections = settings.web_threads + OUTSIDE_THREADS + CPU_THREADS + LARGE_THREADS + 6
        # One slot is enough for uploads and checks; the worker processes orders.
        self._services = Services(settings, clock, connections, advance_clock=self._advance_clock)
        self._clock_mover: ClockMover | None = None
        self._opening_mover = threading.Lock()
        self._links = LinkMaker(self._services)
        self._families = families
        self._site: asyncio.Future[Site] | None = None
        self._probes = Probes(Readiness(self._services))
        self._edge: Edge | None = None
        self._tracer: Tracer | None = None
        self._shares: Shares | None = None
        self._unavailable = RefusalPace()
        uploads = upload_limits(settings)
        self._leftovers = Leftovers(uploads._replace(size=uploads.size + MORE_DISCARDED))
        self._credential_headers = [name.encode() for name in credential_headers(settings)]

    async def _open_site(self) -> "Site":
        """Return the pages; the first who ask wait until they are imported, in a thread."""
        if self._site is None or _has_failed(self._site):
            self._site = asyncio.ensure_future(asyncio.to_thread(self._import_site))
        # Somebody who hangs up leaves the others waiting.
        return await asyncio.shield(self._site)

    def _import_site(self) -> "Site":
        from printworks.web.site import Site

        return Site(self._services, self._links, self._families, self.counts, self._advance_clock)

    async def import_the_rest(self) -> None:
        """Import what the first answers do not need, before anybody has to wait for it."""
        await asyncio.sleep(SECONDS_ALONE)
        # Of any country: it is the library of holidays that takes long.
        await asyncio.to_thread(find_delivery_calendar, "GB", self._clock().year)
        # The tags of answers need it, and it reads every file.
        await asyncio.to_thread(hash_program)
        await self._open_site()
        keep_for_good()

    def _advance_clock(self, merchant_id: int, by: timedelta) -> datetime:
        """Move a merchant's clock."""
        with self._opening_mover:
            if self._clock_mover is None:
                # With the first move, which few processes ever see: it needs all that a worker does.
                from printworks.worker.advance import ClockMover

                self._clock_mover = ClockMover(self._settings, self._clock)
        return self._clock_mover.advance(merchant_id, by)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if self._core is not None:
            self._bind_threads(self._core)
        if not scope.get("has_body", True) and scope["method"] == "GET":
            await self._answer(scope, receive, send)
            return
        body = ArrivingBody(scope, receive, send)
        await self._answer(scope, body.receive, body.send)
        await self._leftovers.discard(body)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        found = self._router.find(scope["method"], path)
        if isinstance(found, NoSuchPath) and path in PROBES and "refusal" not in scope:
            await self._probes.answer(scope, send)
        # Of what cannot be read, not even the path may be known.
        elif isinstance(found, NoSuchPath) and path and await self._is_page(scope):
            wait = await self._find_wait(scope)
            send = self._hold_refusals(scope, send)
            await (await self._open_site()).pages(scope, receive, send, wait)
        elif self._edge is not None:
            await self._edge.answer(found, scope, receive, send)

    async def _find_wait(self, scope: Scope) -> timedelta | None:
        """Return how long somebody has to wait who asks for too much that does not exist."""
        if self._shares is None or await self._has_page(scope["path"]):
            return None
        headers = begin_request(scope).headers
        seconds = self._shares.take_of_stranger(scope, headers)
        return timedelta(seconds=seconds) if seconds else None

    def _hold_refusals(self, scope: Scope, send: Send) -> Send:
        """Return how to answer somebody so that refusals cost no more than answers."""

        async def hold_and_send(message: dict[str, Any]) -> None:
            if message.get("status") == _TOO_MANY and self._shares is not None:
                headers = begin_request(scope).headers
                await self._shares.find_stranger(scope, headers).refusals.hold()
            elif message.get("status") == _UNAVAILABLE:
                await self._unavailable.hold()
            await send(message)

        return hold_and_send

    def _bind_threads(self, core: int) -> None:
        # With the first request, not at the start: otherwise threads of libraries, which start
        # after ours, would be bound too. Those of the pools come later, and are bound as this one is.
        self._core = None
        if self._edge is not None:
            keep_on(core, [threading.get_native_id(), *self._edge.native_ids])

    async def _is_page(self, scope: Scope) -> bool:
        path = scope["path"]
        if self._router.owns(path):
            return await self._has_page(path)
        # A program that got the address wrong must not get a page to sign in.
        if any(name in self._credential_headers for name, _ in scope["headers"]):
            return await self._has_page(path) and not self._router.lacks_version(path)
        return True

    async def _has_page(self, path: str) -> bool:
        return (await self._open_site()).pages.owns(path)

    @property
    def services(self) -> Services:
        return self._services

    def start(self) -> None:
        """Open the database and start the threads; in the process and loop that will use them."""
        service = ApiService(self._services, self._links)
        # Errors of the catalogue are raised at the start, not at the first request.
        self._services.follow_catalogue()
        self._services.brand_watch.start()
        self._shares = Shares(self._settings, self._clock)
        log = RequestLog(
            self._services.database,
            with_bodies=self._services.settings.log_bodies == "refused",
        )
        self._tracer = open_tracer(self._settings, "web")
        observer = Observer(self.counts, self._tracer)
        self._edge = Edge(service, self._settings, log, self._shares, observer)

    def begin_draining(self) -> None:
        """Answer as before, and say that others should be asked."""
        self._probes.begin_draining()

    def stop(self) -> None:
        """Finish running requests, and close the database."""
        self._probes.close()
        if self._edge is not None:
            self._edge.close()
        if self._tracer is not None:
            self._tracer.close()
        if self._clock_mover is not None:
            self._clock_mover.close()
        if self._site is not None and self._site.done() and not _has_failed(self._site):
            self._site.result().close()
        self._services.close()


def _has_failed(task: asyncio.Future[Any]) -> bool:
    return task.cancelled() or (task.done() and task.exception() is not None)


def build_app(
    settings: Settings,
    clock: Clock = system_clock,
    families: Sequence[ApiFamily] = FAMILIES,
    core: int | None = None,
) -> Application:
    """Return the application for the server to run, on one core if given."""
    sunset, off = settings.sunset_at, settings.versions_off_list
    named = [family.renamed(settings.catalogue_name).ending(sunset, off) for family in families]
    if settings.environment == "live":
        named = [family.without_sandbox() for family in named]
    return Application(settings, clock, named, core)
