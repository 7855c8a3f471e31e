"""The latest answers that were written, for clients that poll the same orders."""

import threading
from collections.abc import Hashable
from typing import Final

from printworks.api.messages import Response

# Together at most 16 MB in each process.
MOST_KEPT: Final = 2048
LARGEST_KEPT: Final = 8192


class KeptAnswers:
    """Answers by what was asked for; the caller knows by its tag whether one is still right."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, Response] = {}
        self._lock = threading.Lock()

    def find(self, asked: Hashable) -> Response | None:
        return self._kept.get(asked)

    def keep(self, asked: Hashable, response: Response) -> None:
        """Keep an answer instead of an earlier one, unless it is large."""
        if len(response.body) > LARGEST_KEPT:
            return
        with self._lock:
            self._kept.pop(asked, None)
            self._kept[asked] = response
            if len(self._kept) > MOST_KEPT:
                del self._kept[next(iter(self._kept))]
