"""Entity tags: a client that has seen an answer need not be sent it again."""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

import printworks
from printworks.api.messages import Request, Response
from printworks.api.responses import choose_media_type
from printworks.catalogue.snapshot import Catalogue

_DIGITS: Final = 24
_PACKAGE: Final = Path(printworks.__file__).parent


class Tags:
    """Makes the tags of answers that have a mark.

    Such an answer is the same wherever its mark is the same, as long as the same program writes
    it with the same catalogue and settings.
    """

    def __init__(self, public_url: str, find_catalogue: Callable[[], Catalogue]) -> None:
        self._public_url = public_url
        # Another catalogue may be published at any time.
        self._find_catalogue = find_catalogue
        self._endings: dict[tuple[str, str, str], str] = {}

    def of_mark(self, request: Request, version: str, mark: str) -> str:
        """Return the tag of what has this mark, in the format that is asked for."""
        media_type = choose_media_type(request.headers.get("accept", ""))
        catalogue = self._find_catalogue().fingerprint
        ending = self._endings.get((version, media_type, catalogue))
        if ending is None:
            writer = f"{hash_program()} {self._public_url}"
            ending = _hash(f"{writer} {catalogue} {version} {media_type}".encode())
            self._endings[version, media_type, catalogue] = ending
        return f'"{mark}-{ending}"'


def tag_by_body(response: Response, request: Request) -> Response:
    """Return an answer with a tag that depends on its body alone, or 304."""
    tag = f'"{_hash(response.body)}"'
    return find_known(tag, request) or msgspec.structs.replace(response, tag=tag)


def find_known(tag: str, request: Request) -> Response | None:
    """Return the answer to a client that has seen what has this tag; otherwise None."""
    given = request.headers.get("if-none-match")
    if given is None:
        return None
    if given != tag and not _names(given, tag):
        return None
    return Response(304, media_type="", body=b"", tag=tag)


def _names(given: str, tag: str) -> bool:
    """Whether a list of tags has this one in it, or stands for any."""
    # The weak comparison: a proxy that compresses answers weakens their tags.
    known = (each.strip().removeprefix("W/") for each in given.split(","))
    return tag in known or given.strip() == "*"


@cache
def hash_program() -> str:
    """Return a hash of the source: another release may write the same thing differently."""
    digest = hashlib.sha256(printworks.__version__.encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:_DIGITS]
