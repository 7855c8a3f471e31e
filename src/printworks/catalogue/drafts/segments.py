"""Divides a TOML file into its blocks, each with the comments above it, and puts it together again.

A change of one block leaves every other character of the file as it is.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from printworks.catalogue.drafts.writing import write_block, write_head, write_table
from printworks.catalogue.sources import read_toml

# `[groups]`, `[[products]]` or, within a block, `[tariff.bands]`.
_HEADING: Final = re.compile(r"\s*\[(\[?)\s*([A-Za-z0-9_-]+)\s*(\.[^\]]*)?\]\]?\s*(#.*)?$")
# Blocks of a few drafts: every page reads all of its draft.
_KEPT: Final = 4000
_REMARK: Final = re.compile(r"\s*(#.*)?$")


class Segment(NamedTuple):
    """A part of a file: a block, a table, or what comes before both."""

    # The name of its table; empty for what comes before all tables.
    root: str
    # Comments and empty lines above it.
    lead: str
    body: str

    @property
    def content(self) -> dict[str, Any]:
        """What it says."""
        return parse(self.body)

    @property
    def is_block(self) -> bool:
        """Whether it is one of several blocks of a table: `[[products]]`."""
        return isinstance(self.content.get(self.root), list)


@lru_cache(_KEPT)
def parse(text: str) -> dict[str, Any]:
    """Return what TOML says, with exact numbers; kept, so it must not be changed."""
    return read_toml(text)


def split(text: str) -> list[Segment]:
    """Divide a file; one that is written in another way is written anew, without its comments."""
    segments = _cut(text)
    whole = parse(text)
    try:
        is_right = merge(segments) == whole and not _has_inline_tables(segments[0])
    except tomllib.TOMLDecodeError:
        is_right = False
    return segments if is_right else _cut(_write_plainly(whole))


def join(segments: Iterable[Segment]) -> str:
    """Return the text of a file."""
    return "".join(segment.lead + segment.body for segment in segments)


def merge(segments: Iterable[Segment]) -> dict[str, Any]:
    """Return what segments say together."""
    whole: dict[str, Any] = {}
    for segment in segments:
        for key, value in segment.content.items():
            if isinstance(value, dict):
                whole.setdefault(key, {}).update(value)
            elif segment.root:
                whole.setdefault(key, []).extend(value)
            else:
                whole[key] = value
    return whole


def _cut(text: str) -> list[Segment]:
    parts: list[tuple[str, list[str]]] = [("", [])]
    leads: list[list[str]] = [[]]
    for line in text.splitlines(keepends=True):
        heading = _HEADING.match(line)
        root, lines = parts[-1]
        if heading and (heading[2] != root or (heading[1] and not heading[3])):
            leads.append(_take_remarks(lines))
            parts.append((heading[2], [line]))
        else:
            lines.append(line)
    return [
        Segment(root, "".join(lead), "".join(lines))
        for (root, lines), lead in zip(parts, leads, strict=True)
    ]


def _take_remarks(lines: list[str]) -> list[str]:
    """Remove the comments and empty lines at the end, which belong to what follows."""
    end = len(lines)
    while end and _REMARK.match(lines[end - 1]):
        end -= 1
    remarks = lines[end:]
    del lines[end:]
    return remarks


def _has_inline_tables(head: Segment) -> bool:
    return any(
        isinstance(value, dict)
        or (isinstance(value, list) and any(isinstance(each, dict) for each in value))
        for value in head.content.values()
    )


def _write_plainly(whole: Mapping[str, Any]) -> str:
    blocks = {key: value for key, value in whole.items() if _is_blocks(value)}
    tables = {key: value for key, value in whole.items() if isinstance(value, dict)}
    rest = {key: value for key, value in whole.items() if key not in blocks.keys() | tables.keys()}
    texts = [write_head(rest), *(write_table(key, table) for key, table in tables.items())]
    texts += [write_block(key, block) for key, each in blocks.items() for block in each]
    return "\n".join(text for text in texts if text)


def _is_blocks(value: Any) -> bool:
    is_list = isinstance(value, Sequence) and not isinstance(value, str)
    return is_list and bool(value) and all(isinstance(each, dict) for each in value)
