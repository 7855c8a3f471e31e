"""Valid things to test with: each test states only what matters to it."""

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, cast

import msgspec
from sqlalchemy import Connection

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.orders.orders import create_order
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.services import Services
from printworks.actions.work import SYSTEM, Actor, PinnedTerms, SystemWork, Work
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.net.guard import Guard
from printworks.rules.approvals import MoneyTerms
from printworks.rules.callbacks import AddressRules
from printworks.rules.heartbeats import Heartbeat
from printworks.rules.mail import MailTerms
from printworks.rules.orders import ShippingMethod
from printworks.rules.payments import Cards
from printworks.rules.price_lists import PriceBook
from printworks.rules.quotas import Quotas
from printworks.rules.reminders import ReminderTone
from printworks.rules.sharpness import SharpnessLimits
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, get_merchant, get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.reminders import NewReminder
from printworks.store.orders.orders import NewOrder, Order, get_any_order_to_change
from printworks.store.orders.shipments import Shipment
from printworks.vault import Vault

# The keys of every database in the tests; `tmp_path` has a copy, where a data folder has it.
KEY_FILE: Final = Path(__file__).with_name("secret.key")
VAULT: Final = Vault(KEY_FILE)
NOON: Final = datetime(2026, 11, 15, 12, tzinfo=UTC)
NO_LISTS: Final = PriceBook(0)
# Settings for tests that send more than a merchant may.
NO_LIMITS: Final = {
    "PRINTWORKS_MERCHANT_RATE": "1000000",
    "PRINTWORKS_MERCHANT_BURST": "1000000",
    "PRINTWORKS_MERCHANT_IN_WORK": "1000",
    "PRINTWORKS_MERCHANT_QUEUE": "10000",
    "PRINTWORKS_STRANGER_RATE": "1000000",
    "PRINTWORKS_STRANGER_BURST": "1000000",
    # Every test would wait for them; those that look at them say so.
    "PRINTWORKS_MOCKUPS": "false",
}


def a_merchant(db: Connection, name: str = "Alice", **values: Any) -> Merchant:
    """Add a merchant."""
    return add_merchant(a_system_work(db, now=NOON, environment="sandbox"), name, **values).merchant


def a_new_order(**values: Any) -> NewOrder:
    """Say what makes an order."""
    given = {
        "recipient_name": "Mary Fox",
        "destination_country": "GB",
        "shipping_method": ShippingMethod.STANDARD,
        **values,
    }
    return NewOrder(**given)


def an_order(db: Connection, merchant: Merchant, **values: Any) -> Order:
    """Add an order."""
    return create_order(a_work(db, merchant, now=NOON), a_new_order(**values))


def a_new_reminder(merchant_id: int, **values: Any) -> NewReminder:
    """Say that a merchant is reminded of what is overdue."""
    given = {
        "merchant_id": merchant_id,
        "overdue_since": NOON,
        "step": 1,
        "tone": ReminderTone.FRIENDLY,
        "amount": 700,
        "currency": "GBP",
        "due_on": "2026-11-15",
        "readers": 1,
        "sent_at": NOON,
        **values,
    }
    return NewReminder(**given)


class _OneTransaction:
    """A database whose plans are stored in the transaction that a test is in."""

    def writing_beside(self, db: Connection) -> AbstractContextManager[Connection]:
        """Continue in the same transaction."""
        return nullcontext(db)


def plan_shipments(work: Work, order_id: int) -> list[Shipment]:
    """Look at an order in a test's own transaction; return its shipments."""
    return get_planned_order(work, cast("Database", _OneTransaction()), order_id).shipments


class FixedServices(msgspec.Struct, frozen=True):
    """What a piece of work may use, given by a test."""

    catalogue: Catalogue
    cards: Cards | None = None
    environment: str = "sandbox"
    guard: Guard = Guard(allow_loopback=True)
    quotas: Quotas = Quotas()
    money_terms: MoneyTerms = MoneyTerms()
    vault: Vault = VAULT
    address_rules: AddressRules = AddressRules()
    sharpness: SharpnessLimits = SharpnessLimits()
    draws_mockups: bool = False
    mail_terms: MailTerms | None = None
    price_book: PriceBook = NO_LISTS
    quote_keeps: timedelta = timedelta(days=2)


def a_system_work(
    db: Connection,
    *,
    now: datetime = NOON,
    catalogue: Catalogue | None = None,
    cards: Cards | None = None,
    request_id: str | None = None,
    environment: str = "sandbox",
    actor: Actor = SYSTEM,
    mail_terms: MailTerms | None = None,
    price_book: PriceBook = NO_LISTS,
    money_terms: MoneyTerms | None = None,
) -> SystemWork:
    """Begin work for no merchant; `now` is the real time."""
    backing = FixedServices(
        catalogue or open_catalogue(None),
        cards,
        environment,
        mail_terms=mail_terms,
        price_book=price_book,
        money_terms=money_terms or MoneyTerms(),
    )
    return SystemWork(
        db=db,
        real_now=now,
        backing=backing,
        pinned=PinnedTerms(backing),
        actor=actor,
        request_id=request_id,
    )


def a_work(db: Connection, merchant: Merchant, *, now: datetime = NOON, **given: Any) -> Work:
    """Begin work for a merchant; `now` is the merchant's time."""
    return a_system_work(db, now=now - merchant.clock_offset, **given).for_merchant(merchant)


def a_work_of(db: Connection, thing: Any, *, now: datetime = NOON, **given: Any) -> Work:
    """Begin work for the merchant of an order, an issue, a checkout or a shipment."""
    if hasattr(thing, "merchant"):
        return a_work(db, thing.merchant, now=now, **given)
    order = get_any_order_to_change(db, thing.order_id) if hasattr(thing, "order_id") else thing
    return a_work(db, get_merchant(db, order.merchant_id), now=now, **given)


def a_work_by_code(db: Connection, code: str, *, now: datetime = NOON) -> Work:
    """Begin work for the merchant with this code; `now` is the merchant's time."""
    return a_work(db, get_merchant_by_code(db, code), now=now)


def a_heartbeat(worker: str, beat_at: datetime, **values: Any) -> Heartbeat:
    """Be a worker that was heard of then."""
    usual = {"host": "host", "process": 17, "version": "1", "running": 2, "finished": 5}
    return Heartbeat(worker=worker, beat_at=beat_at, started_at=NOON, **{**usual, **values})


def some_services(
    database: Database, settings: Settings | None = None, clock: Clock = lambda: NOON, **given: Any
) -> Services:
    """Share a database that a test has opened, and whatever else it gives."""
    opened = {"database": database, "vault": VAULT, **given}
    return Services(settings or Settings(data=Path()), clock, given=opened)
