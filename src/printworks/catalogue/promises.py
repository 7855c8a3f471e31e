"""What is promised to recipients: within how many days a parcel arrives."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations

import msgspec

from printworks.catalogue.problems import list_some
from printworks.rules.orders import ShippingMethod


class Promise(msgspec.Struct, frozen=True):
    """The latest arrival that counts as met, for a method and a part of the world.

    Days are Monday to Friday, from the day after submission. Weekends are left out because hardly
    any lab or carrier works then; public holidays are not, because those of the lab, of the
    carrier and of the recipient differ, and the recipient knows only one of the three.
    """

    method: ShippingMethod
    # A country, a group or everywhere: what made this promise the one that counts.
    to: str
    days: int


def find_equal_promises(
    promises: Mapping[tuple[ShippingMethod, str], Promise],
) -> Iterator[str]:
    """Say which methods promise the same, so that nobody has a reason to pay for the faster."""
    alike: dict[tuple[ShippingMethod, ShippingMethod, int], list[str]] = defaultdict(list)
    for country in sorted({country for _, country in promises}):
        for slower, faster in combinations(ShippingMethod, 2):
            days = promises[slower, country].days
            if days == promises[faster, country].days:
                alike[slower, faster, days].append(country)
    for (slower, faster, days), countries in alike.items():
        yield f"{slower} and {faster} to {list_some(countries)} both promise {days} days."
