"""What people call an image: the name of its file, or the end of its address."""

import re
import unicodedata
from typing import Final
from urllib.parse import unquote, urlsplit

LONGEST_NAME: Final = 60
# What is kept of the end of a name that is cut: most often its extension.
_KEPT_END: Final = 12
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"
# More is never looked at.
_MOST_READ: Final = 4096
_SPACES: Final = re.compile(r"\s+")


def clean_file_name(given: str) -> str | None:
    """Return a file name that can be shown anywhere; None if nothing of it is left.

    Folders, control characters and those that change the direction of what follows are left out.
    """
    last = re.split(r"[/\\]", given[-_MOST_READ:])[-1]
    seen = "".join(
        " " if character.isspace() else character
        for character in unicodedata.normalize("NFC", last)
        if character.isspace() or not unicodedata.category(character).startswith("C")
    )
    name = _SPACES.sub(" ", seen).strip()
    return _shorten(name) if name.strip(". ") else None


def _shorten(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    kept = LONGEST_NAME - _KEPT_END - len(_CUT)
    return f"{name[:kept].rstrip()}{_CUT}{name[-_KEPT_END:].lstrip()}"


def name_image(image_id: int, name: str | None, url: str | None) -> str:
    """Return what people call an image."""
    return name or _name_address(url or "") or f"Image {image_id}"


def _name_address(url: str) -> str | None:
    """Return the end of an address: never its query, which may have a secret in it."""
    try:
        path = urlsplit(url[:_MOST_READ]).path
    except ValueError:
        return None
    return clean_file_name(unquote(path.rstrip("/"), errors="replace"))
