"""A start looks for no garbage, and everything after it does."""

import gc

import pytest

from printworks.starting import without_collecting


def test_garbage_is_left_alone_until_the_end_of_the_block() -> None:
    with without_collecting():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_it_is_collected_again_after_a_failure() -> None:
    with pytest.raises(ValueError, match="bad"), without_collecting():
        raise ValueError("bad")
    assert gc.isenabled()
