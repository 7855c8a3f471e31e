"""What was sold and what it cost, part by part: by product and by lab, to the last unit."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Final

import msgspec

# Stands for the product of a part that is shipping, or that belongs to no product.
NO_PRODUCT: Final = ""


class CostPart(msgspec.Struct, frozen=True, array_like=True):
    """What a lab charges for the copies of one product in a shipment."""

    sku: str
    items_cost: int


def spread(amount: int, weights: Sequence[int]) -> list[int]:
    """Divide an amount in proportion to weights, to the last unit; equally if all are zero."""
    shares = weights if any(weights) else [1] * len(weights)
    total = sum(shares)
    # The parts are the steps of a sum that is rounded as it grows, so nothing is left over.
    grown = [amount * done // total for done in accumulate(shares, initial=0)]
    return [after - before for before, after in pairwise(grown)]
