"""The state of a payment, checked with its provider."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import msgspec
import structlog
from sqlalchemy import Connection

from printworks.actions.payments.payments import describe_charge, prepare_settling, settle
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.services import PageServices
from printworks.payments.provider import Charge, Outcome, ProviderUnavailable, Unknown
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.money.payments import PaymentRequest, find_request_by_key, get_request
from printworks.store.orders.orders import Order, get_order

log = structlog.get_logger(__name__)

# However often a page is reloaded, the provider is not asked more often.
_LOOKUPS: Final = 5
_LOOKUP_EVERY: Final = timedelta(seconds=3)


class PaymentCase(msgspec.Struct, frozen=True):
    """A payment, and whose and what for."""

    payment: PaymentRequest
    merchant: Merchant
    order: Order

    @property
    def charge(self) -> Charge:
        """The payment as its provider knows it."""
        return describe_charge(self.merchant, self.order, self.payment)


class PaymentStatus:
    """Finds and checks payments for the pages; safe to use from many threads."""

    def __init__(self, services: PageServices) -> None:
        self.services = services
        self._lookups = RateLimiter(burst=_LOOKUPS, every=_LOOKUP_EVERY)

    def find_time(self, merchant: Merchant) -> datetime:
        """Return the merchant's time."""
        return self.services.clock() + merchant.clock_offset

    def find(self, key: str) -> PaymentCase | None:
        """Return a payment by the key in its address."""
        with self.services.database.reading() as db:
            payment = find_request_by_key(db, key)
            return None if payment is None else _read_case(db, payment)

    def find_out(self, case: PaymentCase) -> PaymentCase:
        """Look an open payment up at its provider, and settle it."""
        payment = case.payment
        if payment.state not in OPEN_PAYMENTS:
            return case
        if self._lookups.take(payment.key, now=self.services.clock()) is not None:
            return case
        provider = self.services.gateway.open(payment.provider)
        return self.ask(case, lambda: provider.look_up(case.charge, payment.reference))

    def ask(self, case: PaymentCase, question: Callable[[], Outcome | Unknown]) -> PaymentCase:
        """Ask a provider, outside of any transaction, and settle what it says."""
        try:
            outcome = question()
        except ProviderUnavailable as error:
            # The worker will find out.
            log.warning("payment provider unavailable", payment=case.payment.id, why=error.detail)
            return case
        database, payment_id = self.services.database, case.payment.id
        with database.reading() as db:
            ready = prepare_settling(self.services.system_work(db), payment_id, outcome)
        with database.writing() as db:
            settle(self.services.system_work(db), payment_id, outcome, ready)
            return _read_case(db, get_request(db, case.payment.id))


def _read_case(db: Connection, payment: PaymentRequest) -> PaymentCase:
    merchant = get_merchant(db, payment.merchant_id)
    return PaymentCase(payment, merchant, get_order(db, merchant.id, payment.order_id))
