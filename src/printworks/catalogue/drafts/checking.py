"""Checks one block of a draft by the reader of the files: the same rules, in the same sentences."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.drafts.segments import parse
from printworks.catalogue.drafts.writing import write_block
from printworks.catalogue.problems import BadCatalogue, Place
from printworks.catalogue.reading import read_files
from printworks.catalogue.sources import CatalogueFiles

# Read after all others, so that what is defined twice is reported there.
_LAST_FILE: Final = "~.toml"


class WrongValue(NamedTuple):
    """What is wrong with a value, and its place within its block or line."""

    place: Place
    sentence: str


def check_block(others: Draft, table: str, values: Mapping[str, Any]) -> list[WrongValue]:
    """Return what is wrong with a block beside the others of a draft.

    What cannot hold yet, such as a product that no lab makes so far, is no part of it.
    """
    place = (table, len(others.list_blocks(table)))
    return _find_wrong({**others.texts, _LAST_FILE: write_block(table, values)}, place)


def check_line(draft: Draft, table: str, name: str) -> list[WrongValue]:
    """Return what is wrong with a line of a table."""
    return _find_wrong(draft.texts, (table, name))


def check_value(draft: Draft, key: str) -> list[WrongValue]:
    """Return what is wrong with a value that belongs to no table."""
    return _find_wrong(draft.texts, (key,))


def _find_wrong(texts: Mapping[str, str], within: Place) -> list[WrongValue]:
    found = _list_wrong(tuple(sorted(texts.items())))
    depth = len(within)
    return [
        WrongValue(place[depth:], sentence) for place, sentence in found if place[:depth] == within
    ]


# A form of many values asks about each of them, and reading all files takes a third of a second.
@lru_cache(1)
def _list_wrong(texts: tuple[tuple[str, str], ...]) -> Sequence[WrongValue]:
    try:
        read_files(CatalogueFiles(dict(texts), parse=parse))
    except BadCatalogue as error:
        return tuple(WrongValue(error.places[each], each.sentence) for each in error.problems)
    return ()
