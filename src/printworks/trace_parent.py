"""Which trace the work at hand belongs to: what is enqueued meanwhile carries it on.

The text is a `traceparent` of W3C Trace Context. Without tracing it is always None.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

_parent: Final[ContextVar[str | None]] = ContextVar("trace_parent", default=None)


def current_parent() -> str | None:
    """Return the span that caused whatever is done now, if that is known."""
    return _parent.get()


@contextmanager
def caused_by(parent: str | None) -> Iterator[None]:
    """Do what is in the block because of this span."""
    token = _parent.set(parent)
    try:
        yield
    finally:
        _parent.reset(token)
