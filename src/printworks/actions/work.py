"""Work: what every action needs, as its first argument."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, TypedDict, Unpack

import msgspec
from sqlalchemy import Connection

from printworks.catalogue.merchant_prices import MerchantPrices
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput
from printworks.net.errors import BadAddress
from printworks.net.guard import Guard
from printworks.rules.approvals import MoneyTerms
from printworks.rules.callbacks import AddressRules
from printworks.rules.events import OrderEvent
from printworks.rules.jobs import JobKind
from printworks.rules.keys import KeyLimits, check_may_spend
from printworks.rules.mail import MailTerms
from printworks.rules.merchants import check_may_order
from printworks.rules.payments import Cards
from printworks.rules.people import Realm
from printworks.rules.price_lists import PriceBook, find_valid
from printworks.rules.quotas import Quotas
from printworks.rules.sharpness import SharpnessLimits
from printworks.store.accounts import audit
from printworks.store.accounts.merchants import Merchant, get_merchant, read_clock_offset
from printworks.store.callbacks.callbacks import FeedPosition
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import Order, get_any_order_to_change
from printworks.store.queue import jobs
from printworks.vault import Vault


class Actor(msgspec.Struct, frozen=True):
    """Who acts, as the audit log names them."""

    realm: Realm
    # An email address, an API key's name, or the command line.
    who: str
    # The IP address of a person's browser.
    address: str = ""
    is_program: bool = False
    # What the key of a program may do; null for people.
    key: KeyLimits | None = None


# What the service does by itself is not written to the audit log.
SYSTEM = Actor(Realm.OPERATOR, "")


class JobOptions(TypedDict, total=False):
    """When a job is due, a key that only one job can have, and the order that it ends with."""

    wait: timedelta
    dedupe_key: str | None
    order_id: int


class Backing(Protocol):
    """What actions may use of the running program's services."""

    @property
    def catalogue(self) -> Catalogue:
        """What is sold."""

    @property
    def price_book(self) -> PriceBook:
        """The price lists of merchants."""

    @property
    def quote_keeps(self) -> timedelta:
        """How long an open order keeps its price."""

    @property
    def cards(self) -> Cards | None:
        """How cards are charged; None where every merchant pays on account."""

    @property
    def environment(self) -> str:
        """Either sandbox or live."""

    @property
    def guard(self) -> Guard:
        """Which addresses of others may be used."""

    @property
    def quotas(self) -> Quotas:
        """What one merchant may have."""

    @property
    def money_terms(self) -> MoneyTerms:
        """From which amounts on a second look, or a second person, is needed."""

    @property
    def sharpness(self) -> SharpnessLimits:
        """With how many pixels on an inch a picture looks blurred or sharp."""

    @property
    def draws_mockups(self) -> bool:
        """Whether mockups are drawn of images."""

    @property
    def address_rules(self) -> AddressRules:
        """What is asked of a new callback address."""

    @property
    def mail_terms(self) -> MailTerms | None:
        """What mails say about the deployment; None if it sends none."""

    @property
    def vault(self) -> Vault:
        """What seals and opens the secrets that the database stores."""


class PinnedTerms:
    """The catalogue, and merchants' prices and clocks, as they were when they were first needed."""

    __slots__ = ("_backing", "_clocks", "_found", "_prices")

    def __init__(self, backing: Backing) -> None:
        self._backing = backing
        self._found: Catalogue | None = None
        self._prices: dict[int, MerchantPrices] = {}
        self._clocks: dict[int, timedelta] = {}

    def get(self) -> Catalogue:
        found = self._found
        if found is None:
            found = self._found = self._backing.catalogue
        return found

    def get_prices(self, work: "Work") -> MerchantPrices:
        """Return what a merchant pays at the time of the work."""
        merchant = work.merchant
        found = self._prices.get(merchant.id)
        if found is None:
            lists = self._backing.price_book.list_candidates(merchant.id, merchant.group_id)
            rates = find_valid(lists, work.now) if lists else None
            found = self._prices[merchant.id] = MerchantPrices(merchant.currency, rates)
        return found

    def get_clock_offset(self, db: Connection, merchant_id: int) -> timedelta:
        """Return how far a merchant's clock is ahead: several looks at it in one answer agree."""
        found = self._clocks.get(merchant_id)
        if found is None:
            found = self._clocks[merchant_id] = read_clock_offset(db, merchant_id)
        return found


class SystemWork(msgspec.Struct, frozen=True, kw_only=True):
    """Work in one transaction that belongs to no merchant, or to one that is not known yet."""

    db: Connection
    real_now: datetime
    backing: Backing
    pinned: PinnedTerms
    actor: Actor = SYSTEM
    request_id: str | None = None

    @property
    def catalogue(self) -> Catalogue:
        """What is sold: the same from the beginning to the end, whatever is published meanwhile."""
        return self.pinned.get()

    @property
    def cards(self) -> Cards | None:
        return self.backing.cards

    @property
    def environment(self) -> str:
        return self.backing.environment

    @property
    def quotas(self) -> Quotas:
        return self.backing.quotas

    def check_address(self, address: str, member: str | None = None) -> None:
        """Refuse an address that can never be reached; say why, and of which member it is."""
        try:
            self.backing.guard.check_url(address)
        except BadAddress as error:
            prefix = f"`{member}` is wrong: " if member else ""
            raise BadInput(prefix + error.message) from error

    def check_may_spend(self) -> None:
        """Refuse a key that must not cost money."""
        if self.actor.key is not None:
            check_may_spend(self.actor.key)

    def for_merchant(self, merchant: Merchant) -> "Work":
        """Continue for a merchant, in the same transaction."""
        return Work(
            db=self.db,
            real_now=self.real_now,
            backing=self.backing,
            pinned=self.pinned,
            actor=self.actor,
            request_id=self.request_id,
            merchant=merchant,
        )

    def lock_order(self, order_id: int) -> "tuple[Work, Order]":
        """Lock an order until the transaction ends, and continue for its merchant."""
        order = get_any_order_to_change(self.db, order_id)
        return self.for_merchant(get_merchant(self.db, order.merchant_id)), order

    def enqueue_unowned(
        self, kind: JobKind, args: Mapping[str, Any], **options: Unpack[JobOptions]
    ) -> int | None:
        """Enqueue a job of no merchant; return its id, or None if its dedupe key is taken."""
        new = jobs.NewJob(kind, None, args, request_id=self.request_id, **options)
        return jobs.enqueue(self.db, new, now=self.real_now)

    def audit(self, action: str, subject: str = "", **details: object) -> None:
        """Write to the audit log what the actor does, in the transaction that does it."""
        self._audit(None, action, subject, details)

    def audit_for(self, merchant_id: int | None, action: str, **details: object) -> None:
        """Like `audit`, about a merchant that need not be read for it."""
        self._audit(merchant_id, action, "", details)

    def _audit(
        self, merchant_id: int | None, action: str, subject: str, details: Mapping[str, object]
    ) -> None:
        if self.actor is SYSTEM:
            return
        entry = audit.AuditEntry(
            at=self.real_now,
            merchant_id=merchant_id,
            realm=self.actor.realm,
            who=self.actor.who,
            action=action,
            subject=subject,
            details=details,
            address=self.actor.address,
            request_id=self.request_id or "",
        )
        audit.record(self.db, entry)


class Work(SystemWork, frozen=True, kw_only=True):
    """Work for one merchant, in one transaction."""

    merchant: Merchant
    # Whether the merchant was read a while ago, so that its clock may have been moved since.
    is_clock_old: bool = False

    @property
    def now(self) -> datetime:
        """The merchant's time: in a sandbox its clock may be ahead of the real one."""
        if self.is_clock_old:
            return self.real_now + self.pinned.get_clock_offset(self.db, self.merchant.id)
        return self.real_now + self.merchant.clock_offset

    @property
    def prices(self) -> MerchantPrices:
        """What the merchant pays: the same from the beginning to the end."""
        return self.pinned.get_prices(self)

    def check_may_order(self) -> None:
        """Refuse to order anything for a merchant whose account is suspended or closed."""
        check_may_order(self.merchant.state, self.merchant.state_reason)

    def record(
        self, order_id: int, event: OrderEvent, *, position: FeedPosition | None = None
    ) -> None:
        """Record what happened to an order; the merchant is sent a callback if it wants one.

        The caller that has just created the order passes the feed position it took.
        """
        record_event(self.db, order_id, event, now=self.now, place=position)

    def enqueue(
        self, kind: JobKind, args: Mapping[str, Any], **options: Unpack[JobOptions]
    ) -> int | None:
        """Enqueue a job of this merchant; return its id, or None if its dedupe key is taken."""
        merchant = self.merchant
        new = jobs.NewJob(kind, merchant.id, args, request_id=self.request_id, **options)
        return jobs.enqueue(self.db, new, merchant.advancing_until, now=self.real_now)

    def enqueue_each(
        self, kind: JobKind, each: Sequence[Mapping[str, Any]], *, order_id: int | None = None
    ) -> None:
        """Enqueue a job of the same kind for each of these arguments, all due now.

        If they are to end with an order, it is given.
        """
        merchant = self.merchant
        like = jobs.NewJob(kind, merchant.id, {}, request_id=self.request_id, order_id=order_id)
        jobs.enqueue_each(self.db, like, each, merchant.advancing_until, now=self.real_now)

    def audit(self, action: str, subject: str = "", **details: object) -> None:
        self._audit(self.merchant.id, action, subject, details)

    @property
    def unaudited(self) -> "Work":
        """The same work, for steps of an action that is in the audit log already."""
        return msgspec.structs.replace(self, actor=SYSTEM)

    def audit_routine(self, action: str, subject: str = "", **details: object) -> None:
        """Like `audit`, but skip what programs do: the request log has that already."""
        if not self.actor.is_program:
            self.audit(action, subject, **details)
