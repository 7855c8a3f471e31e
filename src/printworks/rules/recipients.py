"""What must be known of a recipient before anybody pays, in words for the recipient."""

import re
from collections.abc import Collection, Mapping
from typing import Final

# The longest that each may be.
NEEDED: Final[Mapping[str, int]] = {
    "recipient_name": 200,
    "address1": 200,
    "town_or_city": 200,
    "postal_code": 50,
    "email": 254,
}
# What may be given along with it.
OPTIONAL: Final[Mapping[str, int]] = {"address2": 200, "state_or_county": 200}

_MISSING: Final[Mapping[str, str]] = {
    "recipient_name": "Say who it is for.",
    "address1": "Say where it should arrive.",
    "town_or_city": "Say in which town or city that is.",
    "postal_code": "The postcode is missing; write - if there is none.",
    "email": "The e-mail address is missing.",
}
_EMAIL: Final = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")


def tidy(text: str) -> str:
    """Return what was typed without needless blanks."""
    return " ".join(text.split())


def find_problems(missing: Collection[str], typed: Mapping[str, str]) -> dict[str, str]:
    """Return what must be typed again, by field; nothing if all of it will do."""
    problems = {}
    for name, longest in {**NEEDED, **OPTIONAL}.items():
        value = tidy(typed.get(name, ""))
        if not value:
            if name in missing:
                problems[name] = _MISSING[name]
        elif len(value) > longest:
            problems[name] = f"This is too long; {longest} characters are the most."
        elif not value.isprintable():
            problems[name] = "There is a character in this that cannot be printed."
        elif name == "email" and not _EMAIL.fullmatch(value):
            problems[name] = "This is no e-mail address; it should look like mary@example.com."
    return problems
