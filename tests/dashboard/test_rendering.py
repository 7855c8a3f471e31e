"""Pages are made in one place, which decides what browsers may do with them."""

import re

import pytest
from jinja2 import UndefinedError

from printworks.dashboard.site.rendering import Message, render, render_message

A_MESSAGE = Message(title="<b>Bold</b>", sentences=("'; drop",))


def policy_of(*, with_script: bool) -> str:
    """Return what the browser may do with a page."""
    page = render("message.html", with_script=with_script, message=A_MESSAGE)
    return page.headers["content-security-policy"]


def test_what_is_said_is_text_and_never_markup() -> None:
    page = bytes(render_message(A_MESSAGE).body).decode()

    assert "&lt;b&gt;Bold&lt;/b&gt;" in page
    assert "<b>" not in page


def test_a_fact_that_is_missing_is_a_mistake_and_not_an_empty_place() -> None:
    with pytest.raises(UndefinedError):
        render("message.html")


def test_scripts_run_only_where_a_page_has_one_and_only_that_one() -> None:
    first, second = policy_of(with_script=True), policy_of(with_script=True)

    assert "script-src" not in policy_of(with_script=False)
    assert re.search("script-src 'nonce-[A-Za-z0-9_-]{22}';", first)
    assert first != second
