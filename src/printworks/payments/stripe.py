"""By card, through Stripe: a saved card is charged while the merchant is not there.

Whose card is not saved pays on a page of Stripe's own (`stripe_checkout.py`).

The charge's key is Stripe's idempotency key and is kept with the payment. Stripe remembers such
keys for a day and repeats what it answered then, a 500 included; who looks up first and charges
only what is unknown is safe at any age.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final

import stripe

from printworks.net.guard import Guard
from printworks.payments.guarded import GuardedClient
from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    ProviderUnavailable,
    Unknown,
)
from printworks.payments.stripe_answers import (
    CANCELLED,
    REFUSED,
    Intent,
    explain,
    find_earliest,
    log_failure,
    read_intent,
    translate_failures,
    write_metadata,
)
from printworks.payments.stripe_checkout import PREFIX, StripeCheckout
from printworks.payments.webhooks import KEY

if TYPE_CHECKING:
    from stripe.params import PaymentIntentListParams

NO_CARD: Final = "No card is saved for this merchant."

# Nothing about this machine is anybody's business.
stripe.enable_telemetry = False


class StripeProvider:
    """Stripe; `page` gives the address, by a charge's key, to which a payer comes back."""

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
            # Whoever called asks again, after it wrote down that it does not know.
            max_network_retries=0,
        )
        self._intents = client.v1.payment_intents
        self._refunds = client.v1.refunds
        self._checkout = StripeCheckout(client.v1.checkout.sessions, page=page, provider=self.name)
        self._page = page

    def charge(self, charge: Charge) -> Outcome:
        """Charge the saved card; Stripe sees to it that the same key does so once."""
        if not (charge.customer and charge.payment_method):
            return Declined(reason=NO_CARD)
        with translate_failures():
            found = self._begin(charge)
            if isinstance(found, Declined):
                return found
            return self._tell(charge, found)

    def ask_payer(self, charge: Charge) -> Outcome:
        """Open a page of Stripe's own; Stripe sees to it that the same key does so once."""
        with translate_failures():
            return self._checkout.ask(charge)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Read the payment from Stripe, or find it.

        It is found among those of the customer, or without a customer among the pages.
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
            return self._tell(charge, found)

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Cancel at Stripe, so that nobody can authorise the payment any more."""
        with translate_failures():
            if reference.startswith(PREFIX):
                return self._checkout.cancel(reference)
            # What cannot be cancelled is paid or cancelled already, as we shall see.
            with suppress(stripe.InvalidRequestError):
                self._intents.cancel(reference, {}, {"idempotency_key": f"{charge.key}-cancel"})
            found = self._read(reference)
            if asked := self._checkout.find_reference(found):
                return self._checkout.cancel(asked)
            outcome = self._tell(charge, found, may_ask=False)
        if isinstance(outcome, NeedsAuthorisation):
            raise ProviderUnavailable("the payment could not be cancelled")
        return outcome

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Give back all of it; Stripe refuses to do so twice, even when it forgot the key."""
        with translate_failures():
            try:
                refund = self._refunds.create(
                    {"payment_intent": paid.reference, "metadata": {KEY: charge.key}},
                    {"idempotency_key": f"{charge.key}-refund"},
                )
            except stripe.InvalidRequestError as error:
                if error.code != "charge_already_refunded":
                    raise
                return
        if refund.status in {"failed", "canceled"}:
            detail = f"the refund {refund.id} is {refund.status}"
            raise ProviderUnavailable(detail)

    def _begin(self, charge: Charge) -> Intent | Declined:
        try:
            intent = self._intents.create(
                {
                    "amount": charge.amount,
                    "currency": charge.currency.lower(),
                    "customer": charge.customer,
                    "payment_method": charge.payment_method,
                    # Cards alone: other ways may take days until they are paid.
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
            # Tried before with other facts, such as another card: what was done then counts.
            if (found := self._find(charge)) is None:
                raise
            return found
        except stripe.InvalidRequestError as error:
            log_failure(error)
            return Declined(reason=explain(error.code, usual=REFUSED))
        # What is not final may be what was answered the first time, and no longer true.
        return read_intent(intent) if intent.status == "succeeded" else self._read(intent.id)

    def _after_refusal(self, error: stripe.CardError) -> Intent | Declined:
        intent = error.error.payment_intent if error.error else None
        if error.code == "authentication_required" and intent is not None:
            return self._read(intent.id)
        decline_code = error.error.decline_code if error.error else None
        return Declined(reason=explain(decline_code, error.code))

    def _tell(self, charge: Charge, intent: Intent, *, may_ask: bool = True) -> Outcome:
        """Put Stripe's record in our words; ask for an authorisation if one is wanted."""
        if intent.status == "succeeded":
            return Paid(provider=self.name, reference=intent.id)
        if intent.status == "canceled":
            return Declined(reason=CANCELLED)
        if intent.status == "requires_action" and intent.address:
            return NeedsAuthorisation(url=intent.address, reference=intent.id)
        if may_ask and _wants_authorisation(intent):
            return self._tell(charge, self._ask(charge, intent.id), may_ask=False)
        if intent.status == "requires_payment_method":
            return Declined(reason=explain(intent.trouble.decline_code, intent.trouble.code))
        detail = f"the payment {intent.id} is {intent.status}"
        raise ProviderUnavailable(detail)

    def _ask(self, charge: Charge, reference: str) -> Intent:
        """Try the payment once more as if the payer were there, who can then be sent to the bank."""
        # Declined, or no longer in need of it: the payment itself says which.
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
        """Find a payment by our key; listed, because Stripe's search lags behind by a minute."""
        asked: PaymentIntentListParams = {"customer": charge.customer, "limit": 100}
        if (earliest := find_earliest(charge)) is not None:
            asked["created"] = {"gte": earliest}
        all_of_them = map(read_intent, self._intents.list(asked).auto_paging_iter())
        found = [intent for intent in all_of_them if intent.metadata.get(KEY) == charge.key]
        found.sort(key=lambda intent: intent.status != "succeeded")
        return found[0] if found else None


def _wants_authorisation(intent: Intent) -> bool:
    return intent.status == "requires_action" or (
        intent.status == "requires_payment_method"
        and intent.trouble.code == "authentication_required"
    )
