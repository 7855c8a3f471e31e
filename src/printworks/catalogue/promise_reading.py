"""Reads `[[promises]]`, and finds the one that counts for each method and country."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import Any, Final, NamedTuple

from printworks.catalogue.blocks import Filled, Form, fill
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.problems import Problems, list_some
from printworks.catalogue.promises import Promise
from printworks.catalogue.sources import Block, Source
from printworks.catalogue.values import EVERYWHERE, Vocabulary, read_texts, read_whole, read_zone
from printworks.rules.orders import ShippingMethod

LONGEST: Final = 250

Promises = Mapping[tuple[ShippingMethod, str], Promise]


class Closeness(IntEnum):
    """How closely a promise names a country; the closest counts."""

    EVERYWHERE = 0
    GROUP = 1
    COUNTRY = 2


class PromiseEntry(NamedTuple):
    """A promise, what it reaches, and where it stands."""

    block: Block
    promise: Promise
    countries: frozenset[str]
    closeness: Closeness

    @property
    def line(self) -> int:
        """The line of the number of days."""
        return self.block.line_of(self.promise.method)


def read_promises(
    sources: Sequence[Source], known: Vocabulary, problems: Problems
) -> list[PromiseEntry]:
    """Read all promises, one for each method and each name in `to`."""
    form = _form(known)
    filled = [
        fill(form, block, problems) for source in sources for block in source.blocks("promises")
    ]
    for each in filled:
        if each.is_whole and not each.values.keys() & set(ShippingMethod):
            sentence = f"Nothing is promised: name one of {', '.join(ShippingMethod)}."
            problems.add(each.block.source.name, each.block.start, sentence)
    return [entry for each in filled if each.is_whole for entry in _list_entries(each, known)]


def resolve(entries: Sequence[PromiseEntry], problems: Problems) -> Promises:
    """Find the one promise for each method and country; report where there are two or none."""
    candidates: dict[tuple[ShippingMethod, str], list[PromiseEntry]] = defaultdict(list)
    for entry in entries:
        for country in entry.countries:
            candidates[entry.promise.method, country].append(entry)
    for method in ShippingMethod:
        without = [country for country in COUNTRIES if (method, country) not in candidates]
        if without and entries:
            _report_missing(method, without, entries[0], problems)
    rivals: dict[tuple[int, int], list[str]] = defaultdict(list)
    chosen = {}
    for (method, country), found in candidates.items():
        closest = max(entry.closeness for entry in found)
        first, *others = [entry for entry in found if entry.closeness == closest]
        chosen[method, country] = first.promise
        for other in others:
            rivals[entries.index(first), entries.index(other)].append(country)
    for (first_at, other_at), countries in rivals.items():
        _report_rivals(entries[first_at], entries[other_at], sorted(countries), problems)
    return chosen


def _report_rivals(
    first: PromiseEntry, other: PromiseEntry, countries: Sequence[str], problems: Problems
) -> None:
    sentence = (
        f"{other.promise.method} to {list_some(countries)} is promised here through "
        f"`{other.promise.to}` and at {first.block.source.name}:{first.line} through "
        f"`{first.promise.to}`."
    )
    problems.add(other.block.source.name, other.line, sentence)


def _report_missing(
    method: ShippingMethod, without: Sequence[str], entry: PromiseEntry, problems: Problems
) -> None:
    sentence = (
        f"{method} to {list_some(without)} is promised nowhere; "
        f"a promise to `{EVERYWHERE}` would do."
    )
    problems.add(entry.block.source.name, entry.block.start, sentence)


def _list_entries(filled: Filled, known: Vocabulary) -> Iterator[PromiseEntry]:
    for name in filled.values["to"]:
        countries = known.groups.get(name, frozenset({name}))
        for method in ShippingMethod:
            if method in filled.values:
                promise = Promise(method, name, filled.values[method])
                yield PromiseEntry(filled.block, promise, countries, _measure_closeness(name))


def _measure_closeness(name: str) -> Closeness:
    if name == EVERYWHERE:
        return Closeness.EVERYWHERE
    return Closeness.COUNTRY if name in COUNTRIES else Closeness.GROUP


def _form(known: Vocabulary) -> Form:
    def read_to(value: Any) -> tuple[str, ...]:
        read_zone("to", value, known)
        return read_texts("to", value)

    def read_days(method: ShippingMethod) -> Any:
        return lambda value: read_whole(method, value, least=1, most=LONGEST)

    methods = {str(method): read_days(method) for method in ShippingMethod}
    return Form("a promise", {"to": read_to, **methods}, ("to",))
