"""Reads what is written as keys and values: all of it, with the line of every mistake."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from printworks.catalogue.problems import Mistake, Problems, suggest
from printworks.catalogue.sources import Block, Source

Readers = Mapping[str, Callable[[Any], Any]]

# Given a key, or None for what is not there, and a sentence.
Report = Callable[[str | None, str], None]


class Form(NamedTuple):
    """What may be written, and what must be."""

    # With its article: "a lab".
    noun: str
    readers: Readers
    required: Sequence[str]

    def read(self, content: Mapping[str, Any], report: Report) -> tuple[dict[str, Any], bool]:
        """Read every value that can be read, and say whether nothing was wrong."""
        values = {}
        for key, value in content.items():
            try:
                values[key] = self._read_value(key, value)
            except Mistake as mistake:
                report(key, str(mistake))
        missing = [key for key in self.required if key not in content]
        for key in missing:
            report(None, f"`{key}` is missing.")
        return values, not missing and len(values) == len(content)

    def _read_value(self, key: str, value: Any) -> Any:
        if key not in self.readers:
            message = f"`{key}` is not a key of {self.noun}{suggest(key, list(self.readers))}"
            raise Mistake(message)
        return self.readers[key](value)


class Filled(NamedTuple):
    """A block and what could be read of it; `is_whole` if nothing was wrong."""

    block: Block
    values: dict[str, Any]
    is_whole: bool

    @property
    def place(self) -> str:
        """Where it stands, by its code."""
        return f"{self.block.source.name}:{self.block.line_of('code')}"


def fill(form: Form, block: Block, problems: Problems) -> Filled:
    """Read a block; what is wrong is reported."""

    def report(key: str | None, sentence: str) -> None:
        line = block.start if key is None else block.line_of(key)
        problems.add(block.source.name, line, sentence)

    return Filled(block, *form.read(block.content, report))


def check_codes(filled: Sequence[Filled], problems: Problems) -> None:
    """Report every block whose code an earlier one has."""
    first: dict[str, Filled] = {}
    for each in filled:
        code = each.values.get("code")
        if code is None:
            continue
        earlier = first.setdefault(code, each)
        if earlier is not each:
            sentence = f"`{code}` is defined twice; the first is at {earlier.place}."
            problems.add(each.block.source.name, each.block.line_of("code"), sentence)


class Entry(NamedTuple):
    """A name in a table that may be spread over files, what it stands for, and where."""

    source: Source
    name: str
    value: Any

    @property
    def line(self) -> int:
        """The line on which it stands."""
        return self.source.line_of(self.name)


NO_TABLE: Final = "`{table}` must be a table of names, each with {content}."


def list_entries(
    sources: Sequence[Source], table: str, content: str, problems: Problems
) -> Iterator[Entry]:
    """Go through `[table]`, in whichever files it stands; `content` says what is in it."""
    for source in sources:
        entries = source.content.get(table, {})
        if not isinstance(entries, dict):
            sentence = NO_TABLE.format(table=table, content=content)
            problems.add(source.name, source.line_of(table), sentence)
            continue
        for name, value in entries.items():
            yield Entry(source, name, value)
