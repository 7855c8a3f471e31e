"""Words, dates and money in the language of the reader."""

from datetime import date, datetime
from decimal import Decimal
from functools import cache
from gettext import GNUTranslations, NullTranslations
from importlib import resources
from typing import Any, Final

from babel import Locale, UnknownLocaleError
from babel.dates import format_date, format_skeleton, format_time, get_datetime_format
from babel.numbers import format_currency, format_decimal, get_currency_precision

from printworks.rules.languages import Language

DOMAIN: Final = "printworks"
CATALOGUES: Final = resources.files("printworks.language").joinpath("catalogues")
# How each language is written unless the country of the reader says otherwise.
_USUAL: Final = {
    Language.EN: "en_GB",
    Language.DE: "de_DE",
    Language.FR: "fr_FR",
    Language.ES: "es_ES",
}


def mark(text: str) -> str:
    """Return a sentence as it is, for the catalogues to have it; `Words.say` translates it later."""
    return text


class Words:
    """Writes to one reader; give it the country of the reader if that is known."""

    def __init__(
        self, language: Language, country: str = "", translations: NullTranslations | None = None
    ) -> None:
        self.language = language
        self._translations = translations or load_translations(language)
        self._locale = _find_locale(language, country)

    def say(self, text: str, /, **values: object) -> str:
        """Return a sentence in the language of the reader."""
        return self._translations.gettext(text).format(**values)

    def count(self, one: str, many: str, number: int, /, **values: object) -> str:
        """Return the sentence that fits a number, which it can name as `{count}`."""
        fitting = self._translations.ngettext(one, many, number)
        return fitting.format(count=self.number(number), **values)

    def number(self, number: int) -> str:
        return format_decimal(number, locale=self._locale)

    def money(self, minor: int, currency: str) -> str:
        """Write an amount of minor units."""
        amount = Decimal(minor).scaleb(-get_currency_precision(currency))
        return format_currency(amount, currency, locale=self._locale)

    def day(self, day: date) -> str:
        """Write a day with its weekday: `Mon 16 Nov`, as the reader does."""
        return format_skeleton("MMMEd", day, locale=self._locale)

    def short_date(self, day: date) -> str:
        """Write a day with its year in few letters."""
        return format_date(day, "medium", locale=self._locale)

    def date(self, day: date) -> str:
        """Write a day with its year."""
        return format_date(day, "long", locale=self._locale)

    def country(self, code: str | None) -> str:
        """Return the name of a country; of one that nobody knows, its code."""
        return str(self._locale.territories.get(code or "", code or ""))

    def timestamp(self, at: datetime) -> str:
        """Write a date and a time in UTC, and say that it is."""
        date = format_date(at, "medium", locale=self._locale)
        time = format_time(at, "short", locale=self._locale)
        # Without the seconds of the usual form, and without the quotation marks of its words.
        together = str(get_datetime_format("medium", locale=self._locale)).replace("'", "")
        return f"{together.format(time, date)} UTC"


@cache
def load_translations(language: Language) -> NullTranslations:
    """Return the compiled catalogue of a language."""
    compiled: Any = CATALOGUES.joinpath(language.value, "LC_MESSAGES", f"{DOMAIN}.mo")
    with compiled.open("rb") as file:
        return GNUTranslations(file)


def _find_locale(language: Language, country: str) -> Locale:
    try:
        return Locale.parse(f"{language.value}_{country}")
    except (UnknownLocaleError, ValueError):
        return Locale.parse(_USUAL[language])
