"""Recovery codes: how they are written, and read back from paper."""

import base64
from typing import Final

CODES: Final = 10
# Nobody guesses 80 bits, so a code is valid however many wrong passwords were entered before.
CODE_BYTES: Final = 10
_GROUP: Final = 4
# The alphabet has no such digits: they are letters that look alike.
_LOOK_ALIKE: Final = str.maketrans("018", "olb")


def write_code(random: bytes) -> str:
    """Return a code in groups of four letters and digits."""
    letters = base64.b32encode(random).decode().lower()
    return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


def read_code(typed: str) -> str:
    """Return a code as it was typed, in the one spelling that is hashed."""
    letters = "".join(each for each in typed.lower() if each.isalnum())
    return letters.translate(_LOOK_ALIKE)
