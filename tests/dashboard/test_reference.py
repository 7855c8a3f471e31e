"""The API reference: small pages in our own design, with everything that the documents say."""

import json
import re
from html import unescape
from pathlib import Path

import pytest

import printworks.dashboard.reference
from printworks.dashboard.reference.markdown import render_guide
from printworks.dashboard.site.rendering import mark_code
from printworks.web.families import FAMILIES
from tests.api.client import Client
from tests.dashboard.visits import words_of

PLACES = [f"/{family.prefix}/docs" for family in FAMILIES]
GUIDES = ["guide", "callbacks", "versions"]


def look_at(browser: Client, address: str) -> str:
    answer = browser.get(address)
    assert answer.status == 200
    assert len(answer.body) <= 100_000
    assert answer.headers["content-type"].startswith("text/html")
    return answer.body.decode()


@pytest.mark.parametrize("place", PLACES)
def test_every_operation_is_there_with_its_members_and_no_name_of_ours(
    browser: Client, place: str
) -> None:
    page = unescape(look_at(browser, place))
    document = json.loads(browser.get(f"{place.removesuffix('docs')}openapi.json").body)

    for path, methods in document["paths"].items():
        assert path.replace("%20", " ") in page
        for operation in methods.values():
            assert operation["summary"] in page
            for parameter in operation["parameters"]:
                assert f"<code>{parameter['name']}</code>" in page
    for name, schema in document["components"]["schemas"].items():
        # What nobody but us calls it.
        if name.endswith(("Out", "Refusal", "_")):
            assert not re.search(rf"\b{re.escape(name)}\b", page), name
        for member in schema.get("properties", {}):
            # What a 402 has in it is in the guide.
            is_told = name.endswith("Refusal") or name.startswith("Payment")
            assert is_told or member in page, (name, member)


@pytest.mark.parametrize("place", PLACES)
def test_every_link_of_the_reference_leads_somewhere(browser: Client, place: str) -> None:
    for address in [place, *(f"{place}/{guide}" for guide in GUIDES)]:
        page = look_at(browser, address)
        for link in set(re.findall(r'href="([^"]+)"', page)):
            path, _, anchor = unescape(link).partition("#")
            there = page if not path else None
            if path and not path.startswith("http"):
                answer = browser.get(path)
                assert answer.status in {200, 303}, link
                there = answer.body.decode() if anchor else None
            if there is not None:
                assert f'id="{anchor}"' in there, (address, link)


def test_a_request_can_be_copied_as_it_is(browser: Client) -> None:
    page = unescape(look_at(browser, "/v3.0/docs"))

    assert (
        "curl -X POST 'https://print.example/v3.0/orders' \\\n  -H 'X-Service-MerchantId:" in page
    )
    assert '"recipientName": "Mary Fox"' in page


def test_the_guides_are_those_of_the_documentation(browser: Client) -> None:
    guides = Path(printworks.dashboard.reference.__file__).parent / "guides"
    for file in ("v3.0.md", "callbacks.md", "versions.md"):
        # `make openapi` copies them.
        assert (guides / file).read_text() == (Path("docs/api") / file).read_text()
    assert "verify" in words_of(browser.get("/v3.0/docs/callbacks")).lower()


def test_a_guide_is_text_tables_lists_and_code_and_nothing_else() -> None:
    guide = render_guide(
        "# Title\n\nSome *words* and **more**, `a < *b*` and [there](other.md), [here](#x).\n"
        "second <script>\n\n## A `part`\n\n- one\n  more\n- two\n\n1. first\n\n"
        "| a | b |\n|---|---|\n| `1` | 2 |\n\n```json\n{<b>}\n```\n<!-- not shown -->\n",
        lambda address: address if address.startswith("#") else None,
    )

    assert guide.title == "Title"
    assert [heading.anchor for heading in guide.headings] == ["a-part"]
    assert (
        "<p>Some <em>words</em> and <strong>more</strong>, <code>a &lt; *b*</code> and there, "
        '<a href="#x">here</a>. second &lt;script&gt;</p>'
    ) in guide.html
    assert '<h2 id="a-part">A <code>part</code></h2>' in guide.html
    assert "<ul><li>one more</li><li>two</li></ul>" in guide.html
    assert "<ol><li>first</li></ol>" in guide.html
    assert "<tr><td><code>1</code></td><td>2</td></tr>" in guide.html
    assert "{&lt;b&gt;}</pre>" in guide.html
    assert "not shown" not in guide.html


def test_what_stands_between_backticks_is_code() -> None:
    assert mark_code("Send `a<b` again") == "Send <code>a&lt;b</code> again"
