"""Every page: where somebody pays, the doors, the dashboard and the console."""

from collections.abc import Callable, Sequence

from starlette.routing import BaseRoute

from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.dashboard import console, merchant
from printworks.dashboard.auth.sign_in import SignInPages
from printworks.dashboard.checkout.checkout import checkout_routes
from printworks.dashboard.checkout.payment_status import PaymentStatus
from printworks.dashboard.checkout.payments import payment_page_routes
from printworks.dashboard.site.forms import FormKey
from printworks.dashboard.site.router import PageRouter
from printworks.dashboard.site.services import PageServices
from printworks.payments.gateway import Gateway
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database


def people_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the doors, and the pages behind them."""
    return [
        *SignInPages(services).routes(),
        *PageRouter(services, Realm.MERCHANT, merchant.PAGES).routes(),
        *PageRouter(services, Realm.OPERATOR, console.PAGES).routes(),
    ]


def payment_routes(
    settings: Settings,
    clock: Clock,
    *,
    database: Callable[[], Database],
    gateway: Callable[[], Gateway],
    catalogue: Callable[[], Catalogue],
) -> Sequence[BaseRoute]:
    """Return the pages for payers: about a payment, the simulated bank, and the checkout.

    What must be open is asked for when the first page is.
    """
    payments = PaymentStatus(clock, database=database, gateway=gateway, catalogue=catalogue)
    forms = FormKey(database)
    is_sandbox = settings.environment == "sandbox"
    return [
        *payment_page_routes(payments, forms, is_sandbox=is_sandbox),
        *checkout_routes(payments, forms),
    ]
