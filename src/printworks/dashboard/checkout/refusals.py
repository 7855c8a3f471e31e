"""Why a payment failed or a field was refused, in the language of the recipient."""

from collections.abc import Mapping
from typing import Final

from printworks.language.words import Words, mark
from printworks.rules.recipients import NEEDED, OPTIONAL, Fault

# What providers say. Anything else is told in general words: it was written for the merchant, and
# may mean that no provider has answered.
DECLINES: Final = frozenset(
    {
        mark("The bank declined the card."),
        mark("The bank declined the payment."),
        mark("The payment was not authorised."),
        mark("The payment was cancelled."),
        mark("The payment was not made in time."),
        mark("The payment was not authorised in time."),
        mark("The amount is more than can be charged at once."),
        mark("The amount is less than can be charged."),
        mark("The card has reached its limit."),
        mark("The card cannot be charged in this currency."),
        mark("The email address of the payer is not valid."),
        mark("The card has expired."),
        mark("The security code of the card is wrong."),
        mark("There is not enough money for the payment."),
    }
)
_MISSING: Final[Mapping[str, str]] = {
    "recipient_name": mark("Enter the recipient's name."),
    "address1": mark("Enter the street address."),
    "town_or_city": mark("Enter the town or city."),
    "postal_code": mark("Enter the postcode, or - if there is none."),
    "email": mark("Enter the email address."),
}


_GENERAL: Final = mark("The bank did not confirm the payment.")


def is_certain(reason: str) -> bool:
    """Return whether a provider has said so, so that nothing was charged."""
    return reason in DECLINES


def explain_decline(reason: str, words: Words) -> str:
    """Return why nothing was paid, as a sentence."""
    return words.say(reason if is_certain(reason) else _GENERAL)


def explain_faults(faults: Mapping[str, Fault], words: Words) -> dict[str, str]:
    """Return the error of each field that was filled in wrongly."""
    return {name: _explain(name, fault, words) for name, fault in faults.items()}


def _explain(name: str, fault: Fault, words: Words) -> str:
    match fault:
        case Fault.MISSING:
            return words.say(_MISSING[name])
        case Fault.TOO_LONG:
            longest = words.number({**NEEDED, **OPTIONAL}[name])
            return words.say("Use at most {longest} characters.", longest=longest)
        case Fault.UNPRINTABLE:
            return words.say("This contains a character that cannot be printed.")
        case Fault.NO_EMAIL:
            return words.say("Enter a valid email address, such as mary@example.com.")
