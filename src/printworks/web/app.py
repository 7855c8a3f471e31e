"""Puts the web process together: the API's edge, the pages, and their beginning and end."""

import threading
from collections.abc import Sequence
from typing import Final

from starlette.routing import BaseRoute

from printworks.api.endpoints import Family
from printworks.api.proofs import LinkMaker, proof_routes
from printworks.api.reference import reference_routes
from printworks.api.routing import NoSuchPath, Router
from printworks.api.service import ApiService
from printworks.api.v2.endpoints import FAMILIES as V2
from printworks.api.v3.endpoints import V3_0
from printworks.api.webhooks import webhook_routes
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock, system_clock
from printworks.dashboard.auth.passwords import Passwords
from printworks.dashboard.site.forms import FormKey
from printworks.dashboard.site.routes import payment_routes, people_routes
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.start import start_routes
from printworks.files import open_files
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.payments.gateway import Gateway
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.cores import keep_on
from printworks.web.edge import CPU_THREADS, OUTSIDE_THREADS, Edge, Scope, Send, upload_limits
from printworks.web.pages import PageServer, normal_path
from printworks.web.receiving import Receive
from printworks.web.request_log import RequestLog
from printworks.worker.advance import ClockMover

# Opened when the first page is asked for. More pages than this wait for each other.
PAGE_CONNECTIONS: Final = 8
# Every version that is served, side by side.
FAMILIES: Final = (V3_0, *V2)


class Application:
    """The whole web process as one ASGI application."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        families: Sequence[Family],
        core: int | None,
    ) -> None:
        self._settings = settings
        self._core = core
        self._clock = clock
        self._router = Router(families)
        self._links = LinkMaker(settings.public_url)
        # One picture at a time is enough for questions; orders are the worker's.
        self._processor = ImageProcessor(slots=1)
        self._clock_mover = ClockMover(settings, clock)
        self._pages = PageServer(
            self._list_pages(families),
            upload_limits(settings),
            is_proxied=bool(settings.behind_proxy),
        )
        self._database: Database | None = None
        self._page_database: Database | None = None
        self._opening = threading.Lock()
        self._gateway: Gateway | None = None
        self._files: Files | None = None
        self._edge: Edge | None = None

    def _list_pages(self, families: Sequence[Family]) -> list[BaseRoute]:
        settings, clock = self._settings, self._clock
        services = PageServices(
            settings=settings,
            clock=clock,
            forms=FormKey(self._get_page_database),
            passwords=Passwords(),
            processor=self._processor,
            advance_clock=self._clock_mover.advance,
            open_database=self._get_page_database,
            open_gateway=self._get_gateway,
            open_catalogue=self._get_catalogue,
            open_files=self._get_files,
        )
        return [
            *start_routes(settings),
            *people_routes(services),
            *reference_routes(families, settings),
            *proof_routes(self._links, self._get_page_database, self._get_files),
            *webhook_routes(settings, clock, self._get_database),
            *payment_routes(
                settings,
                clock,
                database=self._get_page_database,
                gateway=self._get_gateway,
                catalogue=self._get_catalogue,
            ),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or follow the server's start and stop."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        if self._core is not None:
            self._settle(self._core)
        found = self._router.find(scope["method"], scope["path"])
        if isinstance(found, NoSuchPath) and self._is_page(scope["path"]):
            await self._pages({**scope, "path": normal_path(scope["path"])}, receive, send)
        elif self._edge is not None:
            await self._edge.answer(found, scope, receive, send)

    def _settle(self, core: int) -> None:
        # With the first request and not at the start: the server's own threads, which are
        # begun after ours, would be bound with them.
        self._core = None
        if self._edge is not None:
            keep_on(core, [threading.get_native_id(), *self._edge.native_ids])

    def _is_page(self, path: str) -> bool:
        return not self._router.owns(path) or self._pages.owns(normal_path(path))

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def start(self) -> None:
        """Open the database and start the threads; in the process and loop that will use them."""
        settings = self._settings
        # For those that answer alone, go on with something, answer together, and take notes.
        connections = settings.web_threads + OUTSIDE_THREADS + CPU_THREADS + 2
        self._database = Database(settings.database_url, connections=connections)
        service = ApiService(
            self._database,
            settings,
            self._clock,
            catalogue=self._get_catalogue(),
            links=self._links,
            processor=self._processor,
            advance_clock=self._clock_mover.advance,
            gateway=self._get_gateway(),
            open_files=self._get_files,
        )
        self._edge = Edge(service, settings, RequestLog(self._database))

    def _get_database(self) -> Database:
        if self._database is None:
            message = "The application has not been started."
            raise RuntimeError(message)
        return self._database

    def _get_page_database(self) -> Database:
        # Connections of their own: whatever people do at their pages, programs get theirs.
        with self._opening:
            if self._page_database is None:
                self._page_database = Database(
                    self._settings.database_url, connections=PAGE_CONNECTIONS
                )
            return self._page_database

    def _get_gateway(self) -> Gateway:
        if self._gateway is None:
            self._gateway = Gateway(self._settings, self._get_database())
        return self._gateway

    def _get_catalogue(self) -> Catalogue:
        return open_catalogue(self._settings.catalogue)

    def _get_files(self) -> Files:
        # Opened when first needed: a store that is away must not keep the API from starting.
        if self._files is None:
            self._files = open_files(self._settings)
        return self._files

    def stop(self) -> None:
        """Finish what was begun, and close the database."""
        if self._edge is not None:
            self._edge.close()
        self._clock_mover.close()
        self._processor.close()
        for database in (self._database, self._page_database):
            if database is not None:
                database.close()


def build_app(
    settings: Settings,
    clock: Clock = system_clock,
    families: Sequence[Family] = FAMILIES,
    core: int | None = None,
) -> Application:
    """Return the application for the server to run, if need be on one core."""
    sunset, off = settings.sunset_at, settings.versions_off_list
    named = [family.renamed(settings.catalogue_name).ending(sunset, off) for family in families]
    if settings.environment == "live":
        named = [family.without_sandbox() for family in named]
    return Application(settings, clock, named, core)
