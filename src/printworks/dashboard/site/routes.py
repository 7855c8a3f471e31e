"""The routes of all pages: payments, sign-in, dashboard and console."""

from collections.abc import Sequence

from starlette.routing import BaseRoute

from printworks.dashboard import console, merchant
from printworks.dashboard.auth.sign_in import SignInPages
from printworks.dashboard.checkout.checkout import checkout_routes
from printworks.dashboard.checkout.payment_status import PaymentStatus
from printworks.dashboard.checkout.payments import payment_page_routes
from printworks.dashboard.checkout.tracking import tracking_routes
from printworks.dashboard.mail.unsubscribing import unsubscribe_routes
from printworks.dashboard.merchant.account.card_pages import card_routes
from printworks.dashboard.site.legal import legal_routes
from printworks.dashboard.site.logos import logo_routes
from printworks.dashboard.site.product_pictures import product_picture_routes
from printworks.dashboard.site.router import PageRouter
from printworks.dashboard.site.services import PageServices
from printworks.rules.people import Realm


def people_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the sign-in pages, the merchant area and the operator area."""
    return [
        *SignInPages(services).routes(),
        *card_routes(services),
        *logo_routes(services),
        *product_picture_routes(services),
        *legal_routes(),
        *unsubscribe_routes(services),
        *PageRouter(services, Realm.MERCHANT, merchant.PAGES).routes(),
        *PageRouter(services, Realm.OPERATOR, console.PAGES).routes(),
    ]


def payment_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the pages for payers: about a payment, the simulated bank, the checkout, and where an order is."""
    payments = PaymentStatus(services)
    return [
        *payment_page_routes(payments),
        *checkout_routes(payments),
        *tracking_routes(services),
    ]
