"""Writes values as TOML: new blocks in the style of the built-in files, changed ones as they were."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from typing import Any, Final

import tomlkit

from printworks.catalogue.sources import read_toml

_WIDEST: Final = 100
_BARE: Final = re.compile(r"[A-Za-z0-9_-]+")
# Changing more items one by one takes longer than writing the list anew.
_MOST_ITEMS: Final = 20
# Written as tables of their own, with a line for each name.
_SUBTABLES: Final = frozenset({"bands"})


def write_head(values: Mapping[str, Any]) -> str:
    """Return lines for values that belong to no table."""
    return "".join(f"{write_key(key)} = {write_value(value)}\n" for key, value in values.items())


def write_table(name: str, values: Mapping[str, Any]) -> str:
    """Return a table with a line for each value."""
    return f"[{write_key(name)}]\n{write_head(values)}"


def write_block(table: str, values: Mapping[str, Any]) -> str:
    """Return a block with a line for each value."""
    inner = {key: value for key, value in values.items() if key in _SUBTABLES and value}
    outer = {key: value for key, value in values.items() if key not in inner}
    texts = [f"[[{write_key(table)}]]\n{write_head(outer)}"]
    texts += [f"[{table}.{key}]\n{write_head(value)}" for key, value in inner.items()]
    return "\n".join(texts)


def write_key(key: str) -> str:
    return key if _BARE.fullmatch(key) else str(tomlkit.item(key).as_string())


def write_value(value: Any) -> str:
    """Return a value as it is written in a file."""
    if isinstance(value, Mapping):
        pairs = ", ".join(f"{write_key(key)} = {write_value(each)}" for key, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, Sequence) and not isinstance(value, str):
        return _write_list([write_value(each) for each in value])
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, date | time):
        return value.isoformat()
    return str(tomlkit.item(value).as_string())


def _write_list(items: Sequence[str]) -> str:
    line = f"[{', '.join(items)}]"
    is_short = len(line) < _WIDEST and not any(item.startswith(("{", "[")) for item in items)
    if is_short:
        return line
    return "[\n" + "".join(f"    {item},\n" for item in items) + "]"


def rewrite_block(table: str, body: str, wanted: Mapping[str, Any]) -> str:
    """Return a block with other values; what stays the same stays as it is written."""
    return _rewrite(
        body,
        {table: [dict(wanted)]},
        lambda document: document[table][0],
        lambda content: content[table][0],
        lambda: write_block(table, wanted),
    )


def rewrite_table(table: str, body: str, wanted: Mapping[str, Any]) -> str:
    """Return a table with other values; what stays the same stays as it is written."""
    return _rewrite(
        body,
        {table: dict(wanted)},
        lambda document: document[table],
        lambda content: content[table],
        lambda: write_table(table, wanted),
    )


def rewrite_head(body: str, wanted: Mapping[str, Any]) -> str:
    """Return values of no table; what stays the same stays as it is written."""
    return _rewrite(
        body, dict(wanted), lambda whole: whole, lambda whole: whole, lambda: write_head(wanted)
    )


def _rewrite(
    body: str,
    whole: Mapping[str, Any],
    find: Callable[[Any], Any],
    find_plain: Callable[[Any], Any],
    write_anew: Callable[[], str],
) -> str:
    old = read_toml(body)
    if old == whole:
        return body
    document = tomlkit.parse(body)
    _change(find(document), find_plain(old), find_plain(whole))
    changed = document.as_string()
    try:
        is_right = read_toml(changed) == whole
    except tomllib.TOMLDecodeError:
        is_right = False
    # Better without its comments than with other values.
    return changed if is_right else write_anew()


def _make(value: Any) -> Any:
    return tomlkit.parse(f"value = {write_value(value)}")["value"]


def _change(container: Any, old: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    for key in old:
        if key not in wanted:
            del container[key]
    for key, value in wanted.items():
        if key not in old:
            container[key] = _make(value)
        elif old[key] != value:
            _change_value(container, key, old[key], value)


def _change_value(container: Any, key: Any, old: Any, value: Any) -> None:
    if isinstance(old, dict) and isinstance(value, dict):
        _change(container[key], old, value)
    elif isinstance(old, list) and isinstance(value, list) and old and value:
        _change_list(container, key, old, value)
    else:
        container[key] = _make(value)


def _change_list(container: Any, key: Any, old: list[Any], wanted: list[Any]) -> None:
    items = container[key]
    if len(wanted) == len(old) - 1:
        removed = next(at for at, each in enumerate([*wanted, None]) if old[at] != each)
        if old[:removed] + old[removed + 1 :] == wanted:
            del items[removed]
            return
    changed = [at for at, (one, other) in enumerate(zip(old, wanted, strict=False)) if one != other]
    if len(wanted) >= len(old) and len(changed) <= _MOST_ITEMS:
        for at in changed:
            _change_value(items, at, old[at], wanted[at])
        for added in wanted[len(old) :]:
            items.append(_make(added))
        return
    container[key] = _make(wanted)
