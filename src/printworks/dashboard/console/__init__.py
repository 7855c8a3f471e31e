"""The pages of the operator."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.console import ledger
from printworks.dashboard.console.accounts import audit, merchants, people
from printworks.dashboard.console.catalogue import catalogue, routing
from printworks.dashboard.console.issues import issues
from printworks.dashboard.console.orders import order, orders
from printworks.dashboard.console.overview import overview
from printworks.dashboard.console.production import production, shipments
from printworks.dashboard.console.system import health, jobs
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit

PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    *overview.PAGES,
    *production.PAGES,
    *shipments.PAGES,
    *orders.PAGES,
    *order.PAGES,
    *issues.PAGES,
    *merchants.PAGES,
    *catalogue.PAGES,
    *routing.PAGES,
    *ledger.PAGES,
    *jobs.PAGES,
    *health.PAGES,
    *people.PAGES,
    *audit.PAGES,
    security_page("/console/settings"),
)
