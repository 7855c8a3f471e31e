"""What people call an image."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.image_names import LONGEST_NAME, clean_file_name, name_image


@pytest.mark.parametrize(
    ("given_name", "shown"),
    [
        ("beach.jpg", "beach.jpg"),
        ("C:\\Users\\mary\\beach.jpg", "beach.jpg"),
        ("../../etc/passwd", "passwd"),
        ("a\r\nb\t c.jpg", "a b c.jpg"),
        ("photo\u202egpj.exe", "photogpj.exe"),
        ("\x00\ud800", None),
        (" .. ", None),
        ("folder/", None),
        ("été.jpg", "été.jpg"),
    ],
)
def test_a_file_name_is_cleaned(given_name: str, shown: str | None) -> None:
    assert clean_file_name(given_name) == shown


def test_a_long_name_is_cut_in_the_middle_so_that_its_end_is_seen() -> None:
    name = clean_file_name("grandmother " * 40 + "1934.jpeg")

    assert name is not None
    assert len(name) <= LONGEST_NAME
    assert name.startswith("grandmother")
    assert name.endswith("1934.jpeg")


@pytest.mark.parametrize(
    ("name", "url", "shown"),
    [
        ("beach.jpg", "https://shop.example/other.jpg", "beach.jpg"),
        (None, "https://shop.example/2026/my%20beach.jpg?token=secret#top", "my beach.jpg"),
        (None, "https://shop.example/albums/summer/", "summer"),
        (None, "https://shop.example/", "Image 7"),
        (None, "https://[", "Image 7"),
        (None, None, "Image 7"),
    ],
)
def test_an_image_is_called_by_its_file_its_address_or_its_number(
    name: str | None, url: str | None, shown: str
) -> None:
    assert name_image(7, name, url) == shown


@given(st.text())
def test_whatever_is_sent_is_short_and_can_be_shown(given_name: str) -> None:
    name = clean_file_name(given_name)

    if name is not None:
        assert 0 < len(name) <= LONGEST_NAME
        assert not {unicodedata.category(each)[0] for each in name} & {"C"}
        assert not set("/\\\n") & set(name)
