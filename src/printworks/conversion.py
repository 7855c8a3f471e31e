"""Reading values as types, safely from many threads.

msgspec looks at a type when it is first read from, and leaves it half looked at while Python code
runs in between: a second thread that comes then ends the process. So types are looked at here when
they are named, which is while modules are loaded and nobody else is about.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")


@overload
def reader_of(kind: type[T]) -> Callable[[Any], T]: ...
@overload
def reader_of(kind: Any) -> Callable[[Any], Any]: ...
def reader_of(kind: Any) -> Callable[[Any], Any]:
    """Return what reads plain values, such as those of a JSON column, as a type."""
    look_at(kind)
    return partial(msgspec.convert, type=kind)


def look_at(kind: Any) -> None:
    """Have a type looked at now, and all that it is made of."""
    msgspec.json.Decoder(kind)
