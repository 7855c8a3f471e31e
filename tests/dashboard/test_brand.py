"""The operator's brand is on every page, and nothing of it where there is none."""

import re
from io import BytesIO

import pytest
from pypdf import PdfReader

from printworks.actions.brand import change_brand
from printworks.rules.brand import Brand
from printworks.store.accounts.brand import read_brand
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.pngs import a_png
from tests.dashboard.test_invoices import sell_to
from tests.dashboard.visits import visit, words_of
from tests.dashboard.windows import Window
from tests.factories import a_system_work

PAGE = "/console/brand"
GIVEN = {
    "name": "Fox & Sons",
    "accent": "#7a1f5c",
    "sender_name": "Fox Prints",
    "sender_email": "hello@fox.example",
    "reply_to": "help@fox.example",
    "imprint": "Fox & Sons\n1 High Street\n\nhello@fox.example <script>alert(1)</script>",
    "terms": "See https://fox.example/terms.",
}


@pytest.mark.both_databases
def test_the_brand_is_saved_and_seen_on_every_page(
    operator: Window, alice: Window, browser: Client, database: Database
) -> None:
    said = operator.follow(operator.do(PAGE, "change-brand", **GIVEN, show_labs="yes"))

    assert "The brand was saved." in said
    with database.reading() as db:
        assert read_brand(db).brand == Brand(**GIVEN, show_labs=True)
    for page in (alice.open("/home"), alice.open("/orders"), operator.open("/console")):
        assert b"<title>" in page.body
        assert b"Fox &amp; Sons</title>" in page.body
    for address in ("/", "/sign-in", "/nothing", "/v3.0/docs", "/imprint", "/console/sign-in"):
        page = visit(browser, address)
        assert b"Fox &amp; Sons" in page.body, address
        assert b"Printworks" not in page.body.replace(b"Printworks-", b""), address


def test_without_a_brand_pages_are_as_they_were(browser: Client, alice: Window) -> None:
    for page in (visit(browser, "/"), visit(browser, "/v3.0/docs"), alice.open("/home")):
        assert b"Printworks" in page.body
        assert b"/brand-" not in page.body
        assert b"/imprint" not in page.body
    assert visit(browser, "/imprint").status == 404
    assert visit(browser, "/terms").status == 404
    assert visit(browser, "/brand-7a1f5c-0.css").status == 404


def test_the_colour_is_a_style_sheet_of_our_own(operator: Window, browser: Client) -> None:
    operator.follow(operator.do(PAGE, "change-brand", **GIVEN))

    page = visit(browser, "/")
    [address] = re.findall(r'href="(/brand-[^"]*)"', page.body.decode())
    style = visit(browser, address)

    assert "style=" not in page.body.decode()
    assert "style-src 'self'" in page.headers["content-security-policy"]
    assert style.headers["content-type"].startswith("text/css")
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert "--accent:#7a1f5c" in style.body.decode()
    assert "prefers-color-scheme:dark" in style.body.decode()
    other = visit(browser, "/brand-000000-0.css")
    assert other.headers["cache-control"] == "no-store"


def test_a_pale_colour_is_refused_at_its_field_with_its_contrast(
    operator: Window, database: Database
) -> None:
    refused = operator.do(PAGE, "change-brand", **{**GIVEN, "accent": "#ffcc00"})

    assert refused.status == 400
    assert "its contrast is 1.2 to 1, and at least 4.5 to 1 is needed" in words_of(refused)
    assert b'value="#ffcc00"' in refused.body
    assert b'aria-invalid="true"' in refused.body
    with database.reading() as db:
        assert read_brand(db).brand == Brand()


def test_imprint_and_terms_are_public_and_escaped(operator: Window, browser: Client) -> None:
    operator.follow(operator.do(PAGE, "change-brand", **GIVEN))

    imprint, terms = visit(browser, "/imprint"), visit(browser, "/terms")

    assert b"Fox &amp; Sons<br>1 High Street" in imprint.body
    assert b'<a href="mailto:hello@fox.example"' in imprint.body
    assert b"<script>" not in imprint.body
    assert b'<a href="https://fox.example/terms"' in terms.body
    for page in (visit(browser, "/"), imprint, terms):
        assert b'href="/imprint"' in page.body
        assert b'href="/terms"' in page.body


def test_a_logo_is_drawn_anew_and_stands_on_every_page(
    operator: Window, alice: Window, browser: Client, database: Database
) -> None:
    said = operator.follow(
        operator.upload(PAGE, "change-brand-logo", [("logo", "logo.png", a_png(400, 100))])
    )
    [address] = re.findall(r'class="brand-logo" src="([^"]*)"', visit(browser, "/").body.decode())

    assert "The logo was saved." in said
    assert visit(browser, address).headers["content-type"] == "image/jpeg"
    assert address.encode() in alice.open("/home").body
    invoice, _ = sell_to(database, alice)
    for window, place in ((alice, "/invoices"), (operator, "/console/invoices")):
        printed = window.open(f"{place}/{invoice.number}/pdf").body
        assert len(PdfReader(BytesIO(printed)).pages[0].images) == 1

    operator.follow(operator.do(PAGE, "remove-brand-logo"))
    assert visit(browser, address).status == 404
    assert b"brand-logo" not in visit(browser, "/").body


def test_a_file_that_is_no_picture_is_no_logo(operator: Window, database: Database) -> None:
    none = operator.upload(PAGE, "change-brand-logo", [])
    refused = operator.upload(PAGE, "change-brand-logo", [("logo", "logo.png", b"<svg/>")])

    assert (none.status, refused.status) == (400, 400)
    assert "Choose one picture" in words_of(none)
    with database.reading() as db:
        assert read_brand(db).logo is None


def test_a_change_by_another_process_is_followed(
    operator: Window, browser: Client, database: Database
) -> None:
    with database.writing() as db:
        change_brand(a_system_work(db), Brand(name="Fox Prints"))

    # Its page looks at once; all others within a second.
    assert "Fox Prints" in operator.words(PAGE)
    assert "Fox Prints takes orders" in words_of(visit(browser, "/"))


def test_the_api_is_the_same_with_a_brand(operator: Window, alice: Window) -> None:
    before = [alice.api.get(path).body for path in ("/v3.0/countries", "/v3.0/openapi.json")]

    operator.follow(operator.do(PAGE, "change-brand", **GIVEN))

    assert before == [
        alice.api.get(path).body for path in ("/v3.0/countries", "/v3.0/openapi.json")
    ]
