"""What the items of one band cost at the very least, whoever of some labs prints what.

The price of each package is replaced by a line that lies below it: so much for the package and
so much for each copy. Then every item can be placed by itself, and the sum is a bound. How good
it is depends on the slopes of the lines; whatever they are, the bound is true.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import NamedTuple

from printworks.rules.routing.sharing import Costs

# By lab, what each copy adds.
Slopes = Mapping[int, int]


class Bound(NamedTuple):
    """A bound, and the slopes that gave it."""

    least: int
    slopes: Slopes


class LabBounds:
    """Bounds the cost while some labs are undecided.

    What it costs to open a lab is shared by the items that would go there: each offers what it
    would save there, as long as the offers do not exceed the cost (the dual ascent of Bilde,
    Krarup and Erlenkotter for the location of plants).
    """

    def __init__(self, costs: Costs, expected: Sequence[int]) -> None:
        copies = costs.problem.copies
        asked = Counter[int]()
        for lab, of_item in zip(expected, copies, strict=True):
            asked[lab] += of_item
        usual = sum(copies) // len(asked)
        self.slopes: Slopes = {
            lab: _find_slope(costs.list_corners(lab), asked[lab] or usual) for lab in costs.labs
        }
        self.openings = {
            lab: min(price - self.slopes[lab] * n for n, price in costs.list_corners(lab))
            for lab in costs.labs
        }
        self._rankings = [
            sorted((cost + self.slopes[lab] * of_item, lab) for lab, cost in choices.items())
            for choices, of_item in zip(costs.items, copies, strict=True)
        ]
        self.steps = sum(map(len, self._rankings))

    def find(self, taken: Set[int], undecided: Set[int], *, enough: int) -> int | None:
        """Bound the cost if all labs taken and any undecided ones print; None if they cannot."""
        left = {lab: self.openings[lab] for lab in undecided} | dict.fromkeys(taken, 0)
        rankings = [[c for c in ranking if c[1] in left] for ranking in self._rankings]
        if not all(rankings):
            return None
        bound = sum(self.openings[lab] for lab in taken) + sum(r[0][0] for r in rankings)
        offers = [(ranking[0][0], 1, ranking) for ranking in rankings]
        while offers and bound < enough:
            still = []
            for offer, count, ranking in offers:
                raised, reached = _raise(offer, count, ranking, left)
                bound += raised - offer
                if reached:
                    still.append((raised, reached, ranking))
            offers = still
        return bound


def _raise(
    offer: int, count: int, ranking: Sequence[tuple[int, int]], left: dict[int, int]
) -> tuple[int, int]:
    """Raise the offer of an item up to its next lab, or as far as the labs have need of it.

    Returns the offer with the number of labs it reaches, which is 0 when it has come to an end.
    """
    while count < len(ranking) and ranking[count][0] <= offer:
        count += 1
    labs = [lab for _, lab in ranking[:count]]
    room = min([left[lab] for lab in labs])
    is_last = count == len(ranking)
    wanted = room if is_last else ranking[count][0] - offer
    step = min(room, wanted)
    for lab in labs:
        left[lab] -= step
    return offer + step, 0 if is_last or step < wanted else count


def _find_slope(corners: Sequence[tuple[int, int]], copies: int) -> int:
    """Return the slope of the line that is highest at so many copies and not below 0 at none."""
    slopes = {(price - low) // (n - m) for (m, low), (n, price) in combinations(corners, 2)}
    slopes |= {0, min(price // n for n, price in corners if n)}

    def height(slope: int) -> int:
        start = min([price - slope * n for n, price in corners])
        return start + slope * copies if start >= 0 else -1

    return max(slopes, key=height)


class DealBounds:
    """Bounds the cost when it is known which labs take part.

    The slopes are found in rounds: where more copies go than the line was made for it gets
    steeper, where fewer go it gets flatter (subgradient steps).
    """

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._corners = {lab: costs.list_corners(lab) for lab in costs.labs}

    def find(self, labs: Set[int], slopes: Slopes, *, enough: int, rounds: int) -> Bound:
        """Bound the cost if all these labs take part; stops early at a bound that is enough."""
        best = Bound(0, slopes)
        for _ in range(rounds):
            packages, meant = self._place_lines(labs, slopes)
            items, asked = self._place_items(labs, slopes)
            best = max(best, Bound(packages + items, slopes), key=lambda bound: bound.least)
            gaps = {lab: asked[lab] - meant[lab] for lab in labs}
            square = sum(gap * gap for gap in gaps.values())
            if best.least >= enough or not square:
                break
            missing = enough - packages - items
            slopes = {lab: max(0, slopes[lab] + missing * gaps[lab] // square) for lab in labs}
        return best

    def _place_lines(self, labs: Set[int], slopes: Slopes) -> tuple[int, dict[int, int]]:
        """Return what packages cost before the first copy, and the copies they are meant for."""
        total, meant = 0, {}
        for lab in labs:
            slope = slopes[lab]
            start, meant[lab] = min([(price - slope * n, n) for n, price in self._corners[lab]])
            total += start
        return total, meant

    def _place_items(self, labs: Set[int], slopes: Slopes) -> tuple[int, Counter[int]]:
        """Return what all items cost where each is cheapest, and the copies each lab gets."""
        total, asked = 0, Counter[int]()
        steep = [(lab, slopes[lab]) for lab in labs]
        for costs, copies in zip(self._costs.items, self._costs.problem.copies, strict=True):
            least, lab = min([(costs[lab] + s * copies, lab) for lab, s in steep if lab in costs])
            total += least
            asked[lab] += copies
        return total, asked
