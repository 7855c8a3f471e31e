"""What an operator calls the service and how it looks, and what may stand there."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import msgspec

from printworks.errors import BadInput
from printworks.rules.colours import LIGHT_GROUNDS, READABLE, find_least_contrast, read_colour
from printworks.rules.mail import find_address

# What the service is called on pages unless the operator says otherwise.
USUAL_NAME: Final = "Printworks"
# The longest text of each field.
LONGEST: Final[Mapping[str, int]] = {
    "name": 60,
    "accent": 7,
    "sender_name": 100,
    "sender_email": 254,
    "reply_to": 254,
    "imprint": 5_000,
    "terms": 30_000,
}
_LABELS: Final[Mapping[str, str]] = {
    "name": "name",
    "accent": "accent colour",
    "sender_name": "sender's name",
    "sender_email": "sender's address",
    "reply_to": "address for replies",
    "imprint": "legal notice",
    "terms": "terms",
}
_SEVERAL_LINES: Final = frozenset({"imprint", "terms"})
_LINK: Final = re.compile(r"https?://[^\s<>\"'`{}|\\^]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+", re.ASCII)
# What ends a sentence rather than an address.
_AFTER_LINK: Final = ".,;:!?)]"


class Brand(msgspec.Struct, frozen=True, kw_only=True):
    """What an operator has said about the service; what is empty is as without a brand."""

    name: str = ""
    # As `#rrggbb`.
    accent: str = ""
    # Who mails are from, and where replies go.
    sender_name: str = ""
    sender_email: str = ""
    reply_to: str = ""
    # Pages of their own, in plain text.
    imprint: str = ""
    terms: str = ""
    # Whether merchants see which lab prints for them.
    show_labs: bool = False


class PaperBrand(NamedTuple):
    """What stands on paper: the name, the logo as a JPEG, and the colour as `#rrggbb`."""

    name: str = USUAL_NAME
    logo: bytes | None = None
    accent: str = ""


PLAIN_PAPER: Final = PaperBrand()


class TextPart(NamedTuple):
    """A piece of a text, and where it leads if it is a link."""

    text: str
    address: str = ""


# The parts of each line.
Paragraph = Sequence[Sequence[TextPart]]


def tidy_brand(typed: Brand) -> Brand:
    """Return a brand as it is kept; raise `BadInput` with everything that is wrong with it."""
    texts = {name: _tidy(name, getattr(typed, name)) for name in LONGEST}
    wrong = {
        name: problem for name, text in texts.items() if (problem := _find_problem(name, text))
    }
    if wrong:
        raise BadInput(" ".join(wrong.values()), fields=wrong)
    return msgspec.structs.replace(typed, **texts)


def _tidy(name: str, text: str) -> str:
    if name in _SEVERAL_LINES:
        return "\n".join(line.rstrip() for line in text.strip().splitlines())
    text = " ".join(text.split())
    if name == "accent":
        return read_colour(text) or text
    if name in {"sender_email", "reply_to"}:
        return find_address(text) or text
    return text


def _find_problem(name: str, text: str) -> str:
    """Return what is wrong with a field, as a sentence; empty if nothing is."""
    label = _LABELS[name]
    if not all(line.isprintable() for line in text.split("\n")):
        return f"The {label} contains a character that cannot be printed."
    if text and name in _PROBLEMS:
        return _PROBLEMS[name](text)
    if len(text) > LONGEST[name]:
        return f"The {label} can have at most {LONGEST[name]:,} characters."
    return ""


def _check_accent(text: str) -> str:
    if read_colour(text) is None:
        return "Enter a colour such as #2443b8."
    contrast = find_least_contrast(text, LIGHT_GROUNDS)
    if contrast >= READABLE:
        return ""
    # Cut, not rounded: 4.49 is not 4.5.
    return (
        f"The accent colour is too pale to be read on the light pages: its contrast is "
        f"{int(contrast * 10) / 10:.1f} to 1, and at least {READABLE} to 1 is needed. "
        "Choose a darker one; on dark pages a lighter tone of it is used by itself."
    )


def _check_address(text: str) -> str:
    return "" if find_address(text) else "Enter an email address such as hello@example.com."


_PROBLEMS: Final = {
    "accent": _check_accent,
    "sender_email": _check_address,
    "reply_to": _check_address,
}


def split_text(text: str) -> Sequence[Paragraph]:
    """Return the paragraphs of a plain text, line by line, in which addresses are links."""
    paragraphs = re.split(r"\n{2,}", text.strip())
    return [[_find_links(line) for line in one.split("\n")] for one in paragraphs if one]


def _find_links(line: str) -> Sequence[TextPart]:
    parts, end = [], 0
    for found in _LINK.finditer(line):
        link = found[0].rstrip(_AFTER_LINK)
        parts.append(TextPart(line[end : found.start()]))
        parts.append(TextPart(link, link if "://" in link else f"mailto:{link}"))
        end = found.start() + len(link)
    return [part for part in (*parts, TextPart(line[end:])) if part.text]
