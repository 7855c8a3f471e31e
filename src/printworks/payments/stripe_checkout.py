"""A page of Stripe's own on which somebody pays whose card is not known: a Checkout Session.

A session is open for a day, and the payer may try one card after another on it. Its payment
exists from the first try on; only the session knows whether that was the last one.
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
    REFUSED,
    Intent,
    explain,
    find_earliest,
    log_failure,
    write_metadata,
)
from printworks.payments.webhooks import KEY

if TYPE_CHECKING:
    from stripe.checkout import SessionService
    from stripe.params.checkout import SessionCreateParams, SessionListParams

# How the reference of a session begins; that of a payment does not.
PREFIX: Final = "cs_"
NOT_IN_TIME: Final = "The payment was not made in time."

# The name under which a payment says that it is made on such a page.
_ASKED: Final = "printworks_asked"


class StripeSession(msgspec.Struct):
    """What we read of Stripe's own record of a page; a list has those of others, too."""

    id: str
    status: str | None
    payment_status: str
    url: str | None = None
    metadata: dict[str, str] | None = None
    payment_intent: Intent | str | None = None


_read_session: Final = reader_of(StripeSession)


class StripeCheckout:
    """The pages; `page` gives the address, by a charge's key, to which a payer comes back.

    What Stripe does not answer is raised as it comes: the caller translates it.
    """

    def __init__(
        self, sessions: "SessionService", *, page: Callable[[str], str], provider: str
    ) -> None:
        self._sessions = sessions
        self._page = page
        self._provider = provider

    def ask(self, charge: Charge) -> Outcome:
        """Open a page; Stripe sees to it that the same key does so once."""
        try:
            session = self._sessions.create(self._describe(charge), {"idempotency_key": charge.key})
        except stripe.IdempotencyError:
            # Asked before with other facts, such as another e-mail address: that page counts.
            if (found := self.find(charge)) is None:
                raise
            return found
        except stripe.InvalidRequestError as error:
            log_failure(error)
            return Declined(reason=explain(error.code, usual=REFUSED))
        # The answer may be that of the first time, and no longer true.
        return self.look_up(session.id)

    def look_up(self, reference: str) -> Outcome:
        """Say what became of a page."""
        return self._tell(self._read(reference))

    def find(self, charge: Charge) -> Outcome | None:
        """Find a page by our key, or None; listed, because Stripe cannot search for one."""
        asked: SessionListParams = {"limit": 100}
        if (earliest := find_earliest(charge)) is not None:
            asked["created"] = {"gte": earliest}
        listed = self._sessions.list(asked).auto_paging_iter()
        found = [
            session
            for session in map(_convert, listed)
            if (session.metadata or {}).get(KEY) == charge.key
        ]
        # After a day Stripe would open another one for the same key: what was paid counts.
        found.sort(key=lambda each: (each.payment_status != "paid", each.status != "open"))
        return self.look_up(found[0].id) if found else None

    def find_reference(self, intent: Intent) -> str | None:
        """Return the page to which a payment belongs that is not paid; None without a page."""
        if intent.status == "succeeded" or _ASKED not in intent.metadata:
            return None
        listed = self._sessions.list({"payment_intent": intent.id, "limit": 1})
        if not listed.data:
            detail = f"the payment {intent.id} has no page"
            raise ProviderUnavailable(detail)
        return listed.data[0].id

    def cancel(self, reference: str) -> Paid | Declined:
        """Close a page, so that nobody can pay on it any more."""
        # What cannot be closed is paid or closed already, as we shall see. Closing has no key of
        # ours: it is harmless twice, and a refusal must not be repeated for a day.
        with suppress(stripe.InvalidRequestError):
            self._sessions.expire(reference)
        session = self._read(reference)
        if session.status == "expired":
            return Declined(reason=CANCELLED)
        outcome = self._tell(session)
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
            # Cards alone: other ways may take days until they are paid.
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

    def _tell(self, session: StripeSession) -> Outcome:
        """Put Stripe's record in our words."""
        intent = session.payment_intent
        match session.status, session.payment_status, intent:
            case "complete", "paid", Intent():
                return Paid(provider=self._provider, reference=intent.id)
            # A way to pay that takes days, and then failed: no card does that.
            case "complete", _, Intent(status="requires_payment_method" | "canceled"):
                return Declined(reason=explain(intent.trouble.decline_code, intent.trouble.code))
            case "expired", _, _:
                return Declined(reason=NOT_IN_TIME)
            case "open", _, _ if session.url:
                return NeedsAuthorisation(url=session.url, reference=session.id)
        detail = f"the page {session.id} is {session.status} and {session.payment_status}"
        raise ProviderUnavailable(detail)


def _convert(session: stripe.checkout.Session) -> StripeSession:
    found: Any = session.to_dict()
    return _read_session(found)
