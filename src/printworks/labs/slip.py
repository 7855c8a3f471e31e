"""The packing slip of a shop: one HTML page that goes into the parcel, to be printed on A5."""

from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined

from printworks.labs.sheet import clean_text, embed_picture

# What labs call it.
SLIP_NAME: Final = "packing-slip.html"


class SlipText(NamedTuple):
    """What a packing slip says: who sends it, the text, and the lines below it."""

    # The code of the language that the recipient most likely reads.
    language: str
    shop: str
    text: str
    foot: str
    # The name of the logo's file in the file store; empty if there is none.
    logo: str = ""


def write_slip(slip: SlipText, logo: bytes | None) -> str:
    """Return a packing slip as HTML that needs no other file."""
    return _TEMPLATE.render(slip=slip, logo=embed_picture(logo) if logo else "")


def _clean(value: object) -> object:
    """Replace the characters that could reverse or hide the text around them, line by line."""
    if not isinstance(value, str):
        return value
    return "\n".join(str(clean_text(line)) for line in value.split("\n"))


_TEMPLATE: Final = Environment(
    loader=PackageLoader("printworks", "labs"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=_clean,
).get_template("slip.html")
