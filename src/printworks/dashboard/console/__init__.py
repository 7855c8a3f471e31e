"""The pages of the operator."""

from typing import Final

from printworks.dashboard.auth.security import security_page
from printworks.dashboard.console import (
    audit,
    catalogue,
    health,
    issues,
    jobs,
    ledger,
    merchants,
    order,
    orders,
    overview,
    people,
    production,
    routing,
    shipments,
)
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
