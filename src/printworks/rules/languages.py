"""The languages in which people are written to, and which one somebody is likely to read."""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    """A language that every mail and every page of a recipient can be written in."""

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


# A browser names a handful; whatever comes after so many is not looked at.
_MOST_NAMED: Final = 20


def choose_language(accepted: str, otherwise: Language = Language.EN) -> Language:
    """Return the language that a browser prefers, by its `Accept-Language`, of those there are."""
    wishes = []
    for part in accepted.split(",")[:_MOST_NAMED]:
        name, _, weight = part.partition(";")
        language = _BY_NAME.get(name.strip().lower().partition("-")[0])
        if language is not None and (wish := _read_weight(weight)) > 0:
            wishes.append((wish, language))
    # The first of those that are liked most.
    return max(wishes, key=lambda wish: wish[0], default=(0, otherwise))[1]


_BY_NAME: Final = {language.value: language for language in Language}


def _read_weight(text: str) -> float:
    """Return how much a language is liked, from 0 to 1; one that cannot be read is not liked."""
    name, _, number = text.partition("=")
    if not name.strip():
        return 1
    is_weight = name.strip().lower() == "q" and _WEIGHT.fullmatch(number.strip())
    return float(number) if is_weight else 0


_WEIGHT: Final = re.compile(r"0(\.[0-9]{0,3})?|1(\.0{0,3})?")
