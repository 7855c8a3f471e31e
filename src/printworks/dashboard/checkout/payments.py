"""The pages about one payment: ours, and that of the sandbox's own bank."""

from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.checkout.payment_status import PaymentCase, PaymentStatus
from printworks.dashboard.checkout.payment_view import (
    BankView,
    PaymentView,
    show_bank,
    show_payment,
    show_unknown_payment,
    show_unreachable_bank,
)
from printworks.dashboard.checkout.readers import RecipientReader, find_reader
from printworks.dashboard.site.forms import Form
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import send_on
from printworks.payments.provider import ProviderUnavailable, Unknown
from printworks.rules.payments import Payer
from printworks.store.accounts.shops import get_shop

_SIMULATED = "simulated"


def payment_page_routes(payments: PaymentStatus) -> Sequence[BaseRoute]:
    """Return the pages; only a sandbox has the bank."""
    limiter = PageLimiter(payments.services, lambda request: find_reader(request).words)
    pages = PaymentPages(payments)
    routes = [Route("/payments/{key}", limiter.page(pages.show_payment))]
    if payments.services.is_sandbox:
        bank = limiter.page(pages.show_bank, pages.decide)
        routes.append(Route("/bank/{key}", bank, methods=["GET", "POST"]))
    return routes


class PaymentPages:
    """Serves the pages about a payment."""

    def __init__(self, payments: PaymentStatus) -> None:
        self._payments = payments
        self._services = payments.services

    def show_payment(self, request: Request) -> Response:
        """Send the payer on, or say what became of the payment."""
        case = self._payments.find(request.path_params["key"])
        if case is None:
            return show_unknown_payment(find_reader(request))
        case = self._payments.find_out(case)
        if case.payment.payer is Payer.RECIPIENT:
            if not case.order.payment_token:
                # The recipient was erased, and with it the page that leads anywhere.
                return show_unknown_payment(find_reader(request))
            return send_on(_way_back(case))
        return show_payment(self._view(case), _read_by(request, case))

    def show_bank(self, request: Request) -> Response:
        """Let the payer decide, or show the decision."""
        case = self._find_simulated(request)
        if case is None:
            return show_unknown_payment(find_reader(request))
        try:
            outcome = self._services.gateway.bank.look_up(case.charge)
        except ProviderUnavailable:
            return show_unreachable_bank(_read_by(request, case))
        if isinstance(outcome, Unknown):
            return show_unknown_payment(find_reader(request))
        reader = _read_by(request, case)
        view = BankView(
            merchant=self._name_shop(case),
            order=name_order(case),
            amount=case.payment.amount,
            currency=case.payment.currency,
            form_token=self._services.forms.make_token(reader.page),
            outcome=outcome,
            back=_way_back(case),
        )
        return show_bank(view, reader)

    def decide(self, request: Request, form: Form) -> Response:
        """Authorise or refuse the payment, and send the payer back."""
        case = self._find_simulated(request)
        if case is None:
            return show_unknown_payment(find_reader(request))
        bank = self._services.gateway.bank
        decide = bank.authorise if form.get("decision") == "authorise" else bank.refuse
        self._payments.ask(case, lambda: decide(case.payment.key))
        return send_on(_way_back(case))

    def _name_shop(self, case: PaymentCase) -> str:
        with self._services.database.reading() as db:
            return get_shop(db, case.merchant.id).name

    def _find_simulated(self, request: Request) -> PaymentCase | None:
        case = self._payments.find(request.path_params["key"])
        return case if case is not None and case.payment.provider == _SIMULATED else None

    def _view(self, case: PaymentCase) -> PaymentView:
        payment = case.payment
        return PaymentView(
            state=payment.state,
            merchant=self._name_shop(case),
            order=name_order(case),
            amount=payment.amount,
            currency=payment.currency,
            bank_url=payment.url or "",
            reason=payment.reason or "",
            is_expired=self._payments.find_time(case.merchant) >= payment.expires_at,
            order_page=f"/orders/{case.order.id}",
        )


def _read_by(request: Request, case: PaymentCase) -> RecipientReader:
    # A merchant does not live where an order goes.
    is_recipient = case.payment.payer is Payer.RECIPIENT
    return find_reader(request, case.order.destination_country if is_recipient else None)


def name_order(case: PaymentCase) -> str:
    """Return the number of an order, with the merchant's reference."""
    own = case.order.merchant_order_id
    return f"{case.order.id} ({own})" if own else str(case.order.id)


def _way_back(case: PaymentCase) -> str:
    if case.payment.payer is Payer.RECIPIENT and case.order.payment_token:
        return f"/pay/{case.order.payment_token}"
    return f"/payments/{case.payment.key}"
