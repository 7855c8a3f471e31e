"""All that is not the API: the pages with their services. Imported after the start (`app.py`)."""

from collections.abc import Sequence
from typing import Final

from printworks.actions.services import AdvanceClock, Services
from printworks.api.endpoints import ApiFamily
from printworks.api.links import LinkMaker
from printworks.api.proofs import proof_routes
from printworks.api.webhooks import webhook_routes
from printworks.dashboard.site.branding import brand_routes
from printworks.dashboard.site.routes import payment_routes, people_routes
from printworks.dashboard.site.security_txt import security_routes
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.start import start_routes
from printworks.watch.counts import Counts
from printworks.web.edge import upload_limits
from printworks.web.pages import PageServer
from printworks.web.reference import all_reference_routes

# Opened with the first page. More page requests than this wait for each other.
PAGE_CONNECTIONS: Final = 8


class Site:
    """The pages of one web process."""

    def __init__(
        self,
        services: Services,
        links: LinkMaker,
        families: Sequence[ApiFamily],
        counts: Counts,
        advance_clock: AdvanceClock,
    ) -> None:
        settings = services.settings
        # Connections of their own, so that pages cannot take those of the API.
        self.services = PageServices(
            settings,
            services.clock,
            PAGE_CONNECTIONS,
            advance_clock=advance_clock,
            parent=services,
        )
        routes = [
            *start_routes(settings),
            *brand_routes(),
            *security_routes(settings, services.clock),
            *people_routes(self.services),
            *all_reference_routes(families, settings),
            *proof_routes(links, self.services),
            *webhook_routes(services),
            *payment_routes(self.services),
        ]
        self.pages = PageServer(
            routes,
            upload_limits(settings),
            is_proxied=bool(settings.behind_proxy),
            counts=counts,
            brand=services.brand_watch,
        )

    def close(self) -> None:
        self.services.close()
