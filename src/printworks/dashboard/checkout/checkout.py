"""The page at which a recipient pays for an order, and then follows it."""

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
)
from printworks.dashboard.checkout.payment_status import PaymentCase, PaymentStatus
from printworks.dashboard.checkout.readers import RecipientReader, find_reader, refuse_unknown_order
from printworks.dashboard.checkout.refusals import explain_faults
from printworks.dashboard.site.forms import Form
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import send_on
from printworks.errors import BadInput, WrongState
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.rules.recipients import find_faults

# What the address ends in after the recipient has asked to pay.
_LEAVING: Final = "leaving"


def checkout_routes(payments: PaymentStatus) -> Sequence[BaseRoute]:
    pages = CheckoutPages(payments)
    limiter = PageLimiter(payments.services, lambda request: find_reader(request).words)
    endpoint = limiter.page(pages.show, pages.take)
    return [Route("/pay/{token}", endpoint, methods=["GET", "POST"])]


class _Found(msgspec.Struct, frozen=True):
    checkout: Checkout
    view: CheckoutView
    reader: RecipientReader


class CheckoutPages:
    """Serves the page at which a recipient pays for an order."""

    def __init__(self, payments: PaymentStatus) -> None:
        self._payments = payments
        self._services = payments.services

    def show(self, request: Request) -> Response:
        """Show what is paid for, take what is missing, or say how it stands."""
        found = self._find(request)
        if found is None:
            return refuse_unknown_order(find_reader(request))
        is_leaving = _LEAVING in request.query_params
        view = msgspec.structs.replace(found.view, is_leaving=is_leaving)
        return show_checkout(view, found.reader, request)

    def take(self, request: Request, form: Form) -> Response:
        """Take what was missing, or the wish to pay."""
        found = self._find(request)
        if found is None:
            return refuse_unknown_order(find_reader(request))
        if found.view.state is CheckoutState.INCOMPLETE and form.get("do") == "complete":
            return self._complete(found, request, form)
        if found.view.state is CheckoutState.PAYABLE and form.get("do") == "pay":
            if form.get("amount", "") not in {"", str(found.view.total)}:
                changed = found.reader.words.say("The amount has changed. Check it before you pay.")
                return self._refuse(found, request, form, problem=changed)
            return self._pay(found)
        # Something happened since the page was made; it will say what.
        return send_on(found.reader.page)

    def _complete(self, found: _Found, request: Request, form: Form) -> Response:
        checkout = found.checkout
        faults = find_faults(checkout.missing, form)
        if faults:
            errors = explain_faults(faults, found.reader.words)
            return self._refuse(found, request, form, errors=errors)
        try:
            with self._services.database.writing() as db:
                complete_recipient(self._services.work(db, checkout.merchant), checkout, form)
        except BadInput:
            problem = found.reader.words.say("What you entered cannot be used. Please check it.")
            return self._refuse(found, request, form, problem=problem)
        except WrongState:
            # Another request was quicker; the page shows the current state.
            pass
        return send_on(found.reader.page)

    def _refuse(
        self,
        found: _Found,
        request: Request,
        form: Form,
        *,
        errors: Mapping[str, str] | None = None,
        problem: str = "",
    ) -> Response:
        country = found.checkout.order.destination_country or ""
        wanted = list_wanted(found.checkout)
        fields = make_fields(wanted, country, found.reader.words, values=form, errors=errors)
        view = msgspec.structs.replace(found.view, fields=fields, problem=problem)
        return show_checkout(view, found.reader, request)

    def _pay(self, found: _Found) -> Response:
        checkout = found.checkout
        try:
            with self._services.database.writing() as db:
                payment = pay_as_recipient(self._services.work(db, checkout.merchant), checkout)
        except WrongState:
            return send_on(found.reader.page)
        if payment is None:
            return send_on(found.reader.page)
        case = PaymentCase(payment, checkout.merchant, checkout.order)
        provider = self._services.gateway.open(payment.provider)
        self._payments.ask(case, lambda: provider.ask_payer(case.charge))
        return send_on(f"{found.reader.page}?{_LEAVING}")

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
        reader = find_reader(request, checkout.order.destination_country)
        return _Found(checkout, self._describe(checkout, reader), reader)

    def _read(self, token: str) -> Checkout | None:
        with self._services.database.reading() as db:
            return find_checkout(self._services.system_work(db), token)

    def _describe(self, checkout: Checkout, reader: RecipientReader) -> CheckoutView:
        state = find_state(
            checkout,
            can_pay=self._services.gateway.cards is not None,
            now=self._payments.find_time(checkout.merchant),
        )
        with self._services.database.reading() as db:
            links = self._services.links(db)
        view = describe_checkout(checkout, state, self._services.catalogue, links, reader)
        token = self._services.forms.make_token(reader.page)
        return msgspec.structs.replace(view, form_token=token)
