"""Reads the files of this folder; README.md says how they are written."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

FOLDER: Final = Path(__file__).parent
VERSIONS: Final = ("2.3", "2.5", "2.6")

_CASE: Final = re.compile(r"^===== (?P<name>.+)$", re.MULTILINE)
_PART: Final = re.compile(r"^----- (?:request|answer)\n", re.MULTILINE)
_PLACE: Final = re.compile(r"\{\{(?P<name>[^{}]+)\}\}")
_TIMES: Final = re.compile(r"(?P<count>\d+) times (?P<text>.+)")


class Exchange(NamedTuple):
    """A request, and what should come back."""

    request: str
    answer: str


@dataclass(frozen=True)
class Case:
    """One of the cases of a file."""

    name: str
    versions: tuple[str, ...]
    given: tuple[str, ...]
    exchanges: tuple[Exchange, ...]


def read_cases() -> Iterator[Case]:
    """Return the cases of all files."""
    for path in sorted(FOLDER.glob("*.http")):
        _, *pieces = _CASE.split(path.read_text(encoding="utf-8"))
        for name, text in zip(pieces[::2], pieces[1::2], strict=True):
            yield _read_case(f"{path.stem}: {name}", text)


def _read_case(name: str, text: str) -> Case:
    head, *parts = _PART.split(_drop_remarks(text))
    facts = dict(line.split(": ", 1) for line in head.strip().splitlines())
    named = facts.pop("versions")
    given = facts.pop("given", "")
    assert not facts, f"{name}: {', '.join(facts)} is not understood."
    pairs = zip(parts[::2], parts[1::2], strict=True)
    return Case(
        name=name,
        versions=VERSIONS if named == "all" else tuple(named.split(", ")),
        given=tuple(given.split(", ")) if given else (),
        exchanges=tuple(Exchange(asked.rstrip("\n"), said.strip()) for asked, said in pairs),
    )


def _drop_remarks(text: str) -> str:
    """Leave out what stands between cases for readers, which is at the end of the one before."""
    lines = text.splitlines()
    while lines and (not lines[-1] or lines[-1].startswith("#")):
        lines.pop()
    return "\n".join(lines) + "\n"


def fill(text: str, values: Mapping[str, bytes]) -> bytes:
    """Put values into the places that a text leaves for them."""

    def find(place: re.Match[str]) -> bytes:
        name = place["name"]
        if name.startswith("bytes "):
            return bytes.fromhex(name.removeprefix("bytes "))
        if repeated := _TIMES.fullmatch(name):
            return repeated["text"].encode() * int(repeated["count"])
        return values[name]

    filled, end = [], 0
    for place in _PLACE.finditer(text):
        filled += [text[end : place.start()].encode(), find(place)]
        end = place.end()
    return b"".join([*filled, text[end:].encode()])


def write_request(text: str, values: Mapping[str, bytes]) -> bytes:
    """Return the bytes of a request."""
    head, has_body, body = text.replace("\n", "\r\n").partition("\r\n\r\n")
    content = fill(body, values)
    lines = [*head.split("\r\n"), "Host: print.example", "Connection: close"]
    has_length = re.search(
        "^(content-length|transfer-encoding):", head, re.IGNORECASE | re.MULTILINE
    )
    if has_body and not has_length:
        lines.append(f"Content-Length: {len(content)}")
    return fill("\r\n".join(lines), values) + b"\r\n\r\n" + content
