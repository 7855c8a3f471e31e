"""A letter: what a mail says, before it becomes text and HTML."""

import hashlib
from datetime import datetime
from typing import Final, NamedTuple

import msgspec

from printworks.language.words import Words
from printworks.rules.colours import Tones, find_dark_tones, find_light_tones
from printworks.rules.mail import LONGEST_NAME, MailFacts, tidy_line

_USUAL_BUTTONS: Final = (
    Tones("#2450c8", "#2450c8", "#ffffff"),
    Tones("#7aa2ff", "#7aa2ff", "#0d1220"),
)

# The room for a logo, in pixels.
_LOGO_WIDTH, _LOGO_HEIGHT = 160, 40


class LetterLink(NamedTuple):
    """A button, or a line that leads somewhere."""

    text: str
    address: str


class LetterItem(NamedTuple):
    """One of several things that a letter is about."""

    title: str
    # Where it is shown in the dashboard.
    address: str = ""
    lines: tuple[str, ...] = ()
    link: LetterLink | None = None


class Letter(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a mail, in the order in which it is read."""

    subject: str
    heading: str
    sentences: tuple[str, ...] = ()
    # Labels and what they stand before.
    facts: tuple[tuple[str, str], ...] = ()
    items: tuple[LetterItem, ...] = ()
    # How many more there are than the items.
    more: str = ""
    button: LetterLink | None = None
    # What is to be known about the button, in small print.
    hints: tuple[str, ...] = ()
    # Why the reader gets this, and how to end that.
    reason: str = ""
    settings: LetterLink | None = None


class LetterLogo(NamedTuple):
    """The logo above a letter, a JPEG that is sent with it, and its size in pixels."""

    content: bytes
    width: int
    height: int

    @property
    def name(self) -> str:
        """What the letter calls it: always the same for the same picture."""
        return f"{hashlib.sha256(self.content).hexdigest()[:32]}@logo"

    @property
    def shown(self) -> tuple[int, int]:
        """The width and the height in which it is shown."""
        scale = min(_LOGO_WIDTH / self.width, _LOGO_HEIGHT / self.height)
        return max(1, round(self.width * scale)), max(1, round(self.height * scale))


class LetterTerms(NamedTuple):
    """What a letter knows beside its facts."""

    operator: str
    public_url: str
    # Where its link leads, if it lets somebody in; a placeholder where it must not be shown.
    link: str = ""
    # With which the reader ends mails of this kind; empty if there is no such link.
    unsubscribe: str = ""
    # Where the recipient can follow the order; empty if there is no such page.
    order_page: str = ""
    # The accent colour of the operator, as `#rrggbb`; empty is the usual one.
    accent: str = ""
    # Whether the operator has such pages.
    has_imprint: bool = False
    has_terms: bool = False

    @property
    def buttons(self) -> tuple[Tones, Tones]:
        """The colours of buttons, on a light and on a dark ground."""
        if not self.accent:
            return _USUAL_BUTTONS
        return find_light_tones(self.accent), find_dark_tones(self.accent)


class Writing(NamedTuple):
    """What the writer of a letter works with."""

    words: Words
    facts: MailFacts
    terms: LetterTerms

    def at(self, path: str) -> str:
        """Return the address of a page."""
        return f"{self.terms.public_url}{path}"


def write_name(text: str) -> str:
    """Write a name that somebody has entered."""
    return tidy_line(text, LONGEST_NAME)


def write_timestamp(w: Writing, at: datetime | None) -> str:
    return "" if at is None else w.words.timestamp(at)
