"""Search keys for the names, towns, postcodes and email addresses of recipients."""

import unicodedata

_LONGEST_KEY = 200


def make_recipient_key(name: str | None) -> str:
    """Return the search key of a name: surname first, without case and accents."""
    return " ".join(reversed(_read_words(name or "")))[:_LONGEST_KEY]


def make_town_key(town: str | None) -> str | None:
    """Return the search key of a town: without case and accents."""
    return simplify(town)[:_LONGEST_KEY] or None if town else None


def make_postal_key(postcode: str | None) -> str | None:
    """Return the search key of a postcode: capitals, without spaces and hyphens."""
    if not postcode:
        return None
    return postcode.upper().replace(" ", "").replace("-", "")[:_LONGEST_KEY] or None


def make_email_key(email: str | None) -> str | None:
    """Return the search key of an email address: in lower case."""
    return email.strip().lower() or None if email else None


def simplify(text: str) -> str:
    """Return a text without case and accents, for comparisons."""
    return " ".join(_read_words(text))


def _read_words(text: str) -> list[str]:
    # Most are written without accents, and this is done for every order that is created.
    if text.isascii():
        return text.lower().replace("\0", "").split()
    apart = unicodedata.normalize("NFKD", text)
    bare = "".join(letter for letter in apart if not unicodedata.combining(letter))
    return bare.casefold().replace("\0", "").split()
