"""What a form shows of a value and reads back: inputs, alone or in rows, and what was typed."""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import msgspec

from printworks.catalogue.country_names import list_country_choices, name_country
from printworks.catalogue.problems import Place
from printworks.catalogue.values import EVERYWHERE
from printworks.dashboard.site.forms import Sent

Choices = Sequence[tuple[str, str]]

_WHOLE: Final = re.compile(r"-?\d{1,12}")
_FRACTION: Final = re.compile(r"-?\d{1,9}[.,]\d{1,9}")
_MONEY: Final = re.compile(r"(\d{1,9})(?:[.,](\d{1,2}))?")
_EVERYWHERE: Final = "Everywhere"


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """One input of a form."""

    name: str
    label: str
    # How it is drawn: text, lines, choice, boxes, tick or picture.
    kind: str = "text"
    value: str = ""
    # What is ticked, in a group of boxes.
    ticked: tuple[str, ...] = ()
    choices: Choices = ()
    hint: str = ""
    inputmode: str = ""
    suggestions: str = ""
    is_half: bool = False


class Row(msgspec.Struct, frozen=True):
    """Inputs that belong together, one row of several alike."""

    title: str
    inputs: tuple[Input, ...]


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the values of a draft may refer to."""

    currencies: tuple[str, ...]
    kinds: tuple[str, ...]
    bands: tuple[str, ...]
    # Codes and names.
    labs: Choices
    groups: tuple[str, ...]
    holidays: tuple[str, ...]


class Typed:
    """Collects the values of a form, the inputs of each, and what cannot be read at all."""

    def __init__(self, sent: Sent) -> None:
        self.sent = sent
        self.values: dict[str, Any] = {}
        # The inputs of values within the block, such as a line of a list.
        self.names: dict[Place, str] = {}
        self.wrong: dict[str, str] = {}

    def put(self, key: str, value: Any) -> None:
        """Keep a value; nothing if it is empty, since an absent key has its default."""
        if value not in (None, "", [], {}):
            self.values[key] = value

    def money(self, name: str, label: str) -> int | None:
        """Return an amount in minor units; None for an empty input, or one that is refused."""
        text = self.sent.text(name)
        found = _MONEY.fullmatch(text.replace("\N{NO-BREAK SPACE}", ""))
        if not text:
            return None
        if found is None:
            self.wrong[name] = f"{label} must be an amount such as 4.95."
            return None
        return int(found[1]) * 100 + int((found[2] or "").ljust(2, "0"))

    def find_name(self, place: Place) -> str:
        """Return the beginning of the names of the inputs that a place within the block has."""
        for length in range(len(place), 0, -1):
            if place[:length] in self.names:
                return ".".join([self.names[place[:length]], *map(str, place[length:])])
        return ".".join(map(str, place))


def read_numeric(text: str) -> int | Decimal | str:
    """Return a number; any other text stays as it is, for the reader to say what is wrong with it."""
    if _WHOLE.fullmatch(text):
        return int(text)
    return Decimal(text.replace(",", ".")) if _FRACTION.fullmatch(text) else text


def show_money(amount: object) -> str:
    """Return minor units as they are typed."""
    return f"{amount / 100:.2f}" if isinstance(amount, int) else ""


def read_list(text: str) -> list[str]:
    """Return what stands on lines, or between commas."""
    return [each.strip() for each in re.split(r"[,\n]", text) if each.strip()]


def show_countries(names: object) -> str:
    """Return codes and groups as people write them, one on each line."""
    return "\n".join(
        _EVERYWHERE if name == EVERYWHERE else name_country(name) for name in as_list(names)
    )


def read_countries(text: str) -> list[str]:
    """Return countries by their codes; what is no country is a group, or wrong."""
    found: list[str] = []
    for line in filter(None, map(str.strip, text.splitlines())):
        # A name may have a comma in it.
        parts = [line] if line.casefold() in _codes() else read_list(line)
        found += [_codes().get(part.casefold(), part) for part in parts]
    return list(dict.fromkeys(found))


def _codes() -> Mapping[str, str]:
    if not _CODES:
        _CODES.update({code.casefold(): code for code, _ in list_country_choices()})
        _CODES.update({name.casefold(): code for code, name in list_country_choices()})
        _CODES[EVERYWHERE] = EVERYWHERE
    return _CODES


_CODES: Final[dict[str, str]] = {}


def as_list(value: object) -> list[Any]:
    """Return a list, also of a single text, as the files allow; an absent one is empty."""
    if isinstance(value, list | tuple):
        return list(value)
    return [] if value is None else [value]


def write_words(code: str) -> str:
    """Return `fine-art` as `Fine art`, and `RoyalMailFirstClass` as `Royal mail first class`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", code).replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:].lower() if words != code.upper() else words
