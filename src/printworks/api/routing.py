"""Finds the endpoint for a path, in any case and with or without a trailing slash."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from printworks.api.endpoints import ApiFamily, Endpoint
from printworks.api.messages import Request


class FoundEndpoint(NamedTuple):
    """An endpoint, and the parts of the path that it names."""

    family: ApiFamily
    endpoint: Endpoint
    path: dict[str, str]


class MatchedRequest(NamedTuple):
    """A request, and the endpoint that it is for."""

    family: ApiFamily
    endpoint: Endpoint
    path: Mapping[str, str]
    request: Request


class NoSuchMethod(NamedTuple):
    """The path exists, but not for this method."""

    family: ApiFamily
    allowed: tuple[str, ...]


class NoSuchPath(NamedTuple):
    """No endpoint of the family has this path."""

    family: ApiFamily
    # If the path names no version that exists: how it could begin.
    prefixes: tuple[str, ...] = ()


class _Route(NamedTuple):
    family: ApiFamily
    # A literal segment in lower case, or None where any text may stand.
    segments: tuple[str | None, ...]
    # By method, each with its own names of the free segments.
    endpoints: dict[str, tuple[Endpoint, tuple[str, ...]]]


class Router:
    """Knows the paths of every mounted version."""

    def __init__(self, families: Sequence[ApiFamily]) -> None:
        self._families = {family.prefix: family for family in families}
        # Writes the errors of requests that name no version.
        first = next(iter(self._families.values()))
        served = (f"/{family.prefix}" for family in families if not family.is_off)
        # The latest first.
        self._no_version = NoSuchPath(first, tuple(sorted(served, reverse=True)))
        # By version and number of segments: few enough to try one after the other.
        self._routes: dict[tuple[str, int], list[_Route]] = {}
        # Such as "orders".
        self._resources: set[str | None] = set()
        for family in self._families.values():
            for endpoint in family.endpoints:
                self._add(family, endpoint)

    def _add(self, family: ApiFamily, endpoint: Endpoint) -> None:
        parts = _split(endpoint.path)
        segments = tuple(None if part.startswith("{") else part.lower() for part in parts)
        names = tuple(part[1:-1] for part in parts if part.startswith("{"))
        self._resources.add(segments[0])
        same_length = self._routes.setdefault((family.prefix, len(segments)), [])
        for route in same_length:
            if route.segments == segments:
                route.endpoints[endpoint.method] = (endpoint, names)
                return
        same_length.append(_Route(family, segments, {endpoint.method: (endpoint, names)}))
        # Literal segments come before free ones.
        same_length.sort(key=lambda route: [segment is None for segment in route.segments])

    def owns(self, path: str) -> bool:
        """Whether a path belongs to one of the versions."""
        return _split(path)[0].lower() in self._families

    def lacks_version(self, path: str) -> bool:
        """Whether a path would belong to the versions if it began with one."""
        return _split(path)[0].lower() in self._resources

    def find(self, method: str, path: str) -> FoundEndpoint | NoSuchMethod | NoSuchPath:
        version, *parts = _split(path)
        version, *lower = _split(path.lower())
        for route in self._routes.get((version, len(parts)), ()):
            if all(map(_fits, route.segments, lower)):
                return self._pick(route, method, parts)
        family = self._families.get(version)
        return self._no_version if family is None else NoSuchPath(family)

    def _pick(self, route: _Route, method: str, parts: list[str]) -> FoundEndpoint | NoSuchMethod:
        found = route.endpoints.get("GET" if method == "HEAD" else method)
        if found is None:
            also = {"HEAD"} if "GET" in route.endpoints else set()
            return NoSuchMethod(route.family, tuple(sorted({*route.endpoints, *also})))
        values = [part for want, part in zip(route.segments, parts, strict=True) if want is None]
        endpoint, names = found
        return FoundEndpoint(route.family, endpoint, dict(zip(names, values, strict=True)))


def _fits(want: str | None, got: str) -> bool:
    return want is None or want == got


def _split(path: str) -> list[str]:
    return path.removeprefix("/").removesuffix("/").split("/")
