"""A line of the result: our figure, the peer's, and what is compared with the budget."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

# With fewer rounds there are no quartiles, and all rounds count.
ROUNDS_WITH_QUARTILES = 4


@dataclass(frozen=True)
class Line:
    """One measured figure or ratio.

    `rounds` is the value in each round; without them the value stands alone, because other load
    only adds to it (a minimum) or because a single bad round counts (a maximum). A value of None
    means that there was nothing to measure, and `note` says why.
    """

    name: str
    value: float | None
    ours: float | None = None
    peer: float | None = None
    rounds: tuple[float, ...] = ()
    note: str = ""
    # Set by the run, unless the part measures several databases at once.
    database: str = ""

    @property
    def spread(self) -> tuple[float, float] | None:
        """Return the quartiles of the rounds, or their extremes if there are few."""
        if len(self.rounds) < ROUNDS_WITH_QUARTILES:
            return (min(self.rounds), max(self.rounds)) if self.rounds else None
        low, _, high = quantiles(self.rounds, n=4, method="inclusive")
        return low, high


def compare(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Line:
    """Compare our figure with the peer's, round by round."""
    ratios = tuple(a / b for a, b in zip(ours, theirs, strict=True))
    return Line(name, median(ratios), median(ours), median(theirs), ratios)


def compare_least(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Line:
    """Compare our minimum with the peer's: other load only adds to both."""
    return Line(name, min(ours) / min(theirs), min(ours), min(theirs))


def subtract_least(name: str, ours: Sequence[float], theirs: Sequence[float]) -> Line:
    """Return how far our minimum is above the peer's."""
    return Line(name, min(ours) - min(theirs), min(ours), min(theirs))


def state(name: str, figures: Sequence[float]) -> Line:
    """Return the median of a figure that has no peer."""
    return Line(name, median(figures), median(figures), rounds=tuple(figures))


def state_beside(name: str, figures: Sequence[float], others: Sequence[float]) -> Line:
    """Return the median of a figure, and beside it what it is otherwise: no ratio."""
    return Line(name, median(figures), median(figures), median(others), tuple(figures))


def state_most(name: str, figures: Sequence[float]) -> Line:
    """Return the largest figure, where every round counts."""
    return Line(name, max(figures), max(figures))
