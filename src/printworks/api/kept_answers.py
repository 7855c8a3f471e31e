"""The latest answers that were written, for clients that poll the same orders."""

import threading
from collections.abc import Hashable
from typing import Any, Final

from printworks.api.messages import Response
from printworks.api.responses import choose_media_type, render
from printworks.api.routing import MatchedRequest
from printworks.api.tags import Tags, find_known
from printworks.store.orders.marks import OrderState
from printworks.wire.links import Links

# In each process.
MOST_KEPT: Final = 2048
MOST_BYTES_KEPT: Final = 5_000_000
LARGEST_KEPT: Final = 8192


class KeptAnswers:
    """Answers by what was asked for; the caller knows by its tag whether one is still right."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Response] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def find(self, asked: Hashable) -> Response | None:
        return self._kept.get(asked)

    def keep(self, asked: Hashable, response: Response) -> None:
        """Keep an answer instead of an earlier one, unless it is large."""
        if len(response.body) > LARGEST_KEPT:
            return
        with self._lock:
            self._drop(asked)
            self._kept[asked] = response
            self._bytes += len(response.body)
            while len(self._kept) > MOST_KEPT or self._bytes > MOST_BYTES_KEPT:
                self._drop(next(iter(self._kept)))

    def _drop(self, asked: Hashable) -> None:
        dropped = self._kept.pop(asked, None)
        if dropped is not None:
            self._bytes -= len(dropped.body)


class MarkedAnswers:
    """Answers that are the same wherever their mark is; safe to use from many threads."""

    def __init__(self, tags: Tags) -> None:
        self._tags = tags
        self._kept = KeptAnswers()

    def may_have(self, matched: MatchedRequest) -> bool:
        """Whether the answer may be one that was written before, or that the client has seen."""
        return matched.endpoint.mark is not None and (
            "if-none-match" in matched.request.headers
            or self._kept.find(_identify(matched)) is not None
        )

    def find(
        self, matched: MatchedRequest, state: OrderState | None, links: Links
    ) -> Response | None:
        """Return the answer if nothing has changed since it was written or the client saw it."""
        find_mark = matched.endpoint.mark
        mark = links.mark(find_mark(state)) if find_mark and state else None
        if mark is None:
            return None
        tag = self._tags.of_mark(matched.request, matched.family.version, mark)
        if known := find_known(tag, matched.request):
            return known
        kept = self._kept.find(_identify(matched))
        return kept if kept and kept.tag == tag else None

    def write(self, matched: MatchedRequest, shape: Any, mark: str) -> Response:
        """Write an answer and keep it; return 304 if the client has seen it."""
        family, endpoint, _, request = matched
        tag = self._tags.of_mark(request, family.version, mark)
        accept = request.headers.get("accept", "")
        response = render(200, family.show(endpoint.shows, shape), accept, tag=tag)
        self._kept.keep(_identify(matched), response)
        return find_known(tag, request) or response


def _identify(matched: MatchedRequest) -> Hashable:
    """Say what is asked for, apart from the state in which it is."""
    media_type = choose_media_type(matched.request.headers.get("accept", ""))
    return matched.family.version, matched.endpoint.path, media_type, *matched.path.values()
