"""Converts plain values to types, safely from many threads.

msgspec inspects a type when it is first used, and a second thread that uses it meanwhile crashes
the process. So types are inspected here while modules are imported, before there are threads.
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
    """Return a function that converts plain values, such as a JSON column, to a type."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        look_at(kind)
        return partial(msgspec.convert, type=kind)
    # Any other type is inspected with every conversion, unless it is the field of a struct.
    holder = msgspec.defstruct("Holder", [("value", kind)])
    look_at(holder)

    def read(value: Any) -> Any:
        held: Any = msgspec.convert({"value": value}, holder)
        return held.value

    return read


def look_at(kind: Any) -> None:
    """Let msgspec inspect a type now, with all its parts."""
    msgspec.json.Decoder(kind)
