"""VAT IDs: how they are written in each country, checked by their form and check digits."""

from typing import Final

from stdnum.exceptions import ValidationError
from stdnum.util import get_cc_module

from printworks.errors import BadInput
from printworks.rules.tax_table import UNION

# Greek ids begin with another code than the country's.
_PREFIXES: Final = {"GR": "EL"}
# Where an id begins with the code of the country, which is left out when it is checked.
_PREFIXED: Final = UNION | {"GB"}
_LONGEST: Final = 40


def tidy_vat_id(typed: str, country: str, *, field: str = "vat_id") -> str:
    """Return a VAT ID of a country as it is written on invoices; empty stays empty.

    Whether it is in use is not known: only its form and its check digits are looked at.
    """
    text = typed.strip().upper()
    if not text:
        return ""
    module = get_cc_module(country.lower(), "vat")
    if len(text) > _LONGEST or not text.isascii() or not text.isprintable():
        raise _refuse(text, country, field)
    if module is None:
        return text
    try:
        number: str = module.validate(text)
    except ValidationError as error:
        raise _refuse(text, country, field) from error
    return f"{_PREFIXES.get(country, country)}{number}" if country in _PREFIXED else number


def find_vat_country(vat_id: str) -> str:
    """Return the member state that gave out a VAT ID; empty if none of them did."""
    countries = {_PREFIXES.get(country, country): country for country in UNION}
    return countries.get(vat_id[:2], "")


def _refuse(text: str, country: str, field: str) -> BadInput:
    shown = text[:_LONGEST]
    return BadInput(
        f"“{shown}” is not a VAT ID of {country}: look for a missing or mistyped character.",
        field=field,
    )
