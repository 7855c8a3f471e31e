"""The slots of a worker: each pool has its own, and those that wait for long leave theirs.

In some pools jobs are claimed ahead: one that is ready takes a slot the moment it is free. There
are as many of them as will soon get one, so nobody whose job is due waits behind them for long.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from printworks.rules.jobs import Policy
from printworks.rules.pools import POOL_SIZES, Pool
from printworks.store.queue.jobs import Claim, Job
from printworks.store.queue.shares import Room
from printworks.worker.waiting import Waiting

# The most jobs that are claimed ahead, for each slot.
MOST_AHEAD: Final = 4
# Jobs that begin together are many if they are this part of the slots of their pool. A few never are.
MANY: Final = 1 / 4
FEW: Final = 2


class _Holder(NamedTuple):
    pool: Pool
    # Whether its lane was not proven when it began.
    is_doubted: bool


class Slots:
    """Who has a slot in which pool, who is ready for one, and who waits beside them."""

    def __init__(self, policies: Mapping[str, Policy], waiting: Waiting, *, of_worker: int) -> None:
        self._policies = policies
        self._waiting = waiting
        self._pools = frozenset(policy.pool for policy in policies.values())
        sizes = {pool: POOL_SIZES[pool] for pool in self._pools}
        self._total = {pool: size.count_slots(of_worker) for pool, size in sizes.items()}
        self._kept = {pool: size.count_kept(of_worker) for pool, size in sizes.items()}
        self._most_aside = {pool: size.count_aside(of_worker) for pool, size in sizes.items()}
        self._holders: dict[Claim, _Holder] = {}
        self._taken: Counter[Pool] = Counter()
        self._doubted: Counter[Pool] = Counter()
        self._aside: dict[Claim, Pool] = {}
        self._cursors: dict[Pool, str] = {}
        # The oldest comes first.
        self._ready: dict[Pool, dict[Claim, Job]] = {pool: {} for pool in self._pools}
        # How many slots became free since the last claim.
        self._freed: Counter[Pool] = Counter()

    @property
    def taken(self) -> int:
        """How many slots are taken."""
        return len(self._holders)

    @property
    def ready(self) -> list[Claim]:
        """Those that wait for a slot."""
        return [claim for of_pool in self._ready.values() for claim in of_pool]

    def find_rooms(self, *, ahead: bool = True) -> dict[Pool, Room]:
        """Return what can be claimed now, for each pool that has room."""
        rooms = {}
        for pool in self._pools:
            free = self._count_free(pool)
            more = self._count_ahead(pool) if ahead else 0
            if free + more > 0:
                # Whoever is in doubt is not claimed ahead.
                doubted = min(free, self._count_for_doubted(pool))
                rooms[pool] = Room(free + more, max(doubted, 0), self._cursors.get(pool, ""))
        return rooms

    def are_many(self, jobs: Iterable[Job]) -> bool:
        """Whether so many were claimed for one pool that others will soon end or come."""
        claimed = Counter(map(self._pool_of, jobs))
        return any(
            number > FEW and number >= MANY * self._total[pool] for pool, number in claimed.items()
        )

    def begin_claim(self) -> None:
        """Count anew how many slots become free from one claim to the next."""
        self._freed.clear()

    def continue_from(self, cursors: Mapping[Pool, str]) -> None:
        """Remember the last lanes that were served."""
        self._cursors.update(cursors)

    def take(self, jobs: Iterable[Job]) -> list[Job]:
        """Give a slot to each of these for whom there is one; return those. The others are ready."""
        proven = self._waiting.proven
        # Those in doubt first: they were claimed for slots that are free.
        for job in sorted(jobs, key=lambda job: job.lane in proven):
            self._ready[self._pool_of(job)][job.claim] = job
        return [job for pool in self._pools for job in self.take_ready(pool)]

    def take_ready(self, pool: Pool) -> Sequence[Job]:
        """Give the free slots of a pool to those that are ready for one; return them."""
        ready = self._ready[pool]
        free = self._count_free(pool)
        if not ready or free <= 0:
            return ()
        for_doubted = self._count_for_doubted(pool)
        chosen: list[Job] = []
        for job in ready.values():
            if len(chosen) == free:
                break
            is_doubted = job.lane not in self._waiting.proven
            # One that came into doubt meanwhile lets others pass.
            if is_doubted and for_doubted <= 0 and POOL_SIZES[pool].is_ahead:
                continue
            for_doubted -= is_doubted
            chosen.append(job)
            self._holders[job.claim] = _Holder(pool, is_doubted)
            self._taken[pool] += 1
            self._doubted[pool] += is_doubted
        for job in chosen:
            del ready[job.claim]
        return chosen

    def drop_ready(self, claims: Iterable[Claim]) -> list[Claim]:
        """Take these away from those that are ready; return those that were."""
        return [
            claim
            for claim in claims
            for of_pool in self._ready.values()
            if of_pool.pop(claim, None) is not None
        ]

    def leave(self, job: Job) -> Pool:
        """Free the slot of a job that has ended, or its place beside the slots; return its pool."""
        if self._aside.pop(job.claim, None) is None:
            self._free(job.claim)
        return self._pool_of(job)

    def step_aside(self) -> list[Pool]:
        """Let those who have waited for long leave their slots; return in which pools any did."""
        freed = []
        for claim in self._waiting.find_overdue():
            holder = self._holders.get(claim)
            if holder is not None and self._has_room_aside(holder.pool):
                self._free(claim)
                self._aside[claim] = holder.pool
                freed.append(holder.pool)
        return freed

    def _free(self, claim: Claim) -> None:
        holder = self._holders.pop(claim)
        self._taken[holder.pool] -= 1
        self._doubted[holder.pool] -= holder.is_doubted
        self._freed[holder.pool] += 1

    def _count_free(self, pool: Pool) -> int:
        return self._total[pool] - self._taken[pool]

    def _count_for_doubted(self, pool: Pool) -> int:
        return self._total[pool] - self._kept[pool] - self._doubted[pool]

    def _count_ahead(self, pool: Pool) -> int:
        """Return how many more can be claimed ahead: what the next two claims would find free."""
        if not POOL_SIZES[pool].is_ahead:
            return 0
        most = min(2 * self._freed[pool], MOST_AHEAD * self._total[pool])
        return max(0, most - len(self._ready[pool]))

    def _has_room_aside(self, pool: Pool) -> bool:
        waiting = sum(each is pool for each in self._aside.values())
        return waiting < self._most_aside[pool]

    def _pool_of(self, job: Job) -> Pool:
        return self._policies[job.kind].pool
