"""Reads a page as a browser does, for those who look for what should not be there."""

from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Final

from tests.dashboard.hostile import MARK

# Attributes that hold an address.
_ADDRESSES: Final = frozenset(
    {"href", "src", "action", "formaction", "data", "xlink:href", "poster"}
)
_FIELDS: Final = frozenset({"input", "textarea", "select", "button"})
_NEVER: Final = frozenset({"iframe", "object", "embed", "base", "style", "math", "template"})


@dataclass
class Form:
    """A form of a page: what it sends by itself, and what somebody fills in."""

    method: str
    fields: dict[str, str] = field(default_factory=dict)
    filled_in: list[str] = field(default_factory=list)


class PageReader(HTMLParser):
    """Collects the forms of a page, and whatever in it could run."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.dangers: list[str] = []
        self._form: Form | None = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Look at a tag as a browser would."""
        named = {name: value or "" for name, value in attrs}
        self._look_for_danger(tag, named)
        if tag == "form":
            self._form = Form(named.get("method", "get"))
            self.forms.append(self._form)
        elif tag in _FIELDS and self._form is not None and named.get("name"):
            self._add_field(tag, named)

    def handle_endtag(self, tag: str) -> None:
        """Leave a form."""
        if tag == "form":
            self._form = None

    def _add_field(self, tag: str, named: dict[str, str]) -> None:
        assert self._form is not None
        kind = named.get("type", "text")
        if tag == "textarea" or (tag == "input" and kind not in {"hidden", "checkbox", "radio"}):
            self._form.filled_in.append(named["name"])
        self._form.fields.setdefault(named["name"], named.get("value", ""))

    def _look_for_danger(self, tag: str, named: dict[str, str]) -> None:
        if tag in _NEVER or MARK in tag:
            self.dangers.append(f"<{tag}>")
        if tag == "script" and not (
            "nonce" in named and named.get("src", "").startswith("/assets/")
        ):
            self.dangers.append(f"<script {named}>")
        for name, value in named.items():
            scheme = "".join(value.split()).lower().partition(":")[0]
            if name.startswith(("on", "hx-on")) or name == "style" or MARK in name:
                self.dangers.append(f"<{tag} {name}>")
            if name in _ADDRESSES and scheme in {"javascript", "vbscript"}:
                self.dangers.append(f"<{tag} {name}={value[:60]}>")
            if (
                name in _ADDRESSES
                and value.startswith("data:")
                and not value.startswith("data:image/")
            ):
                self.dangers.append(f"<{tag} {name}={value[:60]}>")
