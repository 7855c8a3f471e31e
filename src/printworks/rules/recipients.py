"""Validates the address of a recipient at checkout, with messages for the recipient."""

import re
from collections.abc import Collection, Mapping
from typing import Final

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
    "email": "Enter the e-mail address.",
}
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def tidy(text: str) -> str:
    """Return a text without superfluous spaces."""
    return " ".join(text.split())


def find_problems(missing: Collection[str], typed: Mapping[str, str]) -> dict[str, str]:
    """Return the error of each field that is missing or not valid."""
    problems = {}
    for name, longest in {**NEEDED, **OPTIONAL}.items():
        value = tidy(typed.get(name, ""))
        if not value:
            if name in missing:
                problems[name] = _MISSING[name]
        elif len(value) > longest:
            problems[name] = f"Use at most {longest} characters."
        elif not value.isprintable():
            problems[name] = "This contains a character that cannot be printed."
        elif name == "email" and not _EMAIL.fullmatch(value):
            problems[name] = "Enter a valid e-mail address, such as mary@example.com."
    return problems
