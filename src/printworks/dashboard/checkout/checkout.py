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
from printworks.dashboard.checkout.describing import describe_checkout, find_state, list_wanted
from printworks.dashboard.checkout.payment_status import PaymentCase, PaymentStatus
from printworks.dashboard.checkout.views import (
    CheckoutState,
    CheckoutView,
    make_fields,
    show_checkout,
    show_unknown_checkout,
)
from printworks.dashboard.site.forms import Form, FormKey
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import send_on
from printworks.errors import BadInput, WrongState
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.rules.recipients import find_problems
from printworks.store.accounts.secrets import LINKS, get_secret
from printworks.wire.links import Links

# What the address ends in after the recipient has asked to pay.
_LEAVING: Final = "leaving"


def checkout_routes(payments: PaymentStatus, forms: FormKey) -> Sequence[BaseRoute]:
    """Return the page."""
    guard = PageLimiter(forms, payments.clock)
    pages = CheckoutPages(payments, forms)
    endpoint = guard.page(pages.show, pages.take)
    return [Route("/pay/{token}", endpoint, methods=["GET", "POST"])]


class _Found(msgspec.Struct, frozen=True):
    checkout: Checkout
    view: CheckoutView


class CheckoutPages:
    """Answers whoever has the address at which an order is paid."""

    def __init__(self, payments: PaymentStatus, forms: FormKey) -> None:
        self._payments = payments
        self._forms = forms

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
        now = self._payments.tell_time(checkout.merchant)
        try:
            with self._payments.database.writing() as db:
                complete_recipient(db, checkout, form, now=now)
        except BadInput as refusal:
            return self._refuse(found, form, problem=refusal.message)
        except WrongState:
            # Somebody was quicker; the page will say what holds now.
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
            list_wanted(found.checkout),
            order.destination_country or "",
            values=form,
            errors=errors,
        )
        return show_checkout(msgspec.structs.replace(found.view, fields=fields, problem=problem))

    def _pay(self, found: _Found) -> Response:
        checkout, cards = found.checkout, self._payments.gateway.cards
        if cards is None:
            return _show_again(found.view)
        now = self._payments.tell_time(checkout.merchant)
        try:
            with self._payments.database.writing() as db:
                payment = pay_as_recipient(
                    db, checkout, cards=cards, catalogue=self._payments.catalogue, now=now
                )
        except WrongState:
            return _show_again(found.view)
        if payment is None:
            return _show_again(found.view)
        case = PaymentCase(payment, checkout.merchant, checkout.order)
        provider = self._payments.gateway.open(payment.provider)
        self._payments.hear(case, lambda: provider.ask_payer(case.charge))
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
        with self._payments.database.reading() as db:
            return find_checkout(db, token, self._payments.catalogue)

    def _describe(self, checkout: Checkout, *, page: str) -> CheckoutView:
        state = find_state(
            checkout,
            can_pay=self._payments.gateway.cards is not None,
            now=self._payments.tell_time(checkout.merchant),
        )
        with self._payments.database.reading() as db:
            # Without a host: the page may have been asked for by another name of ours.
            links = Links("", get_secret(db, LINKS))
        view = describe_checkout(checkout, state, self._payments.catalogue, links, page=page)
        return msgspec.structs.replace(view, form_token=self._forms.make_token(page))


def _show_again(view: CheckoutView, *, leaving: bool = False) -> Response:
    query = f"?{_LEAVING}" if leaving else ""
    return send_on(f"{view.page}{query}")
