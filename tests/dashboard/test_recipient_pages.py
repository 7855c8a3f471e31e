"""The page of a recipient lives: from the link to the parcels, in four languages, with or without prices."""

import re
from gettext import NullTranslations
from typing import Any, Final
from urllib.parse import urlsplit

import pytest

from printworks.actions.accounts.shops import change_profile
from printworks.actions.privacy.erasing import erase_order
from printworks.dashboard.checkout.refusals import DECLINES
from printworks.language import words as language
from printworks.payments import stripe_answers, stripe_checkout
from printworks.payments.simulated import _REASONS as SIMULATED
from printworks.rules.languages import Language
from printworks.rules.production import LabState
from printworks.rules.recipients import NEEDED, OPTIONAL, Fault, find_faults, find_problems
from printworks.rules.shops import ShopProfile
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.payments import find_last_request
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import hear, set_status
from tests.dashboard.hostile import HOSTILE
from tests.dashboard.reading_pages import PageReader
from tests.dashboard.visits import ask_recipient, fill_in, send, token_of, visit, words_of
from tests.dashboard.windows import Window
from tests.factories import a_system_work, a_work
from tests.running import Answer

EMAIL: Final = {"email": "mary@example.com"}
SHOP: Final = ShopProfile(
    name="Fuchs & Töchter",
    email="hallo@fuchs.example",
    telephone="+49 30 123456",
    website="https://fuchs.example",
    return_address="Lange Gasse 1\nBerlin",
    time_zone="Europe/Berlin",
)


def say_who(database: Database, v3: Client, profile: ShopProfile) -> None:
    """Let the merchant describe its shop."""
    with database.writing() as db:
        merchant = get_merchant_by_code(db, v3.credentials["X-Service-MerchantId"])
        change_profile(a_work(db, merchant), profile)


def read(browser: Client, address: str, accept: str = "", **headers: str) -> Answer:
    """Open a page with a browser that prefers a language."""
    parts = urlsplit(address)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return browser.request("GET", path, b"", {"Accept-Language": accept, **named})


def pay(browser: Client, url: str) -> None:
    """Pay at the simulated bank."""
    asked = fill_in(browser, url, do="pay")
    leaving = visit(browser, asked.headers["location"])
    fill_in(browser, leaving.headers["refresh"].partition("url=")[2], decision="authorise")


def newest(v3: Client) -> int:
    """Return the number of the newest order."""
    return int(v3.get("/orders").data["content"][0]["id"])


def follow(window: Window, order: int) -> str:
    """Return the link that a merchant can send to the recipient."""
    page = window.open(f"/orders/{order}").body.decode()
    [link] = re.findall(r'href="(https://print\.example/(?:track|pay)/[^"]+)"', page)
    return str(link)


@pytest.mark.both_databases
def test_one_address_leads_from_paying_to_the_parcels(
    v3: Client, browser: Client, database: Database
) -> None:
    say_who(database, v3, SHOP)
    url = ask_recipient(v3, merchantOrderId="A-1", **EMAIL)
    before = words_of(visit(browser, url))
    pay(browser, url)
    paid = words_of(visit(browser, url))
    order = newest(v3)
    hear(database, v3, order, LabState.IN_PRODUCTION)
    made = words_of(visit(browser, url))
    tracking: Any = {"tracking_number": "LX1", "tracking_url": "https://tracking.example/LX1"}
    hear(database, v3, order, LabState.DISPATCHED, **tracking)
    sent = visit(browser, url)

    assert "Order A-1 Review and pay" in before
    assert "Questions? Ask Fuchs & Töchter hallo@fuchs.example +49 30 123456" in before
    assert "Thank you for your payment" in paid
    assert "Paid (done) 15 November 2026 In production Sent Delivered Expected" in paid
    assert "Being made Leaves the lab by" in paid
    assert "Your order is being made" in made
    assert "Your order is on its way" in words_of(sent)
    assert "LX1 Follow the parcel" in words_of(sent)
    assert b'href="https://tracking.example/LX1" rel="noreferrer noopener"' in sent.body
    assert "Paid £" in words_of(sent)


def test_a_page_that_has_no_news_is_not_sent_again(
    v3: Client, browser: Client, database: Database
) -> None:
    url = ask_recipient(v3, **EMAIL)
    pay(browser, url)
    page = visit(browser, url)
    [address] = re.findall(r'hx-get="([^"]*)"', page.body.decode())

    again = read(browser, address, HX_Request="true")
    german = read(browser, address, "de", HX_Request="true")
    hear(database, v3, newest(v3), LabState.IN_PRODUCTION)
    news = read(browser, address, HX_Request="true")

    assert (again.status, german.status, news.status) == (204, 200, 200)
    assert "script-src 'nonce-" in page.headers["content-security-policy"]


@pytest.mark.parametrize("url_of", ["pay", "track"])
def test_nobody_is_told_of_the_address(
    v3: Client, browser: Client, alice: Window, url_of: str
) -> None:
    url = ask_recipient(v3, **EMAIL) if url_of == "pay" else follow(alice, submit(v3))

    page = visit(browser, url)

    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "no-referrer"
    assert b'name="robots" content="noindex"' in page.body


def submit(v3: Client, **members: Any) -> int:
    """Let a merchant order and pay for two copies."""
    order = create(v3, **members)
    add(v3, order, copies=2)
    assert set_status(v3, order, "Submitted").status == 200
    return order


@pytest.mark.both_databases
def test_an_order_of_the_merchant_is_followed_without_prices(
    v3: Client, browser: Client, alice: Window, database: Database
) -> None:
    say_who(database, v3, SHOP)
    order = submit(v3, merchantOrderId="A-2")
    url = follow(alice, order)
    hear(database, v3, order, LabState.DISPATCHED, tracking_number="LX2")

    said = words_of(visit(browser, url))

    assert "Fuchs & Töchter Order A-2 Your order is on its way" in said
    assert "Ordered (done) 15 November 2026" in said
    assert "LX2" in said
    assert "£" not in said
    assert "Mary Fox 1 High Street London, SW1A 1AA United Kingdom" in said


def test_the_link_of_one_order_opens_no_other(
    v3: Client, browser: Client, alice: Window, clock: MovableClock
) -> None:
    first, second = submit(v3), submit(v3)
    address = urlsplit(follow(alice, first)).path
    signature = address.rpartition("/")[2]

    for wrong in (
        f"/track/{second}/{signature}",
        f"/track/{first}/{'0' * 32}",
        f"/track/{first}/é",
        f"/track/x/{signature}",
        f"/track/{'9' * 40}/{signature}",
        f"/track/{first}/{signature.upper()}x",
    ):
        page = visit(browser, wrong)
        assert page.status == 404, wrong
        assert "Order not found" in words_of(page)
    assert visit(browser, address).status == 200
    clock.advance(days=4000)
    assert visit(browser, address).status == 200


def test_an_erased_recipient_has_no_page(
    v3: Client, browser: Client, alice: Window, database: Database
) -> None:
    tracked = submit(v3)
    link = follow(alice, tracked)
    paid = ask_recipient(v3, **EMAIL)
    pay(browser, paid)
    with database.reading() as db:
        payment = find_last_request(db, newest(v3))
    assert payment is not None
    for order in (tracked, newest(v3)):
        hear(database, v3, order, LabState.DISPATCHED)
        with database.writing() as db:
            erase_order(a_system_work(db), order, asked_by="the recipient")

    assert visit(browser, link).status == 404
    assert visit(browser, paid).status == 404
    assert visit(browser, f"/payments/{payment.key}").status == 404


def test_a_cancelled_order_says_so_in_words(v3: Client, browser: Client, alice: Window) -> None:
    order = submit(v3)
    link = follow(alice, order)
    url = ask_recipient(v3, **EMAIL)
    pay(browser, url)
    for each in (order, newest(v3)):
        assert set_status(v3, each, "Cancelled").status == 200

    followed, refunded = words_of(visit(browser, link)), words_of(visit(browser, url))

    assert "This order was cancelled Nothing is printed or sent. If you have questions" in followed
    assert "Your payment is refunded to the original payment method." in refunded


@pytest.mark.parametrize(
    ("accept", "said"),
    [
        ("de-AT,de;q=0.9", "Prüfen und bezahlen"),
        ("fr", "Vérifier et payer"),
        ("es-MX,en;q=0.5", "Revisar y pagar"),
        ("it,pl", "Review and pay"),
    ],
)
def test_a_browser_says_which_language_is_read(
    v3: Client, browser: Client, accept: str, said: str
) -> None:
    page = read(browser, ask_recipient(v3, **EMAIL), accept)

    assert said in words_of(page)
    [code] = re.findall(r'<html lang="(\w\w)">', page.body.decode())
    assert page.headers["content-language"] == code


def test_money_dates_and_countries_are_written_as_the_reader_does(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, **EMAIL)
    german = words_of(read(browser, url, "de"))
    pay(browser, url)

    assert "2 \N{MULTIPLICATION SIGN} 12,50 £ 25,00 £" in german
    assert "Vereinigtes Königreich" in german
    assert "Bezahlt (erledigt) 15. November 2026" in words_of(read(browser, url, "de"))


def test_a_choice_of_language_is_kept_until_the_browser_is_closed(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, **EMAIL)
    chosen = read(browser, f"{url}?language=fr", "de")
    cookie = chosen.headers["set-cookie"]
    later = read(browser, url, "de", Cookie=cookie.partition(";")[0])
    strange = read(browser, f"{url}?language=xx", "de", Cookie="__Host-printworks-language=%00")

    assert cookie.startswith("__Host-printworks-language=fr;")
    assert "max-age" not in cookie.lower()
    assert "expires" not in cookie.lower()
    assert "Vérifier et payer" in words_of(chosen)
    assert "Vérifier et payer" in words_of(later)
    assert "Prüfen und bezahlen" in words_of(strange)
    assert "set-cookie" not in read(browser, url, "de").headers
    assert b'hreflang="fr" lang="fr" aria-current="true"' in chosen.body


def test_refusals_are_told_in_the_language_of_the_reader(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3)
    path = urlsplit(url).path
    token = token_of(read(browser, url, "de"))
    wrong = send(
        browser, url, {"form_token": token, "do": "complete", "email": "x"}, Accept_Language="de"
    )
    forged = send(browser, url, {"form_token": "0", "do": "complete"}, Accept_Language="es")
    unknown = read(browser, "/pay/none", "fr")
    strange = browser.request("PUT", "/pay/none", b"", {"Accept-Language": "de"})
    many = [read(browser, path, "de") for _ in range(70)][-1]

    assert "Fehler: Geben Sie eine gültige E-Mail-Adresse ein" in words_of(wrong)
    assert "No se ha podido aceptar este formulario" in words_of(forged)
    assert "Commande introuvable" in words_of(unknown)
    assert "Diese Seite kann nur angesehen werden." in words_of(strange)
    assert many.status == 429
    assert "Zu viele Anfragen" in words_of(many)


class Bracketed(NullTranslations):
    """Puts every sentence that is translated into brackets."""

    def gettext(self, message: str) -> str:
        """Mark a sentence."""
        return f"⟦{message}⟧"

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """Mark one of two."""
        return f"⟦{msgid1 if n == 1 else msgid2}⟧"


# What is not ours to translate: the operator, carriers, months and countries.
NOT_OURS: Final = re.compile(
    r"\bPrintworks\b|Royal Mail|\bNovember\b|\bGBP\b|United Kingdom|Vereinigtes Königreich|English|Deutsch|Français|Español"
)


def untranslated(page: Answer) -> str:
    """Return what a page says that no translator has seen, without what is marked as English."""
    html = re.sub(r'<p [^>]*lang="en">.*?</p>', "", page.body.decode(), flags=re.DOTALL)
    attributes = " ".join(re.findall(r'(?:alt|aria-label|title|placeholder)="([^"]*)"', html))
    [title] = re.findall(r"<title>(.*?)</title>", html, flags=re.DOTALL)
    text = re.sub(r"<head>.*?</head>|<[^>]+>", " ", html, flags=re.DOTALL)
    left = re.sub(r"⟦[^⟧]*⟧", " ", f"{title} {text} {attributes}".replace("&amp;", "&"))
    return " ".join(NOT_OURS.sub("", left).split())


def test_no_word_of_a_recipients_page_escapes_translation(
    v3: Client, browser: Client, alice: Window, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language, "load_translations", lambda _language: Bracketed())
    # Digits and signs only, so that every letter is a word of ours.
    digits = {
        "recipientName": "1",
        "address1": "2",
        "addressTownOrCity": "3",
        "postalOrZipCode": "4",
        "merchantOrderId": "5",
    }
    say_who(database, v3, ShopProfile(name="7", telephone="+49 30 12", return_address="8\n9"))
    missing = {**dict.fromkeys(digits, ""), "recipientName": "1", "merchantOrderId": "6"}
    incomplete = ask_recipient(v3, **missing)
    payable = ask_recipient(v3, invoiceTax=5, invoiceCurrency="GBP", **digits, email="1@2.34")
    tracked = follow(alice, submit(v3, **digits))

    def see(address: str) -> None:
        page = read(browser, address, "de")
        left = untranslated(page).replace("1@2.34", "").replace("LX", "").replace("https://t.x", "")
        assert not re.search(r"[A-Za-zäöüß]", left), (address, left)

    see(incomplete)
    filled = {"do": "complete", "email": "x", "address1": "y" * 300}
    token = token_of(visit(browser, incomplete))
    wrong = send(browser, incomplete, {"form_token": token, **filled}, Accept_Language="de")
    assert not re.search(r"[A-Za-z]", untranslated(wrong)), untranslated(wrong)
    see(payable)
    asked = fill_in(browser, payable, do="pay")
    leaving = visit(browser, asked.headers["location"])
    bank = leaving.headers["refresh"].partition("url=")[2]
    see(payable)
    see(bank)
    fill_in(browser, bank, decision="decline")
    see(bank)
    see(payable)
    pay(browser, payable)
    see(payable)
    for state in (LabState.IN_PRODUCTION, LabState.DISPATCHED):
        see(tracked)
        hear(database, v3, newest(v3), state, tracking_number="LX 1", tracking_url="https://t.x")
    see(tracked)
    see("/pay/none")
    see("/payments/none")
    assert set_status(v3, newest(v3) - 2, "Cancelled").status == 200
    see(incomplete)


def test_every_sentence_of_a_provider_is_translated() -> None:
    said = {
        *stripe_answers.REASONS.values(),
        *SIMULATED.values(),
        *(stripe_answers.DECLINED, stripe_answers.CANCELLED, stripe_checkout.NOT_IN_TIME),
    }

    # What only a merchant can do something about is told in general words.
    assert said - DECLINES == {"The saved card no longer exists."}


def test_the_faults_of_fields_are_the_problems_that_others_read() -> None:
    typed = {"address1": "x" * 999, "town_or_city": "\x07", "email": "x"}

    faults = find_faults(NEEDED, typed)

    assert set(faults.values()) == set(Fault)
    assert set(find_problems(NEEDED, typed)) == set(faults)
    assert all(find_problems({*NEEDED, *OPTIONAL} & set(NEEDED), typed).values())
    assert {Language(code) for code in ("en", "de", "fr", "es")} == set(Language)


def test_no_page_runs_what_a_shop_is_called(
    v3: Client, browser: Client, alice: Window, database: Database
) -> None:
    link = follow(alice, submit(v3))
    for text in HOSTILE[:40:4]:
        profile = ShopProfile(
            name=text[:100], return_address=text, packing_slip=text.replace("{", "(")
        )
        say_who(database, v3, profile)
        for page in (visit(browser, link), alice.open("/settings/shop/slip")):
            # The only script and the only style within a page are ours.
            ours = (
                r'<script nonce="[\w-]+" src="/assets/[^"]+" defer></script>|<style>[^<]*</style>'
            )
            assert PageReader(re.sub(ours, "", page.body.decode())).dangers == [], text
