"""Which passwords are too easy to guess."""

import re
import unicodedata
from collections.abc import Container, Iterator
from typing import Final

from printworks.errors import BadInput

SHORTEST_PASSWORD: Final = 10
LONGEST_PASSWORD: Final = 200
# Characters that must be left without a person's own words, such as the name of the shop.
_FEWEST_LEFT: Final = 6
_SHORTEST_OWN_WORD: Final = 4
# Shorter pieces of a row of keys are in ordinary words too.
_SHORTEST_RUN: Final = 3
_MOST_RUNS: Final = 4
_FEWEST_DIFFERENT: Final = 4
# What guessers write for letters.
_LEET: Final = str.maketrans("@4831!0$57", "aabeiiosst")
# Around a word: years, numbers and signs that are added because a form asks for them.
_BEFORE: Final = re.compile(r"^[\W\d_]+")
_AFTER: Final = re.compile(r"[\W\d_]+$")
_ROWS: Final = (
    "abcdefghijklmnopqrstuvwxyz",
    "01234567890",
    "qwertyuiop",
    "asdfghjkl",
    "zxcvbnm",
    "qwertzuiop",
    "yxcvbnm",
    "azertyuiop",
    "qsdfghjklm",
    "wxcvbn",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm8ik9ol0p",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "qazwsxedcrfvtgbyhnujmikolp",
    "!@#$%^&*()",
    "йцукенгшщзхъ",
    "фывапролджэ",
    "ячсмитьбю",
)
_RUNS: Final = tuple(row for forward in _ROWS for row in (forward, forward[::-1]))
_TOO_EASY: Final = "three or four words that have nothing to do with each other are better."


def check_password(password: str, *, own: tuple[str, ...], common: Container[str]) -> None:
    """Refuse a password that is too short, too long or easy to guess.

    `own` has the person's address and shop; `common` the passwords that many people have.
    """
    if len(password) < SHORTEST_PASSWORD:
        raise BadInput(f"A password needs at least {SHORTEST_PASSWORD} characters.")
    if len(password) > LONGEST_PASSWORD:
        raise BadInput(f"A password has at most {LONGEST_PASSWORD} characters.")
    written = normalise(password)
    if len(set(written)) < _FEWEST_DIFFERENT or _is_run(written):
        raise BadInput(f"This password is too easy to guess; {_TOO_EASY}")
    if any(form in common for form in list_forms(password)):
        raise BadInput(
            f"This password is one of those that are tried first, since many people have it; {_TOO_EASY}"
        )
    if _is_own(written, own):
        raise BadInput(
            f"This password is made of your address or the name of your shop; {_TOO_EASY}"
        )


def normalise(text: str) -> str:
    """Return a text without what people vary to satisfy a form: case, spaces and accents."""
    apart = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in apart if not each.isspace() and not unicodedata.combining(each))


def list_forms(password: str) -> Iterator[str]:
    """Return the words that a password may be a form of: as it is, bare, and without its disguise."""
    whole = normalise(password)
    # Digits at the end are no disguise of letters, those at the beginning may be.
    tail_off = _AFTER.sub("", whole)
    bare = _BEFORE.sub("", tail_off)
    for written in (whole, tail_off, bare):
        for word in (written, written.translate(_LEET)):
            yield word
            yield _halve(word)


def _halve(written: str) -> str:
    """Return the piece that a text repeats; the text itself if it repeats none."""
    # A text that repeats a piece is found in two of itself before its end.
    length = (written + written).find(written, 1)
    return written[:length]


def _is_run(written: str) -> bool:
    """Say whether a text is a few pieces of a row of keys, of the alphabet or of digits."""
    rest, pieces = written, 0
    while rest and pieces <= _MOST_RUNS:
        length = _longest_run(rest)
        if not length:
            return False
        rest, pieces = rest[length:], pieces + 1
    return not rest


def _longest_run(text: str) -> int:
    """Return how many characters at the beginning lie beside each other, or are all the same."""
    longest = len(text) - len(text.lstrip(text[0]))
    for length in range(_SHORTEST_RUN, len(text) + 1):
        if any(text[:length] in run for run in _RUNS):
            longest = max(longest, length)
    return longest if longest >= _SHORTEST_RUN else 0


def _is_own(written: str, own: tuple[str, ...]) -> bool:
    left = written
    words = {word for text in own for word in _split(text)}
    for word in sorted(words, key=len, reverse=True):
        left = left.replace(word, "")
    return left != written and len(left) < _FEWEST_LEFT


def _split(text: str) -> Iterator[str]:
    """Return a text without what lies between its words, and each of its words."""
    words = [normalise(word) for word in re.split(r"[\W_]+", text)]
    yield normalise(text)
    yield "".join(words)
    yield from (word for word in words if len(word) >= _SHORTEST_OWN_WORD)
