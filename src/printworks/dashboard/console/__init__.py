"""The pages of the operator."""

from typing import Final

from printworks.dashboard.desk import Page
from printworks.dashboard.security import security_page
from printworks.dashboard.visits import ConsoleVisit

PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (security_page("/console/settings"),)
