"""What every page of the dashboard and the console can reach."""

from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
from sqlalchemy import Connection

from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.dashboard.auth.passwords import Passwords
from printworks.dashboard.site.forms import FormKey
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.payments.gateway import Gateway
from printworks.settings import Settings
from printworks.store.accounts.secrets import LINKS, get_secret
from printworks.store.engine.database import Database
from printworks.wire.links import Links

# Takes a merchant's number and how far to move its clock; returns its new time.
AdvanceClock = Callable[[int, timedelta], datetime]


class PageServices(msgspec.Struct, frozen=True, kw_only=True):
    """The tools of the pages. What must be open is asked for when a page first needs it."""

    settings: Settings
    clock: Clock
    forms: FormKey
    passwords: Passwords
    processor: ImageProcessor
    advance_clock: AdvanceClock
    open_database: Callable[[], Database]
    open_gateway: Callable[[], Gateway]
    open_catalogue: Callable[[], Catalogue]
    open_files: Callable[[], Files]

    @property
    def database(self) -> Database:
        """The database of the running service."""
        return self.open_database()

    @property
    def gateway(self) -> Gateway:
        """The ways of taking money."""
        return self.open_gateway()

    @property
    def catalogue(self) -> Catalogue:
        """What is sold."""
        return self.open_catalogue()

    @property
    def files(self) -> Files:
        """Where pictures are kept."""
        return self.open_files()

    def links(self, db: Connection) -> Links:
        """Return what makes addresses of pictures, from wherever a page was asked for."""
        return Links("", get_secret(db, LINKS))

    @property
    def is_sandbox(self) -> bool:
        """Whether nothing is printed and nothing charged."""
        return self.settings.environment == "sandbox"
