"""Compares answers with what was expected of them; README.md says how that is written."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from tests.running import Answer

ABSENT: Final = "(absent)"
_NOTHING: Final = object()


class Expected(NamedTuple):
    """What is expected of an answer."""

    status: int
    is_whole: bool
    headers: Mapping[str, str]
    body: str


def read_expected(text: str) -> Expected:
    """Read what is expected of an answer."""
    head, _, body = text.partition("\n\n")
    first, *lines = head.splitlines()
    status, _, extent = first.partition(" ")
    assert extent in ("", "exactly"), text
    headers = dict(line.split(": ", 1) for line in lines)
    return Expected(int(status), extent == "exactly", headers, body)


def compare(expected: Expected, answer: Answer) -> list[str]:
    """Return what is different, as sentences."""
    given = {name.lower(): value for name, value in answer.headers.items()}
    different = [
        f"The header {name} should hold {value!r} and is {given.get(name.lower())!r}."
        for name, value in expected.headers.items()
        if value not in given.get(name.lower(), "")
    ]
    if answer.status != expected.status:
        different.append(f"The status should be {expected.status} and is {answer.status}.")
    if expected.body.startswith("<"):
        if expected.body not in answer.body.decode():
            different.append(f"The body should contain {expected.body}.")
    elif expected.body:
        wanted = json.loads(expected.body)
        different += _compare(wanted, answer.json(), "body", is_whole=expected.is_whole)
    return different


def _compare(wanted: Any, got: Any, name: str, *, is_whole: bool) -> Iterator[str]:
    if isinstance(wanted, dict) and isinstance(got, dict):
        names = list(wanted) + [each for each in got if is_whole and each not in wanted]
        for each in names:
            pair = wanted.get(each, ABSENT), got.get(each, _NOTHING)
            yield from _compare(*pair, f"{name}.{each}", is_whole=is_whole)
    elif isinstance(wanted, list) and isinstance(got, list) and len(wanted) == len(got):
        for place, (one, other) in enumerate(zip(wanted, got, strict=True)):
            yield from _compare(one, other, f"{name}[{place}]", is_whole=is_whole)
    elif not _is_same(wanted, got):
        shown = "absent" if got is _NOTHING else json.dumps(got)
        yield f"{name} should be {json.dumps(wanted)} and is {shown}."


def _is_same(wanted: Any, got: Any) -> bool:
    if wanted == ABSENT:
        return got is _NOTHING
    if isinstance(wanted, str) and wanted.startswith("/") and wanted.endswith("/"):
        return isinstance(got, str) and bool(re.fullmatch(wanted[1:-1], got, re.DOTALL))
    # True is no 1 here, nor is 1 a 1.0.
    return type(wanted) is type(got) and wanted == got
