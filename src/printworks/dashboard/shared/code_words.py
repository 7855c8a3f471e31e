"""Names that programs gave to things, as people say them."""

import re
from collections.abc import Mapping
from typing import Final

_CODE: Final = re.compile(r"[a-z]+(?:[-_][a-z]+)+")


def speak(code: str) -> str:
    """Return `send-to-lab` as `Send to lab`."""
    words = code.replace("-", " ").replace("_", " ")
    return words[:1].upper() + words[1:]


def describe_details(details: Mapping[str, object]) -> str:
    """Return what else the audit log knows of a change: `Access: read only, lab: york`."""
    said = [f"{speak(name).lower()}: {_write(value)}" for name, value in details.items()]
    return "; ".join(said)[:1].upper() + "; ".join(said)[1:]


def _write(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case None:
            return "nothing"
        case list() | tuple():
            return ", ".join(_write(one) for one in value) or "nothing"
        case dict():
            return ", ".join(f"{speak(str(k)).lower()} {_write(v)}" for k, v in value.items())
        case str() if _CODE.fullmatch(value):
            return speak(value).lower()
        case _:
            return str(value)
