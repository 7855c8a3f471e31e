"""The slots of a worker: each pool has its own, and those that wait for long leave theirs."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from printworks.rules.jobs import POOL_SIZES, Policy, Pool
from printworks.store.queue.jobs import Claim, Job
from printworks.store.queue.shares import Room
from printworks.worker.waiting import Waiting


class _Holder(NamedTuple):
    pool: Pool
    # Whether its lane was not proven when it began.
    is_doubted: bool


class Slots:
    """Who has a slot in which pool, and who waits beside them."""

    def __init__(self, policies: Mapping[str, Policy], waiting: Waiting, *, of_worker: int) -> None:
        self._policies = policies
        self._waiting = waiting
        self._of_worker = of_worker
        self._pools = frozenset(policy.pool for policy in policies.values())
        self._holders: dict[Claim, _Holder] = {}
        self._taken: Counter[Pool] = Counter()
        self._doubted: Counter[Pool] = Counter()
        self._aside: dict[Claim, Pool] = {}
        self._cursors: dict[Pool, str] = {}

    @property
    def taken(self) -> int:
        """How many slots are taken."""
        return len(self._holders)

    def find_rooms(self) -> dict[Pool, Room]:
        """Return what can be claimed now, for each pool that has a free slot."""
        rooms = {}
        for pool in self._pools:
            size = POOL_SIZES[pool]
            slots = size.count_slots(self._of_worker)
            free = slots - self._taken[pool]
            if free > 0:
                doubted = slots - size.count_kept(self._of_worker) - self._doubted[pool]
                rooms[pool] = Room(free, max(doubted, 0), self._cursors.get(pool, ""))
        return rooms

    def continue_from(self, cursors: Mapping[Pool, str]) -> None:
        """Remember the last lanes that were served."""
        self._cursors.update(cursors)

    def take(self, jobs: Iterable[Job]) -> None:
        """Give a slot to each of these."""
        for job in jobs:
            holder = _Holder(self._pool_of(job), job.lane not in self._waiting.proven)
            self._holders[job.claim] = holder
            self._taken[holder.pool] += 1
            self._doubted[holder.pool] += holder.is_doubted

    def leave(self, job: Job) -> Pool:
        """Free the slot of a job that has ended, or its place beside the slots; return its pool."""
        if self._aside.pop(job.claim, None) is None:
            self._free(job.claim)
        return self._pool_of(job)

    def step_aside(self) -> bool:
        """Let those who have waited for long leave their slots; say whether any did."""
        are_free = False
        for claim in self._waiting.find_overdue():
            holder = self._holders.get(claim)
            if holder is not None and self._has_room_aside(holder.pool):
                self._free(claim)
                self._aside[claim] = holder.pool
                are_free = True
        return are_free

    def _free(self, claim: Claim) -> None:
        holder = self._holders.pop(claim)
        self._taken[holder.pool] -= 1
        self._doubted[holder.pool] -= holder.is_doubted

    def _has_room_aside(self, pool: Pool) -> bool:
        waiting = sum(each is pool for each in self._aside.values())
        return waiting < POOL_SIZES[pool].count_aside(self._of_worker)

    def _pool_of(self, job: Job) -> Pool:
        return self._policies[job.kind].pool
