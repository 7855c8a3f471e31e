"""Stripe Checkout in set-up mode: a page of Stripe on which a merchant saves a card."""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec
import stripe

from printworks.conversion import reader_of
from printworks.payments.cards import CardDetails, CardOutcome, CardPage, CardRefused, CardRequest
from printworks.payments.provider import ProviderUnavailable
from printworks.payments.webhooks import CARD_KEY

if TYPE_CHECKING:
    from stripe.params.checkout import SessionCreateParams

NOT_SAVED: Final = "No card was entered in time."


class _Card(msgspec.Struct):
    brand: str
    last4: str
    exp_month: int
    exp_year: int


class _Method(msgspec.Struct):
    id: str
    card: _Card | None = None


class _Setup(msgspec.Struct):
    status: str
    payment_method: _Method | None = None


class _Session(msgspec.Struct):
    id: str
    status: str | None
    url: str | None = None
    customer: str | None = None
    setup_intent: _Setup | str | None = None


_read_session: Final = reader_of(_Session)


class StripeCards:
    """Saves cards; `page` returns the address to which a merchant comes back, by the key.

    Errors of Stripe are passed on: the caller translates them.
    """

    def __init__(self, services: Any, *, page: Callable[[str], str]) -> None:
        self._sessions = services.checkout.sessions
        self._customers = services.customers
        self._methods = services.payment_methods
        self._page = page

    def ask(self, request: CardRequest) -> CardPage:
        """Open a page; Stripe makes the key idempotent."""
        customer = request.customer or self._add_customer(request)
        session = self._sessions.create(
            self._describe(request, customer), {"idempotency_key": request.key}
        )
        return CardPage(url=str(session.url), reference=session.id)

    def look_up(self, reference: str) -> CardOutcome:
        """Return what became of a page."""
        expand = {"expand": ["setup_intent.payment_method"]}
        found: Any = self._sessions.retrieve(reference, expand).to_dict()
        session = _read_session(found)
        match session.status, session.setup_intent:
            case "complete", _Setup(
                status="succeeded", payment_method=_Method(id=method, card=_Card() as card)
            ):
                return CardDetails(
                    customer=session.customer or "",
                    payment_method=method,
                    brand=card.brand,
                    last_four=card.last4,
                    expires_month=card.exp_month,
                    expires_year=card.exp_year,
                )
            case "expired", _:
                return CardRefused(reason=NOT_SAVED)
            case "open", _ if session.url:
                return CardPage(url=session.url, reference=session.id)
        raise ProviderUnavailable(f"the page {session.id} is {session.status}")

    def forget(self, payment_method: str) -> None:
        """Detach a card, so that it can never be charged again."""
        # Not attached any more, or never there.
        with suppress(stripe.InvalidRequestError):
            self._methods.detach(payment_method)

    def _add_customer(self, request: CardRequest) -> str:
        added = self._customers.create(
            {"metadata": {"merchant": request.merchant}},
            {"idempotency_key": f"{request.key}-customer"},
        )
        return str(added.id)

    def _describe(self, request: CardRequest, customer: str) -> "SessionCreateParams":
        page = self._page(f"cards/{request.key}")
        return {
            "mode": "setup",
            "currency": request.currency.lower(),
            "customer": customer,
            # Only cards: other payment methods may take days.
            "allowed_payment_method_types": ["card"],
            "success_url": page,
            "cancel_url": page,
            "metadata": {CARD_KEY: request.key, "merchant": request.merchant},
        }
