"""Photographs of products: how a catalogue names them.

A picture that is stored has the hash of its content in its name, so a version of the catalogue says
which picture it means as exactly as it says a price.
"""

import re
from collections.abc import Iterable
from typing import Final

# Half of a SHA-256, in hexadecimal digits.
HASH_LENGTH: Final = 32
_STORED: Final = re.compile(r"(?:(.*)-)?([0-9a-f]{32})\.jpg", re.DOTALL)
_ANYWHERE: Final = re.compile(r"(?<![0-9a-f])([0-9a-f]{32})\.jpg")
_OTHER: Final = re.compile(r"[^a-z0-9.]+")
_LONGEST_STEM: Final = 64


def name_picture(called: str, sha256: str) -> str:
    """Return the name of a stored picture: what it was called, or whose it is, and its hash."""
    known = _STORED.fullmatch(called)
    stem = (known[1] or "") if known else called.rpartition(".")[0] or called
    tidy = _OTHER.sub("-", stem.lower())[:_LONGEST_STEM].strip("-.")
    return f"{tidy}-{sha256[:HASH_LENGTH]}.jpg".lstrip("-")


def find_hash(name: str | None) -> str | None:
    """Return the hash in the name of a picture; None if it is not a stored one."""
    found = _STORED.fullmatch(name or "")
    return found[2] if found else None


def list_hashes(texts: Iterable[str]) -> list[str]:
    """Return the hash of every stored picture that is named anywhere in the files of a catalogue."""
    return sorted({found for text in texts for found in _ANYWHERE.findall(text)})
