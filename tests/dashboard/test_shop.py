"""What a merchant says about its shop, its logo, and the time zone of its dates."""

import re
import struct
import zlib

import pytest

from printworks.files import open_files
from printworks.rules.shops import ShopProfile
from printworks.settings import Settings
from printworks.store.accounts.shops import get_shop
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.images import create
from tests.api.pngs import a_png
from tests.dashboard.visits import visit, words_of
from tests.dashboard.windows import Window, merchant_of

PAGE = "/settings/shop"
GIVEN = {
    "name": "Fox & Daughters",
    "email": "hello@fox.example",
    "telephone": "+44 1904 123456",
    "website": "https://fox.example",
    "return_address": "1 High Street\nYork",
    "packing_slip": "Dear {recipient},\n{items}",
    "time_zone": "America/New_York",
}


def logo(content: bytes) -> tuple[str, str, bytes]:
    """Return a file of the form."""
    return ("logo", "logo.png", content)


@pytest.mark.both_databases
def test_the_shop_is_saved_and_seen_by_the_operator(
    alice: Window, bob: Window, operator: Window, database: Database
) -> None:
    said = alice.follow(alice.do(PAGE, "change-shop", **GIVEN))

    assert "The shop was saved." in said
    assert "Times are in America/New York" in said
    assert "Fox & Daughters" in operator.words(f"/console/merchants/{alice.code}")
    assert "Fox" not in bob.words(PAGE)
    with database.reading() as db:
        assert get_shop(db, merchant_of(db, alice).id).profile == ShopProfile(**GIVEN)


def test_what_was_typed_stays_when_it_is_refused(alice: Window, database: Database) -> None:
    refused = alice.do(PAGE, "change-shop", **{**GIVEN, "website": "javascript:alert(1)"})

    assert refused.status == 400
    assert "Enter the address of a website" in words_of(refused)
    assert b'value="Fox &amp; Daughters"' in refused.body
    with database.reading() as db:
        assert get_shop(db, merchant_of(db, alice).id).profile == ShopProfile()


@pytest.mark.parametrize(
    "zone", ["Mars/Olympus", "../../etc/passwd", "UTC\0", "Europe", "localtime"]
)
def test_a_time_zone_that_nobody_lives_in_is_refused(alice: Window, zone: str) -> None:
    answer = alice.do(PAGE, "change-shop", **{**GIVEN, "time_zone": zone})

    assert answer.status == (303 if zone == "UTC\0" else 400)


def test_dates_are_those_of_the_time_zone(alice: Window, v3: Client) -> None:
    order = create(v3)
    before = alice.words(f"/orders/{order}")
    alice.do(PAGE, "change-shop", **{**GIVEN, "time_zone": "Pacific/Auckland"})

    after = alice.words(f"/orders/{order}")

    assert "Created 15 Nov 2026, 12:00" in before
    assert "Created 16 Nov 2026, 01:00" in after
    link = f'href="/orders/{order}"'.encode()
    assert link in alice.open("/orders?from=2026-11-16&to=2026-11-16").body
    assert link not in alice.open("/orders?to=2026-11-15").body


def test_a_logo_is_drawn_anew_and_cached_for_ever(
    alice: Window, browser: Client, settings: Settings
) -> None:
    page = alice.follow(alice.upload(PAGE, "change-logo", [logo(a_png(400, 100))]))
    [address] = set(re.findall(r'src="(/logos/[^"]*)"', alice.open(PAGE).body.decode()))
    seen = visit(browser, address)

    assert "The logo was saved." in page
    assert seen.headers["content-type"] == "image/jpeg"
    assert seen.headers["cache-control"] == "public, max-age=31536000, immutable"
    [kept] = open_files(settings).keys("logos")
    assert seen.body == open_files(settings).read(kept)

    alice.follow(alice.do(PAGE, "remove-logo"))
    assert visit(browser, address).status == 404
    assert visit(browser, "/logos/..%2f..%2fsecret.jpg").status == 404


def bomb() -> bytes:
    """Return a picture that says it has a gigapixel, in a few bytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1_000_000), 9)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize(
    "content",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)' width='9' height='9'/>",
        b"GIF89a<script>alert(1)</script>",
        b"",
        bomb(),
        a_png(40, 30)[:60],
    ],
    ids=["SVG", "script", "empty", "bomb", "cut off"],
)
def test_a_logo_that_is_no_picture_is_refused(
    alice: Window, settings: Settings, content: bytes
) -> None:
    answer = alice.upload(PAGE, "change-logo", [logo(content)])

    assert answer.status == 400, words_of(answer)
    assert list(open_files(settings).keys("logos")) == []
    assert b"/logos/" not in alice.open(PAGE).body


def test_one_picture_is_one_logo(alice: Window) -> None:
    none = alice.upload(PAGE, "change-logo", [])
    two = alice.upload(PAGE, "change-logo", [logo(a_png(40, 30))] * 2)

    assert none.status == two.status == 400
    assert "Choose one picture" in words_of(none)


def test_the_packing_slip_is_shown_as_it_is_printed(alice: Window) -> None:
    alice.do(PAGE, "change-shop", **{**GIVEN, "packing_slip": "<b>{recipient} {order} {items}"})
    alice.upload(PAGE, "change-logo", [logo(a_png(400, 100))])

    slip = alice.open("/settings/shop/slip")

    assert "<b>Mary Fox A-1001 2 \N{MULTIPLICATION SIGN}" in words_of(slip)
    assert b"data:image/jpeg;base64," in slip.body
    assert "'unsafe-inline'" not in slip.headers["content-security-policy"]
