"""Reads and translates the responses of Stripe: payments, declines and failures."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Final

import msgspec
import stripe
import structlog

from printworks.conversion import reader_of
from printworks.payments.provider import Charge, Declined, ProviderUnavailable
from printworks.payments.webhooks import KEY

# How far Stripe's clock may be behind ours.
CLOCKS_DIFFER: Final = timedelta(hours=1)

NOT_AUTHORISED: Final = "The payment was not authorised."
DECLINED: Final = "The bank declined the card."
CANCELLED: Final = "The payment was cancelled."
REFUSED: Final = "The payment provider refused the request."
# Other reasons that the payer or the merchant can do something about.
REASONS: Final[Mapping[str, str]] = {
    "amount_too_large": "The amount is more than can be charged at once.",
    "amount_too_small": "The amount is less than can be charged.",
    "authentication_required": NOT_AUTHORISED,
    "card_velocity_exceeded": "The card has reached its limit.",
    "currency_not_supported": "The card cannot be charged in this currency.",
    "email_invalid": "The email address of the payer is not valid.",
    "expired_card": "The card has expired.",
    "incorrect_cvc": "The security code of the card is wrong.",
    "insufficient_funds": "There is not enough money for the payment.",
    "payment_intent_authentication_failure": NOT_AUTHORISED,
    "resource_missing": "The saved card no longer exists.",
    "withdrawal_count_limit_exceeded": "The card has reached its limit.",
}


class Redirect(msgspec.Struct):
    """Where the payer has to go."""

    url: str | None = None


class NextAction(msgspec.Struct):
    """What the payer has to do."""

    redirect_to_url: Redirect | None = None


class PaymentError(msgspec.Struct):
    """Why the last attempt failed."""

    code: str | None = None
    decline_code: str | None = None


class Intent(msgspec.Struct):
    """The fields of a payment that we read."""

    id: str
    status: str
    metadata: dict[str, str] = {}
    next_action: NextAction | None = None
    last_payment_error: PaymentError | None = None

    @property
    def error(self) -> PaymentError:
        """Why it was not paid, as far as Stripe tells."""
        return self.last_payment_error or PaymentError()

    @property
    def address(self) -> str | None:
        """Where the payer has to go, if Stripe gives an address."""
        action = self.next_action
        return action.redirect_to_url.url if action and action.redirect_to_url else None


_read_intent: Final = reader_of(Intent)


def read_intent(intent: stripe.PaymentIntent) -> Intent:
    found: Any = intent.to_dict()
    return _read_intent(found)


def write_metadata(charge: Charge) -> dict[str, str]:
    """Return what Stripe stores with a payment for us."""
    return {KEY: charge.key, "merchant": charge.merchant, "order": str(charge.order)}


def find_earliest(charge: Charge) -> int | None:
    """Return the earliest time, as a Unix timestamp, at which the charge can have started."""
    if charge.asked_at is None:
        return None
    return int((charge.asked_at - CLOCKS_DIFFER).timestamp())


def explain(*codes: str | None, usual: str = DECLINED) -> str:
    """Return the sentence for the first code that has one."""
    return next((REASONS[code] for code in codes if code and code in REASONS), usual)


def refuse(error: stripe.InvalidRequestError) -> Declined:
    """Log a request that Stripe refused, and return it as declined."""
    log_failure(error)
    return Declined(reason=explain(error.code, usual=REFUSED))


@contextmanager
def translate_failures() -> Iterator[None]:
    """Raise `ProviderUnavailable` for every failure of Stripe."""
    try:
        yield
    except stripe.StripeError as error:
        log_failure(error)
        raise ProviderUnavailable(_describe(error)) from error
    except msgspec.ValidationError as error:
        raise ProviderUnavailable(f"an answer that cannot be read: {error}") from error


def log_failure(error: stripe.StripeError) -> None:
    log = structlog.get_logger()
    # A wrong key or a wrong request needs an operator.
    is_permanent = isinstance(
        error, stripe.AuthenticationError | stripe.PermissionError | stripe.InvalidRequestError
    )
    (log.error if is_permanent else log.warning)(
        "stripe refused or failed", detail=_describe(error)
    )


def _describe(error: stripe.StripeError) -> str:
    """Describe the error without Stripe's own text, which may repeat what was sent."""
    is_from_us = isinstance(error, stripe.APIConnectionError)
    facts = (error.user_message,) if is_from_us else (error.http_status, error.code)
    return " ".join(str(fact) for fact in (type(error).__name__, *facts) if fact)
