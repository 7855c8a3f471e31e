"""The languages in which people are written to, and which one a recipient is likely to read."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    """A language that every mail can be written in."""

    EN = "en"
    DE = "de"
    FR = "fr"
    ES = "es"


# Each in itself, for those who look for theirs.
LANGUAGE_NAMES: Final[Mapping[Language, str]] = {
    Language.EN: "English",
    Language.DE: "Deutsch",
    Language.FR: "Français",
    Language.ES: "Español",
}
# Where one of them is official and read by most people. Everywhere else English is the best guess.
_SPOKEN_IN: Final[Mapping[Language, str]] = {
    Language.DE: "AT CH DE LI",
    Language.FR: "BE BF BJ BL CD CF CG CI CM FR GA GF GN GP HT LU MC MF ML MQ NC NE PF PM RE SN TD "
    "TG WF YT",
    Language.ES: "AR BO CL CO CR CU DO EC ES GQ GT HN MX NI PA PE PR PY SV UY VE",
}
_BY_COUNTRY: Final = {
    country: language for language, countries in _SPOKEN_IN.items() for country in countries.split()
}


def guess_language(country: str | None) -> Language:
    """Return the language that people in a country most likely read."""
    return _BY_COUNTRY.get(country or "", Language.EN)
