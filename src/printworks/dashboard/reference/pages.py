"""The API reference: a page for each version, made of its OpenAPI document, and guides beside it.

Every page is written when somebody first asks for it, and then stays as it is until the operator
changes the brand.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import lru_cache, partial
from importlib import resources
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.reference.markdown import RenderedGuide, render_guide
from printworks.dashboard.reference.reading import ReferenceDocument, list_usual_errors, read_groups
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.rendering import write_page
from printworks.store.accounts.brand import StoredBrand

# Everything comes from this server, and nothing is written into the page.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)
# Guides by their addresses: what the menu calls them, and the file.
_GUIDES: Final[Mapping[str, tuple[str, str]]] = {
    "guide": ("Using the API", "v3.0.md"),
    "callbacks": ("Callbacks and signatures", "callbacks.md"),
    "versions": ("Older versions", "versions.md"),
}
# What people look for, and where in the guides it is.
_TOPICS: Final = (
    ("Credentials and requests", "guide#requests"),
    ("Answers and errors", "guide#answers"),
    ("Idempotency", "guide#requests"),
    ("Limits", "guide#how-many-requests"),
    ("Signature of callbacks", "callbacks#verify-the-signature"),
)
_FILES: Final = {file: name for name, (_, file) in _GUIDES.items()}


class ReferencedVersion(msgspec.Struct, frozen=True):
    """A version of the API, and how its document is made."""

    version: str
    prefix: str
    is_old: bool
    describe: Callable[[], Mapping[str, Any]]


def reference_routes(versions: Sequence[ReferencedVersion], base: str) -> Sequence[BaseRoute]:
    """Return the reference of each version, with its guides."""
    routes: list[BaseRoute] = []
    for each in versions:
        place = f"/{each.prefix}/docs"
        routes.append(Route(place, _show(partial(_write_version, versions, each, base))))
        routes += [
            Route(f"{place}/{name}", _show(partial(_write_guide, versions, each, name)))
            for name in _GUIDES
        ]
    return routes


def _write_version(
    versions: Sequence[ReferencedVersion], one: ReferencedVersion, base: str
) -> bytes:
    known = ReferenceDocument(
        one.version, one.prefix, one.is_old, one.describe(), _read_examples(one.prefix)
    )
    groups = read_groups(known, base)
    merchant_id, key = known.headers
    return _write(
        "reference/version.html",
        versions,
        one,
        here="",
        groups=groups,
        count=sum(len(group.operations) for group in groups),
        usual_errors=list_usual_errors(known.document),
        base=base,
        merchant_id=merchant_id,
        key=key,
    )


def _write_guide(versions: Sequence[ReferencedVersion], one: ReferencedVersion, name: str) -> bytes:
    guide = read_guide(one.prefix, name)
    return _write("reference/guide.html", versions, one, here=name, guide=guide, groups=[])


def _write(
    template: str, versions: Sequence[ReferencedVersion], one: ReferencedVersion, **facts: Any
) -> bytes:
    place = f"/{one.prefix}/docs"
    page = write_page(
        template,
        place=place,
        one=one,
        versions=versions,
        guides=[(name, title) for name, (title, _) in _GUIDES.items()],
        topics=_TOPICS,
        **facts,
    )
    return page.encode()


def read_guide(prefix: str, name: str) -> RenderedGuide:
    """Return a guide with links to the pages of a version."""
    folder = resources.files("printworks.dashboard.reference").joinpath("guides")
    text = folder.joinpath(_GUIDES[name][1]).read_text(encoding="utf-8")
    return render_guide(text, partial(_find_address, prefix))


def _find_address(prefix: str, address: str) -> str | None:
    """Return where a link of a guide leads here; None for what is not served."""
    file, mark, anchor = address.partition("#")
    if not file or address.startswith(("https://", "http://", "/")):
        return address
    if file in _FILES:
        return f"/{prefix}/docs/{_FILES[file]}{mark}{anchor}"
    if file.startswith("openapi-"):
        version = file.removeprefix("openapi-").removesuffix(".json")
        return f"/{version}/openapi.json"
    return None


def _read_examples(prefix: str) -> Mapping[str, Any]:
    folder = resources.files("printworks.dashboard.reference").joinpath("examples")
    examples: Mapping[str, Any] = json.loads(folder.joinpath(f"{prefix}.json").read_bytes())
    return examples


def _show(write: Callable[[], bytes]) -> Callable[[Request], Awaitable[Response]]:
    @lru_cache(maxsize=1)
    def write_once(_brand: StoredBrand) -> bytes:
        return write()

    async def show(_request: Request) -> Response:
        headers = {"Content-Security-Policy": _POLICY}
        return Response(write_once(find_brand()), media_type="text/html", headers=headers)

    return show
