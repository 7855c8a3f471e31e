"""The files of a catalogue, and which line of them says what.

Python's TOML reader keeps no line numbers. They are found again in the text, and only when
something is wrong: a table by counting headings, a key by its name, a row by counting rows.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

from printworks.catalogue.problems import Problems

_HEADING: Final = re.compile(r"\s*\[+\s*([\w-]+)\s*[.\]]")
_ITEM: Final = re.compile(r"\s*(\[\s*[\"'\d+-]|\{)")


class Source(NamedTuple):
    """A TOML file that could be read."""

    name: str
    lines: Sequence[str]
    content: dict[str, Any]

    def line_of(self, key: str) -> int:
        """Return the line on which a key or a table begins."""
        return _find_key(self.lines, key, 0, len(self.lines)) or 1

    def blocks(self, table: str) -> Iterator["Block"]:
        """Go through the `[[table]]` blocks of the file."""
        for position, content in enumerate(self.content.get(table, ())):
            yield Block(self, table, position, content)


class Block(NamedTuple):
    """One `[[table]]` of a file, counted from 0."""

    source: Source
    table: str
    position: int
    content: dict[str, Any]

    @property
    def start(self) -> int:
        """The line of its heading."""
        heading = re.compile(rf"\s*\[\[\s*{self.table}\s*\]\]")
        lines = enumerate(self.source.lines, 1)
        starts = [number for number, line in lines if heading.match(line)]
        # Written as an inline array, a block has no heading of its own.
        inline = len(starts) <= self.position
        return self.source.line_of(self.table) if inline else starts[self.position]

    def line_of(self, key: str) -> int:
        """Return the line on which a key of the block begins."""
        return _find_key(self.source.lines, key, self.start, self._end()) or self.start

    def line_of_row(self, position: int) -> int:
        """Return the line of one of its `rows`, counted from 0."""
        return self.line_of_item("rows", position)

    def line_of_item(self, key: str, position: int) -> int:
        """Return the line of one list or table within the list under a key, counted from 0."""
        begin = self.line_of(key)
        lines = self.source.lines
        found = [
            number for number in range(begin + 1, self._end() + 1) if _ITEM.match(lines[number - 1])
        ]
        return found[position] if len(found) == len(self.content[key]) else begin

    def _end(self) -> int:
        for number in range(self.start + 1, len(self.source.lines) + 1):
            line = self.source.lines[number - 1]
            heading = _HEADING.match(line)
            if heading and (heading[1] != self.table or line.lstrip().startswith("[[")):
                return number - 1
        return len(self.source.lines)


def _find_key(lines: Sequence[str], key: str, start: int, end: int) -> int | None:
    name = rf"[\"']?{re.escape(key)}[\"']?\s*"
    # At the start of a line, then as a heading, then within an inline table.
    for pattern in (
        rf"\s*{name}[=.]",
        rf"\s*\[+\s*([\w-]+\s*\.\s*)?{name}[\].]",
        rf".*[{{,]\s*{name}=",
    ):
        for number in range(start + 1, end + 1):
            if re.match(pattern, lines[number - 1]):
                return number
    return None


def read_sources(folder: Path, problems: Problems) -> list[Source]:
    """Read every TOML file of a folder, in the order of their names; report those that fail."""
    paths = sorted(folder.glob("*.toml"))
    if not folder.is_dir():
        problems.add(str(folder), 0, "There is no such folder.")
    elif not paths:
        problems.add(str(folder), 0, "There is no TOML file in this folder.")
    sources = (_read_source(path, problems) for path in paths)
    return [source for source in sources if source is not None]


def _read_source(path: Path, problems: Problems) -> Source | None:
    try:
        text = path.read_text(encoding="utf-8")
        content = tomllib.loads(text, parse_float=Decimal)
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        problems.add(path.name, line, "The file must be written in UTF-8.")
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error))
        line = int(found[2]) if found and found[2] else len(text.splitlines())
        problems.add(path.name, line, f"This is not TOML: {found[1] if found else error}.")
    except OSError as error:
        problems.add(path.name, 0, f"The file cannot be read: {error.strerror}.")
    else:
        return Source(path.name, text.splitlines(), content)
    return None
