"""Fields of a form: one for each key of a block, and how its value is shown and read."""

import re
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from typing import Any, Final

import msgspec

from printworks.catalogue.country_names import name_country
from printworks.catalogue.values import DAYS
from printworks.dashboard.console.drafts.inputs import (
    Choices,
    Input,
    Known,
    Row,
    Typed,
    as_list,
    read_countries,
    read_list,
    read_numeric,
    show_countries,
    show_money,
)

# The inputs of a picture beside its file: its name, and whether it goes.
KEPT_PICTURE: Final = "kept_picture"
DROP_PICTURE: Final = "drop_picture"
Shown = list[Input | Row]
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d")
DAY_CHOICES: Final[Choices] = tuple(
    zip(DAYS, ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"), strict=True)
)


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """A key of a block, as a text."""

    key: str
    label: str
    hint: str = ""
    # Which declared names, or which choices, there are.
    choices: Choices = ()
    declared: str = ""
    # What an absent key means.
    default: Any = None
    inputmode: str = ""
    is_half: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys that it is about."""
        return (self.key,)

    def get(self, values: Mapping[str, Any]) -> Any:
        """Return its value in a block; None if that is absent."""
        return values.get(self.key)

    def show(self, value: Any, known: Known) -> Shown:
        """Return the inputs with a value in them; None is that of an absent key."""
        return [self.input(self.write(self.default if value is None else value), known)]

    def input(self, text: str, known: Known) -> Input:
        """Return the only input."""
        del known
        return Input(
            name=self.key,
            label=self.label,
            value=text,
            hint=self.hint,
            inputmode=self.inputmode,
            is_half=self.is_half,
        )

    def write(self, value: Any) -> str:
        """Return a value as it is typed."""
        return "" if value is None else str(value)

    def read(self, typed: Typed, known: Known) -> None:
        """Take the value from a form."""
        del known
        typed.put(self.key, self.parse(typed.sent.text(self.key)))

    def parse(self, text: str) -> Any:
        """Return what was typed as a value."""
        return text

    def list_choices(self, known: Known) -> Choices:
        """Return what there is to choose from."""
        if not self.declared:
            return self.choices
        listed = getattr(known, self.declared)
        return listed if self.declared == "labs" else [(name, name) for name in listed]


class NumberField(Field, frozen=True, kw_only=True):
    """A number, with a fraction or without."""

    def write(self, value: Any) -> str:
        return f"{value:f}" if isinstance(value, Decimal) else super().write(value)

    def parse(self, text: str) -> Any:
        return read_numeric(text)


class SizeField(Field, frozen=True, kw_only=True):
    """A width and a height."""

    def write(self, value: Any) -> str:
        return "" if value is None else str(value).replace("x", " x ")

    def parse(self, text: str) -> Any:
        return re.sub(r"\s*[xX*\N{MULTIPLICATION SIGN}]\s*", "x", text).replace(",", ".")


class TimeField(Field, frozen=True, kw_only=True):
    """A time of day."""

    def write(self, value: Any) -> str:
        return f"{value:%H:%M}" if isinstance(value, time) else str(value or "")


class FlagField(Field, frozen=True, kw_only=True):
    """Yes or no."""

    def show(self, value: Any, known: Known) -> Shown:
        is_set = bool(self.default) if value is None else value is True
        shown = self.input("yes" if is_set else "", known)
        return [msgspec.structs.replace(shown, kind="tick")]

    def parse(self, text: str) -> Any:
        return text == "yes"

    def read(self, typed: Typed, known: Known) -> None:
        del known
        typed.values[self.key] = typed.sent.text(self.key) == "yes"


class ChoiceField(Field, frozen=True, kw_only=True):
    """One of several names."""

    # What the first choice is called if none has to be chosen.
    nothing: str = ""

    def input(self, text: str, known: Known) -> Input:
        choices = [*self.list_choices(known)]
        if self.nothing or not text:
            choices.insert(0, ("", self.nothing or "Choose …"))
        if text and text not in dict(choices):
            choices.append((text, text))
        shown = super().input(text, known)
        return msgspec.structs.replace(shown, kind="choice", choices=tuple(choices))


class PictureField(Field, frozen=True, kw_only=True):
    """A photograph: the one that there is, or none; another one comes as a file."""

    def input(self, text: str, known: Known) -> Input:
        return msgspec.structs.replace(super().input(text, known), kind="picture")

    def read(self, typed: Typed, known: Known) -> None:
        del known
        if not typed.sent.text(DROP_PICTURE):
            typed.put(self.key, typed.sent.text(KEPT_PICTURE))


class CountryField(Field, frozen=True, kw_only=True):
    """One country, by its name."""

    def input(self, text: str, known: Known) -> Input:
        return msgspec.structs.replace(super().input(text, known), suggestions="countries")

    def write(self, value: Any) -> str:
        return name_country(value)

    def parse(self, text: str) -> Any:
        return next(iter(read_countries(text)), "")


class BoxesField(Field, frozen=True, kw_only=True):
    """Several names, with a box for each."""

    def show(self, value: Any, known: Known) -> Shown:
        ticked = [str(each) for each in as_list(self.default if value is None else value)]
        choices = [*self.list_choices(known)]
        choices += [(each, each) for each in ticked if each not in dict(choices)]
        shown = self.input("", known)
        in_order = tuple(name for name, _ in choices if name in ticked)
        return [
            msgspec.structs.replace(shown, kind="boxes", ticked=in_order, choices=tuple(choices))
        ]

    def read(self, typed: Typed, known: Known) -> None:
        del known
        ticked = [each for each in typed.sent.texts(self.key) if each]
        # Nothing ticked is not what an absent key means.
        if ticked or self.default is not None:
            typed.values[self.key] = ticked


class DaysField(BoxesField, frozen=True, kw_only=True):
    """Days of the week, which files may write as ranges."""

    def show(self, value: Any, known: Known) -> Shown:
        days: list[str] = []
        for text in as_list(self.default if value is None else value):
            first, _, last = str(text).partition("-")
            if first in DAYS and (last or first) in DAYS:
                days += DAYS[DAYS.index(first) : DAYS.index(last or first) + 1]
        return super().show(days, known)


class LinesField(Field, frozen=True, kw_only=True):
    """Several texts, one on each line."""

    def input(self, text: str, known: Known) -> Input:
        return msgspec.structs.replace(super().input(text, known), kind="lines")

    def write(self, value: Any) -> str:
        return "\n".join(str(each) for each in as_list(value))

    def parse(self, text: str) -> Any:
        return read_list(text)


class CountriesField(LinesField, frozen=True, kw_only=True):
    """Countries and groups of them, one on each line."""

    def write(self, value: Any) -> str:
        return show_countries(value)

    def parse(self, text: str) -> Any:
        return read_countries(text)


class DatesField(LinesField, frozen=True, kw_only=True):
    """Dates, and names of calendars."""

    def parse(self, text: str) -> Any:
        return [_read_date(each) for each in read_list(text)]

    def read(self, typed: Typed, known: Known) -> None:
        del known
        dates = self.parse(typed.sent.text(self.key))
        if dates:
            typed.values[self.key] = dates


class DateField(Field, frozen=True, kw_only=True):
    """A day."""

    def parse(self, text: str) -> Any:
        return _read_date(text)


def _read_date(text: str) -> date | str:
    try:
        return date.fromisoformat(text) if _DATE.fullmatch(text) else text
    except ValueError:
        return text


class MoneyField(Field, frozen=True, kw_only=True):
    """An amount."""

    def write(self, value: Any) -> str:
        return show_money(value)

    def read(self, typed: Typed, known: Known) -> None:
        del known
        amount = typed.money(self.key, self.label)
        if amount is not None:
            typed.values[self.key] = amount


class FieldGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Fields that belong together."""

    title: str
    fields: tuple[Field, ...]
    note: str = ""
    # Whether most people need not look at it.
    is_folded: bool = False
