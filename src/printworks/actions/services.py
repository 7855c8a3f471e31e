"""What all parts of a process share: opened when first needed, closed together."""

import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from shutil import disk_usage
from typing import Any, TypeVar

from sqlalchemy import Connection

from printworks.actions.work import SYSTEM, Actor, PinnedTerms, SystemWork, Work
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock, system_clock
from printworks.errors import OutOfRoom
from printworks.files import open_files
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.mail.transport import Mailer
from printworks.net.guard import Guard
from printworks.payments.gateway import Gateway
from printworks.rules.approvals import MoneyTerms
from printworks.rules.callbacks import AddressRules
from printworks.rules.languages import Language
from printworks.rules.mail import MailTerms
from printworks.rules.payments import Cards
from printworks.rules.price_lists import PriceBook
from printworks.rules.quotas import Quotas
from printworks.rules.sharpness import SharpnessLimits
from printworks.settings import Settings, is_in_s3
from printworks.store.accounts.brand_watch import BrandWatch
from printworks.store.accounts.merchants import Merchant
from printworks.store.catalogue.watch import CatalogueWatch
from printworks.store.engine.database import Database
from printworks.store.money.price_watch import PriceWatch
from printworks.store.queue.quarantine import QuarantineWatch
from printworks.vault import Vault

T = TypeVar("T")

# Takes a merchant's id and how far to move its clock; returns its new time.
AdvanceClock = Callable[[int, timedelta], datetime]


def _cannot_advance(_merchant_id: int, _by: timedelta) -> datetime:
    raise RuntimeError("This process does not move clocks.")


@dataclass(frozen=True)
class Services:
    """The services of one process; safe to use from many threads.

    `given` holds what is open already, by the name of its property. Everything but the database
    is shared with the parent, if there is one.
    """

    settings: Settings
    clock: Clock = system_clock
    connections: int = 8
    processor_slots: int = 1
    advance_clock: AdvanceClock = _cannot_advance
    given: Mapping[str, Any] = field(default_factory=dict)
    parent: "Services | None" = None
    _opened: dict[str, Any] = field(default_factory=dict)
    _opening: threading.RLock = field(default_factory=threading.RLock)

    @property
    def database(self) -> Database:
        url, connections = self.settings.database_url, self.connections
        return self._once("database", lambda: Database(url, connections=connections))

    @property
    def catalogue(self) -> Catalogue:
        """What is sold at this moment; whoever needs it twice keeps it."""
        return self.catalogue_watch.current

    @property
    def catalogue_watch(self) -> CatalogueWatch:
        """Follows which version of the catalogue is in use."""
        settings, clock = self.settings, self.clock
        return self._once(
            "catalogue_watch", lambda: CatalogueWatch(self.database, settings.catalogue, clock)
        )

    @property
    def price_book(self) -> PriceBook:
        """The price lists of merchants at this moment."""
        return self.price_watch.current

    @property
    def price_watch(self) -> PriceWatch:
        """Follows the changes of price lists."""
        return self._once("price_watch", lambda: PriceWatch(self.database, self.clock))

    @property
    def quote_keeps(self) -> timedelta:
        """How long an open order keeps its price."""
        return self.settings.quote_keeps

    def follow_catalogue(self) -> None:
        """Read the catalogue and the price lists, and follow them until these services are closed."""
        self.catalogue_watch.start()
        self.price_watch.start()

    @property
    def brand_watch(self) -> BrandWatch:
        """Follows what the operator calls the service, and how it looks."""
        return self._once("brand_watch", lambda: BrandWatch(self.database))

    @property
    def gateway(self) -> Gateway:
        return self._once("gateway", lambda: Gateway(self.settings, self.database, self.quarantine))

    @property
    def quarantine(self) -> QuarantineWatch:
        """Whether nothing may leave the service."""
        return self._once("quarantine", lambda: QuarantineWatch(self.database))

    @property
    def files(self) -> Files:
        """Where pictures are stored."""
        return self._once("files", lambda: open_files(self.settings))

    @property
    def processor(self) -> ImageProcessor:
        """Reads and renders pictures, in child processes."""
        return self._once("processor", lambda: ImageProcessor(slots=self.processor_slots))

    @property
    def cards(self) -> Cards | None:
        return self.gateway.cards

    @property
    def environment(self) -> str:
        return self.settings.environment

    @property
    def guard(self) -> Guard:
        return self._once("guard", lambda: Guard.of(self.settings))

    @property
    def money_terms(self) -> MoneyTerms:
        settings = self.settings
        return MoneyTerms(
            settings.approve_above, settings.confirm_above, settings.default_credit_limit
        )

    @property
    def quotas(self) -> Quotas:
        return Quotas(self.settings.order_images, self.settings.merchant_files)

    def check_room(self) -> None:
        """Refuse another file while a disk has less room than it should keep."""
        settings = self.settings
        places = {settings.data, Path(settings.files)}
        if is_in_s3(settings.files):
            places = {settings.data}
        for place in places:
            # Before the first file there may be no folder.
            if place.exists() and disk_usage(place).free < settings.disk_floor:
                raise OutOfRoom(
                    "There is no room for more files at the moment; the operator has to make room. "
                    "Try again later."
                )

    @property
    def sharpness(self) -> SharpnessLimits:
        """With how many pixels on an inch a picture looks blurred or sharp."""
        settings = self.settings
        return SharpnessLimits(settings.blurred_below_dpi, settings.sharp_from_dpi)

    @property
    def draws_mockups(self) -> bool:
        """Whether mockups are drawn of images."""
        return self.settings.mockups

    @property
    def address_rules(self) -> AddressRules:
        """What is asked of a new callback address."""
        settings, is_live = self.settings, not self.is_sandbox
        return AddressRules(
            needs_https=is_live and not settings.callbacks_allow_http,
            needs_challenge=settings.callback_challenge == "always"
            or (is_live and settings.callback_challenge == "live"),
        )

    @property
    def mailer(self) -> Mailer | None:
        """What sends mail; None if the operator has set no mail server."""
        # Imported here: only workers send mail.
        from printworks.mail.smtp import open_mailer

        return open_mailer(self.settings)

    @property
    def mail_terms(self) -> MailTerms | None:
        """What mails say about the deployment; None if it sends none."""
        settings = self.settings
        if not settings.smtp_host:
            return None
        return MailTerms(
            operator=settings.operator_name,
            public_url=settings.public_url,
            language=Language(settings.mail_language),
            domain=settings.mail_from.rpartition("@")[2],
        )

    @property
    def vault(self) -> Vault:
        """What seals and opens the secrets that the database stores."""
        return self._once("vault", lambda: Vault(self.settings.secret_keys))

    @property
    def is_sandbox(self) -> bool:
        """Whether nothing is printed and nothing is charged."""
        return self.settings.environment == "sandbox"

    def system_work(
        self, db: Connection, actor: Actor = SYSTEM, request_id: str | None = None
    ) -> SystemWork:
        """Begin work that belongs to no merchant, in the caller's transaction."""
        return SystemWork(
            db=db,
            real_now=self.clock(),
            backing=self,
            pinned=PinnedTerms(self),
            actor=actor,
            request_id=request_id,
        )

    def work(
        self,
        db: Connection,
        merchant: Merchant,
        actor: Actor = SYSTEM,
        request_id: str | None = None,
        *,
        is_clock_old: bool = False,
    ) -> Work:
        """Begin work for a merchant, in the caller's transaction."""
        return Work(
            db=db,
            real_now=self.clock(),
            backing=self,
            pinned=PinnedTerms(self),
            actor=actor,
            request_id=request_id,
            merchant=merchant,
            is_clock_old=is_clock_old,
        )

    def close(self) -> None:
        """Close what was opened here; what was given belongs to its owner."""
        with self._opening:
            watches = ("brand_watch", "catalogue_watch", "price_watch")
            for name in ("passwords", "processor", *watches, "database"):
                with suppress(KeyError):
                    self._opened.pop(name).close()

    def _once(self, name: str, open_it: Callable[[], T]) -> T:
        if self.parent is not None and name not in {"database", "forms", "passwords"}:
            # By its property, so that it is opened with what is the parent's own.
            shared: T = getattr(self.parent, name)
            return shared
        found = self.given.get(name) or self._opened.get(name)
        if found is None:
            with self._opening:
                found = self._opened.get(name)
                if found is None:
                    found = self._opened[name] = open_it()
        opened: T = found
        return opened
