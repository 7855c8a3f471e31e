"""Stripe Checkout: a page of Stripe for a payer without a saved card.

A session is open for a day, and the payer may try several cards. Its payment exists from the
first attempt on; only the session tells whether that was the last one.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import msgspec
import stripe

from printworks.conversion import reader_of
from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    ProviderUnavailable,
)
from printworks.payments.stripe_answers import (
    CANCELLED,
    Intent,
    explain,
    find_earliest,
    refuse,
    write_metadata,
)
from printworks.payments.webhooks import KEY

if TYPE_CHECKING:
    from stripe.checkout import SessionService
    from stripe.params.checkout import SessionCreateParams, SessionListParams

# The prefix of the reference of a session; that of a payment has another.
PREFIX: Final = "cs_"
NOT_IN_TIME: Final = "The payment was not made in time."

# The metadata name that marks a payment as made on such a page.
_ASKED: Final = "printworks_asked"


class StripeSession(msgspec.Struct):
    """The fields of a session that we read."""

    id: str
    status: str | None
    payment_status: str
    url: str | None = None
    metadata: dict[str, str] | None = None
    payment_intent: Intent | str | None = None


_read_session: Final = reader_of(StripeSession)


class StripeCheckout:
    """The sessions; `page` returns the address to which a payer comes back, by the charge's key.

    Errors of Stripe are passed on: the caller translates them.
    """

    def __init__(
        self, sessions: "SessionService", *, page: Callable[[str], str], provider: str
    ) -> None:
        self._sessions = sessions
        self._page = page
        self._provider = provider

    def ask(self, charge: Charge) -> Outcome:
        """Open a page; Stripe makes the key idempotent."""
        try:
            session = self._sessions.create(self._describe(charge), {"idempotency_key": charge.key})
        except stripe.IdempotencyError:
            # Opened before with other data, such as another email address: that page counts.
            if (found := self.find(charge)) is None:
                raise
            return found
        except stripe.InvalidRequestError as error:
            return refuse(error)
        # This may be the repeated first answer, and outdated.
        return self.look_up(session.id)

    def look_up(self, reference: str) -> Outcome:
        return self._translate(self._read(reference))

    def find(self, charge: Charge) -> Outcome | None:
        """Find a page by our key in a list, because Stripe cannot search for it; None without one."""
        asked: SessionListParams = {"limit": 100}
        if (earliest := find_earliest(charge)) is not None:
            asked["created"] = {"gte": earliest}
        listed = self._sessions.list(asked).auto_paging_iter()
        found = [
            session
            for session in map(_convert, listed)
            if (session.metadata or {}).get(KEY) == charge.key
        ]
        # After a day Stripe would open another one for the same key: the paid one counts.
        found.sort(key=lambda each: (each.payment_status != "paid", each.status != "open"))
        return self.look_up(found[0].id) if found else None

    def find_reference(self, intent: Intent) -> str | None:
        """Return the page of an unpaid payment; None without a page."""
        if intent.status == "succeeded" or _ASKED not in intent.metadata:
            return None
        listed = self._sessions.list({"payment_intent": intent.id, "limit": 1})
        if not listed.data:
            raise ProviderUnavailable(f"the payment {intent.id} has no page")
        return listed.data[0].id

    def cancel(self, reference: str) -> Paid | Declined:
        """Close a page, so that it can no longer be paid."""
        # If it cannot be closed, it is paid or closed already; it is read below. Without a key of
        # ours: closing is idempotent, and an error must not be repeated for a day.
        with suppress(stripe.InvalidRequestError):
            self._sessions.expire(reference)
        session = self._read(reference)
        if session.status == "expired":
            return Declined(reason=CANCELLED)
        outcome = self._translate(session)
        if isinstance(outcome, NeedsAuthorisation):
            raise ProviderUnavailable("the page could not be closed")
        return outcome

    def _describe(self, charge: Charge) -> "SessionCreateParams":
        metadata, page = write_metadata(charge), self._page(charge.key)
        described: SessionCreateParams = {
            "mode": "payment",
            "line_items": [
                {
                    "quantity": 1,
                    "price_data": {
                        "currency": charge.currency.lower(),
                        "unit_amount": charge.amount,
                        "product_data": {"name": f"Order {charge.order}"},
                    },
                }
            ],
            # Only cards: other payment methods may take days.
            "allowed_payment_method_types": ["card"],
            "success_url": page,
            "cancel_url": page,
            "metadata": metadata,
            "payment_intent_data": {"metadata": {**metadata, _ASKED: "checkout"}},
        }
        if charge.payer_email:
            described["customer_email"] = charge.payer_email
        return described

    def _read(self, reference: str) -> StripeSession:
        return _convert(self._sessions.retrieve(reference, {"expand": ["payment_intent"]}))

    def _translate(self, session: StripeSession) -> Outcome:
        intent = session.payment_intent
        match session.status, session.payment_status, intent:
            case "complete", "paid", Intent():
                return Paid(provider=self._provider, reference=intent.id)
            # A payment method that takes days, and then failed: not a card.
            case "complete", _, Intent(status="requires_payment_method" | "canceled"):
                return Declined(reason=explain(intent.error.decline_code, intent.error.code))
            case "expired", _, _:
                return Declined(reason=NOT_IN_TIME)
            case "open", _, _ if session.url:
                return NeedsAuthorisation(url=session.url, reference=session.id)
        detail = f"the page {session.id} is {session.status} and {session.payment_status}"
        raise ProviderUnavailable(detail)


def _convert(session: stripe.checkout.Session) -> StripeSession:
    found: Any = session.to_dict()
    return _read_session(found)
