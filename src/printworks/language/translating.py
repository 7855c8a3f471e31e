"""Keeps the catalogues complete: `python -m printworks.language.translating`, or `make translations`.

It collects every sentence of mails and of the pages of recipients into the catalogue of each language, and
compiles them. A translator fills in what is empty in the `.po` files, and runs it again. The compiled files are part of
the repository, so that neither a clone nor a wheel needs a build.
"""

from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from printworks.language.words import DOMAIN
from printworks.rules.languages import Language

_NO_DATE: Final = datetime(2000, 1, 1, tzinfo=UTC)
ROOM: Final = Path(__file__).parent
# Where something is said to those who read these languages.
_JINJA: Final = "jinja2.ext:babel_extract"
_METHODS: Final = [
    ("mail/**.py", "python"),
    ("mail/templates/letter.*", _JINJA),
    ("dashboard/checkout/**.py", "python"),
    ("dashboard/site/rate_limits.py", "python"),
    ("dashboard/site/forms.py", "python"),
    ("web/pages.py", "python"),
    ("dashboard/templates/public_layout.html", _JINJA),
    ("dashboard/templates/components.html", _JINJA),
    ("dashboard/templates/recipient/**.html", _JINJA),
]
_KEYWORDS: Final[Any] = {"say": None, "mark": None, "count": (1, 2)}


def collect() -> Catalog:
    """Return every sentence that mails and pages can say."""
    found = Catalog(project="Printworks")
    for file, line, message, _, context in extract_from_dir(
        ROOM.parent, method_map=_METHODS, keywords=_KEYWORDS
    ):
        found.add(message, None, [(file, line)], context=context)
    return found


def read_catalogue(language: Language) -> Catalog:
    """Return the catalogue of a language as it is in its `.po` file."""
    with _place(language, "po").open("rb") as file:
        catalogue = read_po(file, locale=language.value, domain=DOMAIN)
    # Otherwise those of now: the same sentences make the same file.
    catalogue.creation_date = catalogue.revision_date = _NO_DATE
    return catalogue


def compile_catalogue(catalogue: Catalog) -> bytes:
    """Return a catalogue in the form in which the program reads it."""
    compiled = BytesIO()
    write_mo(compiled, catalogue)
    return compiled.getvalue()


def update(language: Language) -> Catalog:
    """Return the catalogue of a language with all sentences in it, the old ones translated."""
    place = _place(language, "po")
    catalogue = read_catalogue(language) if place.exists() else Catalog(locale=language.value)
    # A guess would look like a translation.
    catalogue.update(collect(), no_fuzzy_matching=True)
    catalogue.obsolete.clear()
    if language is Language.EN:
        for message in catalogue:
            message.string = message.id
    return catalogue


def main() -> None:
    """Write the catalogues of all languages."""
    for language in Language:
        catalogue = update(language)
        place = _place(language, "po")
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("wb") as file:
            file.write(_write_header(catalogue).encode())
            write_po(file, catalogue, omit_header=True, sort_output=True, no_location=True)
        _place(language, "mo").write_bytes(compile_catalogue(read_catalogue(language)))


def _write_header(catalogue: Catalog) -> str:
    """Return only what programs read: who translated what when is in the history."""
    return (
        f"# {catalogue.locale.english_name if catalogue.locale else ''} words of mails and recipient pages. "
        "Translate what is empty, then run `make translations`.\n"
        'msgid ""\nmsgstr ""\n'
        f'"Language: {catalogue.locale_identifier}\\n"\n'
        f'"Plural-Forms: {catalogue.plural_forms}\\n"\n'
        '"MIME-Version: 1.0\\n"\n'
        '"Content-Type: text/plain; charset=utf-8\\n"\n'
        '"Content-Transfer-Encoding: 8bit\\n"\n\n'
    )


def _place(language: Language, ending: str) -> Path:
    return ROOM / "catalogues" / language.value / "LC_MESSAGES" / f"{DOMAIN}.{ending}"


if __name__ == "__main__":
    main()
