"""Fills in a form as a browser would: every field as the page shows it, but for what is typed."""

from html.parser import HTMLParser
from typing import Any

from tests.dashboard.windows import Window
from tests.running import Answer


class _Form(HTMLParser):
    """The fields of the form with one action."""

    def __init__(self, action: str) -> None:
        super().__init__(convert_charrefs=True)
        self._action = action
        self._forms: list[dict[str, list[str]]] = []
        self._select = ""
        self._area: str | None = None

    @property
    def fields(self) -> dict[str, list[str]]:
        [form] = [form for form in self._forms if form.get("do") == [self._action]]
        return form

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        name, value = given.get("name") or "", given.get("value") or ""
        if tag == "form":
            self._forms.append({})
        elif tag == "select":
            self._select = name
        elif tag == "option" and self._select and ("selected" in given or self._is_first()):
            self._forms[-1][self._select] = [value]
        elif tag == "textarea":
            self._area = name
            self._forms[-1][name] = [""]
        elif tag == "input" and name:
            is_left_out = given.get("type") in {"checkbox", "file"} and "checked" not in given
            if not is_left_out and self._forms:
                self._forms[-1].setdefault(name, []).append(value)

    def _is_first(self) -> bool:
        return self._select not in self._forms[-1]

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._area = None

    def handle_data(self, data: str) -> None:
        if self._area is not None:
            self._forms[-1][self._area][0] += data


def read_form(page: Answer, action: str) -> dict[str, Any]:
    """Return what a browser would send if nothing was typed."""
    form = _Form(action)
    form.feed(page.body.decode())
    return {
        name: [value.removeprefix("\n") for value in values] for name, values in form.fields.items()
    }


def fill_in(window: Window, address: str, action: str, typed: dict[str, Any]) -> Answer:
    """Open a page, type into one of its forms, and send it."""
    return window.send(address, {**read_form(window.open(address), action), **typed})
