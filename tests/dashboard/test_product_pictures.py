"""An owner gives a product a photograph, and whoever looks at the product sees it."""

import re

import pytest
from sqlalchemy import select

from printworks.files import open_files
from printworks.rules.jobs import JobKind
from printworks.settings import Settings
from printworks.store.catalogue.versions import list_versions, read_texts
from printworks.store.engine.database import Database
from printworks.store.tables import jobs
from tests.api.client import Client
from tests.api.pngs import a_png
from tests.dashboard.filling import read_form
from tests.dashboard.test_console_versions import VERSIONS, import_files
from tests.dashboard.visits import visit, words_of
from tests.dashboard.windows import Window
from tests.running import Answer

pytestmark = pytest.mark.slow

SKU = "GLOBAL-POS-10X15"
SAVE = "save-catalogue-entry"
ADDRESS = re.compile(r'src="(/product-pictures/[0-9a-f]{32}\.jpg)"')


def begin(window: Window) -> str:
    """Make a draft, and return the address of its forms."""
    answer = window.do(VERSIONS, "new-catalogue", title="With pictures")
    return str(answer.headers["location"].partition("?")[0])


def send_picture(window: Window, address: str, *pictures: bytes, **typed: str) -> Answer:
    """Save the form of a product with files."""
    fields = {name: values[-1] for name, values in read_form(window.open(address), SAVE).items()}
    fields.pop("form_token")
    fields.pop("do")
    sent = [("picture", "phone.png", content) for content in pictures]
    return window.upload(address, SAVE, sent, **{**fields, **typed})


def save_picture(window: Window, address: str, *pictures: bytes, **typed: str) -> None:
    """Save a form that must be accepted."""
    answer = send_picture(window, address, *pictures, **typed)
    assert answer.status == 303, words_of(answer)


def find_addresses(answer: Answer) -> list[str]:
    """Return where the photographs of a page are."""
    return ADDRESS.findall(answer.body.decode())


@pytest.mark.both_databases
def test_a_photograph_is_shown_wherever_the_product_is(
    operator: Window, alice: Window, browser: Client, settings: Settings, database: Database
) -> None:
    edit = begin(operator)
    save_picture(operator, f"{edit}/products/{SKU}", a_png(1600, 900))
    [address] = set(find_addresses(operator.open(f"{edit}/products/{SKU}")))
    [listed] = find_addresses(operator.open(f"{edit}/products?q={SKU}"))
    version = edit.removesuffix("/edit")
    changed = words_of(operator.open(version))
    operator.follow(operator.do(version, "publish-catalogue"))
    browser.server.app.services.catalogue_watch.look()

    seen = visit(browser, address)
    product = alice.open(f"/catalogue/{SKU.lower()}?country=GB")
    tiles = alice.open(f"/catalogue?q={SKU}&country=GB")
    order = alice.open(f"/orders/new?sku={SKU}&country=GB")

    assert listed == address
    assert "another picture" not in changed
    assert "a picture" in changed
    assert seen.headers["content-type"] == "image/jpeg"
    assert seen.headers["cache-control"] == "public, max-age=31536000, immutable"
    [kept] = open_files(settings).keys("products")
    assert seen.body == open_files(settings).read(kept)
    for page in (product, tiles, order):
        assert address in find_addresses(page)
    with database.reading() as db:
        texts = read_texts(db, list_versions(db, limit=1)[0].id)
    assert any("global-pos-10x15-" in text for text in texts.values())


def test_a_photograph_is_replaced_and_removed(
    operator: Window, browser: Client, database: Database
) -> None:
    page = f"{begin(operator)}/products/{SKU}"
    save_picture(operator, page, a_png(400, 300))
    [first] = set(find_addresses(operator.open(page)))
    # What is saved without a file keeps the picture.
    save_picture(operator, page, description="A poster")
    assert set(find_addresses(operator.open(page))) == {first}

    save_picture(operator, page, a_png(300, 400))
    [second] = set(find_addresses(operator.open(page)))
    save_picture(operator, page, drop_picture="yes")

    assert second != first
    assert find_addresses(operator.open(page)) == []
    assert [visit(browser, address).status for address in (first, second)] == [404, 404]
    with database.reading() as db:
        waiting = db.scalars(select(jobs.c.args).where(jobs.c.kind == JobKind.REMOVE_FILES)).all()
    assert len(waiting) == 2


def test_a_copy_of_a_product_has_its_photograph(operator: Window) -> None:
    edit = begin(operator)
    save_picture(operator, f"{edit}/products/{SKU}", a_png(400, 300))

    shown = find_addresses(operator.open(f"{edit}/new/products?like={SKU}"))

    assert len(shown) == 1


@pytest.mark.parametrize(
    ("pictures", "why"),
    [
        ([b"<svg/>"], "This file cannot be used as a picture."),
        ([a_png(40, 30), a_png(30, 40)], "Choose one picture."),
    ],
)
def test_what_is_no_picture_is_named_at_its_field(
    operator: Window, settings: Settings, pictures: list[bytes], why: str
) -> None:
    page = f"{begin(operator)}/products/{SKU}"

    refused = send_picture(operator, page, *pictures, description="A fox")

    assert refused.status == 400
    assert f'id="picture-error"><span class="visually-hidden">Error: </span>{why}' in (
        refused.body.decode()
    )
    assert 'value="A fox"' in refused.body.decode()
    assert list(open_files(settings).keys("products")) == []
    assert find_addresses(operator.open(page)) == []


@pytest.mark.parametrize("path", ["0" * 32, "..%2fsecret", "x"])
def test_what_is_not_stored_is_not_found(browser: Client, path: str) -> None:
    assert visit(browser, f"/product-pictures/{path}.jpg").status == 404


def files_with(picture: str) -> dict[str, bytes]:
    """Return the files of a small catalogue whose product has a picture."""
    product = (
        'sku = "CAT"\nkind = "print"\ndescription = "Cat"\nband = "Letters"\nsold_to = ["GB"]\n'
        f'image = "4x6"\nprice = {{ GBP = 20 }}\npicture = "{picture}"\n'
    )
    names = 'currencies = ["GBP"]\nkinds = ["print"]\nbands = ["Letters"]\n'
    return {"all.toml": f"{names}[[products]]\n{product}".encode()}


class TestImporting:
    def test_pictures_come_with_the_files(self, operator: Window, database: Database) -> None:
        files = {**files_with("cat.png"), "cat.png": a_png(400, 300), "other.png": b""}
        imported = import_files(operator, files)
        assert imported.status == 303, words_of(imported)
        where = imported.headers["location"].partition("?")[0]
        with database.reading() as db:
            texts = read_texts(db, list_versions(db, limit=1)[0].id)

        shown = operator.open(f"{where}/edit/products/CAT")
        changed = {name: f"# Again\n{text}".encode() for name, text in texts.items()}
        again = import_files(operator, changed)

        assert len(find_addresses(shown)) == 1
        assert re.search(r'picture = "cat-[0-9a-f]{32}\.jpg"', texts["all.toml"])
        # What is stored already need not come again.
        assert again.status == 303

    @pytest.mark.parametrize(
        ("files", "why"),
        [
            (files_with("cat.png"), "Choose the picture cat.png as well."),
            ({**files_with("cat.png"), "cat.png": b"<svg/>"}, "cat.png: This file cannot be used"),
        ],
    )
    def test_pictures_that_cannot_be_used_are_named(
        self, operator: Window, files: dict[str, bytes], why: str
    ) -> None:
        refused = import_files(operator, files)

        assert refused.status == 400
        assert why in words_of(refused)
