"""Reads `[[services]]`: by whom parcels leave which labs for where, and what that costs."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from printworks.catalogue.blocks import Filled, Form, check_codes, fill
from printworks.catalogue.problems import Mistake, Problems, suggest
from printworks.catalogue.products import Currency
from printworks.catalogue.services import Carrier, Service, Tariff
from printworks.catalogue.sources import Block, Source
from printworks.catalogue.values import (
    Vocabulary,
    read_code,
    read_declared,
    read_flag,
    read_text,
    read_texts,
    read_whole,
    read_word,
    read_zone,
    show,
)
from printworks.rules.orders import ShippingMethod

REQUIRED: Final = (
    *("code", "name", "carrier", "labs", "methods", "to", "transit_days", "tracked", "bands"),
)
LONGEST: Final = 120


class ServiceEntry(NamedTuple):
    """A service, and where it stands."""

    block: Block
    service: Service


def read_services(
    sources: Sequence[Source],
    known: Vocabulary,
    lab_codes: Sequence[str] | None,
    problems: Problems,
) -> list[ServiceEntry]:
    """Read all services; what is wrong is reported, and its service left out."""
    form = _form(known, lab_codes)
    filled = [
        fill(form, block, problems) for source in sources for block in source.blocks("services")
    ]
    check_codes(filled, problems)
    entries = [_build(each, known, problems) for each in filled]
    return [entry for entry in entries if entry is not None]


def _build(filled: Filled, known: Vocabulary, problems: Problems) -> ServiceEntry | None:
    block, values = filled.block, dict(filled.values)
    tariffs: dict[tuple[str, Currency], Tariff] = {}
    is_whole = filled.is_whole
    bands = values.pop("bands", {})
    for band, table in bands.items():
        try:
            read_declared("bands", "bands", band, known.bands)
            tariffs |= _read_tariffs(band, table, known)
        except Mistake as mistake:
            problems.add(block.source.name, block.line_of(band), str(mistake))
            is_whole = False
    if not is_whole:
        return None
    least, most = values.pop("transit_days")
    countries = values.pop("to") - values.pop("except", frozenset())
    if not countries:
        problems.add(block.source.name, block.line_of("except"), "`except` leaves no country.")
    service = Service(
        **values,
        countries=countries,
        min_transit_days=least,
        max_transit_days=most,
        bands=tuple(bands),
        tariffs=MappingProxyType(tariffs),
    )
    return ServiceEntry(block, service)


def _form(known: Vocabulary, lab_codes: Sequence[str] | None) -> Form:
    return Form(
        "a service",
        {
            "code": read_code,
            "name": lambda value: read_text("name", value),
            "carrier": lambda value: read_word("carrier", value, Carrier),
            "labs": lambda value: tuple(
                read_declared("labs", "labs", text, lab_codes) for text in read_texts("labs", value)
            ),
            "methods": lambda value: tuple(
                read_word("methods", text, ShippingMethod) for text in read_texts("methods", value)
            ),
            "to": lambda value: read_zone("to", value, known),
            "except": lambda value: read_zone("except", value, known),
            "transit_days": _read_transit,
            "tracked": lambda value: read_flag("tracked", value),
            "bands": _read_bands,
        },
        REQUIRED,
    )


def _read_transit(value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        message = (
            "`transit_days` must be the fewest and the most working days on the way, "
            f"such as [2, 4], not {show(value)}."
        )
        raise Mistake(message)
    least, most = (read_whole("transit_days", days, most=LONGEST) for days in value)
    if least > most:
        message = f"`transit_days` must have the fewest first, not {show(value)}."
        raise Mistake(message)
    return least, most


def _read_bands(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value:
        message = (
            "`bands` must be a table of shipping bands, each with lines such as "
            "Prints = { items = 50, GBP = [199, 80] }."
        )
        raise Mistake(message)
    return value


def _read_tariffs(band: str, table: Any, known: Vocabulary) -> dict[tuple[str, Currency], Tariff]:
    if not isinstance(table, dict) or "items" not in table:
        message = (
            f"`{band}` must say for how many `items` and for how much, "
            f"such as {{ items = 50, GBP = [199, 80] }}."
        )
        raise Mistake(message)
    items = read_whole("items", table["items"], least=1)
    prices = {name: amounts for name, amounts in table.items() if name != "items"}
    _check_currencies(band, list(prices), known)
    return {
        (band, Currency(name)): Tariff(items, *_read_prices(name, amounts))
        for name, amounts in prices.items()
    }


def _check_currencies(band: str, names: Sequence[str], known: Vocabulary) -> None:
    currencies = tuple(Currency) if known.currencies is None else known.currencies
    for name in names:
        if name not in currencies:
            message = f"`{name}` is not in `currencies`{suggest(name, currencies)}"
            raise Mistake(message)
    missing = [currency for currency in known.currencies or () if currency not in names]
    if missing:
        message = f"`{band}` has no price in {', '.join(missing)}."
        raise Mistake(message)


def _read_prices(name: str, value: Any) -> tuple[int, int]:
    if not isinstance(value, list) or len(value) != 2:
        message = (
            f"The price in {name} must be that of the first items and that of each further step, "
            f"such as [199, 80], not {show(value)}."
        )
        raise Mistake(message)
    first, further = (read_whole(name, amount) for amount in value)
    return first, further
