"""The pages of Stripe's on which payers pay, for `stripe_server`: Checkout Sessions.

Of what Stripe documents: a session is open, complete or expired; it has an address while it is
open, and a payment from the payer's first try on, which only the session can cancel.
"""

from contextlib import suppress
from typing import Any, Final

from aiohttp import web
from localstripe import resources
from localstripe.errors import UserError
from localstripe.resources import Customer, Event, PaymentIntent, PaymentMethod, StripeObject
from localstripe.webhooks import schedule_webhook

PATH: Final = "/v1/checkout/sessions"
LIVES_FOR: Final = 24 * 60 * 60

usual_cancel = PaymentIntent._api_cancel


class Session(StripeObject):  # type: ignore[misc]
    """A page, as Stripe shows it."""

    object = "checkout.session"
    _id_prefix = "cs_test_"

    def __init__(self, line: Any, **data: Any) -> None:
        super().__init__()
        self.mode = "payment"
        self.status = "open"
        self.payment_status = "unpaid"
        self.amount_total = int(line["price_data"]["unit_amount"])
        self.currency = line["price_data"]["currency"]
        self.success_url = data["success_url"]
        self.cancel_url = data.get("cancel_url")
        self.customer_email = data.get("customer_email")
        self.metadata = data.get("metadata", {})
        self.expires_at = self.created + LIVES_FOR
        self.payment_intent: str | None = None
        self._intent_data = data.get("payment_intent_data", {})

    @property
    def url(self) -> str | None:
        """Give the address while there is something to do there."""
        return f"https://checkout.example/{self.id}" if self.status == "open" else None


class CardSession(StripeObject):  # type: ignore[misc]
    """A page on which a card is saved, as Stripe shows it."""

    object = "checkout.session"
    _id_prefix = "cs_test_"

    def __init__(self, customer: str, metadata: Any) -> None:
        super().__init__()
        self.mode = "setup"
        self.status = "open"
        self.payment_status = "no_payment_required"
        self.customer = customer
        self.metadata = metadata
        self.expires_at = self.created + LIVES_FOR
        self.setup_intent: Any = None
        self.payment_intent: str | None = None

    @property
    def url(self) -> str | None:
        """Give the address while there is something to do there."""
        return f"https://checkout.example/{self.id}" if self.status == "open" else None


def create_for_card(customer: str, success_url: str, **options: Any) -> CardSession:
    """Open a page for a card, with what our requests may say."""
    known = {"cancel_url", "metadata", "currency", "allowed_payment_method_types"}
    if not known >= set(options) or not success_url.startswith("http"):
        raise UserError(400, "", {"code": "parameter_unknown"})
    Customer._api_retrieve(customer)
    return CardSession(customer, options["metadata"])


def save(id: str, card: str) -> Any:  # noqa: A002
    """Be the merchant: enter a card on the page."""
    session = find_any(id)
    facts = {"number": card, "exp_month": "12", "exp_year": "2040", "cvc": "123"}
    method = PaymentMethod(type="card", card=facts)
    PaymentMethod._api_attach(method.id, customer=session.customer)
    session.setup_intent = {
        "id": "seti_1",
        "status": "succeeded",
        "payment_method": method._export(),
    }
    session.status = "complete"
    schedule_webhook(Event("checkout.session.completed", session))
    return session


def find_any(id: str) -> Any:  # noqa: A002
    """Return a page of either kind."""
    found = resources.store.get(f"checkout.session:{id}")
    if found is None:
        raise UserError(404, "", {"code": "resource_missing"})
    return found


def retrieve(id: str, **_options: Any) -> Any:  # noqa: A002
    """Show a page of either kind; what could be expanded is shown whole."""
    session = find_any(id)
    return session if isinstance(session, CardSession) else Session._api_retrieve(id, **_options)


def create(mode: str, success_url: str, line_items: Any = None, **options: Any) -> Any:
    """Open a page for one thing or for a card, with what our requests may say."""
    if mode == "setup":
        return create_for_card(success_url=success_url, **options)
    known = {"cancel_url", "customer_email", "metadata", "payment_intent_data"}
    if "payment_method_types" in options:
        raise UserError(400, "", {"code": "payment_method_types_no_longer_supported"})
    if options.pop("allowed_payment_method_types", None) != ["card"] or not known >= set(options):
        raise UserError(400, "", {"code": "parameter_unknown"})
    if "@" not in options.get("customer_email", "@"):
        raise UserError(400, "", {"code": "email_invalid"})
    [line] = line_items
    if mode != "payment" or line["quantity"] != "1" or not line["price_data"]["product_data"]:
        raise UserError(400, "", {"code": "parameter_invalid"})
    if int(line["price_data"]["unit_amount"]) < 50:
        raise UserError(400, "", {"code": "amount_too_small"})
    return Session(line, success_url=success_url, **options)


def list_sessions(limit: str = "10", starting_after: str | None = None, **options: Any) -> Any:
    """List all pages, or that of a payment, the newest first, as many as fit on one sheet."""
    since = int((options.get("created") or {}).get("gte", 0))
    intent = options.get("payment_intent")
    found = resources.List(PATH, limit=limit, starting_after=starting_after)
    found._list = [
        session
        for session in resources.store.values()
        if isinstance(session, Session)
        and session.created >= since
        and intent in {None, session.payment_intent}
    ][::-1]
    return found


def expire(id: str) -> Session:  # noqa: A002
    """Close a page that is open."""
    session = find_open(id)
    session.status = "expired"
    if session.payment_intent:
        usual_cancel(session.payment_intent)
    schedule_webhook(Event("checkout.session.expired", session))
    return session


def pay(id: str, card: str) -> Session:  # noqa: A002
    """Be the payer: try a card, and another one if that is declined."""
    session = find_open(id)
    facts = {"number": card, "exp_month": "12", "exp_year": "2040", "cvc": "123"}
    method = PaymentMethod(type="card", card=facts)
    if session.payment_intent is None:
        session.payment_intent = PaymentIntent(
            amount=session.amount_total,
            currency=session.currency,
            metadata=session._intent_data.get("metadata"),
        ).id
    intent = PaymentIntent._api_retrieve(session.payment_intent)
    intent.payment_method, intent.latest_charge = method.id, None
    # A refusal is shown on the page, where the payer can try again.
    with suppress(UserError):
        intent._confirm(on_failure_now=intent._report_failure)
    if intent.status == "succeeded":
        session.status, session.payment_status = "complete", "paid"
        schedule_webhook(Event("checkout.session.completed", session))
    return session


def find_open(id: str) -> Session:  # noqa: A002
    """Return a page on which something can still be done."""
    session: Session = Session._api_retrieve(id)
    if session.status != "open":
        raise UserError(400, "", {"code": "resource_invalid_state"})
    return session


def cancel_intent(id: str, **data: Any) -> Any:  # noqa: A002
    """Leave payments of pages to their pages."""
    if list_sessions(payment_intent=id)._list:
        raise UserError(400, "", {"code": "payment_intent_unexpected_state"})
    return usual_cancel(id, **data)


async def save_on_demand(request: web.Request) -> web.Response:
    """Let a test be the merchant; Stripe has no such address."""
    session = save(request.match_info["id"], **await request.json())
    return web.json_response(session._export())


async def pay_on_demand(request: web.Request) -> web.Response:
    """Let a test be the payer; Stripe has no such address."""
    session = pay(request.match_info["id"], **await request.json())
    return web.json_response(session._export())


# Longer paths first: of two that match, the first one is taken.
APIS: Final = [
    ("POST", f"{PATH}/{{id}}/expire", expire),
    ("GET", f"{PATH}/{{id}}", retrieve),
    ("POST", PATH, create),
    ("GET", PATH, list_sessions),
    ("POST", "/v1/payment_intents/{id}/cancel", cancel_intent),
]
