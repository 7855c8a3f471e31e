"""What is wrong with a catalogue: every mistake of a folder, each with its file and line."""

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from printworks.settings import BadSetting

# The path to a value, such as ("labs", 0, "makes", 2).
Place = tuple[str | int, ...]


class Mistake(Exception):
    """A value is invalid. In the sentence, `{key}` is replaced by its key.

    `within` are keys inside the value, if one of them is the cause.
    """

    def __init__(self, sentence: str, *within: str) -> None:
        super().__init__(sentence)
        self.within = within


class CatalogueProblem(NamedTuple):
    """A mistake, and where it is; line 0 means the whole file."""

    file: str
    line: int
    sentence: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.sentence}"


class BadCatalogue(BadSetting):
    """A folder is no catalogue; the message has a line for each of its problems."""

    def __init__(self, places: Mapping[CatalogueProblem, Place]) -> None:
        self.problems = tuple(sorted(places))
        lines = (str(problem) for problem in self.problems)
        super().__init__("\n".join(("The catalogue cannot be used.", *lines)))
        # What each is about, in all files together; empty for a whole file.
        self.places = places


def suggest(word: str, known: Sequence[str]) -> str:
    """Return the end of a sentence that says what was probably meant, or what there is."""
    close = get_close_matches(word, known, n=1)
    if close:
        return f"; did you mean `{close[0]}`?"
    if not known:
        return "."
    return f"; known are {', '.join(f'`{name}`' for name in known)}."


def list_some(names: Sequence[str]) -> str:
    """Return the first few names, and whether there are others."""
    return f"{', '.join(names[:3])}{' and others' if len(names) > 3 else ''}"
