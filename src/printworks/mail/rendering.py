"""Writes a letter as text and as HTML, from one template each for letters of all kinds."""

from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from printworks.language.words import Words
from printworks.mail.letter import Letter, LetterLogo, LetterTerms


class Body(NamedTuple):
    """A letter in the two forms in which it is sent."""

    text: str
    html: str


def _open_environment(*, is_html: bool) -> Environment:
    return Environment(
        loader=PackageLoader("printworks.mail"),
        # Plain text has nothing to escape.
        autoescape=is_html,  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
    )


_TEXT: Final = _open_environment(is_html=False)
_HTML: Final = _open_environment(is_html=True)


def render_letter(
    letter: Letter,
    words: Words,
    terms: LetterTerms,
    *,
    brand: str = "",
    logo: LetterLogo | None = None,
) -> Body:
    """Return a letter as text and as HTML; `brand` is the name above it, by default the operator's."""
    facts = {
        "letter": letter,
        "say": words.say,
        "language": words.language.value,
        "terms": terms,
        "brand": brand or terms.operator,
        "logo": logo,
    }
    return Body(
        text=_TEXT.get_template("letter.txt").render(**facts),
        html=_HTML.get_template("letter.html").render(**facts),
    )
