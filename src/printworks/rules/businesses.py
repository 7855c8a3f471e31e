"""Who buys and who sells: names and addresses as they stand on invoices."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from printworks.errors import BadInput
from printworks.rules.vat_ids import find_vat_country, tidy_vat_id

# The longest text of each field.
LONGEST: Final[Mapping[str, int]] = {
    "name": 100,
    "street": 200,
    "postal_code": 20,
    "town": 100,
    "country": 2,
}
# Some countries have no postcodes.
_OPTIONAL: Final = frozenset({"postal_code"})


class Business(msgspec.Struct, frozen=True, kw_only=True):
    """A company as it stands on invoices."""

    name: str = ""
    # With the house number; several lines if need be.
    street: str = ""
    postal_code: str = ""
    town: str = ""
    # By its code of two letters.
    country: str = ""
    vat_id: str = ""

    @property
    def vat_country(self) -> str:
        """The member state of its VAT ID; empty if it has none of the Union."""
        return find_vat_country(self.vat_id)


def tidy_business(typed: Business, countries: Collection[str]) -> Business:
    """Return a company as it is kept; raise `BadInput` with everything that is wrong with it."""
    texts = {name: _tidy(name, getattr(typed, name)) for name in LONGEST}
    wrong = {name: problem for name, text in texts.items() if (problem := _refuse(name, text))}
    if "country" not in wrong and texts["country"] not in countries:
        wrong["country"] = "Choose a country from the list."
    if wrong:
        raise BadInput(" ".join(wrong.values()), fields=wrong)
    return Business(**texts, vat_id=tidy_vat_id(typed.vat_id, texts["country"]))


def _tidy(name: str, text: str) -> str:
    lines = [" ".join(line.split()) for line in text.strip().splitlines()]
    tidied = "\n".join(line for line in lines if line)
    return tidied.upper() if name == "country" else tidied


def _refuse(name: str, text: str) -> str:
    """Return what is wrong with a field, as a sentence; empty if nothing is."""
    label = name.replace("_", " ")
    if not text:
        return "" if name in _OPTIONAL else f"Fill in the {label}."
    if len(text) > LONGEST[name]:
        return f"The {label} can have at most {LONGEST[name]} characters."
    if not all(line.isprintable() for line in text.split("\n")):
        return f"The {label} contains a character that cannot be printed."
    return ""
