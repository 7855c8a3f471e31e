"""A queue with a lane for each merchant: the lanes take turns, however long each is."""

import threading
from collections import deque
from collections.abc import Hashable
from typing import Generic, TypeVar

Item = TypeVar("Item")


class Lanes(Generic[Item]):
    """Hands out items, one of each lane in turn; safe to use from many threads.

    At most so many items of one lane are worked on at once: the others wait, even if nobody else
    is there, so that whoever comes next need not.
    """

    def __init__(self, most_of_one: int) -> None:
        self._most_of_one = most_of_one
        self._waiting: dict[Hashable, deque[Item]] = {}
        self._in_work: dict[Hashable, int] = {}
        # Lanes with an item that may be handed out; none is in it twice.
        self._turns: deque[Hashable] = deque()
        self._lock = threading.Lock()

    def put(self, lane: Hashable, item: Item) -> None:
        with self._lock:
            queue = self._waiting.get(lane)
            if queue is None:
                queue = self._waiting[lane] = deque()
                if self._in_work.get(lane, 0) < self._most_of_one:
                    self._turns.append(lane)
            queue.append(item)

    def take(self) -> tuple[Hashable, Item] | None:
        """Return the next item with its lane; None if there is none that may be worked on."""
        with self._lock:
            if not self._turns:
                return None
            lane = self._turns.popleft()
            queue = self._waiting[lane]
            item = queue.popleft()
            in_work = self._in_work[lane] = self._in_work.get(lane, 0) + 1
            if not queue:
                del self._waiting[lane]
            elif in_work < self._most_of_one:
                self._turns.append(lane)
            return lane, item

    def finish(self, lane: Hashable) -> bool:
        """Make room for the next item of a lane; return whether one waits."""
        with self._lock:
            in_work = self._in_work[lane] - 1
            if in_work:
                self._in_work[lane] = in_work
            else:
                del self._in_work[lane]
            is_waiting = lane in self._waiting
            # It had as many as it may have, and so no turn.
            if is_waiting and in_work == self._most_of_one - 1:
                self._turns.append(lane)
            return is_waiting

    def open_up(self) -> None:
        """Let lanes have as many items in work as there are, from now on: the end is near."""
        with self._lock:
            self._most_of_one = 2**31
            self._turns = deque(self._waiting)

    def take_back(self, lane: Hashable) -> Item | None:
        """Return the newest item of the longest lane; None if that is no longer than this one."""
        with self._lock:
            longest = max(self._waiting, key=self._count, default=lane)
            if self._count(longest) <= self._count(lane) + 1:
                return None
            # At least one stays, so that the lane keeps its turn.
            return self._waiting[longest].pop()

    def _count(self, lane: Hashable) -> int:
        return len(self._waiting.get(lane, ()))
