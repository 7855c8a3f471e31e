"""The cheapest way to share out the items of one band among labs.

A lab's items travel in one package, whose price depends on how many copies are in it and on
which services would still be in time. So no item can be placed by itself, and the best answer
has to be searched for: first over which labs take part, then over who gets what. A bound on what
is left to decide cuts off almost all of it.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from printworks.rules.routing.bounds import Bound, DealBounds, LabBounds, Slopes
from printworks.rules.routing.sharing import Costs, Sharing, SharingProblem

# Beyond so many steps (looks at one item with one lab) the search ends with what it has found.
MOST_STEPS: Final = 200_000
# The search calls itself once for each item, and Python allows a thousand calls.
MOST_ITEMS: Final = 500
# What it costs to look at a partial sharing at all, in steps.
NODE: Final = 10
# How often a bound is raised before items are dealt out one by one.
ROUNDS: Final = 10


class Solution(NamedTuple):
    """A lab for each item, and whether it is known that nothing better exists."""

    labs: tuple[int, ...]
    is_exact: bool


def solve(problem: SharingProblem, *, most_steps: int = MOST_STEPS) -> Solution:
    """Find the sharing of least cost, then with the fewest packages, then with the first labs.

    The first labs are those of the list that comes first when labs are listed item by item.
    """
    costs = Costs(problem, breaks_ties=True)
    search = _Search(costs, _find_good(costs), most_steps)
    is_exact = search.run()
    best = Sharing(costs, search.best)
    if not is_exact:
        best.improve()
    return Solution(tuple(best.labs), is_exact)


def _find_good(costs: Costs) -> Sharing:
    """Begin with each item where it is cheapest, or with one lab as far as that goes."""
    cheapest = [min(choices, key=choices.__getitem__) for choices in costs.items]
    begins = [Sharing(costs, cheapest)]
    for lab in costs.labs:
        choices = zip(costs.items, cheapest, strict=True)
        begins.append(Sharing(costs, [lab if lab in known else best for known, best in choices]))
    good = min(begins, key=Sharing.total)
    good.improve()
    return good


class _OutOfSteps(Exception):
    """The search takes too long."""


class _Search:
    """Goes through all sets of labs but those that cannot give anything better."""

    def __init__(self, costs: Costs, good: Sharing, most_steps: int) -> None:
        self.best = good.labs
        self.least = good.total()
        self.costs = costs
        self._lab_bounds = LabBounds(costs, good.labs)
        self._deal_bounds = DealBounds(costs)
        self._steps = most_steps

    def run(self) -> bool:
        """Search, and say whether the search came to its end."""
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
            self._deal(taken)
            return
        # The labs of the best answer first, so that it can be beaten soon.
        lab = min(undecided, key=lambda lab: (lab not in self.best, lab))
        self._choose_labs(taken | {lab}, undecided - {lab})
        self._choose_labs(taken, undecided - {lab})

    def _deal(self, labs: frozenset[int]) -> None:
        self.spend(len(self.costs.items) * len(labs) * ROUNDS)
        slopes = self._lab_bounds.slopes
        bound = self._deal_bounds.find(labs, slopes, enough=self.least, rounds=ROUNDS)
        if bound.least < self.least:
            _Deal(self, labs, bound).run()


class _Deal:
    """Deals the items out to a set of labs, all of which take part."""

    def __init__(self, search: _Search, labs: frozenset[int], bound: Bound) -> None:
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
        # What is in each package so far, and which services it leaves.
        self._dealt = {lab: (0, search.costs.services[lab]) for lab in labs}
        self._given = [-1] * len(self._copies)
        self._cheapest: dict[object, int] = {}

    def run(self) -> None:
        """Deal in every way that may be the best, and tell the search of each better one."""
        if len(self._order) > MOST_ITEMS:
            raise _OutOfSteps
        self._deal(0, 0, self._least)

    def _find_order(self) -> tuple[list[int], list[bool]]:
        """Put items first for which the choice matters most, and those that are alike together.

        Beside it stands for each whether it is like the one before.
        """
        problem = self._costs.problem
        groups: dict[object, list[int]] = {}
        for item, (copies, choices) in enumerate(zip(problem.copies, problem.choices, strict=True)):
            groups.setdefault((copies, tuple(choices.items())), []).append(item)
        second = {item: self._regrets[item][:2][-1][0] for item in range(len(problem.copies))}
        ordered = sorted(groups.values(), key=lambda group: (-second[group[0]], group[0]))
        order = [item for group in ordered for item in group]
        return order, [place > 0 for group in ordered for place in range(len(group))]

    def _deal(self, position: int, items_cost: int, least: int) -> None:
        packages = sum(self._costs.package(lab, *self._dealt[lab]) for lab in self._labs)
        if position == len(self._order):
            if items_cost + packages < self._search.least:
                self._search.least = items_cost + packages
                self._search.best = list(self._given)
            return
        item = self._order[position]
        first = self._given[self._order[position - 1]] if self._is_like_last[position] else 0
        # Whoever comes to equal packages with as many items dealt has the same future.
        state = (position, first, *self._dealt.values())
        if self._cheapest.get(state, items_cost + 1) <= items_cost:
            return
        self._cheapest[state] = items_cost
        if items_cost + packages + self._bound(position) >= self._search.least:
            return
        for regret, lab in self._regrets[item]:
            if least + regret >= self._search.least:
                break
            # Of two items that differ in nothing the first never gets the later lab.
            if lab >= first:
                before = self._dealt[lab]
                self._given[item] = lab
                services = self._costs.problem.choices[item][lab].services
                self._dealt[lab] = (before[0] + self._copies[item], before[1] & services)
                self._deal(position + 1, items_cost + self._costs.items[item][lab], least + regret)
                self._dealt[lab] = before

    def _bound(self, position: int) -> int:
        """Return the least that the items not yet dealt add to the cost."""
        slopes = [(lab, self._costs.slope(lab, *self._dealt[lab])) for lab in self._labs]
        left = self._order[position:]
        self._search.spend(len(left) * len(slopes) + NODE)
        bound = 0
        for item in left:
            costs, copies = self._costs.items[item], self._copies[item]
            bound += min([costs[lab] + slope * copies for lab, slope in slopes if lab in costs])
        return bound


def _find_regrets(
    costs: Mapping[int, int], copies: int, labs: frozenset[int], slopes: Slopes
) -> list[tuple[int, int]]:
    """Say for each lab how much more it would cost than the best, which comes first."""
    added = sorted((cost + slopes[lab] * copies, lab) for lab, cost in costs.items() if lab in labs)
    return [(cost - added[0][0], lab) for cost, lab in added]
