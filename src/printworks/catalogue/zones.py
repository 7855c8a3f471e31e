"""Chooses the closest of the blocks that name a country in `to`."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.problems import Place, list_some
from printworks.catalogue.sources import CatalogueFiles
from printworks.catalogue.values import EVERYWHERE

Value = TypeVar("Value")


class ZoneEntry(NamedTuple, Generic[Value]):
    """What a block says about a subject, for one of the names in its `to`."""

    value: Value
    # For sentences, and to tell apart what may stand side by side at the same closeness.
    words: str
    # What is chosen as a whole: a closer block hides all that others say about it.
    subject: Hashable
    to: str
    countries: frozenset[str]
    place: Place

    @property
    def closeness(self) -> int:
        """2 for a country, 1 for a group, 0 for everywhere."""
        return 0 if self.to == EVERYWHERE else 2 if self.to in COUNTRIES else 1


def choose_closest(
    entries: Iterable[ZoneEntry[Value]], files: CatalogueFiles, *, verb: str
) -> Mapping[tuple[Hashable, str], list[ZoneEntry[Value]]]:
    """Choose the closest entries for each subject and country, and report ties."""
    candidates: dict[tuple[Hashable, str], list[ZoneEntry[Value]]] = defaultdict(list)
    for entry in entries:
        for country in entry.countries:
            candidates[entry.subject, country].append(entry)
    rivals: dict[tuple[ZoneEntry[Value], ZoneEntry[Value]], list[str]] = defaultdict(list)
    chosen = {}
    for (subject, country), found in candidates.items():
        # Nearly all of thousands: nothing to compare, and a start waits for it.
        if len(found) == 1:
            chosen[subject, country] = found
            continue
        first: dict[str, ZoneEntry[Value]] = {}
        for entry in _list_closest(found):
            if first.setdefault(entry.words, entry) is not entry:
                rivals[first[entry.words], entry].append(country)
        chosen[subject, country] = list(first.values())
    for (first_entry, other), countries in rivals.items():
        sentence = (
            f"{other.words} to {list_some(sorted(countries))} is {verb} here through "
            f"`{other.to}` and at {files.cite(first_entry.place)} through `{first_entry.to}`."
        )
        files.report(other.place, sentence)
    return chosen


def _list_closest(found: list[ZoneEntry[Value]]) -> Iterator[ZoneEntry[Value]]:
    closest = max(entry.closeness for entry in found)
    return (entry for entry in found if entry.closeness == closest)
