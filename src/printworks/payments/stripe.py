"""Card payments by Stripe: charges a saved card off-session.

A payer without a saved card pays on a page of Stripe (`stripe_checkout.py`).

The charge's key is Stripe's idempotency key, and stored with the payment. Stripe remembers keys
for a day and repeats its first answer, even a 500; so look up first, and charge only what is
unknown.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import stripe

from printworks.net.guard import Guard
from printworks.payments.cards import CardOutcome, CardPage, CardRequest
from printworks.payments.guarded import GuardedClient
from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    ProviderUnavailable,
    RefundOutcome,
    Unknown,
)
from printworks.payments.stripe_answers import (
    CANCELLED,
    Intent,
    explain,
    find_earliest,
    read_intent,
    refuse,
    translate_failures,
    write_metadata,
)
from printworks.payments.stripe_cards import StripeCards
from printworks.payments.stripe_checkout import PREFIX, StripeCheckout
from printworks.payments.stripe_refunds import StripeRefunds
from printworks.payments.webhooks import KEY

if TYPE_CHECKING:
    from stripe.params import PaymentIntentListParams

NO_CARD: Final = "No card is saved for this merchant."

# Send no data about this machine.
stripe.enable_telemetry = False


class StripeProvider:
    """Stripe; `page` returns the address to which a payer comes back, by the charge's key."""

    name = "stripe"

    def __init__(
        self,
        secret_key: str,
        *,
        guard: Guard,
        page: Callable[[str], str],
        api_base: str,
        timeout: timedelta,
    ) -> None:
        client = stripe.StripeClient(
            secret_key,
            http_client=GuardedClient(guard, base=api_base, timeout=timeout),
            base_addresses={"api": api_base},
            # The caller retries, after it has stored that the outcome is unknown.
            max_network_retries=0,
        )
        self._intents = client.v1.payment_intents
        self._refunds = StripeRefunds(client.v1.refunds)
        self._checkout = StripeCheckout(client.v1.checkout.sessions, page=page, provider=self.name)
        self._cards = StripeCards(client.v1, page=page)
        self._page = page

    def charge(self, charge: Charge) -> Outcome:
        """Charge the saved card; Stripe makes the key idempotent."""
        if not (charge.customer and charge.payment_method):
            return Declined(reason=NO_CARD)
        with translate_failures():
            found = self._begin(charge)
            if isinstance(found, Declined):
                return found
            return self._translate(charge, found)

    def ask_payer(self, charge: Charge) -> Outcome:
        """Open a page of Stripe; Stripe makes the key idempotent."""
        with translate_failures():
            return self._checkout.ask(charge)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Read the payment from Stripe by its reference, else find it by its key.

        It is searched for among those of the customer, without a customer among the pages.
        """
        with translate_failures():
            if reference.startswith(PREFIX):
                return self._checkout.look_up(reference)
            if not reference and not charge.customer:
                return self._checkout.find(charge) or Unknown()
            found = self._read(reference) if reference else self._find(charge)
            if found is None:
                return Unknown()
            if asked := self._checkout.find_reference(found):
                return self._checkout.look_up(asked)
            return self._translate(charge, found)

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Cancel at Stripe, so that the payment can no longer be authorised."""
        with translate_failures():
            if reference.startswith(PREFIX):
                return self._checkout.cancel(reference)
            # If it cannot be cancelled, it is paid or cancelled already; it is read below.
            with suppress(stripe.InvalidRequestError):
                self._intents.cancel(reference, {}, {"idempotency_key": f"{charge.key}-cancel"})
            found = self._read(reference)
            if asked := self._checkout.find_reference(found):
                return self._checkout.cancel(asked)
            outcome = self._translate(charge, found, may_ask=False)
        if isinstance(outcome, NeedsAuthorisation):
            raise ProviderUnavailable("the payment could not be cancelled")
        return outcome

    def refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        """Refund all of it; a refund that is under way counts as made."""
        with translate_failures():
            return self._refunds.make(charge, paid)

    def look_up_refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        with translate_failures():
            return self._refunds.look_up(charge, paid)

    def ask_for_card(self, request: CardRequest) -> CardPage:
        """Open a page of Stripe; Stripe makes the key idempotent."""
        with translate_failures():
            return self._cards.ask(request)

    def look_up_card(self, reference: str) -> CardOutcome:
        with translate_failures():
            return self._cards.look_up(reference)

    def forget_card(self, payment_method: str) -> None:
        with translate_failures():
            self._cards.forget(payment_method)

    def _begin(self, charge: Charge) -> Intent | Declined:
        try:
            intent = self._intents.create(
                {
                    "amount": charge.amount,
                    "currency": charge.currency.lower(),
                    "customer": charge.customer,
                    "payment_method": charge.payment_method,
                    # Only cards: other payment methods may take days.
                    "allowed_payment_method_types": ["card"],
                    "confirm": True,
                    "off_session": True,
                    "return_url": self._page(charge.key),
                    "metadata": write_metadata(charge),
                },
                {"idempotency_key": charge.key},
            )
        except stripe.CardError as error:
            return self._after_refusal(error)
        except stripe.IdempotencyError:
            # Attempted before with other data, such as another card: the first attempt counts.
            if (found := self._find(charge)) is None:
                raise
            return found
        except stripe.InvalidRequestError as error:
            return refuse(error)
        # A status that is not final may be the repeated first answer, and outdated.
        return read_intent(intent) if intent.status == "succeeded" else self._read(intent.id)

    def _after_refusal(self, error: stripe.CardError) -> Intent | Declined:
        intent = error.error.payment_intent if error.error else None
        if error.code == "authentication_required" and intent is not None:
            return self._read(intent.id)
        decline_code = error.error.decline_code if error.error else None
        return Declined(reason=explain(decline_code, error.code))

    def _translate(self, charge: Charge, intent: Intent, *, may_ask: bool = True) -> Outcome:
        """Translate Stripe's record; ask for an authorisation if the bank wants one."""
        if intent.status == "succeeded":
            return Paid(provider=self.name, reference=intent.id)
        if intent.status == "canceled":
            return Declined(reason=CANCELLED)
        if intent.status == "requires_action" and intent.address:
            return NeedsAuthorisation(url=intent.address, reference=intent.id)
        if may_ask and _wants_authorisation(intent):
            return self._translate(charge, self._ask(charge, intent.id), may_ask=False)
        if intent.status == "requires_payment_method":
            return Declined(reason=explain(intent.error.decline_code, intent.error.code))
        raise ProviderUnavailable(f"the payment {intent.id} is {intent.status}")

    def _ask(self, charge: Charge, reference: str) -> Intent:
        """Retry the payment on-session, so that the payer can be sent to the bank."""
        # Declined, or no longer needed: the payment itself has the result.
        with suppress(stripe.CardError, stripe.InvalidRequestError):
            self._intents.confirm(
                reference,
                {"payment_method": charge.payment_method, "return_url": self._page(charge.key)},
                {"idempotency_key": f"{charge.key}-authorise"},
            )
        return self._read(reference)

    def _read(self, reference: str) -> Intent:
        return read_intent(self._intents.retrieve(reference))

    def _find(self, charge: Charge) -> Intent | None:
        """Find a payment by our key in a list, because Stripe's search lags by a minute."""
        asked: PaymentIntentListParams = {"customer": charge.customer, "limit": 100}
        if (earliest := find_earliest(charge)) is not None:
            asked["created"] = {"gte": earliest}
        listed = map(read_intent, self._intents.list(asked).auto_paging_iter())
        found = [intent for intent in listed if intent.metadata.get(KEY) == charge.key]
        found.sort(key=lambda intent: intent.status != "succeeded")
        return found[0] if found else None


def _wants_authorisation(intent: Intent) -> bool:
    return intent.status == "requires_action" or (
        intent.status == "requires_payment_method"
        and intent.error.code == "authentication_required"
    )
