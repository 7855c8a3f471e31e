"""Passkeys in a real browser, with an authenticator that Chromium simulates."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.houses import PASSWORD, House, press
from tests.browser.inspecting import check_page

EMAIL = "passkeys@shop.example"


def give_authenticator(page: Page) -> None:
    """Let the browser have a telephone that recognises its owner."""
    devtools = page.context.new_cdp_session(page)
    devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})


def test_one_is_added_signs_in_and_is_removed(open_page: NewPage, house: House) -> None:
    page = open_page("phone")
    house.sign_up(page, "Keys and locks", EMAIL)
    give_authenticator(page)
    page.goto(house.at("/settings"))
    press(page, "Add a passkey")
    check_page(page)
    page.get_by_label("Name").fill("My telephone")
    press(page, "Create passkey")
    expect(page.get_by_text("The passkey was added.")).to_be_visible()
    expect(page.locator("code.secret")).to_contain_text("-")
    check_page(page)

    page.locator("summary", has_text="Menu").click()
    press(page, "Sign out")
    page.goto(house.at("/sign-in"))
    check_page(page)
    press(page, "Sign in with a passkey")

    expect(page).to_have_url(house.at("/home"))
    page.goto(house.at("/settings"))
    expect(page.get_by_text("last used")).to_be_visible()
    page.get_by_role("button", name="Remove My telephone").click()
    expect(page.get_by_text("The passkey was removed.")).to_be_visible()


def test_without_a_device_the_page_says_what_to_do_instead(
    open_page: NewPage, house: House
) -> None:
    page = open_page("desktop")
    # As when somebody closes the browser's window for it.
    page.add_init_script(
        "navigator.credentials.get = async () => { throw new DOMException('', 'NotAllowedError') }"
    )
    page.goto(house.at("/sign-in"))
    press(page, "Sign in with a passkey")
    expect(page.get_by_text("No passkey was used.")).to_be_visible()


def test_without_a_script_the_other_ways_are_there_and_that_one_is_not(
    open_page: NewPage, house: House
) -> None:
    page = open_page("phone", java_script_enabled=False)
    house.sign_up(page, "No script at all", "noscript-keys@shop.example")
    page.goto(house.at("/settings"))
    press(page, "Create codes")
    code = page.locator("code.secret").inner_text().split()[0]
    page.context.clear_cookies()
    page.goto(house.at("/sign-in"))

    expect(page.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    for _ in range(6):
        page.get_by_label("Email address").fill("noscript-keys@shop.example")
        page.get_by_label("Password").fill("not the right one")
        press(page, "Sign in")
    expect(page.get_by_text("You need not wait if you have another way in")).to_be_visible()
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_label("Recovery code").fill(code)
    press(page, "Sign in")
    expect(page).to_have_url(house.at("/home"))
