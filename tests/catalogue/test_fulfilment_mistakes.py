"""What an operator may get wrong about labs and shipping: one sentence each, with its line."""

from pathlib import Path

import pytest

from tests.catalogue.folders import (
    LAB,
    PROMISE,
    RATES,
    SERVICE,
    WORDS,
    a_folder,
    a_lab,
    a_product,
    a_promise,
    a_service,
    a_tariff,
    a_whole_folder,
    problems_of,
)

PRICE = "{ items = 50, GBP = [1, 1], EUR = [1, 1] }"
WRONG_LABS = [
    (
        "code",
        '"Hill_1"',
        "`code` must be made of small letters, digits and single hyphens, at most 64, "
        'not "Hill_1".',
    ),
    ("name", "1", "`name` must be a text that is not empty."),
    ("country", '"UK"', '`country` must be a country code such as `GB`, not "UK".'),
    (
        "time_zone",
        '"Europe/Londn"',
        "`Europe/Londn` is not the name of a time zone; did you mean `Europe/London`?",
    ),
    ("time_zone", '"?"', "`?` is not the name of a time zone, such as `Europe/London`."),
    ("time_zone", '"../x"', "`../x` is not the name of a time zone, such as `Europe/London`."),
    ("currency", '"GPB"', "`GPB` is no value of `currency`; did you mean `GBP`?"),
    ("currency", '"USD"', "`USD` is not in `currencies`; known are `GBP`, `EUR`."),
    ("cut_off", '"2 pm"', '`cut_off` must be a time of day such as "14:00", not "2 pm".'),
    ("cut_off", '"24:00"', '`cut_off` must be a time of day such as "14:00", not "24:00".'),
    ("capacity", "0", "`capacity` must be a whole number from 1 to 1000000, not 0."),
    (
        "production_days",
        "1.5",
        "`production_days` must be a whole number from 0 to 60, not 1.5.",
    ),
    (
        "makes",
        "[]",
        '`makes` must be a list of lines such as { kinds = ["print"], percent = 40 }.',
    ),
    (
        "working_days",
        '["mon", "tues"]',
        "`working_days` has `tues`, which is no day; did you mean `tue`?",
    ),
    ("working_days", '["fri-mon"]', "`working_days` has `fri-mon`, which runs backwards."),
    ("holidays", "2026-12-25", "`holidays` must be a list of dates such as 2026-12-25."),
    (
        "holidays",
        '["GB"]',
        '`holidays` has "GB", which is neither a date nor a name.',
    ),
    (
        "holidays",
        "[2026-12-25T00:00:00]",
        "`holidays` has 2026-12-25 00:00:00, which is neither a date nor a name.",
    ),
    ("paused", '"no"', '`paused` must be true or false, not "no".'),
    (
        "can_cancel_until",
        '"shipped"',
        "`shipped` is no value of `can_cancel_until`; known are `never`, `submitted`, `accepted`.",
    ),
    (
        "connector",
        '"folders"',
        "`folders` is no value of `connector`; did you mean `folder`?",
    ),
    ("timezone", '"UTC"', "`timezone` is not a key of a lab; did you mean `time_zone`?"),
]

WRONG_LINES = [
    ("{ kind = 1, each = 1 }", "`kind` is not a key of a line of `makes`; did you mean `kinds`?"),
    ('{ kinds = ["prit"], each = 1 }', "`prit` is not in `kinds`; did you mean `print`?"),
    ('{ bands = "Boxes", each = 1 }', "`Boxes` is not in `bands`; known are `Prints`, `Canvas`."),
    (
        '{ skus = ["A_*"], each = 1 }',
        '`skus` must be a sku, or one with `*` in it, not "A_*".',
    ),
    ("{ percent = 0 }", "`percent` must be a number larger than 0, not 0."),
    ("{ each = 0.5 }", "`each` must be a whole number from 0 to 1000000, not 0.5."),
    ("{ each = 1, days = 61 }", "`days` must be a whole number from 0 to 60, not 61."),
    ('{ kinds = ["print"] }', "The line has no cost: give it `percent`, `each` or both."),
    ('{ skus = ["NONE-*"], each = 1 }', "This line has no use: it fits no product."),
    (
        '{ skus = ["PHOTO-*"], each = 1 }',
        "This line has no use: what it fits stands in lines before it.",
    ),
]

WRONG_SERVICES = [
    ("carrier", '"RoyalMal"', "`RoyalMal` is no value of `carrier`; did you mean `RoyalMail`?"),
    ("carrier", '"Pigeon"', "`Pigeon` is no value of `carrier`; known are `RoyalMail`, "),
    ("labs", '["hall"]', "`hall` is not in `labs`; did you mean `hill`?"),
    ("methods", '["Fast"]', "`Fast` is no value of `methods`; known are `Budget`, "),
    ("to", '["ISLE"]', "`to` names `ISLE`, which is neither a country code nor a group; did you"),
    ("except", '["ISLES"]', "`except` leaves no country."),
    (
        "transit_days",
        "3",
        "`transit_days` must be the fewest and the most working days on the way, "
        "such as [2, 4], not 3.",
    ),
    ("transit_days", "[4, 2]", "`transit_days` must have the fewest first, not [4, 2]."),
    ("transit_days", "[-1, 2]", "`transit_days` must be a whole number from 0 to 120, not -1."),
    ("tracked", "1", "`tracked` must be true or false, not 1."),
    ("bands", "{}", "`bands` must be a table of shipping bands, each with lines such as Prints = "),
    ("bands", "{ Boxes = {} }", "`Boxes` is not in `bands`; known are `Prints`, `Canvas`."),
    (
        "bands",
        "{ Prints = { GBP = [1, 1] } }",
        "`items` is missing.",
    ),
    (
        "bands",
        "{ Prints = 50 }",
        "`Prints` must be a table such as { items = 50, GBP = [199, 80] }.",
    ),
    (
        "bands",
        "{ Prints = { items = 9, GBP = [1, 1], EUR = [1, 1], YEN = [1, 1] } }",
        "`YEN` is not a key of a price; known are `items`, ",
    ),
    (
        "bands",
        "{ Prints = { items = 0 } }",
        "`items` must be a whole number from 1 to 1000000, not 0.",
    ),
    ("bands", "{ Prints = { items = 9, GBP = [1, 1] } }", "`Prints` has no price in EUR."),
    (
        "bands",
        "{ Prints = { items = 9, GBP = [1, 1], EUR = [1, 1], USD = [1, 1] } }",
        "`USD` is not in `currencies`; known are `GBP`, `EUR`.",
    ),
    (
        "bands",
        "{ Prints = { items = 9, GBP = 199, EUR = [1, 1] } }",
        "`GBP` must be the price of the first items and that of each further step, "
        "such as [199, 80], not 199.",
    ),
    (
        "bands",
        "{ Prints = { items = 9, GBP = [1, -1], EUR = [1, 1] } }",
        "`GBP` must be a whole number from 0 to 1000000, not -1.",
    ),
    ("speed", "1", "`speed` is not a key of a service; known are `code`, "),
]

WRONG_PROMISES = [
    ("to", '["ZZ"]', "`to` names `ZZ`, which is neither a country code nor a group; known are "),
    ("Standard", "0", "`Standard` must be a whole number from 1 to 250, not 0."),
    ("Standrd", "3", "`Standrd` is not a key of a promise; did you mean `Standard`?"),
]


def line_of(key: str, usual: dict[str, str]) -> int:
    return list(dict.fromkeys([*usual, key])).index(key) + 2


class TestLabs:
    @pytest.mark.parametrize(("key", "value", "sentence"), WRONG_LABS)
    def test_a_wrong_value_is_named_with_its_line(
        self, key: str, value: str, sentence: str, tmp_path: Path
    ) -> None:
        makes = LAB["makes"].replace("\n", "")
        labs = a_lab(**{"makes": makes, key: value})

        [problem] = problems_of(a_whole_folder(tmp_path, labs=labs, services=a_service(labs="[]")))[
            :1
        ]

        assert problem.startswith(f"labs.toml:{line_of(key, LAB)}: {sentence}")

    @pytest.mark.parametrize(("line", "sentence"), WRONG_LINES)
    def test_a_wrong_line_of_makes_is_named(self, line: str, sentence: str, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs=a_lab('{ kinds = ["print"], percent = 40 }', line))

        assert problems_of(folder) == [f"labs.toml:12: {sentence}"]

    @pytest.mark.parametrize("key", list(LAB))
    def test_what_is_missing_is_named_with_the_heading(self, key: str, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs=a_lab(**{key: None}))

        assert problems_of(folder) == [f"labs.toml:1: `{key}` is missing."]

    def test_a_code_that_is_defined_twice(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs=a_lab() + a_lab())

        assert problems_of(folder) == [
            "labs.toml:14: `hill` is defined twice; the first is at labs.toml:2."
        ]

    def test_a_percentage_of_a_price_that_differs_everywhere(self, tmp_path: Path) -> None:
        product = a_product(price="{ GBP-GB = 20, GBP-IE = 22, EUR = 25 }")

        assert problems_of(a_whole_folder(tmp_path, product)) == [
            "labs.toml:11: `PHOTO-4X6` has no price in GBP to take part of."
        ]

    @pytest.mark.parametrize(
        ("holidays", "problem"),
        [
            ("holidays = 1", "labs.toml:1: `holidays` must be a table of names, each with its "),
            ("[holidays]\nGB = 1", "labs.toml:2: `GB` must be a list of dates such as "),
            ("[holidays]\nGB = [1]", "labs.toml:2: `GB` has 1, which is neither a date "),
        ],
    )
    def test_wrong_holidays_are_named_and_not_felt_elsewhere(
        self, holidays: str, problem: str, tmp_path: Path
    ) -> None:
        labs = f"{holidays}\n" + a_lab(holidays='["GB"]')

        [found] = problems_of(a_whole_folder(tmp_path, labs=labs))

        assert found.startswith(problem)

    def test_holidays_that_are_defined_twice(self, tmp_path: Path) -> None:
        holidays = "[holidays]\nGB = [2026-12-25]\n"
        folder = a_whole_folder(tmp_path, labs=holidays + a_lab(), more=holidays)

        assert problems_of(folder) == [
            "more.toml:2: `GB` is defined twice; the first is at labs.toml:2."
        ]


class TestServices:
    @pytest.mark.parametrize(("key", "value", "sentence"), WRONG_SERVICES)
    def test_a_wrong_value_is_named_with_its_line(
        self, key: str, value: str, sentence: str, tmp_path: Path
    ) -> None:
        folder = a_whole_folder(tmp_path, services=a_service(**{key: value}))

        [problem] = problems_of(folder)

        assert problem.startswith(f"services.toml:{line_of(key, SERVICE)}: {sentence}")

    @pytest.mark.parametrize("key", list(SERVICE))
    def test_what_is_missing_is_named_with_the_heading(self, key: str, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, services=a_service(**{key: None}))

        assert problems_of(folder) == [f"services.toml:1: `{key}` is missing."]

    def test_a_wrong_band_is_found_in_a_table_of_its_own(self, tmp_path: Path) -> None:
        services = a_service(bands=None) + (
            "\n[services.bands]\n"
            "Prints = { items = 50, GBP = [199, 80], EUR = [240, 95] }\n"
            "Canvas = { items = 50, GBP = [199, 80] }\n"
        )

        assert problems_of(a_whole_folder(tmp_path, services=services)) == [
            "services.toml:13: `Canvas` has no price in EUR."
        ]

    def test_a_code_that_is_defined_twice(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, services=a_service(), more=a_service())

        assert problems_of(folder) == [
            "services.toml:2: `post` is defined twice; the first is at more.toml:2."
        ]


class TestPromises:
    @pytest.mark.parametrize(("key", "value", "sentence"), WRONG_PROMISES)
    def test_a_wrong_value_is_named_with_its_line(
        self, key: str, value: str, sentence: str, tmp_path: Path
    ) -> None:
        folder = a_whole_folder(tmp_path, promises=a_promise(**{key: value}))

        [problem] = problems_of(folder)

        assert problem.startswith(f"promises.toml:{line_of(key, PROMISE)}: {sentence}")

    def test_a_promise_without_a_method(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, promises=a_promise() + '[[promises]]\nto = ["GB"]\n')

        assert problems_of(folder) == [
            "promises.toml:7: Nothing is promised: "
            "name one of Budget, Standard, Express, Overnight."
        ]

    def test_two_groups_that_name_a_country(self, tmp_path: Path) -> None:
        only_standard = {"Budget": None, "Express": None, "Overnight": None}
        promises = a_promise() + "".join(
            a_promise(to=to, **only_standard) for to in ('["ISLES"]', '["WEST"]')
        )
        words = WORDS + 'WEST = ["IE", "FR"]\n'

        assert problems_of(a_whole_folder(tmp_path, promises=promises, words=words)) == [
            "promises.toml:12: Standard to IE is promised here through `WEST` and at "
            "promises.toml:9 through `ISLES`."
        ]

    def test_the_same_promise_twice(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, promises=a_promise() + a_promise())

        problems = problems_of(folder)

        assert len(problems) == 4
        assert problems[0] == (
            "promises.toml:9: Budget to AD, AE, AF and others is promised here through "
            "`everywhere` and at promises.toml:3 through `everywhere`."
        )

    def test_a_method_that_nothing_promises(self, tmp_path: Path) -> None:
        promises = a_promise(Express=None) + a_promise(to='["GB"]')

        assert problems_of(a_whole_folder(tmp_path, promises=promises)) == [
            "promises.toml:1: Express to AF, AX, AL and others is promised nowhere; "
            "a promise to `everywhere` would do."
        ]


class TestRates:
    @pytest.mark.parametrize(
        ("rates", "problem"),
        [
            (
                RATES.replace("0.85", "0"),
                "rates.toml:3: `EUR` must be a number larger than 0, not 0.",
            ),
            (
                RATES + "USD = 0.8\n",
                "rates.toml:4: `USD` is not in `currencies`; known are `GBP`, `EUR`.",
            ),
            (
                RATES + "YEN = 1\n",
                "rates.toml:4: `YEN` is no value of `rates`; known are `GBP`, `USD`, `EUR`, `AUD`.",
            ),
            (
                "rates = 1\n",
                "rates.toml:1: `rates` must be a table of names, each with what one unit is worth.",
            ),
            (
                "[rates]\nGBP = 1\n",
                "labs.toml:1: There are labs, but `rates` has no line for EUR.",
            ),
        ],
    )
    def test_a_wrong_rate_is_named(self, rates: str, problem: str, tmp_path: Path) -> None:
        assert problems_of(a_whole_folder(tmp_path, rates=rates)) == [problem]

    def test_a_rate_that_is_defined_twice(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, more="[rates]\nGBP = 2\n")

        assert problems_of(folder) == [
            "rates.toml:2: `GBP` is defined twice; the first is at more.toml:2."
        ]


class TestTogether:
    def test_labs_need_promises(self, tmp_path: Path) -> None:
        assert problems_of(a_whole_folder(tmp_path, promises="")) == [
            "labs.toml:1: There are labs, but no `[[promises]]`."
        ]

    def test_a_lab_that_nothing_leaves_from(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs=a_lab() + a_lab(code='"dale"'))

        assert problems_of(folder) == ["labs.toml:14: No service leaves from `dale`."]

    def test_a_product_that_no_lab_makes(self, tmp_path: Path) -> None:
        other = a_product(sku='"OTHER"', type=None, kind='"canvas"')

        assert problems_of(a_whole_folder(tmp_path, a_product(), other)) == [
            "products.toml:11: `OTHER` is made by no lab."
        ]

    @pytest.mark.parametrize(
        ("changed", "countries"),
        [({"sold_to": '["ISLES", "FR"]'}, "FR"), ({"band": '"Canvas"'}, "GB, IE")],
    )
    def test_a_product_that_is_sold_where_nothing_takes_it(
        self, changed: dict[str, str], countries: str, tmp_path: Path
    ) -> None:
        priced = a_tariff(bands=f"{{ Prints = {PRICE}, Canvas = {PRICE} }}")

        assert problems_of(a_whole_folder(tmp_path, a_product(**changed), tariff=priced)) == [
            f"products.toml:2: `PHOTO-4X6` is sold to {countries}, where no service takes it "
            "from a lab that makes it."
        ]

    @pytest.mark.parametrize("table", ["labs", "services", "promises", "tariff"])
    def test_single_brackets(self, table: str, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(), more=f"[{table}]\n")

        assert problems_of(folder) == [
            f"more.toml:1: `{table}` must be written as `[[{table}]]`, with two brackets."
        ]

    def test_what_an_unreadable_file_may_have_said_is_not_missed(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs="x = = 1\n")

        assert problems_of(folder) == ["labs.toml:1: This is not TOML: Invalid value."]

    def test_all_problems_of_all_tables_are_reported_together(self, tmp_path: Path) -> None:
        folder = a_whole_folder(
            tmp_path,
            a_product(band='"Boxes"'),
            labs=a_lab("{ each = -1 }", capacity='"many"'),
            services=a_service(carrier='"Pigeon"', tracked='"no"'),
            promises=a_promise(Budget='"soon"'),
            rates=RATES.replace("0.85", "nan"),
        )

        places = [problem.split(" ")[0] for problem in problems_of(folder)]

        assert places == [
            *("labs.toml:8:", "labs.toml:11:", "products.toml:6:", "promises.toml:3:"),
            *("rates.toml:3:", "services.toml:4:", "services.toml:9:"),
        ]
