"""What recipients see of a merchant, and what may stand there."""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final
from urllib.parse import urlsplit
from zoneinfo import available_timezones

import msgspec

from printworks.errors import BadInput
from printworks.rules.mail import find_address

UTC_ZONE: Final = "UTC"
# The longest text of each field.
LONGEST: Final[Mapping[str, int]] = {
    "name": 100,
    "email": 254,
    "telephone": 40,
    "website": 200,
    "return_address": 400,
    "packing_slip": 2000,
    "time_zone": 60,
}
# What a packing slip can name, and what stands there.
PLACEHOLDERS: Final[Mapping[str, str]] = {
    "recipient": "the recipient's name",
    "order": "your reference, or our number of the order",
    "number": "our number of the order",
    "date": "the day on which it was ordered",
    "items": "what is in the parcel, line by line",
    "shop": "the name of your shop",
    "contact": "your email address, telephone number and website",
    "return_address": "your return address",
}
_PLACEHOLDER: Final = re.compile(r"\{([^{}\s]{1,40})\}")
_TELEPHONE: Final = re.compile(r"\+?[0-9][0-9 ()./-]{2,38}")
_HOST: Final = re.compile(
    r"(?!.{254})[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)+"
)
_SEVERAL_LINES: Final = frozenset({"return_address", "packing_slip"})
# Where people live; the rest are other names of the same, and machines.
_AREAS: Final = frozenset(
    {
        *("Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia"),
        *("Europe", "Indian", "Pacific"),
    }
)


class ShopProfile(msgspec.Struct, frozen=True, kw_only=True):
    """What a merchant says about its shop; what is empty is not shown."""

    # Empty is the name of the merchant.
    name: str = ""
    email: str = ""
    telephone: str = ""
    website: str = ""
    # Lines, as on an envelope.
    return_address: str = ""
    # The text of the slip in each parcel; empty is no slip.
    packing_slip: str = ""
    # Of the dates in its dashboard, by its name in the tz database.
    time_zone: str = UTC_ZONE


@cache
def list_time_zones() -> Sequence[str]:
    """Return the names of the time zones that people live in, and UTC first."""
    names = (zone for zone in available_timezones() if zone.partition("/")[0] in _AREAS)
    return (UTC_ZONE, *sorted(names))


def tidy_profile(typed: ShopProfile) -> ShopProfile:
    """Return a profile as it is kept; raise `BadInput` with everything that is wrong with it."""
    texts = {name: _tidy(name, getattr(typed, name)) for name in LONGEST}
    wrong = {
        name: problem for name, text in texts.items() if (problem := _find_problem(name, text))
    }
    if wrong:
        raise BadInput(" ".join(wrong.values()), fields=wrong)
    email = find_address(texts["email"]) or ""
    return ShopProfile(**{**texts, "email": email})


def _tidy(name: str, text: str) -> str:
    if name in _SEVERAL_LINES:
        lines = [" ".join(line.split(" ")).rstrip() for line in text.strip().splitlines()]
        return "\n".join(lines)
    text = " ".join(text.split())
    if name == "website" and text and "://" not in text:
        return f"https://{text}"
    return text or (UTC_ZONE if name == "time_zone" else "")


def _find_problem(name: str, text: str) -> str:
    """Return what is wrong with a field, as a sentence; empty if nothing is."""
    label = name.replace("_", " ")
    if len(text) > LONGEST[name]:
        return f"The {label} can have at most {LONGEST[name]} characters."
    if not all(line.isprintable() for line in text.split("\n")):
        return f"The {label} contains a character that cannot be printed."
    return _PROBLEMS[name](text) if text and name in _PROBLEMS else ""


def _check_email(text: str) -> str:
    return "" if find_address(text) else "Enter an email address such as hello@example.com."


def _check_telephone(text: str) -> str:
    is_one = _TELEPHONE.fullmatch(text)
    return "" if is_one else "Enter a telephone number such as +44 1904 123456."


def _check_website(text: str) -> str:
    wrong = "Enter the address of a website such as https://example.com."
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return wrong
    is_web = parts.scheme in {"http", "https"} and _HOST.fullmatch(host)
    is_plain = "@" not in parts.netloc and port != 0 and text.isascii()
    return "" if is_web and is_plain and not re.search(r"[\s\"'<>\\^`{}|]", text) else wrong


def _check_time_zone(text: str) -> str:
    is_known = text in list_time_zones()
    return "" if is_known else "Choose a time zone from the list, such as Europe/London."


def _check_slip(text: str) -> str:
    unknown = {name: None for name in _PLACEHOLDER.findall(text) if name not in PLACEHOLDERS}
    if not unknown:
        return ""
    first, known = next(iter(unknown)), ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
    return f"A packing slip cannot name {{{first}}}. It can name {known}."


_PROBLEMS: Final = {
    "email": _check_email,
    "telephone": _check_telephone,
    "website": _check_website,
    "time_zone": _check_time_zone,
    "packing_slip": _check_slip,
}


def fill_in_slip(text: str, values: Mapping[str, str]) -> str:
    """Return the text of a packing slip with what its placeholders stand for, each once.

    What a value says in braces stays as it is.
    """
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
