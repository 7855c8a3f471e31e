"""The values that a product can have in a file: how each is read, and what is wrong with it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple, TypeVar

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.problems import Mistake, suggest
from printworks.catalogue.products import Attribute, Currency, QualityLevel, Size
from printworks.rules.sizing import Pixels, Units

EVERYWHERE: Final = "everywhere"
LARGEST: Final = 10_000

Prices = dict[tuple[Currency, str | None], int]
Word = TypeVar("Word", bound=StrEnum)


class Vocabulary(NamedTuple):
    """What the products of a catalogue may refer to.

    None means that the file which says so is wrong or unreadable: then every word passes,
    because a problem is reported where it is, not wherever it is felt.
    """

    currencies: tuple[Currency, ...] | None
    kinds: tuple[str, ...] | None
    bands: tuple[str, ...] | None
    groups: Mapping[str, frozenset[str]]
    has_all_groups: bool


def show(value: Any) -> str:
    """Write a value as it stands in the file, or nearly so."""
    return f'"{value}"' if isinstance(value, str) else str(value)


def read_text(key: str, value: Any) -> str:
    """Read a text that is not empty."""
    if not isinstance(value, str) or not value.strip():
        message = f"`{key}` must be a text that is not empty."
        raise Mistake(message)
    return value.strip()


def read_texts(key: str, value: Any) -> tuple[str, ...]:
    """Read one text or a list of them, each once."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts:
        message = f"`{key}` must be a list of texts that is not empty."
        raise Mistake(message)
    read = [read_text(key, text) for text in texts]
    for text in read:
        if read.count(text) > 1:
            message = f"`{key}` lists `{text}` more than once."
            raise Mistake(message)
    return tuple(read)


def read_code(value: Any) -> str:
    """Read the name by which one thing refers to another."""
    text = read_text("code", value)
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", text) or len(text) > 64:
        message = (
            f"The code `{text}` may have small letters, digits and single hyphens only, at most 64."
        )
        raise Mistake(message)
    return text


def read_flag(key: str, value: Any) -> bool:
    """Read a yes or no."""
    if not isinstance(value, bool):
        message = f"`{key}` must be true or false, not {show(value)}."
        raise Mistake(message)
    return value


def read_whole(key: str, value: Any, *, least: int = 0, most: int = 1_000_000) -> int:
    """Read a whole number."""
    if type(value) is not int or not least <= value <= most:
        message = f"`{key}` must be a whole number from {least} to {most}, not {show(value)}."
        raise Mistake(message)
    return value


def read_amount(key: str, value: Any) -> Decimal:
    """Read an exact number."""
    is_number = type(value) in (int, Decimal) and Decimal(value).is_finite()
    if not is_number or not 0 < value <= LARGEST:
        message = f"`{key}` must be a number larger than 0, not {show(value)}."
        raise Mistake(message)
    return Decimal(value)


def read_countries(key: str, value: Any, groups: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """Read a list of country codes and groups of them."""
    found: set[str] = set()
    for name in read_texts(key, value):
        if name not in groups and name not in COUNTRIES:
            message = f"`{key}` names `{name}`, which is neither a country code nor a group"
            raise Mistake(message + suggest(name, list(groups)))
        found |= groups.get(name, {name})
    return frozenset(found)


def read_zone(key: str, value: Any, known: Vocabulary) -> frozenset[str]:
    """Read countries and groups, believing every name while some group could not be read."""
    if known.has_all_groups:
        return read_countries(key, value, known.groups)
    names = read_texts(key, value)
    return frozenset().union(*(known.groups.get(name, {name}) for name in names))


def read_word(key: str, value: Any, words: type[Word]) -> Word:
    """Read a word that the program knows."""
    text = read_text(key, value)
    if text not in list(words):
        message = f"`{text}` is no value of `{key}`{suggest(text, list(words))}"
        raise Mistake(message)
    return words(text)


@cache
def read_price_name(name: str) -> tuple[Currency, str | None] | None:
    """Read `EUR`, or `EUR-IE` for one country, or return None if it is no name of a price."""
    found = re.fullmatch(r"([A-Z]{3})(?:-([A-Z]{2}))?", name)
    if found is None:
        return None
    if found[1] not in list(Currency):
        message = f"`{found[1]}` is not a currency{suggest(found[1], list(Currency))}"
        raise Mistake(message)
    if found[2] is not None and found[2] not in COUNTRIES:
        message = f"`{name}` names the country `{found[2]}`, which does not exist."
        raise Mistake(message)
    return Currency(found[1]), found[2]


def read_price(name: str, value: Any) -> int:
    """Read an amount in minor units."""
    if type(value) is not int or value < 1:
        message = (
            f"The price in {name} must be a whole number of minor units from 1, not {show(value)}."
        )
        raise Mistake(message)
    return value


def _read_sku(value: Any, _: Vocabulary) -> str:
    text = read_text("sku", value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.-]{0,63}", text):
        message = f"The sku `{text}` may have letters, digits, hyphens and dots only, at most 64."
        raise Mistake(message)
    return text


def _read_type(value: Any, _: Vocabulary) -> str:
    text = read_text("type", value)
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", text):
        message = f"The type `{text}` may have letters, digits, `_`, `-` and `.` only, at most 100."
        raise Mistake(message)
    return text


def read_declared(key: str, table: str, value: Any, declared: Sequence[str] | None) -> str:
    """Read a word that the catalogue itself declares in a table."""
    text = read_text(key, value)
    if declared is not None and text not in declared:
        message = f"`{text}` is not in `{table}`{suggest(text, declared)}"
        raise Mistake(message)
    return text


def _read_quality(value: Any, _: Vocabulary) -> tuple[QualityLevel, ...]:
    return tuple(read_word("quality", text, QualityLevel) for text in read_texts("quality", value))


def _read_size(key: str, value: Any) -> Size:
    found = re.fullmatch(r"(-?[\d.]+)x(-?[\d.]+)", value) if isinstance(value, str) else None
    try:
        width, height = (Decimal(part) for part in found.groups()) if found else (None, None)
    except InvalidOperation:
        width = height = None
    if width is None or height is None:
        message = f'`{key}` must be a width and a height such as "4x6", not {show(value)}.'
        raise Mistake(message)
    if not (0 < width <= LARGEST and 0 < height <= LARGEST):
        message = (
            f"`{key}` must be larger than 0 and at most {LARGEST} each way, not {show(value)}."
        )
        raise Mistake(message)
    return Size.of(width, height)


def _read_pixels(value: Any, _: Vocabulary) -> Pixels:
    found = re.fullmatch(r"(\d{1,6})x(\d{1,6})", value) if isinstance(value, str) else None
    if found is None or not (int(found[1]) and int(found[2])):
        message = f'`pixels` must be a width and a height such as "600x900", not {show(value)}.'
        raise Mistake(message)
    return Pixels(int(found[1]), int(found[2]))


def _read_attributes(value: Any, _: Vocabulary) -> tuple[Attribute, ...]:
    if not isinstance(value, dict):
        message = "`attributes` must be a table of names, each with its list of values."
        raise Mistake(message)
    return tuple(_read_attribute(name, values) for name, values in value.items())


def _read_attribute(name: str, values: Any) -> Attribute:
    if values == []:
        message = f"The attribute `{name}` has no values."
        raise Mistake(message)
    return Attribute(name, read_texts(f"attributes.{name}", values))


def _read_prices(value: Any, _: Vocabulary) -> Prices:
    if not isinstance(value, dict):
        message = "`price` must be a table such as { GBP = 25, EUR = 30 }."
        raise Mistake(message)
    return dict(_read_named_prices(value))


def _read_named_prices(table: dict[str, Any]) -> Iterator[tuple[tuple[Currency, str | None], int]]:
    for name, amount in table.items():
        read = read_price_name(name)
        if read is None:
            message = f"`{name}` is not a currency{suggest(name, list(Currency))}"
            raise Mistake(message)
        yield read, read_price(name, amount)


READERS: Final[Mapping[str, Callable[[Any, Vocabulary], Any]]] = {
    "sku": _read_sku,
    "type": _read_type,
    "description": lambda value, _: read_text("description", value),
    "kind": lambda value, known: read_declared("kind", "kinds", value, known.kinds),
    "band": lambda value, known: read_declared("band", "bands", value, known.bands),
    "quality": _read_quality,
    "units": lambda value, _: read_word("units", value, Units),
    "image": lambda value, _: _read_size("image", value),
    "full": lambda value, _: _read_size("full", value),
    "wrap": lambda value, _: read_amount("wrap", value),
    "pixels": _read_pixels,
    "density": lambda value, _: read_amount("density", value),
    "attributes": _read_attributes,
    "sold_to": lambda value, known: read_zone("sold_to", value, known),
    "price": _read_prices,
}
