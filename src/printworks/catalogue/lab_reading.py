"""Reads `[[labs]]` and `[holidays]`: who makes what, at what cost, and when they work."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from printworks.catalogue.blocks import Filled, Form, check_codes, fill, list_entries
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.labs import Connector, Lab, LastChance, Making
from printworks.catalogue.problems import Mistake, Problems, suggest
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.sources import Block, Source
from printworks.catalogue.values import (
    Vocabulary,
    read_amount,
    read_code,
    read_declared,
    read_flag,
    read_text,
    read_texts,
    read_whole,
    read_word,
    show,
)

DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
REQUIRED: Final = (
    *("code", "name", "country", "time_zone", "currency", "makes"),
    *("production_days", "cut_off", "capacity"),
)
LONGEST: Final = 60

Holidays = Mapping[str, frozenset[date]]


class Line(NamedTuple):
    """One line of `makes`: which products, and what each of them takes."""

    kinds: tuple[str, ...] | None = None
    bands: tuple[str, ...] | None = None
    skus: re.Pattern[str] | None = None
    exceptions: re.Pattern[str] | None = None
    percent: Decimal = Decimal(0)
    each: int = 0
    days: int | None = None

    def fits(self, product: Product) -> bool:
        """Say whether the line is about this product."""
        return (
            (self.kinds is None or product.kind in self.kinds)
            and (self.bands is None or product.shipping_band in self.bands)
            and (self.skus is None or self.skus.fullmatch(product.sku) is not None)
            and (self.exceptions is None or not self.exceptions.fullmatch(product.sku))
        )


class LabEntry(NamedTuple):
    """A lab that could be read but does not know yet which products there are."""

    block: Block
    values: dict[str, Any]
    # With the position of each, by which its line is found.
    lines: tuple[tuple[int, Line], ...]

    def report(self, position: int, sentence: str, problems: Problems) -> None:
        """Report what is wrong with a line of `makes`."""
        line = self.block.line_of_item("makes", position)
        problems.add(self.block.source.name, line, sentence)


class ReadLabs(NamedTuple):
    """The labs that could be read, and the codes of all; None if some code could not be."""

    entries: tuple[LabEntry, ...]
    codes: tuple[str, ...] | None


def read_labs(
    sources: Sequence[Source], known: Vocabulary, problems: Problems, *, is_whole: bool
) -> ReadLabs:
    """Read all labs; without a whole folder some holidays or labs may be in what is missing."""
    found = len(problems)
    holidays = _read_holidays(sources, problems)
    has_all_holidays = is_whole and len(problems) == found
    form = _lab_form(known, holidays, has_all=has_all_holidays)
    line_form = _line_form(known)
    filled = [fill(form, block, problems) for source in sources for block in source.blocks("labs")]
    check_codes(filled, problems)
    entries = [_read_lines(each, line_form, problems) for each in filled]
    codes = [each.values.get("code") for each in filled]
    return ReadLabs(
        tuple(entry for entry in entries if entry is not None),
        tuple(code for code in codes if code) if is_whole and None not in codes else None,
    )


def build_lab(entry: LabEntry, products: Sequence[Product], problems: Problems) -> Lab:
    """Make the lab, now that it is known what there is to make; report lines without use."""
    values = dict(entry.values)
    usual_days = values.pop("production_days")
    makes: dict[str, Making] = {}
    left = list(products)
    for position, line in entry.lines:
        fresh = [product for product in left if line.fits(product)]
        if not fresh:
            reason = (
                "what it fits stands in lines before it"
                if any(line.fits(product) for product in products)
                else "it fits no product"
            )
            entry.report(position, f"This line has no use: {reason}.", problems)
        days = usual_days if line.days is None else line.days
        for product in fresh:
            price = product.base_prices.get(values["currency"])
            if line.percent and price is None:
                sentence = f"`{product.sku}` has no price in {values['currency']} to take part of."
                entry.report(position, sentence, problems)
            share = _take_percent(price or 0, line.percent)
            makes[product.sku] = Making(share + line.each, days)
        left = [product for product in left if product.sku not in makes]
    return Lab(**values, makes=MappingProxyType(makes))


def _take_percent(price: int, percent: Decimal) -> int:
    """Round half up, in whole numbers all the way."""
    above, below = percent.as_integer_ratio()
    return (2 * price * above + 100 * below) // (200 * below)


def _read_lines(filled: Filled, form: Form, problems: Problems) -> LabEntry | None:
    block, lines = filled.block, []
    is_whole = filled.is_whole
    for position, table in enumerate(filled.values.get("makes", ())):

        def report(_: str | None, sentence: str, position: int = position) -> None:
            line = block.line_of_item("makes", position)
            problems.add(block.source.name, line, sentence)

        values, is_right = form.read(table, report)
        if is_right and not values.keys() & {"percent", "each"}:
            report(None, "The line has no cost: give it `percent`, `each` or both.")
        values["exceptions"] = values.pop("except", None)
        if is_right:
            lines.append((position, Line(**values)))
        else:
            is_whole = False
    values = {key: value for key, value in filled.values.items() if key != "makes"}
    return LabEntry(block, values, tuple(lines)) if is_whole else None


def _lab_form(known: Vocabulary, holidays: Holidays, *, has_all: bool) -> Form:
    def read_chance(key: str) -> Any:
        return lambda value: read_word(key, value, LastChance)

    return Form(
        "a lab",
        {
            "code": read_code,
            "name": lambda value: read_text("name", value),
            "country": _read_country,
            "time_zone": _read_time_zone,
            "currency": lambda value: _read_currency(value, known),
            "production_days": lambda value: read_whole("production_days", value, most=LONGEST),
            "cut_off": _read_cut_off,
            "working_days": _read_working_days,
            "holidays": lambda value: _read_days_off(value, holidays, has_all=has_all),
            "capacity": lambda value: read_whole("capacity", value, least=1),
            "paused": lambda value: read_flag("paused", value),
            "can_cancel_until": read_chance("can_cancel_until"),
            "can_hold_until": read_chance("can_hold_until"),
            "can_change_shipping_until": read_chance("can_change_shipping_until"),
            "packing_slips": lambda value: read_flag("packing_slips", value),
            "connector": lambda value: read_word("connector", value, Connector),
            "makes": _read_makes,
        },
        REQUIRED,
    )


def _line_form(known: Vocabulary) -> Form:
    def read_words(key: str, declared: Sequence[str] | None) -> Any:
        return lambda value: tuple(
            read_declared(key, key, text, declared) for text in read_texts(key, value)
        )

    return Form(
        "a line of `makes`",
        {
            "kinds": read_words("kinds", known.kinds),
            "bands": read_words("bands", known.bands),
            "skus": lambda value: _read_patterns("skus", value),
            "except": lambda value: _read_patterns("except", value),
            "percent": lambda value: read_amount("percent", value),
            "each": lambda value: read_whole("each", value),
            "days": lambda value: read_whole("days", value, most=LONGEST),
        },
        (),
    )


def _read_makes(value: Any) -> Any:
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        message = '`makes` must be a list of lines such as { kinds = ["print"], percent = 40 }.'
        raise Mistake(message)
    return value


def _read_patterns(key: str, value: Any) -> re.Pattern[str]:
    patterns = read_texts(key, value)
    for text in patterns:
        if not re.fullmatch(r"[A-Za-z0-9.*-]+", text):
            message = f"`{key}` has `{text}`, which is neither a sku nor one with `*` in it."
            raise Mistake(message)
    written = (re.escape(text).replace(r"\*", ".*") for text in patterns)
    return re.compile("|".join(written), re.IGNORECASE)


def _read_country(value: Any) -> str:
    text = read_text("country", value)
    if text not in COUNTRIES:
        message = f"`country` must be a country code such as `GB`, not {show(value)}."
        raise Mistake(message)
    return text


def _read_currency(value: Any, known: Vocabulary) -> Currency:
    currency = read_word("currency", value, Currency)
    read_declared("currency", "currencies", currency, known.currencies)
    return currency


def _read_time_zone(value: Any) -> str:
    text = read_text("time_zone", value)
    try:
        ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        names = sorted(available_timezones())
        meant = suggest(text, names)
        # There are six hundred.
        ending = meant if "did you mean" in meant else ", such as `Europe/London`."
        message = f"`{text}` is not the name of a time zone{ending}"
        raise Mistake(message) from error
    return text


def _read_cut_off(value: Any) -> time:
    if isinstance(value, time):
        return value
    if not isinstance(value, str) or not re.fullmatch(r"([01]\d|2[0-3]):[0-5]\d", value):
        message = f'`cut_off` must be a time of day such as "14:00", not {show(value)}.'
        raise Mistake(message)
    return time.fromisoformat(value)


def _read_working_days(value: Any) -> frozenset[int]:
    return frozenset(
        day for text in read_texts("working_days", value) for day in _read_day_range(text)
    )


def _read_day_range(text: str) -> Iterator[int]:
    first, _, last = text.partition("-")
    for day in (first, last or first):
        if day not in DAYS:
            message = f"`working_days` has `{day}`, which is no day{suggest(day, DAYS)}"
            raise Mistake(message)
    begin, end = DAYS.index(first), DAYS.index(last or first)
    if begin > end:
        message = f"`working_days` has `{text}`, which runs backwards."
        raise Mistake(message)
    return iter(range(begin, end + 1))


def _read_holidays(sources: Sequence[Source], problems: Problems) -> Holidays:
    found: dict[str, frozenset[date]] = {}
    for entry in list_entries(sources, "holidays", "its list of dates", problems):
        try:
            if entry.name in found:
                message = f"The holidays `{entry.name}` are defined already."
                raise Mistake(message)
            found[entry.name] = _read_days_off(entry.value, {}, has_all=True)
        except Mistake as mistake:
            problems.add(entry.source.name, entry.line, str(mistake))
    return found


def _read_days_off(value: Any, holidays: Holidays, *, has_all: bool) -> frozenset[date]:
    if not isinstance(value, list):
        message = "`holidays` must be a list of dates such as 2026-12-25."
        raise Mistake(message)
    days: set[date] = set()
    for one in value:
        # A moment is a date too, in Python.
        if isinstance(one, date) and not isinstance(one, datetime):
            days.add(one)
        elif isinstance(one, str) and (one in holidays or not has_all):
            days |= holidays.get(one, frozenset())
        else:
            message = f"`holidays` has {show(one)}, which is neither a date nor a name"
            raise Mistake(message + suggest(str(one), list(holidays)))
    return frozenset(days)
