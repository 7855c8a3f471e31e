"""By card, through Stripe: a saved card is charged while the merchant is not there.

The charge's key is Stripe's idempotency key and is kept with the payment. Stripe remembers such
keys for a day and repeats what it answered then, a 500 included; who looks up first and charges
only what is unknown is safe at any age.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from typing import Any, Final

import msgspec
import stripe
import structlog

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
from printworks.payments.webhooks import KEY

API_BASE: Final = "https://api.stripe.com"
ASK_WITHIN: Final = timedelta(seconds=30)
# How much earlier than ours Stripe's clock may say that a payment began.
CLOCKS_DIFFER: Final = timedelta(hours=1)

NO_CARD: Final = "No card is saved for this merchant."
NOT_AUTHORISED: Final = "The payment was not authorised."
DECLINED: Final = "The bank declined the card."
CANCELLED: Final = "The payment was cancelled."
REFUSED: Final = "The payment provider refused the request."
# What else a bank may say that the merchant can do something about.
REASONS: Final[Mapping[str, str]] = {
    "amount_too_large": "The amount is more than can be charged at once.",
    "amount_too_small": "The amount is less than can be charged.",
    "authentication_required": NOT_AUTHORISED,
    "card_velocity_exceeded": "The card has reached its limit.",
    "currency_not_supported": "The card cannot be charged in this currency.",
    "expired_card": "The card has expired.",
    "incorrect_cvc": "The security code of the card is wrong.",
    "insufficient_funds": "There is not enough money for the payment.",
    "payment_intent_authentication_failure": NOT_AUTHORISED,
    "resource_missing": "The saved card no longer exists.",
    "withdrawal_count_limit_exceeded": "The card has reached its limit.",
}

# Nothing about this machine is anybody's business.
stripe.enable_telemetry = False


class _Redirect(msgspec.Struct):
    url: str | None = None


class _NextAction(msgspec.Struct):
    redirect_to_url: _Redirect | None = None


class _Trouble(msgspec.Struct):
    code: str | None = None
    decline_code: str | None = None


class _Intent(msgspec.Struct):
    """What we read of Stripe's own record of a payment."""

    id: str
    status: str
    metadata: dict[str, str] = {}
    next_action: _NextAction | None = None
    last_payment_error: _Trouble | None = None


class StripeProvider:
    """Stripe; `page` gives the address, by a charge's key, to which a payer comes back."""

    name = "stripe"

    def __init__(
        self,
        secret_key: str,
        *,
        guard: Guard,
        page: Callable[[str], str],
        api_base: str = API_BASE,
        timeout: timedelta = ASK_WITHIN,
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
        self._page = page

    def charge(self, charge: Charge) -> Outcome:
        """Charge the saved card; Stripe sees to it that the same key does so once."""
        if not (charge.customer and charge.payment_method):
            return Declined(reason=NO_CARD)
        with _translate_failures():
            found = self._begin(charge)
            if isinstance(found, Declined):
                return found
            return self._tell(charge, found)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Read the payment from Stripe, or find it among those of the customer."""
        with _translate_failures():
            found = self._read(reference) if reference else self._find(charge)
            return Unknown() if found is None else self._tell(charge, found)

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Cancel at Stripe, so that nobody can authorise the payment any more."""
        with _translate_failures():
            # What cannot be cancelled is paid or cancelled already, as we shall see.
            with suppress(stripe.InvalidRequestError):
                self._intents.cancel(reference, {}, {"idempotency_key": f"{charge.key}-cancel"})
            outcome = self._tell(charge, self._read(reference), may_ask=False)
        if isinstance(outcome, NeedsAuthorisation):
            raise ProviderUnavailable("the payment could not be cancelled")
        return outcome

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Give back all of it; Stripe refuses to do so twice, even when it forgot the key."""
        with _translate_failures():
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

    def _begin(self, charge: Charge) -> _Intent | Declined:
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
                    "metadata": {
                        KEY: charge.key,
                        "merchant": charge.merchant,
                        "order": str(charge.order),
                    },
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
            _log(error)
            return Declined(reason=_explain(error.code, usual=REFUSED))
        # What is not final may be what was answered the first time, and no longer true.
        return _convert(intent) if intent.status == "succeeded" else self._read(intent.id)

    def _after_refusal(self, error: stripe.CardError) -> _Intent | Declined:
        intent = error.error.payment_intent if error.error else None
        if error.code == "authentication_required" and intent is not None:
            return self._read(intent.id)
        decline_code = error.error.decline_code if error.error else None
        return Declined(reason=_explain(decline_code, error.code))

    def _tell(self, charge: Charge, intent: _Intent, *, may_ask: bool = True) -> Outcome:
        """Put Stripe's record in our words; ask for an authorisation if one is wanted."""
        trouble = intent.last_payment_error or _Trouble()
        if intent.status == "succeeded":
            return Paid(provider=self.name, reference=intent.id)
        if intent.status == "canceled":
            return Declined(reason=CANCELLED)
        url = _find_address(intent)
        if intent.status == "requires_action" and url:
            return NeedsAuthorisation(url=url, reference=intent.id)
        if may_ask and _wants_authorisation(intent):
            return self._tell(charge, self._ask(charge, intent.id), may_ask=False)
        if intent.status == "requires_payment_method":
            return Declined(reason=_explain(trouble.decline_code, trouble.code))
        detail = f"the payment {intent.id} is {intent.status}"
        raise ProviderUnavailable(detail)

    def _ask(self, charge: Charge, reference: str) -> _Intent:
        """Try the payment once more as if the payer were there, who can then be sent to the bank."""
        # Declined, or no longer in need of it: the payment itself says which.
        with suppress(stripe.CardError, stripe.InvalidRequestError):
            self._intents.confirm(
                reference,
                {"payment_method": charge.payment_method, "return_url": self._page(charge.key)},
                {"idempotency_key": f"{charge.key}-authorise"},
            )
        return self._read(reference)

    def _read(self, reference: str) -> _Intent:
        return _convert(self._intents.retrieve(reference))

    def _find(self, charge: Charge) -> _Intent | None:
        """Find a payment by our key; listed, because Stripe's search lags behind by a minute."""
        if not charge.customer:
            return None
        listed = self._intents.list(
            {"customer": charge.customer, "limit": 100}
            if charge.asked_at is None
            else {
                "customer": charge.customer,
                "limit": 100,
                "created": {"gte": int((charge.asked_at - CLOCKS_DIFFER).timestamp())},
            }
        )
        all_of_them = (_convert(intent) for intent in listed.auto_paging_iter())
        found = [intent for intent in all_of_them if intent.metadata.get(KEY) == charge.key]
        found.sort(key=lambda intent: intent.status != "succeeded")
        return found[0] if found else None


def _convert(intent: stripe.PaymentIntent) -> _Intent:
    found: Any = intent.to_dict()
    return msgspec.convert(found, _Intent)


def _find_address(intent: _Intent) -> str | None:
    action = intent.next_action
    return action.redirect_to_url.url if action and action.redirect_to_url else None


def _wants_authorisation(intent: _Intent) -> bool:
    trouble = intent.last_payment_error or _Trouble()
    return intent.status == "requires_action" or (
        intent.status == "requires_payment_method" and trouble.code == "authentication_required"
    )


def _explain(*codes: str | None, usual: str = DECLINED) -> str:
    return next((REASONS[code] for code in codes if code and code in REASONS), usual)


@contextmanager
def _translate_failures() -> Iterator[None]:
    """Raise `ProviderUnavailable` for whatever is not an answer to the question."""
    try:
        yield
    except stripe.StripeError as error:
        _log(error)
        raise ProviderUnavailable(_describe(error)) from error
    except msgspec.ValidationError as error:
        detail = f"an answer that cannot be read: {error}"
        raise ProviderUnavailable(detail) from error


def _log(error: stripe.StripeError) -> None:
    log = structlog.get_logger()
    # A wrong key or a wrong request does not go away by itself: somebody must look.
    is_ours = isinstance(
        error, stripe.AuthenticationError | stripe.PermissionError | stripe.InvalidRequestError
    )
    (log.error if is_ours else log.warning)("stripe refused or failed", detail=_describe(error))


def _describe(error: stripe.StripeError) -> str:
    """Name the error without Stripe's own sentence, which may repeat what was sent."""
    is_ours = isinstance(error, stripe.APIConnectionError)
    facts = (error.user_message,) if is_ours else (error.http_status, error.code)
    return " ".join(str(fact) for fact in (type(error).__name__, *facts) if fact)
