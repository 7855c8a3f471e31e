"""The words of the 2.x family, in sentences that are made in the words of the core."""

import re
from collections.abc import Mapping
from typing import Final

_WORDS: Final[Mapping[str, str]] = {
    "image": "photo",
    "images": "photos",
    "Image": "Photo",
    "Images": "Photos",
    # A code that only 3.0 has.
    "ZeroCopies": "no copies",
}
# Not what the merchant has sent: in quotes, or after these words.
_WORD: Final = re.compile(
    rf"`[^`]*`|'[^']*'|(?<!name )(?<!type )(?<![-\w])(?:{'|'.join(_WORDS)})(?![-\w])"
)


def say_in_words(sentence: str) -> str:
    """Say photo where the core says image."""
    return _WORD.sub(lambda found: _WORDS.get(found[0], found[0]), sentence)
