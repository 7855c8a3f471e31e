"""A form that was refused says so at its field, and keeps everything that was typed."""

import re
from html import unescape
from html.parser import HTMLParser

import pytest

from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.refilling import refill
from printworks.rules.people import Realm
from tests.api.conftest import MovableClock
from tests.dashboard.ordering import FORM, NEW
from tests.dashboard.test_every_form import realm, window, world
from tests.dashboard.windows import PASSWORD, Window
from tests.dashboard.worlds import PAGES, World

pytestmark = pytest.mark.slow

__all__ = ["realm", "window", "world"]

FORMS = re.compile(r'<form\b[^>]*method="post".*?</form>', re.DOTALL)
PAGE = """
<!-- fields -->
<details><summary>a</summary><p>closed</p></details>
<details class="more"><summary>More</summary>
<form method="post"><input type="hidden" name="do" value="other"><input name="name" value="1"></form>
<form method="post" class="form">
<input type="hidden" name="do" value="change"><input type="hidden" name="once" value="new">
<label for="name">Name &amp; more</label><input id="name" name="name" value="" aria-describedby="name-hint">
<input name="line" value=""><input name="line" value="">
<textarea name="text" rows="4">old &lt;b&gt;</textarea>
<select name="kind"><option value="a" selected>A</option><option value="b">B</option></select>
<input type="checkbox" name="tick" value="1" checked><input type="checkbox" name="tick" value="2">
<input type="radio" name="way" value="x" checked><input type="radio" name="way" value="y">
<input type="password" name="current_password"><input type="file" name="file">
<svg><path d="M1 2"/></svg>
</form>
</details>
"""


class Fields(HTMLParser):
    """What a browser would send of a form."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self.sent: dict[str, str] = {}
        self.names: list[str] = []
        self._select = ""
        self.feed(form)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        name, kind = known.get("name") or "", known.get("type") or tag
        if tag == "option" and self._select:
            if "selected" in known or self._select not in self.sent:
                self.sent[self._select] = known.get("value") or ""
        elif tag == "button" and name == "do":
            self.sent.setdefault(name, known.get("value") or "")
        elif name and tag in {"input", "select", "textarea"}:
            self._select = name if tag == "select" else ""
            if kind != "hidden" and "hidden" not in known:
                self.names.append(name)
            if kind not in {"select", "file", "checkbox"} or "checked" in known:
                self.sent[name] = known.get("value") or ""


def sent_of(page: str) -> list[dict[str, str]]:
    """Return what the forms of a page send, but for the one that signs out."""
    return [Fields(form).sent for form in FORMS.findall(page) if "sign-out" not in form]


def fill(wrong: dict[str, str], **fields: list[str]) -> str:
    return refill(PAGE, Sent({"do": ["change"], **fields}), wrong)


def test_everything_that_was_typed_chosen_and_ticked_is_there_again() -> None:
    page = fill(
        {},
        once=["sent"],
        name=['<a "b">'],
        line=["first", "second"],
        text=["</textarea><script>"],
        kind=["b"],
        tick=["2"],
        way=["y"],
        current_password=["secret"],
    )

    assert 'name="name" value="&lt;a &#34;b&#34;&gt;"' in page
    assert 'name="line" value="first"><input name="line" value="second"' in page
    assert "&lt;/textarea&gt;&lt;script&gt;</textarea>" in page
    assert "old" not in page
    assert '<option value="a">A</option><option value="b" selected>' in page
    assert 'value="1"><input type="checkbox" name="tick" value="2" checked>' in page
    assert 'value="x"><input type="radio" name="way" value="y" checked>' in page
    assert 'name="once" value="sent"' in page
    assert "secret" not in page
    assert '<path d="M1 2"/>' in page
    # The other form of the same page is as it was, and what is around the form is open.
    assert '<input name="name" value="1">' in page
    assert page.count(" open>") == 1
    assert '<details class="more" open>' in page


def test_what_is_wrong_stands_at_its_field_and_the_cursor_is_in_the_first() -> None:
    page = fill({"name": "Too <long>.", "text": "Too short."}, name=["a"], text=["b"])

    assert page.count("autofocus") == 1
    assert 'id="name-error"><span class="visually-hidden">Error: </span>Too &lt;long&gt;.' in page
    assert 'aria-describedby="name-hint name-error" aria-invalid="true"' in page.replace(
        'aria-invalid="true" aria-describedby="name-hint name-error"',
        'aria-describedby="name-hint name-error" aria-invalid="true"',
    )
    assert 'id="wrong-text" aria-invalid="true" aria-describedby="wrong-text-error">' in page
    assert '<li><a href="#name">Too &lt;long&gt;.</a></li>' in page
    assert '<li><a href="#wrong-text">Too short.</a></li>' in page


@pytest.mark.parametrize("fields", [{"do": ["unknown"]}, {}])
def test_a_page_without_the_form_stays_as_it_is(fields: dict[str, list[str]]) -> None:
    assert refill("<p>Nothing here</p>", Sent(fields), {"": "Wrong."}) == "<p>Nothing here</p>"


def test_of_several_forms_for_the_same_thing_the_one_with_its_hidden_fields_is_filled() -> None:
    form = (
        '<form method="post"><input type="hidden" name="do" value="a">'
        '<input type="hidden" name="id" value="{}"><input name="text" value=""></form>'
    )
    page = form.format(1) + form.format(2)

    filled = refill(page, Sent({"do": ["a"], "id": ["2"], "text": ["typed"]}), {"": "Wrong."})

    assert filled.startswith(form.format(1))
    assert 'value="typed"' in filled
    assert 'aria-invalid="true"' in filled
    assert refill(page, Sent({"do": ["a"], "id": ["3"], "text": ["typed"]}), {}) == page


def test_an_address_names_each_field_that_is_wrong(alice: Window) -> None:
    refused = alice.do(NEW, "create-order", **{**FORM, "address1": "", "town_or_city": ""})

    page = unescape(refused.body.decode())
    assert refused.status == 400
    for name in ("address1", "town_or_city"):
        assert re.search(rf'<input[^>]*name="{name}"[^>]*aria-invalid="true"', page), name
        assert f'<a href="#{name}">' in page
    assert page.count("autofocus") == 1
    assert 'name="recipient_name" value="Mary Fox"' in re.sub(r'type="\w+" ', "", page)


def test_a_wrong_password_is_said_at_its_field_and_the_rest_stays(alice: Window) -> None:
    refused = alice.do(
        "/settings", "change-password", new_password="a new and long one", current_password="no"
    )

    page = refused.body.decode()
    assert refused.status == 403
    assert re.search(r'<input[^>]*name="current_password"[^>]*aria-invalid="true"', page)
    assert "a new and long one" not in page


@pytest.mark.slow
def test_every_form_says_at_a_field_what_is_wrong_and_keeps_the_rest(
    realm: Realm, window: Window, world: World, clock: MovableClock
) -> None:
    refusals = 0
    for page in PAGES[realm]:
        address = world.address_of(page)
        shown = window.open(address).body.decode("utf-8", "replace")
        for form in FORMS.findall(shown):
            known = Fields(form)
            names = [name for name in known.names if name != "current_password"]
            if "sign-out" in form or not names:
                continue
            for typed in ("", "\x01 nonsense " * 500):
                clock.advance(seconds=2)
                sent = {**known.sent, **dict.fromkeys(names, typed), "current_password": PASSWORD}
                answer = window.send(address, {**sent, "once": ""})
                body = answer.body.decode("utf-8", "replace")
                action = f'value="{sent["do"]}"'
                if answer.status != 400 or not any(action in one for one in FORMS.findall(body)):
                    # It was accepted, or is not there any more.
                    continue
                refusals += 1
                says_why = f"{page.path} {sent['do']}"
                [marked] = re.findall(r"<[^>]*autofocus[^>]*>", body) or [""]
                assert 'aria-invalid="true"' in marked, says_why
                [described] = re.findall(r'aria-describedby="([^"]*)"', marked)
                assert f'id="{described.split()[-1]}"' in body, says_why
    assert refusals > 5
