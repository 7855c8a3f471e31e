"""Long lists, a page at a time."""

from collections.abc import Sequence
from typing import Generic, NamedTuple, TypeVar

from printworks.dashboard.site.visits import PageLinks, Visit

T = TypeVar("T")


class ListPage(NamedTuple, Generic[T]):
    """What one page shows of a list, the place of the first item, and the other pages."""

    shown: Sequence[T]
    first: int
    links: PageLinks


def cut(found: Sequence[T], size: int) -> tuple[Sequence[T], T | None]:
    """Return the first items of a list that was read with one too many, and the last if it was."""
    shown = found[:size]
    return shown, shown[-1] if len(found) > size else None


def choose_page(visit: Visit, items: Sequence[T], size: int) -> ListPage[T]:
    """Return the page of a whole list that the address asks for by the place of its first item."""
    first = visit.cursor("from") or 0
    first = first if first < len(items) else 0
    end = first + size
    return ListPage(
        items[first:end], first, visit.pages(end if end < len(items) else None, by="from")
    )
