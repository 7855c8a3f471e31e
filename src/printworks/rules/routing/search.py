"""The cheapest assignment of the items of one band to labs, by branch and bound.

A lab's items travel in one shipment, whose price depends on the number of copies and on which
services would be in time. So items cannot be assigned one by one: the search goes first over the
sets of labs that take part, then over which of them gets which item.

A lower bound on the cost of what is undecided prunes almost all of it. For it, the price of each
shipment is replaced by a line below it: a fixed part, and a slope for each copy. Then each item
can be assigned on its own, and the sum is a bound, whatever the slopes; good slopes make it tight.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from itertools import combinations
from typing import Final, NamedTuple

from printworks.rules.routing.costs import Assignment, AssignmentProblem, Costs
from printworks.rules.routing.model import MOST_STEPS

# The search calls itself once for each item, and Python allows a thousand calls.
MOST_ITEMS: Final = 500
# The overhead of a partial assignment, in steps.
NODE: Final = 10
# How often a bound is raised before items are assigned one by one.
ROUNDS: Final = 10

# By lab, what each copy adds.
_Slopes = Mapping[int, int]


class Solution(NamedTuple):
    """A lab for each item, and whether this is known to be the best assignment."""

    labs: tuple[int, ...]
    is_exact: bool


def solve(problem: AssignmentProblem, *, most_steps: int = MOST_STEPS) -> Solution:
    """Find the assignment of least cost, then with the fewest shipments, then with the first labs.

    The first labs are those of the list that comes first when labs are listed item by item.
    """
    good = Assignment.find_good(problem)
    if _is_best(good):
        return Solution(tuple(good.labs), is_exact=True)
    good.improve()
    search = _LabSearch(good, most_steps)
    is_exact = search.run()
    best = Assignment(search.costs, search.best)
    if not is_exact:
        best.improve()
    return Solution(tuple(best.labs), is_exact)


def _is_best(good: Assignment) -> bool:
    """Whether no assignment can cost less, as is true of most orders: then nothing is tried."""
    total, labs = good.total(), frozenset(good.costs.labs)
    bound = _LabBounds(good.costs, good.labs).find(frozenset(), labs, enough=total)
    return bound is not None and bound >= total


class _OutOfSteps(Exception):
    """The search takes too long."""


class _LabSearch:
    """Tries all sets of labs except those that cannot be better than the best so far."""

    def __init__(self, good: Assignment, most_steps: int) -> None:
        self.best = good.labs
        self.least = good.total()
        self.costs = good.costs
        self._lab_bounds = _LabBounds(good.costs, good.labs)
        self._item_bounds = _ItemBounds(good.costs)
        self._steps = most_steps

    def run(self) -> bool:
        """Search, and return whether the search was complete."""
        try:
            self._choose_labs(frozenset(), frozenset(self.costs.labs))
        except _OutOfSteps:
            return False
        return True

    def spend(self, steps: int) -> None:
        """Count steps, and end the search when there have been too many."""
        self._steps -= steps
        if self._steps < 0:
            raise _OutOfSteps

    def _choose_labs(self, taken: frozenset[int], undecided: frozenset[int]) -> None:
        """Try every set that has all labs taken and perhaps some of the undecided ones."""
        self.spend(self._lab_bounds.steps)
        bound = self._lab_bounds.find(taken, undecided, enough=self.least)
        if bound is None or bound >= self.least:
            return
        if not undecided:
            self._assign_items(taken)
            return
        # The labs of the best answer first, so that a better one is found soon.
        lab = min(undecided, key=lambda lab: (lab not in self.best, lab))
        self._choose_labs(taken | {lab}, undecided - {lab})
        self._choose_labs(taken, undecided - {lab})

    def _assign_items(self, labs: frozenset[int]) -> None:
        self.spend(len(self.costs.items) * len(labs) * ROUNDS)
        bound = self._item_bounds.find(labs, self._lab_bounds.slopes, enough=self.least)
        if bound.least < self.least:
            _ItemSearch(self, labs, bound).run()


class _ItemSearch:
    """Assigns the items to a set of labs, all of which take part."""

    def __init__(self, search: _LabSearch, labs: frozenset[int], bound: "_Bound") -> None:
        self._search = search
        self._costs = search.costs
        self._copies = search.costs.problem.copies
        self._labs = labs
        self._least = bound.least
        self._regrets = [
            _find_regrets(costs, copies, labs, bound.slopes)
            for costs, copies in zip(self._costs.items, self._copies, strict=True)
        ]
        self._order, self._is_like_last = self._find_order()
        # By lab, the copies of its shipment so far, and the services that are still in time.
        self._shipments = {lab: (0, search.costs.services[lab]) for lab in labs}
        self._chosen = [-1] * len(self._copies)
        self._cheapest: dict[object, int] = {}

    def run(self) -> None:
        """Try every assignment that may be the best, and note each better one in the search."""
        if len(self._order) > MOST_ITEMS:
            raise _OutOfSteps
        self._assign(0, 0, self._least)

    def _find_order(self) -> tuple[list[int], list[bool]]:
        """Put the items first for which the choice matters most, and equal ones together.

        The second list has for each item whether it is equal to the one before.
        """
        problem = self._costs.problem
        groups: dict[object, list[int]] = {}
        for item, (copies, choices) in enumerate(zip(problem.copies, problem.choices, strict=True)):
            groups.setdefault((copies, tuple(choices.items())), []).append(item)
        second = {item: self._regrets[item][:2][-1][0] for item in range(len(problem.copies))}
        ordered = sorted(groups.values(), key=lambda group: (-second[group[0]], group[0]))
        order = [item for group in ordered for item in group]
        return order, [place > 0 for group in ordered for place in range(len(group))]

    def _assign(self, position: int, items_cost: int, least: int) -> None:
        shipments = sum(self._costs.shipment(lab, *self._shipments[lab]) for lab in self._labs)
        if position == len(self._order):
            if items_cost + shipments < self._search.least:
                self._search.least = items_cost + shipments
                self._search.best = list(self._chosen)
            return
        item = self._order[position]
        first = self._chosen[self._order[position - 1]] if self._is_like_last[position] else 0
        # Equal shipments with as many items assigned can only continue in the same ways.
        state = (position, first, *self._shipments.values())
        if self._cheapest.get(state, items_cost + 1) <= items_cost:
            return
        self._cheapest[state] = items_cost
        if items_cost + shipments + self._bound(position) >= self._search.least:
            return
        for regret, lab in self._regrets[item]:
            if least + regret >= self._search.least:
                break
            # Of two equal items, the first never gets the later lab.
            if lab >= first:
                before = self._shipments[lab]
                self._chosen[item] = lab
                services = self._costs.problem.choices[item][lab].services
                self._shipments[lab] = (before[0] + self._copies[item], before[1] & services)
                cost = items_cost + self._costs.items[item][lab]
                self._assign(position + 1, cost, least + regret)
                self._shipments[lab] = before

    def _bound(self, position: int) -> int:
        """Return the least that the unassigned items add to the cost."""
        slopes = [(lab, self._costs.slope(lab, *self._shipments[lab])) for lab in self._labs]
        left = self._order[position:]
        self._search.spend(len(left) * len(slopes) + NODE)
        bound = 0
        for item in left:
            costs, copies = self._costs.items[item], self._copies[item]
            bound += min([costs[lab] + slope * copies for lab, slope in slopes if lab in costs])
        return bound


def _find_regrets(
    costs: Mapping[int, int], copies: int, labs: frozenset[int], slopes: _Slopes
) -> list[tuple[int, int]]:
    """Return how much more each lab would cost than the best, which comes first."""
    added = sorted((cost + slopes[lab] * copies, lab) for lab, cost in costs.items() if lab in labs)
    return [(cost - added[0][0], lab) for cost, lab in added]


class _LabBounds:
    """Bounds the cost while some labs are undecided.

    The cost of opening a lab is shared by the items that would go there: each bids what it would
    save there, until the bids cover the cost (the dual ascent of Bilde, Krarup and Erlenkotter
    for facility location).
    """

    def __init__(self, costs: Costs, expected: Sequence[int]) -> None:
        copies = costs.problem.copies
        asked = Counter[int]()
        for lab, of_item in zip(expected, copies, strict=True):
            asked[lab] += of_item
        usual = sum(copies) // len(asked)
        corners = {lab: costs.list_corners(lab) for lab in costs.labs}
        self.slopes: _Slopes = {
            lab: _find_slope(those, asked[lab] or usual) for lab, those in corners.items()
        }
        self._openings = {
            lab: min([price - self.slopes[lab] * n for n, price in those])
            for lab, those in corners.items()
        }
        self._rankings = [
            sorted((cost + self.slopes[lab] * of_item, lab) for lab, cost in choices.items())
            for choices, of_item in zip(costs.items, copies, strict=True)
        ]
        self.steps = sum(map(len, self._rankings))

    def find(self, taken: Set[int], undecided: Set[int], *, enough: int) -> int | None:
        """Bound the cost if all labs taken and any undecided ones print; None if they cannot."""
        left = {lab: self._openings[lab] for lab in undecided} | dict.fromkeys(taken, 0)
        rankings = [[c for c in ranking if c[1] in left] for ranking in self._rankings]
        if not all(rankings):
            return None
        bound = sum(self._openings[lab] for lab in taken) + sum(r[0][0] for r in rankings)
        bids = [(ranking[0][0], 1, ranking) for ranking in rankings]
        while bids and bound < enough:
            still = []
            for bid, count, ranking in bids:
                raised, reached = _raise(bid, count, ranking, left)
                bound += raised - bid
                if reached:
                    still.append((raised, reached, ranking))
            bids = still
        return bound


def _raise(
    bid: int, count: int, ranking: Sequence[tuple[int, int]], left: dict[int, int]
) -> tuple[int, int]:
    """Raise the bid of an item up to its next lab, or until a lab's cost is covered.

    Returns the bid with the number of labs it reaches, which is 0 when it can rise no further.
    """
    while count < len(ranking) and ranking[count][0] <= bid:
        count += 1
    labs = [lab for _, lab in ranking[:count]]
    room = min([left[lab] for lab in labs])
    is_last = count == len(ranking)
    wanted = room if is_last else ranking[count][0] - bid
    step = min(room, wanted)
    for lab in labs:
        left[lab] -= step
    return bid + step, 0 if is_last or step < wanted else count


def _find_slope(corners: Sequence[tuple[int, int]], copies: int) -> int:
    """Return the slope of the line that is highest at this many copies and not below 0 at none."""
    slopes = {(price - low) // (n - m) for (m, low), (n, price) in combinations(corners, 2)}
    slopes |= {0, min(price // n for n, price in corners if n)}

    def height(slope: int) -> int:
        start = min([price - slope * n for n, price in corners])
        return start + slope * copies if start >= 0 else -1

    return max(slopes, key=height)


class _Bound(NamedTuple):
    """A lower bound, and the slopes that gave it."""

    least: int
    slopes: _Slopes


class _ItemBounds:
    """Bounds the cost when it is known which labs take part.

    The slopes are found in rounds of subgradient steps: where more copies go than the line was
    made for it gets steeper, where fewer go it gets flatter.
    """

    def __init__(self, costs: Costs) -> None:
        self._costs = costs
        self._corners = {lab: costs.list_corners(lab) for lab in costs.labs}

    def find(self, labs: Set[int], slopes: _Slopes, *, enough: int) -> _Bound:
        """Bound the cost if all these labs take part; stop early at a bound that is enough."""
        best = _Bound(0, slopes)
        for _ in range(ROUNDS):
            shipments, meant = self._place_lines(labs, slopes)
            items, asked = self._place_items(labs, slopes)
            best = max(best, _Bound(shipments + items, slopes), key=lambda bound: bound.least)
            gaps = {lab: asked[lab] - meant[lab] for lab in labs}
            square = sum(gap * gap for gap in gaps.values())
            if best.least >= enough or not square:
                break
            missing = enough - shipments - items
            slopes = {lab: max(0, slopes[lab] + missing * gaps[lab] // square) for lab in labs}
        return best

    def _place_lines(self, labs: Set[int], slopes: _Slopes) -> tuple[int, dict[int, int]]:
        """Return the fixed part of all shipments, and the copies that each line is made for."""
        total, meant = 0, {}
        for lab in labs:
            slope = slopes[lab]
            start, meant[lab] = min([(price - slope * n, n) for n, price in self._corners[lab]])
            total += start
        return total, meant

    def _place_items(self, labs: Set[int], slopes: _Slopes) -> tuple[int, Counter[int]]:
        """Return what all items cost where each is cheapest, and the copies each lab gets."""
        total, asked = 0, Counter[int]()
        steep = [(lab, slopes[lab]) for lab in labs]
        for costs, copies in zip(self._costs.items, self._costs.problem.copies, strict=True):
            least, lab = min([(costs[lab] + s * copies, lab) for lab, s in steep if lab in costs])
            total += least
            asked[lab] += copies
        return total, asked
