"""Reads a folder of TOML files: what the catalogue is made of, from whichever file says it.

The names of the files mean nothing. Each table of `SECTIONS` may stand in any of them, and
those that list things in all of them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from printworks.catalogue.blocks import list_entries
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.families import Entry, Family
from printworks.catalogue.fulfilment import Fulfilment, join, read_fulfilment
from printworks.catalogue.problems import Mistake, Problems, suggest
from printworks.catalogue.products import Currency, Product, QualityLevel
from printworks.catalogue.sources import Source, read_sources
from printworks.catalogue.values import (
    EVERYWHERE,
    Vocabulary,
    read_countries,
    read_texts,
    read_word,
)

# Written with two brackets.
LISTS: Final = ("products", "labs", "services", "promises")
SECTIONS: Final = ("currencies", "kinds", "bands", "groups", "holidays", "rates", *LISTS)

Value = TypeVar("Value")


class Contents(NamedTuple):
    """What a folder says."""

    vocabulary: Vocabulary
    products: tuple[Product, ...]
    fulfilment: Fulfilment


def read_folder(folder: Path) -> Contents:
    """Read a folder; raise `BadCatalogue` with all that is wrong in it."""
    problems = Problems()
    sources = read_sources(folder, problems)
    # What is said nowhere may be said in a file that could not be read.
    is_whole = len(problems) == 0
    vocabulary = _read_vocabulary(sources, problems, is_whole=is_whole)
    for source in sources:
        _check_sections(source, problems)
    entries = [
        entry
        for source in sources
        for block in source.blocks("products")
        for entry in Family(block, vocabulary, problems).read()
    ]
    _check_skus(entries, problems)
    _check_types(entries, problems)
    written = read_fulfilment(sources, vocabulary, problems, is_whole=is_whole)
    problems.check()
    fulfilment = join(written, entries, vocabulary, problems)
    problems.check()
    products = tuple(entry.product for entry in entries if entry.product)
    return Contents(vocabulary, products, fulfilment)


def _check_sections(source: Source, problems: Problems) -> None:
    for name in source.content:
        if name not in SECTIONS:
            sentence = f"`{name}` is no part of a catalogue{suggest(name, SECTIONS)}"
            problems.add(source.name, source.line_of(name), sentence)
    for name in LISTS:
        blocks = source.content.get(name, [])
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            sentence = f"{name.capitalize()} are written as `[[{name}]]`, with two brackets."
            problems.add(source.name, source.line_of(name), sentence)
            del source.content[name]


def _read_vocabulary(
    sources: Sequence[Source], problems: Problems, *, is_whole: bool
) -> Vocabulary:
    def read_once(key: str, read: Callable[[Any], Value], usual: Value) -> Value | None:
        saying = [source for source in sources if key in source.content]
        for source in saying[1:]:
            sentence = f"`{key}` is defined twice; the first is in {saying[0].name}."
            problems.add(source.name, source.line_of(key), sentence)
        for source in saying[:1]:
            try:
                return read(source.content[key])
            except Mistake as mistake:
                problems.add(source.name, source.line_of(key), str(mistake))
        return usual if is_whole and not saying else None

    currencies = read_once("currencies", _read_currencies, tuple(Currency))
    nothing: tuple[str, ...] = ()
    kinds = read_once("kinds", lambda value: read_texts("kinds", value), nothing)
    bands = read_once("bands", lambda value: read_texts("bands", value), nothing)
    found = len(problems)
    groups = _read_groups(sources, problems)
    has_all_groups = is_whole and len(problems) == found
    return Vocabulary(currencies, kinds, bands, groups, has_all_groups)


def _read_currencies(value: Any) -> tuple[Currency, ...]:
    return tuple(
        read_word("currencies", text, Currency) for text in read_texts("currencies", value)
    )


def _read_groups(sources: Sequence[Source], problems: Problems) -> dict[str, frozenset[str]]:
    groups = {EVERYWHERE: frozenset(COUNTRIES)}
    for entry in list_entries(sources, "groups", "its list of countries", problems):
        try:
            if entry.name in groups or entry.name in COUNTRIES:
                message = f"The group `{entry.name}` is defined already, or is a country."
                raise Mistake(message)
            groups[entry.name] = read_countries(entry.name, entry.value, groups)
        except Mistake as mistake:
            problems.add(entry.source.name, entry.line, str(mistake))
    return groups


def _check_skus(entries: Sequence[Entry], problems: Problems) -> None:
    first: dict[str, Entry] = {}
    for entry in entries:
        if entry.sku is None:
            continue
        earlier = first.setdefault(entry.sku.casefold(), entry)
        if earlier is not entry:
            place = f"{earlier.block.source.name}:{earlier.line}"
            sentence = f"`{entry.sku}` is defined twice; the first is at {place}."
            problems.add(entry.block.source.name, entry.line, sentence)


def _check_types(entries: Sequence[Entry], problems: Problems) -> None:
    seen: dict[tuple[str, QualityLevel], list[Product]] = defaultdict(list)
    for entry in entries:
        if entry.product is None:
            continue
        for name in entry.product.type_names:
            for quality in entry.product.quality_levels:
                known = seen[name.casefold(), quality]
                for sentence in _find_clashes(entry.product, known, name, quality):
                    problems.add(entry.block.source.name, entry.line, sentence)
                known.append(entry.product)


def _find_clashes(
    product: Product, known: Sequence[Product], name: str, quality: QualityLevel
) -> Iterator[str]:
    for other in known:
        both = sorted(product.sold_to & other.sold_to)
        # A sku that is defined twice is one problem, not two.
        if both and other.sku.casefold() != product.sku.casefold():
            yield (
                f"`{product.sku}` and `{other.sku}` are both of type `{name}` "
                f"in {quality} for {both[0]}."
            )
