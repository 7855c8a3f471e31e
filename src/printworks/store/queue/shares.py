"""How the free slots of a worker are shared out: to every lane in turn, pool by pool."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from typing import Final, NamedTuple

# Follows the number of any merchant, in every collation.
_BEHIND_ALL: Final = "9" * 20


class Room(NamedTuple):
    """What a worker can take into one pool."""

    slots: int
    # How many of them may go to lanes that have not been answered quickly before.
    for_doubted: int
    # The last lane that was served there.
    cursor: str = ""


def go_round(kinds: Sequence[str], cursor: str) -> list[tuple[str, str]]:
    """Return the ranges of lanes of these kinds, beginning after a lane and ending with it."""
    whole = [(kind, f"{kind}:{_BEHIND_ALL}") for kind in kinds]
    if not cursor:
        return whole
    last = kind_of(cursor)
    behind = [(cursor, f"{last}:{_BEHIND_ALL}")] if last in kinds else []
    before = [(last, cursor)] if last in kinds else []
    later = [each for each in whole if each[0] > last]
    earlier = [each for each in whole if each[0] < last]
    return behind + later + earlier + before


def kind_of(lane: str) -> str:
    """Return the kind of the jobs in a lane."""
    return lane.rpartition(":")[0]


def share_out(free: Room, room: Mapping[str, int], proven: Container[str]) -> dict[str, int]:
    """Give every lane one slot in turn, until the slots or the room in the lanes run out.

    Lanes that are not proven get no more than `for_doubted` of them together.
    """
    slots, for_doubted = free.slots, free.for_doubted
    shares: Counter[str] = Counter()
    waiting = [lane for lane in room if room[lane] > 0]
    while slots > 0 and waiting:
        served = []
        for lane in waiting:
            if lane not in proven:
                if for_doubted <= 0:
                    continue
                for_doubted -= 1
            served.append(lane)
            if len(served) == slots:
                break
        shares.update(served)
        slots -= len(served)
        waiting = [lane for lane in served if shares[lane] < room[lane]]
    return dict(shares)


def find_last(
    shares: Mapping[str, int], proven: Container[str], seen_last: str | None
) -> str | None:
    """Return the lane behind which to begin next time.

    `seen_last` is the last lane that was seen, if slots are left for others behind it.
    """
    # Lanes in doubt are often left out: behind the last of them, the next one has its turn.
    doubted = [lane for lane in shares if lane not in proven]
    if doubted:
        return doubted[-1]
    return seen_last or next(reversed(list(shares)), None)
