"""The files of a catalogue, merged into one, and the line of everything in them.

Python's TOML parser keeps no line numbers. They are searched for in the text when a problem is
reported: a block by counting headings, a key by its name, a row by counting rows.
"""

import hashlib
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NamedTuple

from printworks.catalogue.problems import BadCatalogue, CatalogueProblem, Place

_HEADING: Final = re.compile(r"\s*\[+\s*([\w-]+)\s*[.\]]")
_ITEM: Final = re.compile(r"\s*(\[\s*[\"'\d+-]|\{)")


class Source(NamedTuple):
    """A parsed TOML file."""

    name: str
    lines: Sequence[str]
    content: dict[str, Any]

    def find_line(self, place: Place) -> int:
        """Return the first line of a value or, if it is absent, of the block it belongs to."""
        found: Any = self.content
        begin, end = 1, len(self.lines)
        for depth, step in enumerate(place):
            if isinstance(step, str) and step not in found:
                break
            if isinstance(step, str):
                patterns = _list_patterns(step, found[step], is_outer=depth in (0, 2))
                begin = self._find_first(patterns, begin, end) or begin
            elif depth == 1:
                begin, end = self._find_block(str(place[0]), step, begin)
            else:
                after = range(begin + 1, end + 1)
                items = [number for number in after if _ITEM.match(self.lines[number - 1])]
                begin = items[step] if len(items) == len(found) else begin
            found = found[step]
        return begin

    def _find_block(self, table: str, position: int, listed: int) -> tuple[int, int]:
        heading = re.compile(rf"\s*\[\[\s*{table}\s*\]\]")
        starts = [number for number, line in enumerate(self.lines, 1) if heading.match(line)]
        if len(starts) <= position:
            # In an inline array, blocks have no headings.
            return listed, len(self.lines)
        for number in range(starts[position] + 1, len(self.lines) + 1):
            line = self.lines[number - 1]
            other = _HEADING.match(line)
            if other and (other[1] != table or line.lstrip().startswith("[[")):
                return starts[position], number - 1
        return starts[position], len(self.lines)

    def _find_first(self, patterns: Sequence[str], begin: int, end: int) -> int | None:
        for pattern in patterns:
            for number in range(begin, end + 1):
                if re.match(pattern, self.lines[number - 1]):
                    return number
        return None


def _list_patterns(key: str, value: Any, *, is_outer: bool) -> Sequence[str]:
    name = rf"[\"']?{re.escape(key)}[\"']?\s*"
    at_start, heading = rf"\s*{name}[=.]", rf"\s*\[+\s*([\w-]+\s*\.\s*)*{name}[\].]"
    inline = rf".*[{{,]\s*{name}="
    if not is_outer:
        return (f"{at_start}|{heading}|{inline}",)
    # A block further down may have a key, or a table, of the same name.
    return (heading, at_start, inline) if isinstance(value, dict) else (at_start, heading, inline)


def read_toml(text: str) -> dict[str, Any]:
    """Return what TOML says, with exact numbers."""
    return tomllib.loads(text, parse_float=Decimal)


def fingerprint(texts: Mapping[str, str]) -> str:
    """Return what is the same for the same texts, by the names of their files, and for no others."""
    lines = (line for _, text in sorted(texts.items()) for line in text.splitlines())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


class CatalogueFiles:
    """The merged content of the files of a catalogue, and the problems found in it.

    They are those of a folder, or texts by the names of their files. What `parse` returns is not
    changed.
    """

    def __init__(
        self,
        given: Path | Mapping[str, str],
        *,
        parse: Callable[[str], dict[str, Any]] = read_toml,
    ) -> None:
        self.content: dict[str, Any] = {}
        self._problems: dict[CatalogueProblem, Place] = {}
        # The file of each part of the content, and its place there.
        self._origins: dict[Place, tuple[Source, Place]] = {}
        texts_by_name = self._read_folder(given) if isinstance(given, Path) else given
        sources = [
            source
            for name, text in sorted(texts_by_name.items())
            if (source := self._parse(name, text, parse))
        ]
        # The texts as they were read, by the names of their files.
        self.texts = texts_by_name
        self.fingerprint = fingerprint(texts_by_name)
        # Otherwise what seems to be absent may be in a file that could not be read.
        self.is_whole = not self._problems
        for source in sources:
            for key, value in source.content.items():
                self._add(source, key, value)

    def report(self, place: Place, sentence: str) -> None:
        """Add a problem, unless it is there already."""
        source, there = self._locate(place)
        self._note(source.name, source.find_line(there), sentence, place)

    def cite(self, place: Place) -> str:
        """Return the file and the line of a place."""
        source, place = self._locate(place)
        return f"{source.name}:{source.find_line(place)}"

    def check(self) -> None:
        """Raise `BadCatalogue` if there are problems, sorted by file and line."""
        if self._problems:
            raise BadCatalogue(self._problems)

    def check_once(self, names: Iterable[tuple[str, Place]]) -> None:
        """Report duplicate names, ignoring case."""
        first: dict[str, Place] = {}
        for name, place in names:
            earlier = first.setdefault(name.casefold(), place)
            if earlier is not place:
                where = self.cite(earlier)
                self.report(place, f"`{name}` is defined twice; the first is at {where}.")

    def _note(self, file: str, line: int, sentence: str, place: Place = ()) -> None:
        self._problems.setdefault(CatalogueProblem(file, line, sentence), place)

    def _locate(self, place: Place) -> tuple[Source, Place]:
        source, start = self._origins.get(place[:2]) or self._origins[place[:1]]
        return source, (*start, *place[len(start) :])

    def _add(self, source: Source, key: str, value: Any) -> None:
        is_blocks = isinstance(value, list) and all(isinstance(each, dict) for each in value)
        self._origins.setdefault((key,), (source, (key,)))
        joined = self.content.get(key)
        if isinstance(value, dict) and isinstance(joined, dict | None):
            joined = self.content.setdefault(key, {})
            for name, line in value.items():
                self._put(joined, line, source, (key, name))
        elif is_blocks and isinstance(joined, list | None):
            joined = self.content.setdefault(key, [])
            for position, block in enumerate(value):
                self._origins[key, len(joined)] = (source, (key, position))
                joined.append(block)
        else:
            self._put(self.content, value, source, (key,))

    def _put(
        self, into: dict[str, Any], value: Any, source: Source, place: tuple[str, ...]
    ) -> None:
        if place[-1] in into:
            sentence = f"`{place[-1]}` is defined twice; the first is at {self.cite(place)}."
            self._note(source.name, source.find_line(place), sentence)
        else:
            into[place[-1]] = list(value) if isinstance(value, list) else value
            self._origins[place] = (source, place)

    def _read_folder(self, folder: Path) -> dict[str, str]:
        """Return the texts of the TOML files in a folder that can be read."""
        texts: dict[str, str] = {}
        paths = sorted(folder.glob("*.toml"))
        if not folder.is_dir():
            self._note(str(folder), 0, "There is no such folder.")
        elif not paths:
            self._note(str(folder), 0, "There is no TOML file in this folder.")
        for path in paths:
            try:
                texts[path.name] = path.read_text(encoding="utf-8")
            except UnicodeDecodeError as error:
                line = error.object[: error.start].count(b"\n") + 1
                self._note(path.name, line, "The file must be written in UTF-8.")
            except OSError as error:
                self._note(path.name, 0, f"The file cannot be read: {error.strerror}.")
        return texts

    def _parse(self, name: str, text: str, parse: Callable[[str], dict[str, Any]]) -> Source | None:
        try:
            content = parse(text)
        except tomllib.TOMLDecodeError as error:
            found = re.fullmatch(
                r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", str(error)
            )
            line = int(found[2]) if found and found[2] else len(text.splitlines())
            self._note(name, line, f"This is not TOML: {found[1] if found else error}.")
            return None
        return Source(name, text.splitlines(), content)
