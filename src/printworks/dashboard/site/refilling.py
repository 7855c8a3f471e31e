"""Fills a form in again with what was sent, and says at the field what is wrong with it.

This is done to the finished page, for every form of every page alike: a form that was refused, or
that was sent after its session had ended, shows what was typed, chosen and ticked, whether or not
its template thought of that. Pages that are simply opened do not pass through here.
"""

import re
from collections import Counter
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Final

from markupsafe import escape

from printworks.dashboard.site.forms import FORM_TOKEN, ONCE, Sent

# Where the page says what is wrong, before anything else: links to the fields go there.
LINKS_TO_FIELDS: Final = "<!-- fields -->"
_FORM: Final = re.compile(r'<form\b[^>]*method="post".*?</form>', re.DOTALL)
_DETAILS: Final = re.compile(r"<details\b[^>]*>|</details>")
# What is typed into; everything else is chosen, hidden, or a button.
_TYPED: Final = frozenset(
    {"text", "email", "number", "date", "datetime-local", "time", "url", "tel", "search", ""}
)
_TICKED: Final = frozenset({"checkbox", "radio"})
# What an error can be about.
_FIELDS: Final = _TYPED | _TICKED | {"password", "file"}
_HIDDEN: Final = frozenset({FORM_TOKEN, ONCE, "do"})
# A field that the page has decided about.
_AS_IS: Final = "data-as-is"
Attributes = dict[str, str | None]


def refill(page: str, sent: Sent, wrong: Mapping[str, str]) -> str:
    """Return a page with the form filled in that was sent, and what is wrong at each field.

    An empty name is that of the only field which the form has.
    """
    found = _find_form(page, sent)
    if found is None:
        return page
    form = found.group()
    only = _Survey(form).only_field
    filler = _Filler(sent, {name or only: message for name, message in wrong.items()})
    filler.feed(form)
    filler.close()
    before = _open_details(page[: found.start()])
    before = before.replace(LINKS_TO_FIELDS, _write_links(filler.marked), 1)
    return f"{before}{filler.written}{page[found.end() :]}"


def _write_links(marked: Mapping[str, str]) -> str:
    """Return links to the fields that are wrong, for the top of the page."""
    if len(marked) == 1:
        return f'<p><a href="#{escape(next(iter(marked)))}">Go to the field</a></p>'
    lines = [
        f'<li><a href="#{escape(each)}">{escape(message)}</a></li>'
        for each, message in marked.items()
    ]
    return f"<ul>{''.join(lines)}</ul>" if lines else ""


def _find_form(page: str, sent: Sent) -> re.Match[str] | None:
    """Return the form that was sent: the one with its action, and with its hidden fields if many have."""
    action = f'value="{escape(sent.text("do"))}"'
    fitting = [form for form in _FORM.finditer(page) if action in form.group()]
    for form in fitting:
        hidden = _Survey(form.group()).hidden
        if all(sent.text(name) == value for name, value in hidden.items()):
            return form
    return fitting[0] if len(fitting) == 1 else None


def _open_details(before: str) -> str:
    """Open everything that is folded around what follows."""
    around: list[re.Match[str]] = []
    for tag in _DETAILS.finditer(before):
        if tag.group().startswith("</"):
            around.pop()
        else:
            around.append(tag)
    for tag in reversed(around):
        if " open" not in tag.group():
            before = f"{before[: tag.end() - 1]} open{before[tag.end() - 1 :]}"
    return before


def _kind_of(tag: str, attributes: Mapping[str, str | None]) -> str:
    return (attributes.get("type") or "").lower() if tag == "input" else tag


def _is_field(tag: str, kind: str, attributes: Mapping[str, str | None]) -> bool:
    """Say whether an error can be about this."""
    is_field = tag in {"select", "textarea"} or (tag == "input" and kind in _FIELDS)
    return is_field and "hidden" not in attributes


class _Survey(HTMLParser):
    """The names of the fields that a form has."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.hidden: dict[str, str] = {}
        self.names: Counter[str] = Counter()
        self.feed(form)

    @property
    def only_field(self) -> str:
        """The name of the only field, if there is one but for a password."""
        names = [name for name in self.names if name != "current_password"]
        return names[0] if len(names) == 1 else ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        name, kind = attributes.get("name") or "", _kind_of(tag, attributes)
        if not name or "hidden" in attributes:
            return
        if kind == "hidden" and name not in _HIDDEN:
            self.hidden[name] = (attributes.get("value") or "").strip()
        elif _is_field(tag, kind, attributes):
            self.names[name] += 1


class _Filler(HTMLParser):
    """Writes a form again, with other values."""

    def __init__(self, sent: Sent, wrong: Mapping[str, str]) -> None:
        super().__init__(convert_charrefs=False)
        self._sent = sent
        self._wrong = dict(wrong)
        self._pieces: list[str] = []
        # How many fields of each name there were.
        self._seen: Counter[str] = Counter()
        self._select: list[str] | None = None
        # Within a text field, whose old content is left out.
        self._is_skipping = False
        # What is wrong, by the ids of the fields.
        self.marked: dict[str, str] = {}

    @property
    def written(self) -> str:
        """The form as it is now."""
        return "".join(self._pieces)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes, name = dict(attrs), dict(attrs).get("name") or ""
        kind = _kind_of(tag, attributes)
        text = self.get_starttag_text() or ""
        changed = self._change(tag, kind, attributes)
        if name in self._wrong and _is_field(tag, kind, attributes):
            changed = self._mark(changed or attributes, self._wrong.pop(name))
        self._write(_write_tag(tag, changed) if changed is not None else text)
        if tag == "textarea" and name in self._sent.fields:
            self._write(f"\n{escape(self._next(name))}")
            self._is_skipping = True

    def _change(self, tag: str, kind: str, attributes: Attributes) -> Attributes | None:
        """Return the attributes with what was sent; None if they stay as they are."""
        name = attributes.get("name") or ""
        if _AS_IS in attributes:
            return None
        sent = list(self._sent.fields.get(name, ()))
        if tag == "select":
            self._select = sent if name in self._sent.fields else None
        elif tag == "option" and self._select is not None:
            return _set(attributes, "selected", is_set=attributes.get("value") in self._select)
        elif tag == "input" and name == ONCE and sent:
            return {**attributes, "value": sent[-1]}
        elif tag == "input" and kind in _TICKED and name:
            return _set(attributes, "checked", is_set=(attributes.get("value") or "on") in sent)
        elif tag == "input" and kind in _TYPED and sent and "hidden" not in attributes:
            return {**attributes, "value": self._next(name)}
        return None

    def _next(self, name: str) -> str:
        """Return what was sent for this field, of several with the same name."""
        values = self._sent.fields[name]
        number = min(self._seen[name], len(values) - 1)
        self._seen[name] += 1
        return values[number]

    def _mark(self, attributes: Attributes, message: str) -> Attributes:
        """Say before a field what is wrong with it, and put the cursor into the first of them."""
        field_id = attributes.get("id") or f"wrong-{attributes['name']}"
        error_id = f"{field_id}-error"
        is_first = not self.marked
        self.marked[field_id] = message
        self._write(
            f'<span class="field__error" id="{escape(error_id)}">'
            f'<span class="visually-hidden">Error: </span>{escape(message)}</span>'
        )
        described = f"{attributes.get('aria-describedby') or ''} {error_id}".strip()
        marks = {"id": field_id, "aria-invalid": "true", "aria-describedby": described}
        return {**attributes, **marks, **({"autofocus": None} if is_first else {})}

    def handle_endtag(self, tag: str) -> None:
        if tag == "textarea":
            self._is_skipping = False
        if tag == "select":
            self._select = None
        self._write(f"</{tag}>")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        # A part of a drawing.
        del tag, attrs
        self._write(self.get_starttag_text() or "")

    def handle_data(self, data: str) -> None:
        self._write(data)

    def handle_entityref(self, name: str) -> None:
        self._write(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._write(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self._write(f"<!--{data}-->")

    def _write(self, text: str) -> None:
        if not self._is_skipping:
            self._pieces.append(text)


def _set(attributes: Attributes, name: str, *, is_set: bool) -> Attributes:
    kept = {each: value for each, value in attributes.items() if each != name}
    return {**kept, name: None} if is_set else kept


def _write_tag(tag: str, attributes: Attributes) -> str:
    parts = [
        name if value is None else f'{name}="{escape(value)}"' for name, value in attributes.items()
    ]
    return f"<{' '.join([tag, *parts])}>"
