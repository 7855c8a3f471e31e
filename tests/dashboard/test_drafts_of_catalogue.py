"""An owner without a text editor changes a draft of the catalogue in forms."""

import re
from functools import cache
from html import unescape
from typing import Any

import pytest

from printworks.actions.catalogue import add_draft
from printworks.catalogue.drafts.draft import Draft
from printworks.catalogue.form_reading import list_fields
from printworks.catalogue.forms import (
    LabForm,
    MakingLine,
    ProductForm,
    PromiseForm,
    ServiceForm,
    TariffForm,
    TaxesForm,
    TaxLine,
)
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.console.drafts.form_tables import BASICS_GROUPS
from printworks.dashboard.console.drafts.parts import PARTS
from printworks.dashboard.console.drafts.row_fields import RowsField
from printworks.rules.people import Role
from printworks.store.catalogue.versions import list_versions, read_texts
from printworks.store.engine.database import Database
from tests.api.client import Server
from tests.dashboard.filling import fill_in, read_form
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import a_system_work
from tests.running import Answer

pytestmark = pytest.mark.slow

VERSIONS = "/console/versions"
SAVE, ADD = "save-catalogue-entry", "add-catalogue-entry"
POSTER = "products/GLOBAL-POS-10X15"
SHIRT = "products/WEAR-TEE-KIDS"
LEEDS = "labs/gb-leeds"
ROYAL_MAIL = "services/royal-mail-2nd"
# Posters and clothing are left.
LEFT_OUT = frozenset(
    f"{name}.toml" for name in ("canvas", "fine-art", "frames", "gifts", "photobooks", "prints")
)


def begin(window: Window, **fields: object) -> str:
    """Make a draft, and return the address of its forms."""
    answer = window.do(VERSIONS, "new-catalogue", title="Spring", **fields)
    assert answer.status == 303, words_of(answer)
    return str(answer.headers["location"].partition("?")[0])


@cache
def few_products() -> dict[str, str]:
    """Return the files of the built-in catalogue without most products.

    Whatever is sent reads the whole draft, and most of that are products.
    """
    files = open_catalogue(None).texts
    return {name: text for name, text in files.items() if name not in LEFT_OUT}


def begin_with_few(database: Database) -> str:
    """Have a draft with few products, and return the address of its forms."""
    with database.writing() as db:
        return f"{VERSIONS}/{add_draft(a_system_work(db), few_products(), 'Spring').id}/edit"


def files_of(database: Database, version: int | None = None) -> dict[str, str]:
    """Return the files of a version, or of the newest one."""
    with database.reading() as db:
        return read_texts(db, version or list_versions(db, limit=1)[0].id)


def errors_of(answer: Answer) -> dict[str, str]:
    """Return what a page says at which of its fields."""
    page = answer.body.decode()
    said = dict(
        re.findall(
            r'id="([^"]+)-error"><span class="visually-hidden">Error: </span>([^<]*)</span>', page
        )
    )
    for field in said:
        assert re.search(rf'id="{re.escape(field)}"[^>]*aria-invalid="true"', page), field
    assert page.count(" autofocus") == min(len(said), 1)
    return {field.removeprefix("wrong-"): unescape(told) for field, told in said.items()}


def save(window: Window, address: str, typed: dict[str, Any]) -> None:
    """Save a form that must be accepted."""
    answer = fill_in(window, address, SAVE, typed)
    assert answer.status == 303, (errors_of(answer), words_of(answer)[-2000:])


class TestEveryKeyHasAField:
    @pytest.mark.parametrize(
        ("part", "form"),
        [
            ("products", ProductForm),
            ("labs", LabForm),
            ("services", ServiceForm),
            ("tariff", TariffForm),
            ("promises", PromiseForm),
            ("taxes", TaxesForm),
        ],
    )
    def test_every_key_of_a_block(self, part: str, form: Any) -> None:
        groups = PARTS[part].words.groups
        keys = [key for group in groups for field in group.fields for key in field.keys]

        assert sorted(keys) == sorted(list_fields(form))

    @pytest.mark.parametrize(("part", "form"), [("labs", MakingLine), ("taxes", TaxLine)])
    def test_every_key_of_a_line(self, part: str, form: Any) -> None:
        [lines] = [
            field
            for group in PARTS[part].words.groups
            for field in group.fields
            if isinstance(field, RowsField)
        ]

        assert {field.key for field in lines.fields} == set(list_fields(form))

    def test_every_name_that_others_refer_to(self) -> None:
        keys = {field.key.partition(".")[0] for group in BASICS_GROUPS for field in group.fields}

        assert keys == {"currencies", "rates", "kinds", "bands"}


@pytest.mark.both_databases
def test_a_price_is_changed_published_and_taken_back(operator: Window, database: Database) -> None:
    edit = begin(operator)
    save(operator, f"{edit}/{POSTER}", {"price.GBP": "5.01"})
    version = edit.removesuffix("/edit")

    said = operator.words(version)
    assert "4.95" in said
    assert "5.01" in said
    assert "product GLOBAL-POS-10X15: price" in said
    assert "admin@works.example" in said
    assert operator.do(version, "publish-catalogue").status == 303
    assert "In use" in operator.words(version)
    back = operator.do(f"{VERSIONS}/1", "roll-back-catalogue")
    assert "Back to version 1" in operator.follow(back)
    assert files_of(database) == Catalogue.load().texts


def test_saving_without_a_change_leaves_every_file_as_it_is(
    operator: Window, database: Database
) -> None:
    edit = begin(operator)
    for address in (
        *(POSTER, SHIRT, "products/EU-CAN-8X8", "products/BOOK-A4-L-HARD", "products/MAG-1-4X4"),
        *(LEEDS, "labs/gb-bristol", ROYAL_MAIL, "tariff/1", "promises/0", "holidays/0"),
        *("groups/0", "groups/1"),
    ):
        save(operator, f"{edit}/{address}", {})
    basics = fill_in(operator, f"{edit}/basics", "save-catalogue-basics", {})

    assert basics.status == 303
    assert files_of(database) == Catalogue.load().texts


# What is typed into which form, and what is said at which field.
MISTAKES: list[tuple[str, dict[str, Any], str, str]] = [
    (POSTER, {"sku": "A B"}, "sku", "“SKU” must be made of letters"),
    (POSTER, {"sku": "wear-tee-kids"}, "sku", "is defined twice"),
    (POSTER, {"description": ""}, "description", "“Name” is missing"),
    (POSTER, {"image": "large"}, "image", "“Printed size” must be a width and a height"),
    (POSTER, {"image": "0 x 4"}, "image", "must be larger than 0"),
    (POSTER, {"full": "5 x 5"}, "image", "is larger than the whole product"),
    (POSTER, {"wrap": "much"}, "wrap", "must be a number larger than 0"),
    (POSTER, {"price.GBP": "dear"}, "price.GBP", "must be an amount such as 4.95"),
    (POSTER, {"price.GBP": "0"}, "price.GBP", "must be a whole number of minor units"),
    (POSTER, {"price.EUR": ""}, "price.EUR", "without a price in EUR"),
    (POSTER, {"sold_to": "Atlantis"}, "sold_to", "neither a country code nor a group"),
    (POSTER, {"sold_to": ""}, "sold_to", "“Sold to” is missing"),
    (POSTER, {"band": "Crates"}, "band", "`Crates` is not in `bands`"),
    (POSTER, {"kind": ""}, "kind", "“Kind” is missing"),
    (POSTER, {"attributes.0.default": "velvet"}, "attributes.0.default", "not one of its values"),
    (POSTER, {"attributes.1.values": "a, b"}, "attributes.1.name", "Say what is chosen"),
    (POSTER, {"attributes.1.name": "finish"}, "attributes.1.name", "defined twice"),
    (POSTER, {"attributes.1.name": "edge"}, "attributes.1.values", "a list of texts"),
    (POSTER, {"pixels": "many"}, "pixels", "a width and a height such as"),
    (
        POSTER,
        {"price.other.0.country": "Ireland", "price.other.0.currency": "EUR"},
        "price.other.0.price",
        "Enter the price",
    ),
    (
        POSTER,
        {"price.other.0.country": "Narnia", "price.other.0.price": "5"},
        "price.other.0.country",
        "is not a currency",
    ),
    (LEEDS, {"code": "Leeds!"}, "code", "small letters"),
    (LEEDS, {"code": "gb-bristol"}, "code", "is defined twice"),
    (LEEDS, {"country": "Atlantis"}, "country", "must be a country code"),
    (LEEDS, {"time_zone": "Europe/Lodon"}, "time_zone", "did you mean `Europe/London`"),
    (LEEDS, {"cut_off": "2 pm"}, "cut_off", "must be a time of day"),
    (LEEDS, {"capacity": "0"}, "capacity", "a whole number from 1"),
    (LEEDS, {"production_days": "100"}, "production_days", "a whole number from 0 to 60"),
    (LEEDS, {"holidays": "2027-02-30"}, "holidays", "neither a date nor a name"),
    (LEEDS, {"makes.1.kinds": "glass"}, "makes.1.kinds", "`glass` is not in `kinds`"),
    (LEEDS, {"makes.0.percent": ""}, "makes.0.kinds", "The line has no cost"),
    (LEEDS, {"makes.0.each": "x"}, "makes.0.each", "must be an amount"),
    (ROYAL_MAIL, {"transit_days.0": "9"}, "transit_days.0", "must have the fewest first"),
    (ROYAL_MAIL, {"except": "BRITISH_ISLES"}, "except", "leaves no country"),
    (ROYAL_MAIL, {"labs": []}, "labs", "is missing"),
    (ROYAL_MAIL, {"bands.Prints.GBP.1": ""}, "bands.Prints.GBP.0", "first items"),
    (ROYAL_MAIL, {"bands.Prints.items": "none"}, "bands.Prints.items", "a whole number from 1"),
    ("tariff/1", {"name": ""}, "name", "“Name” is missing"),
    ("tariff/1", {"methods": []}, "methods", "is missing"),
    (
        "tariff/1",
        {"bands.Prints.EUR.0": "", "bands.Prints.EUR.1": ""},
        "bands.Prints.items",
        "has no price in EUR",
    ),
    ("promises/0", {"Budget": "soon"}, "Budget", "a whole number from 1"),
    ("promises/0", {"to": ""}, "to", "is missing"),
    ("holidays/0", {"dates": "Christmas"}, "dates", "neither a date nor a name"),
    ("holidays/0", {"name": ""}, "name", "that is not empty"),
    ("holidays/0", {"name": "DE"}, "name", "is defined twice"),
    ("groups/0", {"countries": "Atlantis"}, "countries", "neither a country code nor a group"),
    ("groups/0", {"name": "DE"}, "name", "A group cannot be called"),
    ("new/taxes", {"country": "Germany"}, "rates.0.rate", "is missing"),
    (
        "new/taxes",
        {"country": "Germany", "rates.0.rate": "19", "rates.0.from": "soon"},
        "rates.0.from",
        "2",
    ),
]


def test_there_are_mistakes_of_every_kind() -> None:
    assert len(MISTAKES) >= 17
    assert {
        part for address, *_ in MISTAKES for part in address.split("/") if part in PARTS
    } == set(PARTS)


@pytest.mark.parametrize("form", [POSTER, LEEDS, ROYAL_MAIL, "others"])
def test_every_mistake_is_named_at_its_field(
    operator: Window, database: Database, form: str
) -> None:
    edit = begin_with_few(database)
    own = {POSTER, LEEDS, ROYAL_MAIL}
    # Nothing is saved, and so each is the same all the time.
    forms: dict[str, dict[str, Any]] = {}
    for address, typed, field, said in MISTAKES:
        if (address if address in own else "others") != form:
            continue
        page, action = f"{edit}/{address}", ADD if address.startswith("new/") else SAVE
        if address not in forms:
            forms[address] = read_form(operator.open(page), action)

        told = errors_of(operator.send(page, {**forms[address], **typed}))

        assert list(told) == [field], (address, typed, told)
        assert said in told[field], (address, typed, told)
    assert files_of(database) == few_products()


@pytest.mark.parametrize(
    ("typed", "field", "said"),
    [
        ({"currencies": []}, "currencies", "a list of texts"),
        ({"rates.USD": "much"}, "rates.USD", "must be a number larger than 0"),
        ({"kinds": "mug\nmug"}, "kinds", "more than once"),
    ],
)
def test_mistakes_in_names_are_told_at_their_fields(
    operator: Window, database: Database, typed: dict[str, Any], field: str, said: str
) -> None:
    edit = begin_with_few(database)

    told = errors_of(fill_in(operator, f"{edit}/basics", "save-catalogue-basics", typed))

    assert list(told) == [field]
    assert said in told[field]


def test_what_cannot_hold_yet_is_saved_and_keeps_it_from_being_published(
    operator: Window, database: Database
) -> None:
    edit = begin(operator, **{"from": "nothing", "currencies": ["EUR"]})
    version = edit.removesuffix("/edit")
    mug = {
        "sku": "MUG",
        "description": "A mug",
        "kind": "mug",
        "band": "Parcels",
        "image": "8 x 3",
        "price.EUR": "9",
        "sold_to": "Germany\nAustria",
    }
    assert fill_in(operator, f"{edit}/new/products", ADD, mug).status == 303
    lab = {
        "code": "home",
        "name": "At home",
        "country": "Germany",
        "time_zone": "Europe/Berlin",
        "currency": "EUR",
        "cut_off": "12:00",
        "capacity": "50",
        "production_days": "2",
        "makes.0.kinds": "mug, print",
        "makes.0.each": "3,50",
    }
    assert fill_in(operator, f"{edit}/new/labs", ADD, lab).status == 303

    said = operator.words(edit)
    assert "No service leaves from `home`." in said
    assert "there is no" not in said
    assert f'href="{edit}/products/MUG"' in operator.open(edit).body.decode()
    assert f'href="{edit}/labs/home"' in operator.open(edit).body.decode()
    assert "It cannot be published yet" in operator.words(version)
    refused = words_of(operator.do(version, "publish-catalogue"))
    assert "This draft cannot be published yet." in refused
    assert "more problems" in refused
    draft = Draft(files_of(database))
    assert draft.list_blocks("products")[0]["sold_to"] == ["DE", "AT"]
    assert draft.list_blocks("labs")[0]["makes"] == [{"kinds": ["mug", "print"], "each": 350}]


def test_products_are_found_copied_and_removed(operator: Window, database: Database) -> None:
    edit = begin(operator)
    listed = operator.words(f"{edit}/products?q=t-shirt+children")
    assert "WEAR-TEE-KIDS" in listed
    assert "GLOBAL-POS" not in listed
    assert "Nothing found" in operator.words(f"{edit}/products?q=zeppelin")

    copied = fill_in(
        operator,
        f"{edit}/new/products?like=WEAR-TEE-KIDS",
        ADD,
        {"sku": "WEAR-TEE-TALL", "type": "tall", "then": "copy"},
    )
    assert "like=WEAR-TEE-TALL" in copied.headers["location"]
    fill_in(operator, f"{edit}/{SHIRT}", "remove-catalogue-entry", {})
    operator.do(
        f"{edit}/{POSTER}",
        "remove-catalogue-entry",
        seen=read_form(operator.open(f"{edit}/{POSTER}"), SAVE)["seen"],
    )

    skus = [product.sku for product in Catalogue.load(files_of(database)).products]
    assert "WEAR-TEE-TALL" in skus
    assert not {"WEAR-TEE-KIDS", "GLOBAL-POS-10X15"} & {*skus}
    assert operator.open(f"{edit}/{SHIRT}").status == 404


def test_every_part_is_added_changed_and_removed(operator: Window, database: Database) -> None:
    edit = begin(operator)
    new: dict[str, dict[str, Any]] = {
        "groups": {"name": "SOUTH", "countries": "Mexico\nBR, Peru"},
        "holidays": {"name": "CH", "dates": "2027-08-01"},
        "promises": {
            "to": "SOUTH",
            "Budget": "9",
            "Standard": "8",
            "Express": "4",
            "Overnight": "3",
        },
    }
    new["tariff"] = {
        "name": "Boat",
        "to": "SOUTH",
        "methods": ["Budget"],
        "bands.Books.items": "1",
        **{
            f"bands.Books.{currency}.{at}": "9"
            for currency in ("GBP", "USD", "EUR", "AUD")
            for at in (0, 1)
        },
    }
    new["taxes"] = {"country": "Germany", "rates.0.rate": "19", "rates.0.from": "2021-01-01"}
    for part, typed in new.items():
        assert fill_in(operator, f"{edit}/new/{part}", ADD, typed).status == 303
    draft = Draft(files_of(database))
    assert draft.read_table("groups")["SOUTH"] == ["MX", "BR", "PE"]
    assert draft.list_blocks("promises")[-1]["to"] == ["SOUTH"]
    assert draft.list_blocks("taxes")[-1]["rates"][0]["rate"] == 19
    assert draft.list_blocks("tariff")[-1]["tracked"] is False
    at = len(draft.list_blocks("tariff")) - 1
    fill_in(operator, f"{edit}/tariff/{at}", "remove-catalogue-entry", {})

    at = list(draft.read_table("groups")).index("SOUTH")
    save(operator, f"{edit}/groups/{at}", {"name": "FAR_SOUTH"})
    at = len(draft.list_blocks("promises")) - 1
    save(operator, f"{edit}/promises/{at}", {"Budget": "7", "to": "FAR_SOUTH"})
    at = list(draft.read_table("holidays")).index("CH")
    fill_in(operator, f"{edit}/holidays/{at}", "remove-catalogue-entry", {})
    save(operator, f"{edit}/{LEEDS}", {"paused": "yes", "working_days": ["mon", "tue"]})
    save(operator, f"{edit}/{ROYAL_MAIL}", {"bands.Gifts.items": "5", "bands.Gifts.GBP.0": "2.21"})

    draft = Draft(files_of(database))
    assert draft.list_blocks("promises")[-1] == {
        "to": ["FAR_SOUTH"],
        "Budget": 7,
        "Standard": 8,
        "Express": 4,
        "Overnight": 3,
    }
    assert "CH" not in draft.read_table("holidays")
    lab = draft.list_blocks("labs")[0]
    assert (lab["paused"], lab["working_days"]) == (True, ["mon", "tue"])
    assert draft.list_blocks("services")[0]["bands"]["Gifts"]["GBP"] == [221, 130]
    assert "Ready to be published" in operator.words(edit)


def test_names_that_are_in_use_are_asked_for_where_they_are_used(
    operator: Window, database: Database
) -> None:
    edit = begin(operator)
    typed = {"bands": "Prints\nLargePrints", "rates.AUD": "", "rates.USD": "0,75"}

    answer = fill_in(operator, f"{edit}/basics", "save-catalogue-basics", typed)

    assert answer.status == 303
    page = operator.open(edit).body.decode()
    assert "`Canvas` is not in `bands`" in page
    assert f'href="{edit}/products/EU-CAN-8X8"' in page
    assert "more." in words_of(operator.open(edit))
    assert operator.open(f"{edit}/products").status == 200
    assert "rates" in "".join(files_of(database).values())


def test_two_people_do_not_lose_what_the_other_has_saved(
    operator: Window, server: Server, database: Database
) -> None:
    edit = begin(operator)
    colleague = open_console(server, database, email="colleague@works.example")
    address = f"{edit}/{POSTER}"
    mine = {**read_form(operator.open(address), SAVE), "price.GBP": "5.01"}
    elsewhere = {**read_form(operator.open(f"{edit}/{SHIRT}"), SAVE), "price.GBP": "8.51"}
    save(colleague, address, {"price.GBP": "5.55"})

    refused = operator.send(address, mine)
    accepted = operator.send(f"{edit}/{SHIRT}", elsewhere)

    assert "Somebody has changed this product" in words_of(refused)
    assert 'value="5.01"' in refused.body.decode()
    assert accepted.status == 303
    products = {one.sku: one for one in Catalogue.load(files_of(database)).products}
    assert products["GLOBAL-POS-10X15"].base_prices["GBP"] == 555  # type: ignore[index]
    assert products["WEAR-TEE-KIDS"].base_prices["GBP"] == 851  # type: ignore[index]
    # What was typed is still there, and is saved if it is sent again.
    again = {**read_form(refused, SAVE), "price.GBP": "5.01"}
    assert operator.send(address, again).status == 303


class TestPrices:
    def test_they_are_downloaded_and_uploaded_again(
        self, operator: Window, database: Database
    ) -> None:
        edit = begin(operator)
        file = operator.open(f"{edit}/prices.csv")
        assert file.headers["content-disposition"].startswith("attachment")
        dearer = file.body.replace(b"GLOBAL-POS-10X15,GBP,,4.95", b"GLOBAL-POS-10X15,GBP,,5.01")

        preview = operator.upload(
            f"{edit}/prices", "check-catalogue-prices", [("file", "prices.csv", dearer)]
        )
        fields = read_form(preview, "apply-catalogue-prices")
        applied = operator.send(f"{edit}/prices", fields)

        assert "4.95" in words_of(preview)
        assert "5.01" in words_of(preview)
        assert fields["lines"][0].splitlines()[1:] == ["GLOBAL-POS-10X15,GBP,,5.01"]
        assert applied.status == 303
        product = Catalogue.load(files_of(database)).get_product("GLOBAL-POS-10X15")
        assert product.base_prices["GBP"] == 501  # type: ignore[index]

    def test_every_bad_line_is_named_and_nothing_is_changed(
        self, operator: Window, database: Database
    ) -> None:
        edit = begin(operator)
        lines = b"sku,currency,price\nGLOBAL-POS-10X15,GBP,5\nNONE,GBP,5\nGLOBAL-POS-10X15,EUR,x\n"

        preview = operator.upload(
            f"{edit}/prices", "check-catalogue-prices", [("file", "prices.csv", lines)]
        )
        refused = operator.send(f"{edit}/prices", read_form(preview, "apply-catalogue-prices"))

        said = words_of(preview)
        assert "Line 3: There is no product `NONE`" in said
        assert "Line 4: The price must be an amount" in said
        assert "Line 3: There is no product `NONE`" in words_of(refused)
        assert files_of(database) == Catalogue.load().texts

    @pytest.mark.parametrize(
        ("content", "said"),
        [
            (b"", "has no line with a price"),
            (b"\xff\xfe", "must be written in UTF-8"),
            (None, "Choose a file"),
        ],
    )
    def test_other_files_are_refused(
        self, operator: Window, content: bytes | None, said: str
    ) -> None:
        edit = begin(operator)
        files = [] if content is None else [("file", "prices.csv", content)]

        answer = operator.upload(f"{edit}/prices", "check-catalogue-prices", files)

        assert said in words_of(answer)

    def test_prices_that_are_the_same_change_nothing(self, operator: Window) -> None:
        edit = begin(operator)

        answer = operator.do(
            f"{edit}/prices", "apply-catalogue-prices", lines="GLOBAL-POS-10X15,GBP,4.95"
        )

        assert "No price would change" in words_of(answer)


def test_a_published_version_is_looked_at_and_copied(operator: Window, database: Database) -> None:
    edit = begin(operator)
    assert operator.open("/console/versions/1/edit").status == 200
    said = operator.words(f"/console/versions/1/edit/{POSTER}")
    assert "This version cannot be changed" in said

    refused = operator.do(
        f"/console/versions/1/edit/{POSTER}",
        SAVE,
        seen=read_form(operator.open(f"{edit}/{POSTER}"), SAVE)["seen"],
    )
    copied = operator.do("/console/versions/1", "copy-version", title="Summer")

    assert "Make a draft of it to change it" in words_of(refused)
    assert "Summer" in operator.follow(copied)
    operator.do(edit.removesuffix("/edit"), "publish-catalogue", at="2026-12-24T08:00")
    assert "Withdraw it first" in operator.words(edit)


def test_a_draft_of_nothing_needs_a_currency(operator: Window) -> None:
    answer = operator.do(VERSIONS, "new-catalogue", title="Mine", **{"from": "nothing"})

    assert "Choose a currency" in words_of(answer)


def test_who_only_looks_changes_nothing(
    operator: Window, server: Server, database: Database
) -> None:
    edit = begin(operator)
    viewer = open_console(server, database, Role.VIEWER)

    assert "Save product" not in viewer.words(f"{edit}/{POSTER}")
    assert viewer.do(f"{edit}/{POSTER}", SAVE).status == 403
    assert viewer.do(f"{edit}/prices", "apply-catalogue-prices").status == 403


@pytest.mark.parametrize("path", ["/wishes", "/new/wishes", "/products/NONE", "/tariff/999"])
def test_what_there_is_not_is_not_found(operator: Window, path: str) -> None:
    assert operator.open(f"{begin(operator)}{path}").status == 404


def test_products_have_a_picture_in_the_list(operator: Window) -> None:
    page = operator.open(f"{begin(operator)}/products").body.decode()

    drawn = re.findall(r'<td class="drawn">(<svg)?', page)
    assert drawn == ["<svg"] * 24
