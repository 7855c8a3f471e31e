"""The name of a stored picture says what it is called and what it contains."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.product_pictures import find_hash, list_hashes, name_picture

SHA256 = "0123456789abcdef" * 4
HASH = SHA256[:32]
OTHER = "f" * 32


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("mug.jpg", f"mug-{HASH}.jpg"),
        ("MUG-11OZ.jpg", f"mug-11oz-{HASH}.jpg"),
        ("Our best mug.HEIC", f"our-best-mug-{HASH}.jpg"),
        ("mug", f"mug-{HASH}.jpg"),
        ("..", f"{HASH}.jpg"),
        ("", f"{HASH}.jpg"),
        # Its content has changed since it was stored.
        (f"mug-{OTHER}.jpg", f"mug-{HASH}.jpg"),
        (f"{OTHER}.jpg", f"{HASH}.jpg"),
    ],
)
def test_a_picture_is_called_as_before_with_its_hash(called: str, name: str) -> None:
    assert name_picture(called, SHA256) == name


@given(st.text())
def test_every_name_can_be_read_and_written_again(called: str) -> None:
    name = name_picture(called, SHA256)

    assert find_hash(name) == HASH
    assert name_picture(name, SHA256) == name
    assert list_hashes([f'picture = "{name}"']) == [HASH]


@pytest.mark.parametrize("name", [None, "", "mug.jpg", f"mug-{HASH}.png", f"{HASH.upper()}.jpg"])
def test_other_names_are_not_those_of_stored_pictures(name: str | None) -> None:
    assert find_hash(name) is None


def test_every_picture_is_found_once_wherever_it_is_named() -> None:
    texts = [f'# {OTHER}.jpg\npicture = "mug-{HASH}.jpg"', f'["{HASH}.jpg"]', "nothing"]

    assert list_hashes(texts) == [HASH, OTHER]
    assert list_hashes([f"a{HASH}.jpg"]) == []
