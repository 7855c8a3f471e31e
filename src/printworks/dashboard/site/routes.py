"""Every page: where somebody pays, the doors, the dashboard and the console."""

from collections.abc import Callable, Sequence

from starlette.routing import BaseRoute

from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.dashboard import console, merchant
from printworks.dashboard.auth.sign_in import Entrance
from printworks.dashboard.checkout.checkout import checkout_routes
from printworks.dashboard.checkout.payment_status import Counter
from printworks.dashboard.checkout.payments import payment_page_routes
from printworks.dashboard.site.forms import FormKey
from printworks.dashboard.site.office import Office
from printworks.dashboard.site.router import Desk
from printworks.payments.gateway import Till
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database


def people_routes(office: Office) -> Sequence[BaseRoute]:
    """Return the doors, and the pages behind them."""
    return [
        *Entrance(office).routes(),
        *Desk(office, Realm.MERCHANT, merchant.PAGES).routes(),
        *Desk(office, Realm.OPERATOR, console.PAGES).routes(),
    ]


def payment_routes(
    settings: Settings,
    clock: Clock,
    *,
    database: Callable[[], Database],
    till: Callable[[], Till],
    catalogue: Callable[[], Catalogue],
) -> Sequence[BaseRoute]:
    """Return the pages for payers: about a payment, the simulated bank, and the checkout.

    What must be open is asked for when the first page is.
    """
    counter = Counter(clock, database=database, till=till, catalogue=catalogue)
    forms = FormKey(database)
    is_sandbox = settings.environment == "sandbox"
    return [
        *payment_page_routes(counter, forms, is_sandbox=is_sandbox),
        *checkout_routes(counter, forms),
    ]
