"""The fields of a form about a recipient and the shipping."""

from typing import Any, Final

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import count
from printworks.dashboard.site.forms import Sent, read_choice
from printworks.errors import BadInput
from printworks.rules.orders import ShippingMethod
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy

# What must be known to send anything; an email address need not be.
_REQUIRED: Final = tuple(name for name in NEEDED if name != "email")
_LONGEST_TELEPHONE: Final = 50
LONGEST_REFERENCE: Final = 255


def read_recipient(sent: Sent) -> dict[str, Any]:
    """Read the fields of a recipient, by the names of the core; refuse with all that is wrong."""
    typed = {name: tidy(sent.text(name)) for name in {**NEEDED, **OPTIONAL, "telephone": 0}}
    problems = {**find_problems(_REQUIRED, typed)}
    if len(typed["telephone"]) > _LONGEST_TELEPHONE or not typed["telephone"].isprintable():
        problems["telephone"] = "Enter a valid phone number."
    if problems:
        raise BadInput(" ".join(problems.values()), fields=problems)
    return {name: value or None for name, value in typed.items()}


def read_country(sent: Sent) -> str:
    code = sent.text("country").upper()
    if code not in COUNTRIES:
        raise BadInput("Choose a country.", field="country")
    return code


def read_method(sent: Sent) -> ShippingMethod:
    name = "shipping_method"
    return read_choice(ShippingMethod, sent.text(name), "Choose a shipping method.", field=name)


def read_reference(reference: str) -> str | None:
    """Read the merchant's own number of an order."""
    if len(reference) > LONGEST_REFERENCE:
        message = f"The reference can have at most {LONGEST_REFERENCE} characters."
        raise BadInput(message, field="reference")
    if not reference.isprintable():
        message = "The reference contains a character that cannot be printed."
        raise BadInput(message, field="reference")
    return reference or None


def list_methods(catalogue: Catalogue, country: str) -> list[tuple[str, str]]:
    """Return the shipping methods to a country, with their delivery promise."""
    return [
        (method, f"{method}{_describe_promise(catalogue, method, country)}")
        for method in ShippingMethod
    ]


def list_promises(catalogue: Catalogue, country: str) -> list[tuple[str, str]]:
    """Return the shipping methods, each with its delivery promise to a country in words."""
    found = [(method, catalogue.find_promise(method, country)) for method in ShippingMethod]
    return [
        (str(method), f"within {count(promise.days, 'working day')}" if promise else "")
        for method, promise in found
    ]


def _describe_promise(catalogue: Catalogue, method: ShippingMethod, country: str) -> str:
    promise = catalogue.find_promise(method, country)
    return f": delivered within {count(promise.days, 'working day')}" if promise else ""
