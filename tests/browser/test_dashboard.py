"""People at the dashboard and the console, in a real browser, at the real program."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlalchemy import func, select

from printworks.actions.brand import change_brand
from printworks.actions.catalogue import add_version
from printworks.actions.mail.writing import NewLetter, write_mail
from printworks.actions.price_lists import ListTerms, add_list
from printworks.actions.privacy.erasing import erase_order
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard import console, merchant
from printworks.rules.brand import Brand
from printworks.rules.mail import MailFacts, MailKind, MailTerms, NoticeFact
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Realm
from printworks.store.accounts.people import find_person
from printworks.store.accounts.requests import NewRequest, list_requests, write_requests
from printworks.store.tables import merchants, orders
from tests.browser.conftest import LOOKS, ON_THE_WAY, SIZES, NewPage, Scheme
from tests.browser.houses import PASSWORD, House, open_house, press
from tests.browser.inspecting import check_page
from tests.commands import run_here
from tests.dashboard.hostile import HOSTILE, MARK
from tests.factories import a_system_work
from tests.running import Merchant, command
from tests.scale import some_of
from tests.worker.lots import a_file
from tests.worker.receivers import Receiver, says
from tests.worker.shops import A_PICTURE

# How long something may take on a busy machine.
PATIENCE: Final = 30_000


def make_order(page: Page, house: House) -> int:
    """Make an order as the form suggests, and return its number."""
    page.goto(house.at("/orders/new"))
    create_as_suggested(page)
    expect(page.get_by_text("The order is ready to submit.")).to_be_visible(timeout=PATIENCE)
    [number] = re.findall(r"/orders/(\d+)", page.url)
    return int(number)


def create_as_suggested(page: Page) -> None:
    """Make the order that the form suggests, for somebody who does not exist."""
    press(page, "Use a sample address")
    expect(page.get_by_label("Name", exact=True)).to_have_value("Sample Recipient")
    press(page, "Create order")


def complete(page: Page) -> None:
    """Submit the order that the page shows, and let its time pass."""
    press(page, "Submit the order")
    press(page, "+ 1 day")
    expect(status(page, "Complete")).to_be_visible(timeout=PATIENCE)


def wait_until(page: Page, is_so: Callable[[], bool]) -> None:
    """Let the page live on until something is so."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not is_so():
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)


def status(page: Page, text: str) -> Locator:
    """Return the badge beside the title."""
    return page.locator(".page-head .badge", has_text=text).first


@pytest.mark.parametrize("size", SIZES)
def test_a_newcomer_gets_to_a_complete_order_by_pressing_what_is_there(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    page.goto(house.at("/"))
    page.get_by_role("link", name="Create an account").click()
    page.get_by_label("Shop name").fill("Fox & Daughters")
    page.get_by_label("Email address").fill(f"{size}@shop.example")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Create account")
    page.get_by_role("link", name="Create your first order").click()
    create_as_suggested(page)
    press(page, "Submit the order")
    press(page, "+ 1 day")

    expect(status(page, "Complete")).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("everything was dispatched").first).to_be_visible()
    page.goto(house.at("/orders"))
    expect(page.get_by_role("cell", name="Complete").first).to_be_visible()


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_the_reference_is_for_everybody_and_finds_what_is_searched_for(
    open_page: NewPage, house: House, size: str, scheme: Scheme
) -> None:
    page = open_page(size, scheme)
    for version in ("v3.0", "v2.6", "v2.5", "v2.3"):
        page.goto(house.at(f"/{version}/docs"))
        check_page(page)
    for guide in ("guide", "callbacks", "versions"):
        page.goto(house.at(f"/v3.0/docs/{guide}"))
        check_page(page)

    page.goto(house.at("/v3.0/docs"))
    page.get_by_label("Search 22 operations").fill("sandbox clock")

    expect(page.get_by_text("2 operations found")).to_be_visible()
    expect(page.get_by_role("heading", name="Read the sandbox clock")).to_be_visible()
    expect(page.get_by_role("heading", name="Create an order")).to_be_hidden()


def test_without_a_script_it_is_the_same(open_page: NewPage, house: House) -> None:
    page = open_page("phone", java_script_enabled=False)
    house.sign_up(page, "No script", "noscript@shop.example")
    page.goto(house.at("/orders/new"))
    create_as_suggested(page)
    press(page, "Submit the order")
    press(page, "+ 1 day")
    page.reload()

    expect(status(page, "Complete")).to_be_visible(timeout=PATIENCE)


def test_a_list_shows_a_new_order_without_being_asked(open_page: NewPage, house: House) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Live", "live@shop.example")
    page.goto(house.at("/orders"))
    other = page.context.new_page()
    number = make_order(other, house)

    expect(page.get_by_role("link", name=str(number), exact=True)).to_be_visible(timeout=PATIENCE)
    press(other, "Submit the order")
    expect(page.get_by_role("cell", name="Submitted").first).to_be_visible(timeout=PATIENCE)


def test_a_page_that_cannot_look_again_stays_as_it_is(open_page: NewPage, house: House) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Patience", "patience@shop.example")
    make_order(page, house)
    page.route("**/orders/*seen=*", lambda route: route.fulfill(status=503, body="One moment"))

    with page.expect_response(re.compile("seen="), timeout=PATIENCE) as looked:
        page.wait_for_timeout(0)

    assert looked.value.status == 503
    expect(page.get_by_role("heading", name="History")).to_be_visible()


def test_what_was_typed_stays_when_the_country_changes(open_page: NewPage, house: House) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Typing", "typing@shop.example")
    page.goto(house.at("/orders/new"))
    page.get_by_label("Copies of each image").fill("7")
    page.get_by_label("Matte").check()

    with page.expect_response(re.compile("country=DE"), timeout=PATIENCE):
        page.get_by_label("Country").select_option("DE")

    expect(page.get_by_role("group", name="Shipping")).to_contain_text("working days")
    expect(page.get_by_label("Matte")).to_be_checked()
    expect(page.get_by_label("Copies of each image")).to_have_value("7")


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_callback_address_is_set_fails_and_is_heard_after_all(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Listener", f"listener-{size}@shop.example")
    with Receiver() as receiver:
        url = receiver.at("/callbacks", says(500, b"Out of paper"))
        page.goto(house.at("/integrations"))
        page.get_by_label("Address").fill(url)
        press(page, "Turn on")
        expect(page.locator("code.secret")).to_contain_text("whsec_")
        number = make_order(page, house)

        page.goto(house.at("/integrations"))
        expect(page.get_by_text("500").first).to_be_visible(timeout=PATIENCE)
        receiver.at("/callbacks", says(200))
        page.get_by_role("link", name="Order created").first.click()
        expect(page.get_by_text("Out of paper").first).to_be_visible()
        press(page, "Send callback again")
        expect(status(page, "Delivered")).to_be_visible(timeout=PATIENCE)

        before = len(receiver.heard)
        page.goto(house.at("/integrations"))
        page.get_by_label("Events since").fill("2020-01-01T00:00")
        page.locator("#replay").get_by_role("button", name="Replay callbacks").click()
        expect(page.get_by_text("on its way").first).to_be_visible()
        wait_until(page, lambda: len(receiver.heard) > before)
        assert {heard.told["id"] for heard in receiver.heard} == {number}


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_key_is_replaced_and_the_old_one_ends(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Keys", f"keys-{size}@shop.example")
    page.goto(house.at("/keys"))
    press(page, "Create key")
    first = page.locator("code.secret").inner_text()
    [code] = re.findall(r"MerchantId: (\w+)", page.locator("main").inner_text())
    with house.service.client(Merchant(code, first)) as program:
        assert program.get("/v3.0/orders").status == 200
        page.goto(house.at("/keys"))
        page.get_by_label("Old keys keep working").select_option(index=0)
        press(page, "Replace keys")
        second = page.locator("code.secret").inner_text()
        # It reads for two more seconds, and changes nothing from that moment.
        assert program.post("/v3.0/orders", an_order_of("Mary Fox")).status == 401
        with house.service.client(Merchant(code, second)) as another:
            assert another.get("/v3.0/orders").status == 200
    assert first != second
    assert page.goto(house.at("/keys"))
    assert first not in page.content()
    assert second not in page.content()


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_key_with_limits_and_an_address_that_waits_can_be_used_by_everybody(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Limits", f"limits-{size}@shop.example")
    page.goto(house.at("/keys"))
    page.get_by_label("Name").fill("W" * 80)
    page.get_by_label("May", exact=True).select_option("read-only")
    page.get_by_label("Ends").select_option("90")
    press(page, "Create key")
    [code] = re.findall(r"MerchantId: (\w+)", page.locator("main").inner_text())
    check_page(page)
    for what in ("Replace", "Revoke"):
        page.goto(house.at("/keys"))
        page.get_by_role("link", name=what).first.click()
        expect(page.locator("#chosen")).to_be_visible()
        check_page(page)

    words = ("merchant", "callback", "set", code, f"https://shop.example/{'w' * 300}")
    ended = run_here(
        *words,
        "--data",
        house.service.data,
        settings={"PRINTWORKS_CALLBACK_CHALLENGE": "always"},
    )
    assert ended.code == 0, ended.complained
    page.goto(house.at("/integrations"))
    expect(page.get_by_text("The new address is not used yet")).to_be_visible()
    check_page(page)


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_recipients_complaint_is_settled_by_a_reprint(
    open_page: NewPage, house: House, tmp_path: Path, size: str
) -> None:
    photograph = tmp_path / "torn.jpg"
    photograph.write_bytes(A_PICTURE)
    page = open_page(size)
    house.sign_up(page, "Sorry", f"sorry-{size}@shop.example")
    number = make_order(page, house)
    complete(page)
    page.get_by_role("link", name="Open an issue").click()
    page.get_by_label("What is wrong?").select_option(index=1)
    page.get_by_label("Details").fill("It came torn.")
    page.get_by_label("Choose up to").set_input_files(photograph)
    page.get_by_role("radio").first.check()
    press(page, "Open issue")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Issue")
    [issue] = re.findall(r"/issues/(\d+)", page.url)

    console = open_page(size)
    house.enter_console(console, f"support-{size}@works.example")
    console.goto(house.at(f"/console/issues/{issue}"))
    expect(console.get_by_role("img", name="Photo 1 of 1")).to_be_visible()
    reprint = console.locator("form", has=console.locator("input[value=issue-reprint]"))
    if not reprint.is_visible():
        console.get_by_text("Reprint", exact=True).click()
    for box in reprint.get_by_role("checkbox").all():
        box.check()
    reprint.get_by_label("Message to the merchant").fill("We print it again at once.")
    reprint.get_by_role("button", name="Reprint images").click()
    expect(console.get_by_text("reprints it at no charge").first).to_be_visible()

    page.goto(house.at(f"/issues/{issue}"))
    expect(page.get_by_text("We are reprinting this at no charge")).to_be_visible()
    expect(page.get_by_text("We print it again at once.").first).to_be_visible()
    page.get_by_role("link", name=re.compile(r"^order \d+$")).last.click()
    assert page.url != house.at(f"/orders/{number}")
    press(page, "+ 1 day")
    expect(status(page, "Complete")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_an_operator_dispatches_the_job_of_a_lab_with_a_folder(
    open_page: NewPage, tmp_path: Path, size: str
) -> None:
    picture = tmp_path / "cat.jpg"
    picture.write_bytes(A_PICTURE)
    data = tmp_path / "live"
    live = {
        "environment": "live",
        "payments": "account",
        "public_url": "https://print.example",
    }
    with open_house(data, **live) as house:
        said = command(
            "merchant", "invite", "mary@shop.example", data=data, settings=house.service.settings
        )
        [link] = re.findall(r"/invitations/\w+", said)
        page = open_page(size)
        page.goto(house.at(link))
        page.get_by_label("Shop name").fill("Mary's")
        page.get_by_label("Password").fill(PASSWORD)
        press(page, "Create account")
        page.goto(house.at("/orders/new"))
        fill_in_by_hand(page, picture)
        press(page, "Create order")
        press(page, "Submit the order")
        expect(status(page, "Submitted")).to_be_visible(timeout=PATIENCE)
        [number] = re.findall(r"/orders/(\d+)", page.url)

        console = open_page(size)
        house.enter_console(console, "production@works.example")
        console.goto(house.at("/console/production"))
        console.locator("main a[href^='/console/shipments/']").first.click()
        expect(console.get_by_role("heading", level=1)).to_contain_text("Lab job")
        console.get_by_label("Tracking number").fill("LX123456785ZZ")
        press(console, "Mark as dispatched")
        expect(status(console, "Dispatched")).to_be_visible(timeout=PATIENCE)

        page.goto(house.at(f"/orders/{number}"))
        expect(status(page, "Complete")).to_be_visible(timeout=PATIENCE)
        expect(page.get_by_text("LX123456785ZZ").first).to_be_visible()
        # They would go on looking for a service that is gone.
        page.close()
        console.close()


def fill_in_by_hand(page: Page, picture: Path) -> None:
    """Fill in an order as somebody does who has a picture and a friend."""
    page.get_by_label("Files").set_input_files(picture)
    page.get_by_label("Name", exact=True).fill("Mary Fox")
    page.get_by_label("Address", exact=True).fill("12 Long Lane")
    page.get_by_label("Town or city").fill("York")
    page.get_by_label("Postcode").fill("YO1 1AA")
    page.get_by_label("Country").select_option("GB")


@pytest.mark.parametrize("size", SIZES)
def test_a_crop_is_moved_by_hand_and_by_keys_and_seen_in_the_proof(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Croppers", f"croppers-{size}@shop.example")
    order = make_order(page, house)
    page.get_by_role("link", name=re.compile("^Edit")).first.click()
    proof = page.locator("#proof img")
    before = proof.get_attribute("src")
    stage = page.get_by_role("group", name="The part of the picture that is printed")
    stage.scroll_into_view_if_needed()
    place = stage.bounding_box()
    assert place is not None
    middle = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2

    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.up()
    for _ in range(20):
        page.keyboard.press("+")
    page.keyboard.press("ArrowUp")
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 400, middle[1], steps=4)
    page.mouse.up()
    page.get_by_text("Exact numbers").click()
    assert float(page.get_by_label("Zoom, 1 to 4").input_value()) > 2
    assert float(page.get_by_label("Top to bottom, %").input_value()) < 50
    expect(page.get_by_label("Left to right, %")).to_have_value("100")
    check_page(page)
    press(page, "Save crop")

    expect(page.get_by_text("The crop was saved.")).to_be_visible()
    expect(proof).to_be_visible(timeout=PATIENCE)
    assert proof.get_attribute("src") != before
    assert f"/orders/{order}/images/" in page.url


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_page_that_is_still_empty_can_be_used_by_everybody(
    open_page: NewPage, house: House, size: str, scheme: str
) -> None:
    page = open_page(size, scheme)
    house.sign_up(page, "Nothing Yet", f"nothing-yet-{scheme}@shop.example")
    for place in merchant.PAGES:
        if "{" not in place.path and place.path not in NOT_DRAWN:
            check_at(page, house, place.path)


@pytest.mark.parametrize(("size", "scheme"), LOOKS)
def test_every_page_can_be_used_by_everybody(
    open_page: NewPage, house: House, size: str, scheme: str
) -> None:
    page = open_page(size, scheme)
    write_legal_texts(house)
    house.sign_up(page, "Everybody", f"everybody-{scheme}@shop.example")
    about = fill_shop(page, house)
    about["/mail/{id}"] = write_to(page, house, f"everybody-{scheme}@shop.example")
    for place in merchant.PAGES:
        if place.path not in NOT_DRAWN:
            check_at(page, house, about.get(place.path, place.path))
    check_at(page, house, "/orders?q=nobody")
    check_at(page, house, "/orders?choose=all")
    check_saving_a_card(page, house)

    erase_one(house)
    house.enter_console(page, f"everybody-{scheme}@works.example")
    # Others may have left orders without images in the same house.
    mine = f"/console{about['/orders/{id}']}"
    about = {path: find_link(page, house, *where) for path, where in AT_THE_CONSOLE.items()}
    about |= list_drafts(add_draft(house))
    about["/console/prices/{id}"] = add_price_list(house)
    about["/console/orders/{id}/address"] = f"{mine}/address"
    about["/console/orders/{id}/images/{image}"] = find_link(page, house, mine, f"{mine}/images/")
    about["/console/merchants/{code}/account"] = f"{about['/console/merchants/{code}']}/account"
    about["/console/merchants/{code}/money"] = f"{about['/console/merchants/{code}']}/money"
    for room in console.PAGES:
        if room.path not in NOT_DRAWN:
            check_at(page, house, about.get(room.path, room.path))
    check_choosing(page, house)

    stranger = open_page(size, scheme)
    for path in (
        "/",
        "/sign-in",
        "/sign-up",
        "/console/sign-in",
        "/forgotten-password",
        "/imprint",
        "/terms",
        f"/invitations/{'0' * 48}",
    ):
        check_at(stranger, house, path)


# Pictures, a table for spreadsheets, and a sheet that is made for paper.
NOT_DRAWN: Final = frozenset(
    {
        "/account/statement.csv",
        "/invoices/all.csv",
        "/invoices/{number}/{form}",
        "/console/invoices/all.csv",
        "/console/invoices/{number}/{form}",
        "/orders/{id}/images/{image}/picture",
        "/orders/import/template.csv",
        "/orders/export.csv",
        "/orders/lots/{id}/corrections.csv",
        "/issues/{id}/photos/{photo}",
        "/console/issues/{id}/photos/{photo}",
        "/console/prices/{id}/lines.csv",
        "/console/reports.csv",
        "/console/shipments/{id}/sheet",
        "/console/shipments/{id}/slip",
        "/settings/shop/slip",
        "/console/versions/{id}/edit/prices.csv",
        "/console/shipments/{id}/prints/{image}",
    }
)
# Where something is listed that a page is about, and how its address begins.
AT_THE_CONSOLE: Final = {
    "/console/shipments/{id}": ("/console/production", "/console/shipments/"),
    "/console/orders/{id}": ("/console/orders", "/console/orders/"),
    "/console/privacy/{id}": ("/console/privacy", "/console/privacy/"),
    "/console/issues/{id}": ("/console/issues", "/console/issues/"),
    "/console/merchants/{code}": ("/console/merchants", "/console/merchants/"),
    "/console/catalogue/{sku}": ("/console/catalogue", "/console/catalogue/"),
    "/console/labs/{code}": ("/console/labs", "/console/labs/"),
    "/console/jobs/{id}": ("/console/jobs?state=done", "/console/jobs/"),
    "/console/people/{id}": ("/console/people", "/console/people/"),
    "/console/mail/{id}": ("/console/mail", "/console/mail/"),
}


def check_choosing(page: Page, house: House) -> None:
    """Look at the lists from which several can be chosen."""
    for listed in ("orders", "issues", "production", "jobs"):
        check_at(page, house, f"/console/{listed}?choose=all")
    check_at(page, house, "/console/privacy?order=1")


FORMS_OF_A_DRAFT: Final = {
    "": "",
    "/basics": "/basics",
    "/prices": "/prices",
    "/new/{part}": "/new/products?like=GLOBAL-PHO-4X6-PRO",
    "/{part}": "/products",
    "/{part}/{name}": "/labs/gb-leeds",
}


def list_drafts(version: str) -> dict[str, str]:
    """Return where the pages of a version are, by their paths."""
    about = {
        f"/console/versions/{{id}}/edit{path}": f"{version}/edit{there}"
        for path, there in FORMS_OF_A_DRAFT.items()
    }
    return {"/console/versions/{id}": version, **about}


def add_draft(house: House) -> str:
    """Have a version of the catalogue that changes something; return where it is shown."""
    now, texts = datetime.now(UTC), open_catalogue(None).texts
    # Each test of the house makes one that is like no other.
    dearer = texts["prints.toml"].replace("GBP = 270", "GBP = 290") + f"# {now}\n"
    catalogue = Catalogue.load({**texts, "prints.toml": dearer})
    with house.database.writing() as db:
        version = add_version(a_system_work(db, now=now), catalogue, "Dearer prints")
    return f"/console/versions/{version.id}"


def add_price_list(house: House) -> str:
    """Have a price list; return where it is shown."""
    with house.database.writing() as db:
        added = add_list(a_system_work(db, now=datetime.now(UTC)), ListTerms(name="Schools"))
    return f"/console/prices/{added.id}"


def write_legal_texts(house: House) -> None:
    """Have an imprint and terms."""
    texts = Brand(imprint="Fox\nhello@fox.example\n\nhttps://fox.example", terms="Pay in time.")
    with house.database.writing() as db:
        change_brand(a_system_work(db, now=datetime.now(UTC)), texts)


def check_saving_a_card(page: Page, house: House) -> None:
    """Look at the pages on which a card is saved, and at the card."""
    page.goto(house.at("/settings/card"))
    press(page, "Save a card")
    expect(page.get_by_role("heading", name="Which card do you want to save?")).to_be_visible()
    check_page(page)
    press(page, "Save card")
    expect(page.get_by_role("heading", name="Your card is saved")).to_be_visible()
    check_page(page)
    check_at(page, house, "/settings/card")


def erase_one(house: House) -> None:
    """Have the receipt of an erasure."""
    with house.database.writing() as db:
        system = a_system_work(db, now=datetime.now(UTC))
        done = select(orders.c.id).where(orders.c.status == OrderStatus.COMPLETE)
        newest = db.execute(done.order_by(orders.c.id.desc())).scalars().first() or 0
        erase_order(system, newest, asked_by="the recipient", when_ended=True)


def check_at(page: Page, house: House, path: str) -> None:
    """Open a page and fail if somebody could not use it."""
    page.goto(house.at(path))
    assert "{" not in page.url
    check_page(page)


def find_link(page: Page, house: House, listed_at: str, beginning: str) -> str:
    """Return where the first of a list leads."""
    page.goto(house.at(listed_at))
    found = page.locator(f"main a[href^='{beginning}']").first.get_attribute("href")
    assert found
    return found


def fill_shop(page: Page, house: House) -> dict[str, str]:
    """Have an order of each sort and an issue; return where the pages about them are."""
    done = make_order(page, house)
    complete(page)
    page.goto(house.at(f"/issues/new?order={done}"))
    check_page(page)
    page.get_by_label("What is wrong?").select_option(index=1)
    page.get_by_role("radio").first.check()
    press(page, "Open issue")
    [issue] = re.findall(r"/issues/(\d+)", page.url)
    check_at(page, house, f"/orders/{done}")
    submitted = make_order(page, house)
    press(page, "Submit the order")
    check_at(page, house, f"/orders/{submitted}")
    draft = make_order(page, house)
    return {
        "/orders/{id}": f"/orders/{draft}",
        "/orders/{id}/images": f"/orders/{draft}/images",
        "/orders/{id}/images/{image}": find_link(
            page, house, f"/orders/{draft}", f"/orders/{draft}/images/"
        ),
        "/orders/{id}/address": f"/orders/{draft}/address",
        "/orders/{id}/again": f"/orders/{draft}/again",
        "/orders/lots/{id}": send_file(page, house),
        "/requests/{id}": refuse_one(house),
        "/orders/{id}/proofs/{image}": find_link(
            page, house, f"/orders/{draft}", f"/orders/{draft}/images/"
        ).replace("/images/", "/proofs/"),
        "/issues/{id}": f"/issues/{issue}",
        "/catalogue/{sku}": "/catalogue/global-pho-4x6-pro?country=DE",
        "/integrations/callbacks/{id}": find_link(
            page, house, "/integrations", "/integrations/callbacks/"
        ),
    }


def send_file(page: Page, house: House) -> str:
    """Upload a file of orders, one of them wrong; return where it is shown."""
    page.goto(house.at("/orders/import"))
    content = a_file({}, {"reference": "wrong", "sku": "?"})
    page.get_by_label("CSV file").set_input_files(
        {"name": "orders.csv", "mimeType": "text/csv", "buffer": content}
    )
    press(page, "Check the file")
    expect(page.get_by_text("1 order can be created")).to_be_visible(timeout=PATIENCE)
    return page.url.removeprefix(house.at(""))


def refuse_one(house: House) -> str:
    """Let a request of the newest merchant have been refused; return where it is shown."""
    with house.database.writing() as db:
        merchant_id = db.execute(select(func.max(merchants.c.id))).scalar_one()
        noted = NewRequest(
            merchant_id=merchant_id,
            at=datetime.now(UTC),
            method="POST",
            path="/v3.0/orders",
            status=400,
            milliseconds=3,
            request_id="r",
            refusal="`copies` must be a number.",
            body='{"copies": "x"}',
            answer="{}",
        )
        write_requests(db, [noted])
        newest = list_requests(db, merchant_id, limit=1).requests[0].id
    return f"/requests/{newest}"


def write_to(page: Page, house: House, email: str) -> str:
    """Let somebody be sent a mail, which fails without a server; return where it is shown."""
    with house.database.writing() as db:
        person = find_person(db, Realm.MERCHANT, email)
        assert person is not None
        items = [NoticeFact(order=1, reference="A-1", text="The address was not found.")]
        letter = NewLetter(
            kind=MailKind.IMAGES_FAILED,
            email=email,
            facts=MailFacts(shop="Everybody", items=items),
            merchant_id=person.merchant_id,
            person_id=person.id,
        )
        terms = MailTerms("Fox", house.at(""))
        write_mail(a_system_work(db, now=datetime.now(UTC), mail_terms=terms), letter)
    return find_link(page, house, f"/mail?q={email}", "/mail/")


def test_nothing_that_somebody_has_typed_ever_runs(open_page: NewPage, house: House) -> None:
    ran: list[str] = []
    page = open_page("desktop")
    page.expose_function(MARK, lambda *_: ran.append(page.url))
    house.sign_up(page, HOSTILE[0], "hostile@shop.example")
    page.goto(house.at("/keys"))
    press(page, "Create key")
    key = page.locator("code.secret").inner_text()
    [code] = re.findall(r"MerchantId: (\w+)", page.locator("main").inner_text())
    with house.service.client(Merchant(code, key)) as program:
        orders = [program.post("/v3.0/orders", an_order_of(text)).data["id"] for text in HOSTILE]

    for before in range(max(orders) + 1, min(orders), -50):
        page.goto(house.at(f"/orders?before={before}"))
    # Each was in a list; all are written by the same templates.
    for order, text in some_of(list(zip(orders, HOSTILE, strict=True))[::8]):
        page.goto(house.at(f"/orders/{order}"))
        page.goto(house.at(f"/orders?q={quote(text)}"))
        page.goto(house.at(f"/sign-in?next={quote(text)}"))
    house.enter_console(page, "hostile@works.example")
    for order in some_of(orders[::20], part=3):
        page.goto(house.at(f"/console/orders/{order}"))
    page.goto(house.at("/console/merchants"))

    assert ran == []
    assert "<script>" in page.locator("main").inner_text()


def an_order_of(text: str) -> dict[str, str]:
    """Return an order with the same text wherever there may be one."""
    names = ("recipientName", "address1", "address2", "addressTownOrCity", "stateOrCounty")
    others = ("postalOrZipCode", "mobileTelephone")
    return {
        **dict.fromkeys((*names, *others), text[:50]),
        "countryCode": "GB",
        "preferredShippingMethod": "Standard",
    }
