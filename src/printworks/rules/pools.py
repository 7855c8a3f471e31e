"""The pools of a worker: who has slots of its own, and how many."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec


class Pool(StrEnum):
    """The parts of a worker, each with slots of its own: none takes those of another."""

    DOWNLOADS = "downloads"
    SLOW_DOWNLOADS = "slow-downloads"
    CALLBACKS = "callbacks"
    LATE_CALLBACKS = "late-callbacks"
    RENDERING = "rendering"
    MOCKUPS = "mockups"
    LABS = "labs"
    PAYMENTS = "payments"
    MAIL = "mail"
    UPKEEP = "upkeep"


class PoolSize(msgspec.Struct, frozen=True, kw_only=True):
    """The size of a pool, in proportion to the slots of its worker."""

    slots: float
    # How many that wait for other servers may leave their slots, for each slot.
    aside: int = 0
    # The part of the slots that is kept for merchants whose servers answer.
    kept: float = 0
    # Whether jobs are claimed before there is a slot for them.
    is_ahead: bool = False

    def count_slots(self, of_worker: int) -> int:
        """Return how many slots it has; at least one."""
        return max(1, int(self.slots * of_worker))

    def count_kept(self, of_worker: int) -> int:
        """Return how many of them are kept for those whose servers answer."""
        return int(self.kept * self.count_slots(of_worker))

    def count_aside(self, of_worker: int) -> int:
        """Return how many may wait beside the slots."""
        return self.aside * self.count_slots(of_worker)


POOL_SIZES: Final[Mapping[Pool, PoolSize]] = {
    # A download may hold a hundred megabytes of disk: not as many wait aside as callbacks may.
    Pool.DOWNLOADS: PoolSize(slots=1, aside=1, kept=1 / 4),
    Pool.SLOW_DOWNLOADS: PoolSize(slots=1 / 2, kept=1 / 4),
    Pool.CALLBACKS: PoolSize(slots=1, aside=4, kept=1 / 4, is_ahead=True),
    # They only hold a connection, and one to a receiver that is well again must get through.
    Pool.LATE_CALLBACKS: PoolSize(slots=4, kept=1 / 4),
    Pool.RENDERING: PoolSize(slots=1 / 4),
    # Nobody waits for them, and they must not take the processors from pictures that are awaited.
    Pool.MOCKUPS: PoolSize(slots=1 / 16),
    Pool.LABS: PoolSize(slots=1 / 4),
    Pool.PAYMENTS: PoolSize(slots=1 / 4),
    Pool.MAIL: PoolSize(slots=1 / 4),
    Pool.UPKEEP: PoolSize(slots=1),
}
