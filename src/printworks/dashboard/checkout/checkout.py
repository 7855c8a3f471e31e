"""The page at which a recipient pays for an order."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.payments.checkout import (
    Checkout,
    complete_recipient,
    find_checkout,
    pay_as_recipient,
)
from printworks.dashboard.checkout.checkout_state import describe_checkout, find_state, list_wanted
from printworks.dashboard.checkout.checkout_view import (
    CheckoutState,
    CheckoutView,
    make_fields,
    show_checkout,
    show_unknown_checkout,
)
from printworks.dashboard.checkout.payment_status import PaymentCase, PaymentStatus
from printworks.dashboard.site.forms import Form
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import send_on
from printworks.errors import BadInput, WrongState
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.rules.recipients import find_problems

# What the address ends in after the recipient has asked to pay.
_LEAVING: Final = "leaving"


def checkout_routes(payments: PaymentStatus) -> Sequence[BaseRoute]:
    pages = CheckoutPages(payments)
    endpoint = PageLimiter(payments.services).page(pages.show, pages.take)
    return [Route("/pay/{token}", endpoint, methods=["GET", "POST"])]


class _Found(msgspec.Struct, frozen=True):
    checkout: Checkout
    view: CheckoutView


class CheckoutPages:
    """Serves the page at which a recipient pays for an order."""

    def __init__(self, payments: PaymentStatus) -> None:
        self._payments = payments
        self._services = payments.services

    def show(self, request: Request) -> Response:
        """Show what is paid for, take what is missing, or say how it stands."""
        found = self._find(request)
        if found is None:
            return show_unknown_checkout()
        is_leaving = _LEAVING in request.query_params
        return show_checkout(msgspec.structs.replace(found.view, is_leaving=is_leaving))

    def take(self, request: Request, form: Form) -> Response:
        """Take what was missing, or the wish to pay."""
        found = self._find(request)
        if found is None:
            return show_unknown_checkout()
        if found.view.state is CheckoutState.INCOMPLETE and form.get("do") == "complete":
            return self._complete(found, form)
        if found.view.state is CheckoutState.PAYABLE and form.get("do") == "pay":
            return self._pay(found)
        # Something happened since the page was made; it will say what.
        return _show_again(found.view)

    def _complete(self, found: _Found, form: Form) -> Response:
        checkout, view = found.checkout, found.view
        problems = find_problems(checkout.missing, form)
        if problems:
            return self._refuse(found, form, errors=problems)
        try:
            with self._services.database.writing() as db:
                complete_recipient(self._services.work(db, checkout.merchant), checkout, form)
        except BadInput as refusal:
            return self._refuse(found, form, problem=refusal.message)
        except WrongState:
            # Another request was quicker; the page shows the current state.
            pass
        return _show_again(view)

    def _refuse(
        self,
        found: _Found,
        form: Form,
        *,
        errors: Mapping[str, str] | None = None,
        problem: str = "",
    ) -> Response:
        order = found.checkout.order
        fields = make_fields(
            list_wanted(found.checkout), order.destination_country or "", values=form, errors=errors
        )
        return show_checkout(msgspec.structs.replace(found.view, fields=fields, problem=problem))

    def _pay(self, found: _Found) -> Response:
        checkout = found.checkout
        try:
            with self._services.database.writing() as db:
                payment = pay_as_recipient(self._services.work(db, checkout.merchant), checkout)
        except WrongState:
            return _show_again(found.view)
        if payment is None:
            return _show_again(found.view)
        case = PaymentCase(payment, checkout.merchant, checkout.order)
        provider = self._services.gateway.open(payment.provider)
        self._payments.ask(case, lambda: provider.ask_payer(case.charge))
        return _show_again(found.view, leaving=True)

    def _find(self, request: Request) -> _Found | None:
        token = request.path_params["token"]
        checkout = self._read(token)
        if checkout is None:
            return None
        payment = checkout.payment
        if payment is not None and payment.state in OPEN_PAYMENTS:
            case = PaymentCase(payment, checkout.merchant, checkout.order)
            self._payments.find_out(case)
            checkout = self._read(token) or checkout
        return _Found(checkout, self._describe(checkout, page=request.scope["path"]))

    def _read(self, token: str) -> Checkout | None:
        with self._services.database.reading() as db:
            return find_checkout(self._services.system_work(db), token)

    def _describe(self, checkout: Checkout, *, page: str) -> CheckoutView:
        state = find_state(
            checkout,
            can_pay=self._services.gateway.cards is not None,
            now=self._payments.find_time(checkout.merchant),
        )
        with self._services.database.reading() as db:
            links = self._services.links(db)
        view = describe_checkout(checkout, state, self._services.catalogue, links, page=page)
        return msgspec.structs.replace(view, form_token=self._services.forms.make_token(page))


def _show_again(view: CheckoutView, *, leaving: bool = False) -> Response:
    query = f"?{_LEAVING}" if leaving else ""
    return send_on(f"{view.page}{query}")
