"""Compiles each SQL statement once in a process of the tests, and not again for each database.

SQLAlchemy remembers what it has compiled for as long as an engine lives. Each test opens engines
of its own, and would spend most of its time compiling what the test before has compiled. What a
statement is compiled to depends on the kind of database alone.
"""

from collections.abc import Iterator, MutableMapping
from typing import Any

from sqlalchemy import Connection, Engine, event
from sqlalchemy.engine.interfaces import Dialect

_Key = tuple[Dialect, *tuple[Any, ...]]


class _Compiled(MutableMapping[Any, Any]):
    """What SQLAlchemy looks up by engine, kept by kind of engine."""

    def __init__(self) -> None:
        self._kept: dict[tuple[Any, ...], Any] = {}

    def __getitem__(self, key: _Key) -> Any:
        return self._kept[_without_engine(key)]

    def __setitem__(self, key: _Key, compiled: Any) -> None:
        self._kept[_without_engine(key)] = compiled

    def __delitem__(self, key: _Key) -> None:
        del self._kept[_without_engine(key)]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)


def _without_engine(key: _Key) -> tuple[Any, ...]:
    dialect, *statement = key
    return (type(dialect), *statement)


def share_compiled_statements() -> None:
    """Let all engines of this process use what any of them has compiled."""
    compiled = _Compiled()

    def use(connection: Connection) -> None:
        connection.execution_options(compiled_cache=compiled)

    event.listen(Engine, "engine_connect", use)
