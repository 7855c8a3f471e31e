"""What it costs to assign the items of one band to labs, and a good assignment to start from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce
from itertools import permutations
from operator import and_
from typing import NamedTuple, Self

import msgspec


class ShipmentPrice(msgspec.Struct, frozen=True):
    """What a shipment costs: one price for the first copies, then one for each further step."""

    first: int
    # How many copies the first price pays for, and how many each further step.
    items: int = 1
    each_further: int = 0
    step: int = 1

    def __post_init__(self) -> None:
        """Refuse prices that fall with the number of copies: the search relies on it."""
        if min(self.first, self.each_further, self.items) < 0 or self.step < 1:
            message = "A price cannot be negative, nor a step smaller than one copy."
            raise ValueError(message)

    def price_for(self, copies: int) -> int:
        """Return the price of a shipment with this many copies."""
        further = max(0, copies - self.items)
        return self.first + self.each_further * -(-further // self.step)

    def end_of_step(self, copies: int) -> int:
        """Return the largest number of copies that costs the same as this many."""
        further = max(0, copies - self.items)
        return self.items + self.step * -(-further // self.step)


class LabChoice(NamedTuple):
    """One lab for one item."""

    # Of all copies.
    cost: int
    # Bit n is set if service n of the lab would be in time; at least one is.
    services: int


class AssignmentProblem(NamedTuple):
    """Items in the order of the order, labs and services in the order of their codes."""

    copies: Sequence[int]
    # For each item, by lab; never empty.
    choices: Sequence[Mapping[int, LabChoice]]
    # For each lab, by service.
    prices: Sequence[Sequence[ShipmentPrice]]


class Costs:
    """Every cost of a problem.

    With ties broken, a cost is one long number: the money, then the number of shipments, then a
    digit for the lab of each item. The smallest number is the answer, and there is only one.
    """

    def __init__(self, problem: AssignmentProblem, *, breaks_ties: bool) -> None:
        self.problem = problem
        self.labs = sorted({lab for choices in problem.choices for lab in choices})
        self._copies = sum(problem.copies)
        self._known_prices: dict[tuple[int, int, int], int] = {}
        self._known_slopes: dict[tuple[int, int, int], int] = {}
        count = len(problem.copies)
        places = [len(problem.prices) ** (count - n - 1) * breaks_ties for n in range(count)]
        self._shipment = len(problem.prices) ** count * breaks_ties
        self._money = self._shipment * (count + 1) if breaks_ties else 1
        self.items: list[dict[int, int]] = [
            {lab: choice.cost * self._money + lab * place for lab, choice in choices.items()}
            for choices, place in zip(problem.choices, places, strict=True)
        ]
        # What a lab could use at best.
        self.services = dict.fromkeys(self.labs, 0)
        for choices in problem.choices:
            for lab, choice in choices.items():
                self.services[lab] |= choice.services

    def total(self, labs: Sequence[int]) -> int:
        """Return the cost of all items and shipments, with a lab for each item."""
        copies: dict[int, int] = {}
        services = dict(self.services)
        for lab, of_item, choices in zip(
            labs, self.problem.copies, self.problem.choices, strict=True
        ):
            copies[lab] = copies.get(lab, 0) + of_item
            services[lab] &= choices[lab].services
        items = sum([costs[lab] for costs, lab in zip(self.items, labs, strict=True)])
        return items + sum([self.shipment(lab, copies[lab], services[lab]) for lab in copies])

    def shipment(self, lab: int, copies: int, services: int) -> int:
        """Return what the shipment of a lab costs by the cheapest of these services."""
        key = (lab, copies, services)
        if key not in self._known_prices:
            prices = self._list_prices(lab, services)
            cheapest = min(price.price_for(copies) for price in prices)
            self._known_prices[key] = cheapest * self._money + self._shipment
        return self._known_prices[key]

    def slope(self, lab: int, copies: int, services: int) -> int:
        """Return the least that each further copy adds to a shipment.

        It holds for any number of copies, whichever of the services they rule out.
        """
        key = (lab, copies, services)
        if key not in self._known_slopes:
            prices = self._list_prices(lab, services)
            now = min(price.price_for(copies) for price in prices)
            self._known_slopes[key] = min(
                ((price.price_for(then) - now) * self._money // (then - copies))
                for price in prices
                for then in self._list_breakpoints(price, copies)
            )
        return self._known_slopes[key]

    def _list_prices(self, lab: int, services: int) -> list[ShipmentPrice]:
        return [price for n, price in enumerate(self.problem.prices[lab]) if services >> n & 1]

    def _list_breakpoints(self, price: ShipmentPrice, copies: int) -> set[int]:
        # Between these numbers of copies the average price of a further one only falls or only
        # rises, so the minimum is at one of them.
        last = max(self._copies, copies + 1)
        end = price.end_of_step(copies + 1)
        whole_steps = end + max(0, last - end) // price.step * price.step
        return {min(end, last), min(whole_steps, last), last}

    def list_corners(self, lab: int) -> list[tuple[int, int]]:
        """Return numbers of copies, each with the lowest price of such a shipment.

        A line that is below all of these is below the price for any number of copies.
        """
        services = self.services[lab]
        prices = self._list_prices(lab, services)
        counts = {0}.union(*(self._list_breakpoints(price, 0) for price in prices))
        return [(copies, self.shipment(lab, copies, services)) for copies in sorted(counts)]


class Assignment:
    """A lab for each item, and the shipments that result."""

    def __init__(self, costs: Costs, labs: Sequence[int]) -> None:
        self.costs = costs
        self.labs = list(labs)
        self._copies = dict.fromkeys(costs.labs, 0)
        # By lab: how many of its items have which services in time.
        self._services: dict[int, Counter[int]] = {lab: Counter() for lab in costs.labs}
        problem = costs.problem
        for lab, copies, choices in zip(labs, problem.copies, problem.choices, strict=True):
            self._copies[lab] += copies
            self._services[lab][choices[lab].services] += 1

    @classmethod
    def find_good(cls, problem: AssignmentProblem) -> Self:
        """Put each item where it is cheapest, or as many as possible at one lab."""
        costs = Costs(problem, breaks_ties=True)
        cheapest = [min(choices, key=choices.__getitem__) for choices in costs.items]
        starts = [cheapest]
        for lab in costs.labs:
            choices = zip(costs.items, cheapest, strict=True)
            starts.append([lab if lab in known else best for known, best in choices])
        return cls(costs, min(starts, key=costs.total))

    def total(self) -> int:
        """Return the cost of all items and shipments."""
        return self.costs.total(self.labs)

    def extra_alone(self, item: int, lab: int) -> int:
        """Return the extra cost of moving an item to another lab."""
        return self._extra([item], self.labs[item], lab)

    def extra_together(self, home: int, lab: int) -> int:
        """Return the extra cost of moving all items of a shipment that the other lab can make."""
        return self._extra(self._list_movable(home, lab), home, lab)

    def improve(self) -> None:
        """Move items and whole shipments as long as that makes it cheaper."""
        while self._move_items() or self._move_shipments():
            pass

    def _move_items(self) -> bool:
        is_better = False
        for item, choices in enumerate(self.costs.items):
            others = [lab for lab in choices if lab != self.labs[item]]
            extra, lab = min(((self.extra_alone(item, lab), lab) for lab in others), default=(0, 0))
            if extra < 0:
                self._move([item], self.labs[item], lab)
                is_better = True
        return is_better

    def _move_shipments(self) -> bool:
        is_better = False
        for home, lab in permutations(self.costs.labs, 2):
            moved = self._list_movable(home, lab)
            if moved and self._extra(moved, home, lab) < 0:
                self._move(moved, home, lab)
                is_better = True
        return is_better

    def _list_movable(self, home: int, lab: int) -> list[int]:
        choices = self.costs.items
        return [item for item, at in enumerate(self.labs) if at == home and lab in choices[item]]

    def _extra(self, moved: Sequence[int], home: int, lab: int) -> int:
        before = self._price(home) + self._price(lab)
        self._move(moved, home, lab)
        after = self._price(home) + self._price(lab)
        self._move(moved, lab, home)
        costs = self.costs.items
        return after - before + sum(costs[item][lab] - costs[item][home] for item in moved)

    def _move(self, items: Sequence[int], home: int, lab: int) -> None:
        all_copies, all_choices, _ = self.costs.problem
        left, joined, moved = self._services[home], self._services[lab], 0
        for item in items:
            choices = all_choices[item]
            self.labs[item] = lab
            moved += all_copies[item]
            left[choices[home].services] -= 1
            joined[choices[lab].services] += 1
        self._copies[home] -= moved
        self._copies[lab] += moved

    def _price(self, lab: int) -> int:
        in_time = [services for services, count in self._services[lab].items() if count]
        if not in_time:
            return 0
        return self.costs.shipment(lab, self._copies[lab], reduce(and_, in_time))
