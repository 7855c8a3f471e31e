"""What an operator may get wrong in a catalogue: one sentence each, with its file and line."""

from pathlib import Path

import pytest

from tests.catalogue.folders import (
    PRODUCT,
    WORDS,
    a_family,
    a_folder,
    a_product,
    problems_of,
)

DEFAULTS = "`defaults` must be a table of names of `attributes`, each with one of its values."
# Each a changed key of the usual product, and the sentence that it earns.
WRONG_VALUES = [
    (
        "sku",
        '"A B"',
        '`sku` must be made of letters, digits, hyphens and dots, at most 64, not "A B".',
    ),
    ("sku", "3", "`sku` must be made of letters, digits, hyphens and dots, at most 64, not 3."),
    ("sku", '"A-{size}"', "`sku` uses {size}, which is neither a column nor a key."),
    (
        "type",
        '"a b"',
        '`type` must be made of letters, digits, `_`, `-` and `.`, at most 100, not "a b".',
    ),
    ("description", '" "', "`description` must be a text that is not empty."),
    ("kind", '"prints"', "`prints` is not in `kinds`; did you mean `print`?"),
    ("band", '"Boxes"', "`Boxes` is not in `bands`; known are `Prints`, `Canvas`."),
    ("quality", "[]", "`quality` must be a list of texts that is not empty."),
    ("quality", '["Pro", "Pro"]', "`quality` lists `Pro` more than once."),
    ("quality", '["Por"]', "`Por` is no value of `quality`; did you mean `Pro`?"),
    ("units", '"mm"', "`mm` is no value of `units`; known are `inches`, `cm`."),
    ("image", '"4 by 6"', '`image` must be a width and a height such as "4x6", not "4 by 6".'),
    ("image", '"1.2.3x4"', '`image` must be a width and a height such as "4x6", not "1.2.3x4".'),
    ("image", "4", '`image` must be a width and a height such as "4x6", not 4.'),
    ("image", '"0x6"', '`image` must be larger than 0 and at most 10000 each way, not "0x6".'),
    ("full", '"-4x6"', '`full` must be larger than 0 and at most 10000 each way, not "-4x6".'),
    ("wrap", "0", "`wrap` must be a number larger than 0, not 0."),
    ("wrap", "nan", "`wrap` must be a number larger than 0, not NaN."),
    ("density", '"150"', '`density` must be a number larger than 0, not "150".'),
    ("pixels", '"0x9"', '`pixels` must be a width and a height such as "600x900", not "0x9".'),
    (
        "sold_to",
        '["ZZ"]',
        "`sold_to` names `ZZ`, which is neither a country code nor a group; "
        "known are `everywhere`, `ISLES`.",
    ),
    ("attributes", "{ finish = [] }", "`finish` must be a list of texts that is not empty."),
    ("attributes", "{ a = [1] }", "`a` must be a text that is not empty."),
    (
        "attributes",
        '["finish"]',
        "`attributes` must be a table of names, each with its list of values.",
    ),
    ("defaults", '"matte"', DEFAULTS),
    ("price", "20", "`price` must be a table such as { GBP = 25, EUR = 30 }."),
    (
        "price",
        "{ GBP = 1, YEN = 3 }",
        "`YEN` is not a currency; known are `GBP`, `USD`, `EUR`, `AUD`.",
    ),
    (
        "price",
        "{ GBP = 1, gbp = 3 }",
        "`gbp` is not a currency; known are `GBP`, `USD`, `EUR`, `AUD`.",
    ),
    ("price", "{ EUR-ZZ = 3 }", "`EUR-ZZ` names the country `ZZ`, which does not exist."),
    (
        "price",
        "{ GBP = 0.2 }",
        "`GBP` must be a whole number of minor units from 1, not 0.2.",
    ),
    (
        "price",
        "{ GBP = true }",
        "`GBP` must be a whole number of minor units from 1, not True.",
    ),
    ("weight", '"red"', "`weight` is not a key of a product; known are "),
    ("atributes", "{}", "`atributes` is not a key of a product; did you mean `attributes`?"),
]

# The same for values that are right by themselves but do not fit.
MISFITS = [
    (
        {"image": '"8x10"', "full": '"4x6"'},
        "The image of `PHOTO-4X6` (8x10) is larger than the whole product (4x6); "
        "if it folds over the edges, say how far with `wrap`.",
    ),
    ({"wrap": "1"}, "`PHOTO-4X6` has a `wrap`, so it needs `full`, the size without it."),
    (
        {"wrap": "1", "full": '"4x6"'},
        "The image of `PHOTO-4X6` must be 6x8 with this `wrap`, not 4x6.",
    ),
    ({"price": "{ GBP = 20 }"}, "`PHOTO-4X6` is sold to GB, IE without a price in EUR."),
    ({"price": "{ GBP = 20, EUR-IE = 3 }"}, "`PHOTO-4X6` is sold to GB without a price in EUR."),
    (
        {"price": "{ GBP = 20, EUR = 3, EUR-FR = 3 }"},
        "`PHOTO-4X6` has a price in FR, where it is not sold.",
    ),
    (
        {"defaults": '{ finish = "matte" }'},
        "`PHOTO-4X6` has a default of `finish`, which is not in `attributes`.",
    ),
    (
        {"attributes": '{ finish = ["matte"] }', "defaults": '{ finish = "gold" }'},
        "`PHOTO-4X6` has the default `gold` of `finish`, which is not one of its values.",
    ),
    (
        {"price": "{ GBP = 20, EUR = 3, USD = 3 }"},
        "`PHOTO-4X6` has a price in USD, which is not in `currencies`.",
    ),
]


class TestMistakesInAProduct:
    @pytest.mark.parametrize(("key", "value", "sentence"), WRONG_VALUES)
    def test_a_wrong_value_is_named_with_its_line(
        self, key: str, value: str, sentence: str, tmp_path: Path
    ) -> None:
        keys = list(dict.fromkeys([*PRODUCT, key]))
        folder = a_folder(tmp_path, a_product(**{key: value}))

        [problem] = problems_of(folder)

        line = keys.index(key) + 2
        assert problem.startswith(f"products.toml:{line}: {sentence}")

    @pytest.mark.parametrize(("keys", "sentence"), MISFITS)
    def test_values_that_do_not_fit_are_named_with_their_product(
        self, keys: dict[str, str | None], sentence: str, tmp_path: Path
    ) -> None:
        written = [key for key, value in {**PRODUCT, **keys}.items() if value is not None]
        folder = a_folder(tmp_path, a_product(**keys))

        [problem] = problems_of(folder)

        named, _, said = problem.partition(": ")
        assert said == sentence
        # The block has no line for what is missing.
        assert named in {
            "products.toml:1",
            *(f"products.toml:{written.index(key) + 2}" for key in {*keys, "image"}),
        }

    @pytest.mark.parametrize("key", ["sku", "description", "kind", "band", "sold_to"])
    def test_what_is_missing_is_named_with_the_heading(self, key: str, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, "# First a comment.\n\n", a_product(**{key: None}))

        assert problems_of(folder) == [f"products.toml:3: `{key}` is missing."]

    def test_a_price_that_is_missing_is_named_with_every_currency(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(price=None))

        assert problems_of(folder) == [
            "products.toml:1: `PHOTO-4X6` is sold to GB, IE without a price in EUR.",
            "products.toml:1: `PHOTO-4X6` is sold to GB, IE without a price in GBP.",
        ]

    def test_every_wrong_value_of_a_product_is_named(self, tmp_path: Path) -> None:
        folder = a_folder(
            tmp_path,
            a_product(
                sku='"A B"', band='"Boxes"', image='"0x6"', price="{ GBP = 0, YEN = 1 }", colour="1"
            ),
        )

        places = [problem.split(" ")[0] for problem in problems_of(folder)]

        assert places == [
            *("products.toml:2:", "products.toml:6:", "products.toml:8:"),
            *("products.toml:9:", "products.toml:9:", "products.toml:10:"),
        ]

    def test_a_missing_size_is_named_with_the_heading(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(image=None))

        assert problems_of(folder) == ["products.toml:1: `image`, the printed size, is missing."]

    def test_a_sku_that_is_defined_twice(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(), a_product(sku='"photo-4x6"'))

        assert problems_of(folder) == [
            "products.toml:11: `photo-4x6` is defined twice; the first is at products.toml:2."
        ]

    def test_a_type_that_two_products_have_in_one_country_and_quality(self, tmp_path: Path) -> None:
        other = a_product(sku='"OTHER"', sold_to='["IE", "FR"]', quality='["Pro"]')
        folder = a_folder(tmp_path, a_product(), other)

        assert problems_of(folder) == [
            "products.toml:11: `OTHER` and `PHOTO-4X6` are both of type `4x6` in Pro for IE."
        ]


class TestMistakesInAFamily:
    def test_a_wrong_cell_is_named_with_the_line_of_its_row(self, tmp_path: Path) -> None:
        family = a_family('"image", "GBP", "EUR"', '"4x6", 20, 25', '"0x6", -1, 25')

        problems = problems_of(a_folder(tmp_path, family))

        assert problems == [
            "products.toml:11: `GBP` must be a whole number of minor units from 1, not -1.",
            'products.toml:11: `image` must be larger than 0 and at most 10000 each way, not "0x6".',
        ]

    def test_a_row_is_found_among_comments_and_blank_lines(self, tmp_path: Path) -> None:
        family = a_family('"image", "GBP", "EUR"', '"4x6", 20, 25', '"8x10", 20, 0')
        spaced = family.replace('    ["8x10"', '\n    # [ "a comment" ]\n    ["8x10"')

        [problem] = problems_of(a_folder(tmp_path, spaced))

        assert problem.startswith("products.toml:13: `EUR` must be a whole number")

    def test_rows_on_one_line_are_named_with_that_line(self, tmp_path: Path) -> None:
        family = a_product(sku='"P-{image}"', image=None) + (
            'columns = ["image"]\nrows = [["4x6"], ["4x6"]]\n'
        )

        assert problems_of(a_folder(tmp_path, family)) == [
            "products.toml:10: `P-4X6` is defined twice; the first is at products.toml:10."
        ]

    def test_what_all_rows_share_is_reported_once(self, tmp_path: Path) -> None:
        family = a_family(
            '"image", "GBP", "EUR"', '"4x6", 20, 25', '"8x10", 90, 99', band='"Boxes"'
        )

        assert problems_of(a_folder(tmp_path, family)) == [
            "products.toml:6: `Boxes` is not in `bands`; known are `Prints`, `Canvas`."
        ]

    def test_an_empty_cell_that_nothing_replaces(self, tmp_path: Path) -> None:
        family = a_family(
            '"image", "sku", "band", "GBP", "EUR"', '"4x6", "", "", 20, 25', sku=None, band=None
        )

        assert problems_of(a_folder(tmp_path, family)) == [
            "products.toml:8: `band` is missing.",
            "products.toml:8: `sku` is missing.",
        ]

    def test_an_empty_cell_in_place_of_a_size(self, tmp_path: Path) -> None:
        row = '"", 20, 25'
        family = a_family('"image", "GBP", "EUR"', row, sku='"PHOTO"', type=None)

        assert problems_of(a_folder(tmp_path, family)) == [
            "products.toml:9: `image`, the printed size, is missing."
        ]

    @pytest.mark.parametrize(
        ("columns", "row", "sentence"),
        [
            (
                '"image", "GBP", "EUR", "shade"',
                '"4x6", 20, 25, "red"',
                "The column `shade` is neither a key, a currency nor used in a text; known are ",
            ),
            (
                '"image", "GBP", "EUR", "YEN"',
                '"4x6", 20, 25, 9',
                "`YEN` is not a currency; known are `GBP`, `USD`, `EUR`, `AUD`.",
            ),
            ('"image", "image"', '"4x6", "4x6"', "`columns` lists `image` more than once."),
            ("1", "1", "`columns` must be a list of names."),
        ],
    )
    def test_a_wrong_column_is_named(
        self, columns: str, row: str, sentence: str, tmp_path: Path
    ) -> None:
        [problem] = problems_of(a_folder(tmp_path, a_family(columns, row)))

        assert problem.startswith(f"products.toml:8: {sentence}")

    def test_a_row_of_the_wrong_length(self, tmp_path: Path) -> None:
        family = a_family('"image", "GBP", "EUR"', '"4x6", 20, 25', '"8x10", 90')

        assert problems_of(a_folder(tmp_path, family)) == [
            "products.toml:11: The row must have 3 cells, one for each column."
        ]

    @pytest.mark.parametrize(
        ("rest", "problem"),
        [
            ('columns = ["image"]\n', "products.toml:1: `columns` and `rows` belong together."),
            ('rows = [["4x6"]]\n', "products.toml:1: `columns` and `rows` belong together."),
            (
                'columns = ["image"]\nrows = []\n',
                "products.toml:11: `rows` must be a list of rows, each a list of cells.",
            ),
            (
                'columns = ["image"]\nrows = ["4x6"]\n',
                "products.toml:11: `rows` must be a list of rows, each a list of cells.",
            ),
        ],
    )
    def test_columns_and_rows_need_each_other(
        self, rest: str, problem: str, tmp_path: Path
    ) -> None:
        assert problems_of(a_folder(tmp_path, a_product() + rest)) == [problem]


class TestMistakesInAFolder:
    def test_all_problems_of_all_files_are_reported_together(self, tmp_path: Path) -> None:
        folder = a_folder(
            tmp_path,
            a_product(band='"Boxes"', image='"0x0"', full='"1x1"'),
            words=WORDS.replace('"IE"', '"ZZ"') + "\n[colours]\n",
            broken="a = 1\nb = = 2\n",
        )

        places = [problem.split(" ")[0] for problem in problems_of(folder)]

        assert places == [
            "broken.toml:2:",
            "products.toml:6:",
            "products.toml:8:",
            "words.toml:6:",
            "words.toml:8:",
        ]

    def test_what_an_unreadable_file_may_have_said_is_not_missed(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(), words="currencies = [\n")

        assert problems_of(folder) == ["words.toml:1: This is not TOML: Invalid value."]

    @pytest.mark.parametrize(
        ("words", "problem"),
        [
            (
                WORDS.replace('"EUR"', '"YEN"'),
                "words.toml:1: `YEN` is no value of `currencies`; "
                "known are `GBP`, `USD`, `EUR`, `AUD`.",
            ),
            (
                WORDS.replace('["print", "canvas"]', "[]"),
                "words.toml:2: `kinds` must be a list of texts that is not empty.",
            ),
            (
                WORDS.replace('["Prints", "Canvas"]', '["Prints", "Prints"]'),
                "words.toml:3: `bands` lists `Prints` more than once.",
            ),
            (
                WORDS.replace('"IE"', '"ZZ"'),
                "words.toml:6: `ISLES` names `ZZ`, which is neither a country code nor a group; "
                "known are `everywhere`.",
            ),
            (
                WORDS + 'GB = ["IE"]\n',
                "words.toml:7: A group cannot be called `GB`, which means something already.",
            ),
            (
                "colour = 1\n" + WORDS,
                "words.toml:1: `colour` is not a key of a catalogue; "
                "known are `currencies`, `kinds`, `bands`, `groups`, `holidays`, `rates`, "
                "`products`, `labs`, `services`, `promises`, `tariff`, `taxes`.",
            ),
            (
                WORDS.replace('[groups]\nISLES = ["GB", "IE"]', "groups = 3"),
                "words.toml:5: `groups` must be a table of names, each with its list of countries.",
            ),
        ],
    )
    def test_a_wrong_word_is_named_and_not_felt_elsewhere(
        self, words: str, problem: str, tmp_path: Path
    ) -> None:
        assert problems_of(a_folder(tmp_path, a_product(), words=words)) == [problem]

    def test_a_word_list_that_stands_twice(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(), zoo='bands = ["Prints"]\n')

        assert problems_of(folder) == [
            "zoo.toml:1: `bands` is defined twice; the first is at words.toml:3."
        ]

    def test_products_in_an_inline_array_are_named_with_its_line(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, "# Nothing yet.\nproducts = [{ kinds = 1 }]\n")

        problems = problems_of(folder)

        assert all(problem.startswith("products.toml:2: ") for problem in problems)
        assert (
            "products.toml:2: `kinds` is not a key of a product; did you mean `kind`?" in problems
        )

    def test_a_file_that_cannot_be_read(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product())
        (folder / "nested.toml").mkdir()

        assert problems_of(folder) == ["nested.toml: The file cannot be read: Is a directory."]

    def test_products_in_single_brackets(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product().replace("[[products]]", "[products]"))

        assert problems_of(folder) == [
            "products.toml:1: `products` must be written as `[[products]]`, with two brackets."
        ]

    def test_a_file_that_is_not_utf_8(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product())
        (folder / "latin.toml").write_bytes(b"# fine\n# caf\xe9\n")

        assert problems_of(folder) == ["latin.toml:2: The file must be written in UTF-8."]

    def test_a_folder_without_files(self, tmp_path: Path) -> None:
        assert problems_of(tmp_path) == [f"{tmp_path}: There is no TOML file in this folder."]

    def test_a_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        folder = tmp_path / "nowhere"

        assert problems_of(folder) == [f"{folder}: There is no such folder."]
