"""A draft is changed block by block, and everything else in its files stays as it was written."""

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printworks.catalogue.changes import list_changes
from printworks.catalogue.drafts.beginning import begin_catalogue
from printworks.catalogue.drafts.checking import check_block, check_line, check_value
from printworks.catalogue.drafts.draft import Draft, fingerprint_values
from printworks.catalogue.drafts.prices import read_prices, write_prices
from printworks.catalogue.drafts.products import (
    add_product,
    change_product,
    find_product,
    list_products,
    remove_product,
    set_prices,
)
from printworks.catalogue.drafts.segments import join, parse, split
from printworks.catalogue.drafts.writing import rewrite_block, write_value
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.catalogue.sources import read_toml

pytestmark = pytest.mark.slow

BUILT_IN = open_catalogue(None)
SKUS = [product.sku for product in BUILT_IN.products]


def a_draft() -> Draft:
    return Draft(BUILT_IN.texts)


def list_lost_lines(draft: Draft) -> list[str]:
    """Return the lines of the built-in files that a draft does not have."""
    kept = {line for text in draft.texts.values() for line in text.splitlines()}
    return [
        line for text in BUILT_IN.texts.values() for line in text.splitlines() if line not in kept
    ]


def test_reading_a_draft_changes_nothing_that_is_kept_of_its_files() -> None:
    texts = {"a.toml": "kinds = [1]\n", "b.toml": "[[kinds]]\nname = 1\n", **BUILT_IN.texts}

    check_value(Draft(texts), "kinds")

    assert [parse(text) for text in texts.values()] == list(map(read_toml, texts.values()))


def test_a_draft_that_is_not_changed_has_the_same_files() -> None:
    assert a_draft().texts == BUILT_IN.texts


def test_every_product_reads_the_same_with_a_block_of_its_own() -> None:
    draft = a_draft()
    products = list_products(draft)
    others = {name: text for name, text in draft.texts.items() if "[[products]]" not in text}
    alone = Draft(others)
    for product in products:
        alone.add_block("products", product.values)

    assert [one.sku for one in products] == SKUS
    assert Catalogue.load(alone.texts).products == BUILT_IN.products


def test_a_price_in_a_row_changes_one_cell() -> None:
    draft = a_draft()
    product = find_product(draft, "global-pos-10x15")
    assert product is not None
    change_product(
        draft, product, {**product.values, "price": {**product.values["price"], "GBP": 501}}
    )

    assert list_lost_lines(draft) == ['    ["10x15",  495,  645,  585,  965],']
    assert '    ["10x15",  501,  645,  585,  965],' in draft.texts["posters.toml"]


def test_what_a_row_cannot_say_takes_the_product_out_of_its_family() -> None:
    draft = a_draft()
    product = find_product(draft, "GLOBAL-POS-12X12")
    assert product is not None
    change_product(draft, product, {**product.values, "description": "Square poster"})

    changes = list_changes(BUILT_IN, Catalogue.load(draft.texts))
    assert [(change.name, change.after) for change in changes] == [
        ("GLOBAL-POS-12X12", "Square poster")
    ]
    assert list_lost_lines(draft) == ['    ["12x12",  480,  625,  565,  935],']


def test_the_last_row_takes_its_family_with_it() -> None:
    row = '[[products]]\nsku = "{code}"\ncolumns = ["code"]\nrows = [["A"], ["B"]]\n'
    draft = Draft({"a.toml": f"# Ours.\n\n# A family.\n{row}\n# Another.\n[[labs]]\ncode = 'l'\n"})
    for sku in ("a", "B"):
        product = find_product(draft, sku)
        assert product is not None
        remove_product(draft, product)

    assert draft.texts == {"a.toml": "# Ours.\n\n# Another.\n[[labs]]\ncode = 'l'\n"}


def test_a_block_is_removed_with_its_own_comment_only() -> None:
    draft = a_draft()
    draft.remove_block("labs", 0)

    lost = list_lost_lines(draft)
    assert "# Nearly everything for walls, and quick." in lost
    assert not [line for line in lost if line.startswith("#")][1:]


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_changed_products_differ_in_what_was_changed_alone(data: st.DataObject) -> None:
    draft = a_draft()
    sku = data.draw(st.sampled_from(SKUS))
    key, value = data.draw(
        st.sampled_from(
            [
                ("description", "Another name"),
                ("band", "Gifts"),
                ("sold_to", ["GB"]),
                ("attributes", {"paper": ["thin", "thick"]}),
            ]
        )
    )
    product = find_product(draft, sku)
    assert product is not None
    wanted = {**product.values, key: value}
    change_product(draft, product, wanted)

    changed = find_product(draft, sku)
    assert changed is not None
    assert changed.values == wanted
    others = {one.sku: one.values for one in list_products(draft) if one.sku != sku}
    assert others == {one.sku: one.values for one in list_products(a_draft()) if one.sku != sku}


def test_products_are_added_after_those_of_their_kind() -> None:
    draft = a_draft()
    mug = next(one for one in list_products(draft) if one.values["kind"] == "mug")
    add_product(draft, {**mug.values, "sku": "MUG-LARGE", "type": "large_mug"})
    add_product(draft, {**mug.values, "sku": "MUG-WOOD", "type": "wood_mug", "kind": "wood"})

    kinds = [one.values["kind"] for one in list_products(draft)]
    assert kinds.index("mug") + 1 < [one.sku for one in list_products(draft)].index("MUG-LARGE")
    assert kinds[-1] == "wood"


def test_a_new_currency_becomes_a_column_of_families() -> None:
    draft = a_draft()
    set_prices(draft, {"GLOBAL-POS-10X15": {"AUD-NZ": 1000}, "WEAR-TEE-KIDS": {"AUD-NZ": 2000}})

    prices = {one.sku: one.values["price"] for one in list_products(draft)}
    assert prices["GLOBAL-POS-10X15"]["AUD-NZ"] == 1000
    assert prices["WEAR-TEE-KIDS"]["AUD-NZ"] == 2000
    assert "AUD-NZ" not in prices["GLOBAL-POS-11X14"]
    assert len(list_changes(BUILT_IN, Catalogue.load(draft.texts))) == 2


def test_a_price_of_a_row_can_be_the_one_of_its_family_again() -> None:
    block = (
        '[[products]]\nsku = "{code}"\nprice = { EUR = 5, GBP = 4 }\n'
        'columns = ["code", "EUR"]\nrows = [["A", 9], ["B", ""]]\n'
    )
    draft = Draft({"a.toml": block})
    for sku, price in (("A", {"EUR": 5, "GBP": 4}), ("B", {"EUR": 7, "GBP": 4})):
        product = find_product(draft, sku)
        assert product is not None
        change_product(draft, product, {**product.values, "price": price})

    assert {one.sku: one.values["price"]["EUR"] for one in list_products(draft)} == {"A": 5, "B": 7}
    assert draft.list_blocks("products")[0]["columns"] == ["code", "EUR"]


def test_lines_and_values_are_changed_added_and_removed() -> None:
    draft = a_draft()
    draft.set_line("groups", "EU", ["AT"])
    draft.set_line("groups", "ALPS", ["AT", "CH"])
    draft.set_line("rates", "USD", Decimal("0.75"))
    draft.set_line("rates", "AUD", None)
    draft.set_value("bands", [*(draft.read_value("bands") or []), "Wood"])

    assert draft.read_table("groups")["EU"] == ["AT"]
    assert draft.read_table("groups")["ALPS"] == ["AT", "CH"]
    assert draft.read_table("rates") == {"GBP": 1, "USD": Decimal("0.75"), "EUR": Decimal("0.85")}
    assert draft.read_value("bands")[-1] == "Wood"
    assert draft.read_value("kind") is None
    assert (
        "# Public holidays of the countries in which there are labs."
        in draft.texts["holidays.toml"]
    )


def test_an_empty_catalogue_can_be_read_and_filled() -> None:
    texts = begin_catalogue([Currency.EUR])
    draft = Draft(texts)
    draft.set_line("holidays", "DE", [])
    draft.set_line("groups", "DACH", ["DE", "AT", "CH"])
    draft.set_value("bands", None)
    draft.set_value("bands", ["Boxes"])

    assert Catalogue.load(texts).currencies == (Currency.EUR,)
    assert Draft(draft.texts).read_table("groups") == {"DACH": ["DE", "AT", "CH"]}
    assert Catalogue.load(draft.texts).bands == ("Boxes",)


def test_a_head_is_written_above_tables_that_are_there() -> None:
    draft = Draft({"catalogue.toml": "[groups]\nX = ['DE']"})
    draft.set_value("bands", ["A"])
    draft.add_block("labs", {"code": "x"})
    draft.add_block("labs", {"code": "y"})

    assert draft.read_value("bands") == ["A"]
    assert [lab["code"] for lab in Draft(draft.texts).list_blocks("labs")] == ["x", "y"]


@pytest.mark.parametrize(
    "text",
    [
        "labs = [{ code = 'a' }, { code = 'b' }]\ngroups = { X = ['DE'] }\nbands = ['P']\n",
        "kinds = [\n  'a',\n]\n[[labs]]\ncode = 'a'\nnotes = '''\n[[labs]]\n'''\n",
        "[[labs]]\ncode = 'a'\nrows = [\n[1],\n[10]\n]\n",
        "[[labs]]\ncode = 'a'\n[[labs.makes]]\neach = 1\n[[labs.makes]]\neach = 2\n",
    ],
)
def test_files_in_another_style_are_written_anew(text: str) -> None:
    segments = split(text)

    assert parse(join(segments)) == parse(text)
    draft = Draft({"a.toml": text})
    draft.change_block("labs", 0, {**draft.list_blocks("labs")[0], "code": "changed"})
    assert Draft(draft.texts).list_blocks("labs")[0]["code"] == "changed"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": [1, 2, 3], "b": {"c": 1}}, {"a": [1, 3], "b": {"c": 2, "d": "x"}}),
        ({"a": [1, 2, 3]}, {"a": [3, 2]}),
        ({"a": [1, 2]}, {"a": [5, 2, 7]}),
        ({"a": [1]}, {"a": []}),
        ({"a": list(range(60))}, {"a": list(range(60, 0, -1))}),
        ({"a": True, "b": "x"}, {"b": 'quoted " and\nnew'}),
        ({"bands": {"P": {"GBP": [1, 2]}}}, {"bands": {"Q": {"GBP": [1, 2]}}, "name": "N"}),
    ],
)
def test_a_block_says_what_is_wanted_after_a_change(
    before: dict[str, object], after: dict[str, object]
) -> None:
    draft = Draft({})
    draft.add_block("labs", before)
    [text] = draft.texts.values()

    changed = rewrite_block("labs", text, after)

    assert parse(changed) == {"labs": [after]}


def test_odd_names_are_quoted() -> None:
    assert write_value({"a b": {}, "c": Decimal("1.50")}) == '{ "a b" = {}, c = 1.50 }'


def test_what_is_wrong_with_a_block_is_told_with_its_place() -> None:
    draft = a_draft()
    product = find_product(draft, "WEAR-TEE-KIDS")
    assert product is not None
    values = {**product.values, "price": {"GBP": 5}, "image": "wide"}

    wrong = check_block(draft, "products", values)

    assert {one.place for one in wrong} >= {("sku",), ("image",), ("price", "AUD")}
    assert any("defined twice" in one.sentence for one in wrong)


def test_what_cannot_hold_yet_is_not_wrong() -> None:
    draft = Draft(begin_catalogue([Currency.EUR]))
    values = {
        "sku": "A",
        "description": "A mug",
        "kind": "mug",
        "band": "Parcels",
        "image": "8x3",
        "sold_to": ["everywhere"],
        "price": {"EUR": 900},
    }

    assert check_block(draft, "products", values) == []
    assert check_value(draft, "bands") == []
    draft.set_line("groups", "DE", ["DE"])
    assert check_line(draft, "groups", "DE")[0].sentence.startswith("A group cannot be called")


def test_prices_are_written_and_read_back_without_a_change() -> None:
    draft = a_draft()

    table = read_prices(write_prices(draft), draft)

    assert (table.changes, table.bad) == ([], [])
    assert table.unchanged == sum(len(one.values["price"]) for one in list_products(draft))


def test_each_bad_line_of_prices_is_named() -> None:
    text = (
        "\ufeffSKU;Currency;Country;Price\n"
        "global-pos-10x15;gbp;;5,01\n"
        "\n"
        "NOTHING;GBP;;5\n"
        "GLOBAL-POS-10X15;CHF;;5\n"
        "GLOBAL-POS-10X15;GBP;XX;5\n"
        "GLOBAL-POS-10X15;GBP;;6\n"
        "GLOBAL-POS-10X15;EUR;IE;0\n"
        "GLOBAL-POS-10X15;USD;;dear\n"
        "GLOBAL-POS-11X14;AUD;NZ;9\n"
    )

    table = read_prices(text, a_draft())

    assert table.by_sku == {"GLOBAL-POS-10X15": {"GBP": 501}, "GLOBAL-POS-11X14": {"AUD-NZ": 900}}
    assert [line.number for line in table.bad] == [4, 5, 6, 7, 8, 9]
    assert [line.sentence.split()[0] for line in table.bad] == [
        *("There", "`CHF`", "`XX`", "The", "The", "The")
    ]


def test_a_table_of_prices_needs_no_heading() -> None:
    table = read_prices("GLOBAL-POS-10X15,GBP,5.01", a_draft())

    assert [(line.number, line.before, line.price) for line in table.changes] == [(1, 495, 501)]


def test_a_fingerprint_changes_with_any_value() -> None:
    assert fingerprint_values({"a": Decimal(1)}) != fingerprint_values({"a": Decimal(2)})
    assert fingerprint_values({"a": 1, "b": 2}) == fingerprint_values({"b": 2, "a": 1})
