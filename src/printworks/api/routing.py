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


class _Operation(NamedTuple):
    endpoint: Endpoint
    # The names of the free segments, and where they are.
    names: tuple[tuple[str, int], ...]


class _Route(NamedTuple):
    family: ApiFamily
    # A literal segment in lower case, or None where any text may stand.
    segments: tuple[str | None, ...]
    # The literal ones behind the resource, and where they are.
    literals: tuple[tuple[int, str], ...]
    # By method, each with its own names of the free segments.
    operations: dict[str, _Operation]

    def fits(self, lower: Sequence[str]) -> bool:
        """Whether the segments of a path, in lower case, are those of this route."""
        for place, literal in self.literals:  # noqa: SIM110  (every request comes here)
            if lower[place] != literal:
                return False
        return True


class Router:
    """Knows the paths of every mounted version."""

    def __init__(self, families: Sequence[ApiFamily]) -> None:
        self._families = {family.prefix: family for family in families}
        # Writes the errors of requests that name no version.
        first = next(iter(self._families.values()))
        served = (f"/{family.prefix}" for family in families if not family.is_off)
        # The latest first.
        self._no_version = NoSuchPath(first, tuple(sorted(served, reverse=True)))
        # By version, resource and number of segments: few enough to try one after the other.
        self._routes: dict[tuple[str, str, int], list[_Route]] = {}
        # Such as "orders".
        self._resources: set[str] = set()
        for family in self._families.values():
            for endpoint in family.endpoints:
                self._add(family, endpoint)

    def _add(self, family: ApiFamily, endpoint: Endpoint) -> None:
        parts = _split(endpoint.path)
        segments = tuple(None if part.startswith("{") else part.lower() for part in parts)
        names = tuple(
            (part[1:-1], place) for place, part in enumerate(parts, 1) if part.startswith("{")
        )
        resource = parts[0].lower()
        self._resources.add(resource)
        alike = self._routes.setdefault((family.prefix, resource, len(segments)), [])
        route = next((route for route in alike if route.segments == segments), None)
        if route is None:
            literals = tuple((place, part) for place, part in enumerate(segments[1:], 2) if part)
            route = _Route(family, segments, literals, {})
            alike.append(route)
            # Literal segments come before free ones.
            alike.sort(key=lambda route: [segment is None for segment in route.segments])
        route.operations[endpoint.method] = _Operation(endpoint, names)

    def owns(self, path: str) -> bool:
        """Whether a path belongs to one of the versions."""
        return _split(path)[0].lower() in self._families

    def lacks_version(self, path: str) -> bool:
        """Whether a path would belong to the versions if it began with one."""
        return _split(path)[0].lower() in self._resources

    def find(self, method: str, path: str) -> FoundEndpoint | NoSuchMethod | NoSuchPath:
        parts = _split(path)
        in_lower_case = path.lower()
        lower = parts if in_lower_case == path else _split(in_lower_case)
        version = lower[0]
        if len(lower) > 1:
            for route in self._routes.get((version, lower[1], len(lower) - 1), ()):
                if route.fits(lower):
                    return _pick(route, method, parts)
        family = self._families.get(version)
        return self._no_version if family is None else NoSuchPath(family)


def _pick(route: _Route, method: str, parts: Sequence[str]) -> FoundEndpoint | NoSuchMethod:
    found = route.operations.get("GET" if method == "HEAD" else method)
    if found is None:
        also = {"HEAD"} if "GET" in route.operations else set()
        return NoSuchMethod(route.family, tuple(sorted({*route.operations, *also})))
    values = {name: parts[place] for name, place in found.names}
    return FoundEndpoint(route.family, found.endpoint, values)


def _split(path: str) -> list[str]:
    return path.removeprefix("/").removesuffix("/").split("/")
