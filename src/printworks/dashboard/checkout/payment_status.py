"""Where payers stand: what is known of a payment, and what the provider says of it now."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

import msgspec
import structlog
from sqlalchemy import Connection

from printworks.actions.payments.payments import describe_charge, settle
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.dashboard.site.limits import RateLimiter
from printworks.payments.gateway import Gateway
from printworks.payments.provider import Charge, Outcome, ProviderUnavailable, Unknown
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.money.payments import PaymentRequest, find_request_by_key, get_request
from printworks.store.orders.orders import Order, get_order

log = structlog.get_logger(__name__)

# Who reloads a page all the time does not ask the provider all the time.
_LOOKS: Final = 5
_LOOK_EVERY: Final = timedelta(seconds=3)


class PaymentCase(msgspec.Struct, frozen=True):
    """A payment, and whose and what for."""

    request: PaymentRequest
    merchant: Merchant
    order: Order

    @property
    def charge(self) -> Charge:
        """The payment in the words of its provider."""
        return describe_charge(self.merchant, self.order, self.request)


class PaymentStatus:
    """What the pages about payments share; safe to use from many threads."""

    def __init__(
        self,
        clock: Clock,
        *,
        database: Callable[[], Database],
        gateway: Callable[[], Gateway],
        catalogue: Callable[[], Catalogue],
    ) -> None:
        self.clock = clock
        self._database = database
        self._gateway = gateway
        self._catalogue = catalogue
        self._looks = RateLimiter(burst=_LOOKS, every=_LOOK_EVERY)

    @property
    def database(self) -> Database:
        """The database of the running service."""
        return self._database()

    @property
    def gateway(self) -> Gateway:
        """The ways of taking money."""
        return self._gateway()

    @property
    def catalogue(self) -> Catalogue:
        """What is sold."""
        return self._catalogue()

    def tell_time(self, merchant: Merchant) -> datetime:
        """Return what time it is for a merchant."""
        return self.clock() + merchant.clock_offset

    def find(self, key: str) -> PaymentCase | None:
        """Return a payment by the key in its address."""
        with self.database.reading() as db:
            request = find_request_by_key(db, key)
            return None if request is None else _read_case(db, request)

    def find_out(self, case: PaymentCase) -> PaymentCase:
        """Ask the provider what became of a payment that has no end yet, and believe it."""
        request = case.request
        if request.state not in OPEN_PAYMENTS:
            return case
        if self._looks.take(request.key, now=self.clock()) is not None:
            return case
        provider = self.gateway.open(request.provider)
        return self.hear(case, lambda: provider.look_up(case.charge, request.reference))

    def hear(self, case: PaymentCase, ask: Callable[[], Outcome | Unknown]) -> PaymentCase:
        """Ask a provider, outside of any transaction, and settle what it says."""
        try:
            outcome = ask()
        except ProviderUnavailable as error:
            # The worker will find out.
            log.warning("payment provider unavailable", payment=case.request.id, why=error.detail)
            return case
        with self.database.writing() as db:
            settle(db, case.request.id, outcome, catalogue=self.catalogue, now=self.clock())
            return _read_case(db, get_request(db, case.request.id))


def _read_case(db: Connection, request: PaymentRequest) -> PaymentCase:
    merchant = get_merchant(db, request.merchant_id)
    return PaymentCase(request, merchant, get_order(db, merchant.id, request.order_id))
