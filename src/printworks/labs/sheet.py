"""The job sheet: one HTML page for the people at a lab, to be printed on A4."""

import base64
import unicodedata
from collections.abc import Mapping
from typing import Final

import segno
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from printworks.catalogue.country_names import name_country
from printworks.labs.documents import JobDocument

# The operator's logo among the files of a job.
LOGO_NAME: Final = "operator-logo.jpg"


def write_sheet(
    document: JobDocument,
    places: Mapping[str, str],
    thumbnails: Mapping[str, bytes],
    logo: bytes | None = None,
) -> str:
    """Return the sheet of a job as HTML that needs no other file.

    `places` has the path of each print file and `thumbnails` the pictures, both by file name;
    `logo` is that of the operator.
    """
    return _TEMPLATE.render(
        document=document,
        places=places,
        pictures={name: embed_picture(content) for name, content in thumbnails.items()},
        operator=document.operator or "",
        logo=embed_picture(logo) if logo else "",
        code=_render_code(document.job),
        name_country=name_country,
    )


def embed_picture(picture: bytes) -> str:
    """Return a picture as an address that needs no file."""
    kind = "png" if picture.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64,{base64.b64encode(picture).decode()}"


def _render_code(job: int) -> Markup:
    # Only the number: a hand scanner types it wherever a job is asked for.
    code = segno.make(str(job), error="m", micro=False)
    return Markup(code.svg_inline(border=0, omitsize=True, svgclass=None, lineclass=None))  # noqa: S704


def clean_text(value: object) -> object:
    """Replace the characters that could reverse or hide the text around them."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return "".join(" " if unicodedata.category(char)[0] == "C" else char for char in value)


_TEMPLATE: Final = Environment(
    loader=PackageLoader("printworks", "labs"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    finalize=clean_text,
).get_template("sheet.html")
