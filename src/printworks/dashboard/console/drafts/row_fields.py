"""Fields with several inputs: prices, parcels, choices, and lines with fields of their own."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from printworks.catalogue.country_names import name_country
from printworks.dashboard.console.drafts.fields import Field, Shown
from printworks.dashboard.console.drafts.inputs import (
    Input,
    Known,
    Row,
    Typed,
    as_list,
    read_countries,
    read_list,
    read_numeric,
    show_money,
)

# Empty rows at the end of a list, to add to it.
_SPARE_ROWS: Final = 2


class SpanField(Field, frozen=True, kw_only=True):
    """The fewest and the most days."""

    def show(self, value: Any, known: Known) -> Shown:
        del known
        days = as_list(value)
        first, last = (str(days[at]) if at < len(days) else "" for at in (0, 1))
        common = {"inputmode": "numeric", "is_half": True}
        return [
            Input(name=f"{self.key}.0", label=f"{self.label}, at least", value=first, **common),  # type: ignore[arg-type]
            Input(name=f"{self.key}.1", label="At most", value=last, **common),  # type: ignore[arg-type]
        ]

    def read(self, typed: Typed, known: Known) -> None:
        del known
        texts = [typed.sent.text(f"{self.key}.{at}") for at in (0, 1)]
        typed.names[(self.key,)] = f"{self.key}.0"
        typed.put(self.key, [read_numeric(text) for text in texts if text])


class BandsField(Field, frozen=True, kw_only=True):
    """What parcels of each band cost: the first items and as many again, in each currency."""

    def show(self, value: Any, known: Known) -> Shown:
        given: Mapping[str, Any] = value or {}
        bands = [*known.bands, *(band for band in given if band not in known.bands)]
        return [self._show_band(band, given.get(band) or {}, known) for band in bands]

    def _show_band(self, band: str, prices: Mapping[str, Any], known: Known) -> Row:
        name = f"{self.key}.{band}"
        inputs = [
            Input(
                name=f"{name}.items",
                label="Items in a parcel",
                value=str(prices.get("items", "")),
                inputmode="numeric",
            )
        ]
        for currency in known.currencies:
            steps = as_list(prices.get(currency))
            for at, label in ((0, f"{currency} first parcel"), (1, f"{currency} each further")):
                inputs.append(
                    Input(
                        name=f"{name}.{currency}.{at}",
                        label=label,
                        value=show_money(steps[at]) if at < len(steps) else "",
                        inputmode="decimal",
                        is_half=True,
                    )
                )
        return Row(band, tuple(inputs))

    def read(self, typed: Typed, known: Known) -> None:
        bands = {}
        for band in self._list_sent(typed):
            prices: dict[str, Any] = {}
            items = typed.sent.text(f"{self.key}.{band}.items")
            if items:
                prices["items"] = read_numeric(items)
            for currency in known.currencies:
                name = f"{self.key}.{band}.{currency}"
                steps = [typed.money(f"{name}.{at}", f"{currency} for {band}") for at in (0, 1)]
                typed.names[(self.key, band, currency)] = f"{name}.0"
                given = [step for step in steps if step is not None]
                if given:
                    prices[currency] = given
            typed.names[(self.key, band)] = f"{self.key}.{band}"
            if prices:
                bands[band] = prices
        typed.put(self.key, bands)

    def _list_sent(self, typed: Typed) -> list[str]:
        ending, beginning = ".items", f"{self.key}."
        return [
            name[len(beginning) : -len(ending)]
            for name in typed.sent.fields
            if name.startswith(beginning) and name.endswith(ending)
        ]


class PricesField(Field, frozen=True, kw_only=True):
    """The price in each currency, and other prices in some countries."""

    def show(self, value: Any, known: Known) -> Shown:
        given: Mapping[str, Any] = value or {}
        shown: Shown = [
            Input(
                name=f"{self.key}.{currency}",
                label=f"Price in {currency}",
                value=show_money(given.get(currency)),
                inputmode="decimal",
                is_half=True,
            )
            for currency in dict.fromkeys((*known.currencies, *_list_plain(given)))
        ]
        others = [(name, price) for name, price in given.items() if "-" in name]
        spare: list[tuple[str, Any]] = [("", None)] * _SPARE_ROWS
        for at, (name, price) in enumerate([*others, *spare]):
            shown.append(self._show_other(at, name, price, known))
        return shown

    def _show_other(self, at: int, name: str, price: Any, known: Known) -> Row:
        currency, _, country = name.partition("-")
        choices = (("", "Choose …"), *((one, one) for one in known.currencies))
        name = f"{self.key}.other.{at}"
        return Row(
            f"Other price in a country {at + 1}",
            (
                Input(
                    name=f"{name}.country",
                    label="Country",
                    value=name_country(country),
                    suggestions="countries",
                    is_half=True,
                ),
                Input(
                    name=f"{name}.currency",
                    label="Currency",
                    kind="choice",
                    value=currency,
                    choices=choices,
                    is_half=True,
                ),
                Input(
                    name=f"{name}.price",
                    label="Price there",
                    value=show_money(price),
                    inputmode="decimal",
                    is_half=True,
                ),
            ),
        )

    def read(self, typed: Typed, known: Known) -> None:
        prices: dict[str, int] = {}
        for currency in known.currencies:
            amount = typed.money(f"{self.key}.{currency}", f"Price in {currency}")
            if amount is not None:
                prices[currency] = amount
        for at in list_rows(typed, f"{self.key}.other", "price"):
            name = f"{self.key}.other.{at}"
            amount = typed.money(f"{name}.price", "Price there")
            country = next(iter(read_countries(typed.sent.text(f"{name}.country"))), "")
            price_name = f"{typed.sent.text(f'{name}.currency')}-{country}"
            typed.names[(self.key, price_name)] = f"{name}.country"
            if amount is None and country and f"{name}.price" not in typed.wrong:
                typed.wrong[f"{name}.price"] = "Enter the price in this country."
            elif amount is not None:
                prices[price_name] = amount
        typed.put(self.key, prices)


def _list_plain(prices: Mapping[str, Any]) -> list[str]:
    return [name for name in prices if "-" not in name]


class AttributesField(Field, frozen=True, kw_only=True):
    """What the merchant chooses from, each with its usual value or none. It also has `defaults`."""

    @property
    def keys(self) -> tuple[str, ...]:
        return ("attributes", "defaults")

    def get(self, values: Mapping[str, Any]) -> Any:
        return values.get("attributes") or {}, values.get("defaults") or {}

    def show(self, value: Any, known: Known) -> Shown:
        del known
        attributes, defaults = value
        rows: list[tuple[str, Any]] = [*attributes.items(), *([("", ())] * _SPARE_ROWS)]
        return [
            Row(
                f"Choice {at + 1}",
                (
                    Input(name=f"{self.key}.{at}.name", label="What is chosen", value=name),
                    Input(
                        name=f"{self.key}.{at}.values",
                        label="From these",
                        value=", ".join(map(str, as_list(values))),
                        hint="With commas between them.",
                    ),
                    Input(
                        name=f"{self.key}.{at}.default",
                        label="Usual choice",
                        value=str(defaults.get(name, "")),
                        hint="Empty if the merchant has to choose.",
                    ),
                ),
            )
            for at, (name, values) in enumerate(rows)
        ]

    def read(self, typed: Typed, known: Known) -> None:
        del known
        attributes: dict[str, list[str]] = {}
        defaults: dict[str, str] = {}
        for at in list_rows(typed, self.key, "name"):
            row = f"{self.key}.{at}"
            name, default = typed.sent.text(f"{row}.name"), typed.sent.text(f"{row}.default")
            values = read_list(typed.sent.text(f"{row}.values"))
            if not name and (values or default):
                typed.wrong[f"{row}.name"] = "Say what is chosen, such as finish."
            elif name in attributes:
                typed.wrong[f"{row}.name"] = f"`{name}` is defined twice."
            elif name:
                attributes[name] = values
                typed.names["attributes", name] = f"{row}.values"
                typed.names["defaults", name] = f"{row}.default"
                if default:
                    defaults[name] = default
        typed.put("attributes", attributes)
        typed.put("defaults", defaults)


class RowsField(Field, frozen=True, kw_only=True):
    """Several lines alike, each with fields of its own."""

    fields: Sequence[Field]
    # What a row is called.
    row: str

    def show(self, value: Any, known: Known) -> Shown:
        given: list[Mapping[str, Any]] = [*as_list(value), *([{}] * _SPARE_ROWS)]
        return [
            Row(
                f"{self.row} {at + 1}",
                tuple(
                    msgspec.structs.replace(shown, name=f"{self.key}.{at}.{shown.name}")
                    for field in self.fields
                    for shown in field.show(line.get(field.key), known)
                    if isinstance(shown, Input)
                ),
            )
            for at, line in enumerate(given)
        ]

    def read(self, typed: Typed, known: Known) -> None:
        lines: list[dict[str, Any]] = []
        for at in list_rows(typed, self.key, self.fields[-1].key):
            beginning = f"{self.key}.{at}."
            inner = Typed(
                type(typed.sent)(
                    {
                        name[len(beginning) :]: values
                        for name, values in typed.sent.fields.items()
                        if name.startswith(beginning)
                    }
                )
            )
            for field in self.fields:
                field.read(inner, known)
            typed.wrong |= {f"{beginning}{name}": told for name, told in inner.wrong.items()}
            if inner.values:
                typed.names[self.key, len(lines)] = f"{self.key}.{at}"
                lines.append(inner.values)
        typed.put(self.key, lines)


def list_rows(typed: Typed, beginning: str, last: str) -> list[int]:
    """Return the numbers of the rows that a form has."""
    pattern = re.compile(rf"{re.escape(beginning)}\.(\d{{1,3}})\.{re.escape(last)}")
    found = (pattern.fullmatch(name) for name in typed.sent.fields)
    return sorted(int(match[1]) for match in found if match)
