"""Validates the address of a recipient at checkout, with messages for the recipient."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

from printworks.rules.mail import find_address

# The required fields, with their maximum lengths.
NEEDED: Final[Mapping[str, int]] = {
    "recipient_name": 200,
    "address1": 200,
    "town_or_city": 200,
    "postal_code": 50,
    "email": 254,
}
# The optional fields.
OPTIONAL: Final[Mapping[str, int]] = {"address2": 200, "state_or_county": 200}

_MISSING: Final[Mapping[str, str]] = {
    "recipient_name": "Enter the recipient's name.",
    "address1": "Enter the street address.",
    "town_or_city": "Enter the town or city.",
    "postal_code": "Enter the postcode, or - if there is none.",
    "email": "Enter the email address.",
}


def tidy(text: str) -> str:
    """Return a text without superfluous spaces."""
    return " ".join(text.split())


class Fault(StrEnum):
    """What is wrong with a field."""

    MISSING = "missing"
    TOO_LONG = "too long"
    UNPRINTABLE = "unprintable"
    NO_EMAIL = "no email address"


def find_faults(missing: Collection[str], typed: Mapping[str, str]) -> dict[str, Fault]:
    """Return what is wrong with each field that is missing or not valid."""
    faults = {}
    for name, longest in {**NEEDED, **OPTIONAL}.items():
        value = tidy(typed.get(name, ""))
        if not value:
            if name in missing:
                faults[name] = Fault.MISSING
        elif len(value) > longest:
            faults[name] = Fault.TOO_LONG
        elif not value.isprintable():
            faults[name] = Fault.UNPRINTABLE
        elif name == "email" and find_address(value) is None:
            faults[name] = Fault.NO_EMAIL
    return faults


def find_problems(missing: Collection[str], typed: Mapping[str, str]) -> dict[str, str]:
    """Return the error of each field that is missing or not valid."""
    return {name: _explain(name, fault) for name, fault in find_faults(missing, typed).items()}


def _explain(name: str, fault: Fault) -> str:
    said = {
        Fault.TOO_LONG: f"Use at most {({**NEEDED, **OPTIONAL})[name]} characters.",
        Fault.UNPRINTABLE: "This contains a character that cannot be printed.",
        Fault.NO_EMAIL: "Enter a valid email address, such as mary@example.com.",
    }
    return said[fault] if fault in said else _MISSING[name]
