"""In which order tests run: the slow ones first, so that none is left over at the end."""

from collections.abc import Sequence
from itertools import groupby, islice

import pytest


def put_slow_first(tests: Sequence[pytest.Item], workers: int) -> list[pytest.Item]:
    """Return the tests in an order in which each worker begins with its share of the slow ones.

    `--dist worksteal` gives each worker an equal part of the list, one after the other. The tests
    of a file stay together: they may share a browser or a service.
    """
    slow = [test for test in tests if test.get_closest_marker("slow")]
    others = iter([test for test in tests if not test.get_closest_marker("slow")])
    files = [list(group) for _, group in groupby(slow, key=lambda test: test.path)]
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        size = (len(tests) - len(ordered)) // (workers - worker)
        begin = [test for file in files[worker::workers] for test in file]
        ordered += [*begin, *islice(others, max(0, size - len(begin)))]
    return [*ordered, *others]
