"""What merchants pay for shipping: what an operator may write, and what may be wrong with it."""

from pathlib import Path
from types import MappingProxyType
from typing import Final

import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.catalogue.tariff import ShippingRate
from printworks.rules.orders import ShippingMethod
from tests.catalogue.folders import (
    TARIFF,
    WORDS,
    a_product,
    a_promise,
    a_service,
    a_tariff,
    a_whole_folder,
    problems_of,
)

BUILT_IN: Final = open_catalogue(None)
BUDGET, STANDARD, EXPRESS, OVERNIGHT = ShippingMethod
GBP: Final = Currency.GBP
PARCEL: Final = {"name": '"Parcel"', "tracked": "true"}
TRACKED_TOO: Final = a_service() + a_service(code='"parcel"', tracked="true")


def load_rate(
    where: Path, *tariffs: str, country: str = "GB", tracked: bool = False, words: str = WORDS
) -> ShippingRate:
    """Return the rate for prints by Budget."""
    folder = a_whole_folder(where, tariff="".join(tariffs), services=TRACKED_TOO, words=words)
    rate = Catalogue.load(folder).tariff.find_rate(country, "Prints", BUDGET, tracked=tracked)
    assert rate is not None
    return rate


class TestRates:
    def test_a_rate_has_what_is_written(self, tmp_path: Path) -> None:
        rate = load_rate(tmp_path, a_tariff(), country="gb")

        assert (rate.name, rate.band, rate.method) == ("Post", "Prints", BUDGET)
        assert rate.is_tracked is False
        assert isinstance(rate.steps, MappingProxyType)

    @pytest.mark.parametrize(
        ("copies", "price"), [(0, 0), (1, 299), (50, 299), (51, 389), (101, 479)]
    )
    def test_a_step_that_is_begun_is_paid_for(
        self, copies: int, price: int, tmp_path: Path
    ) -> None:
        assert load_rate(tmp_path, a_tariff()).price(copies, GBP) == price

    def test_nothing_is_charged_in_a_currency_in_which_nothing_is_sold(
        self, tmp_path: Path
    ) -> None:
        assert load_rate(tmp_path, a_tariff()).price(1, Currency.AUD) == 0

    def test_what_is_not_sold_has_no_rate(self) -> None:
        assert BUILT_IN.tariff.find_rate("GB", "Boxes", BUDGET, tracked=False) is None
        assert BUILT_IN.tariff.find_rate("ZZ", "Prints", BUDGET, tracked=False) is None


class TestTracking:
    @pytest.mark.parametrize(("tracked", "name"), [(False, "Post"), (True, "Parcel")])
    def test_who_asks_for_it_pays_for_it(self, tracked: bool, name: str, tmp_path: Path) -> None:
        assert load_rate(tmp_path, a_tariff(**PARCEL), a_tariff(), tracked=tracked).name == name

    @pytest.mark.parametrize("tracked", [True, False])
    @pytest.mark.parametrize("offered", [{}, PARCEL], ids=["untracked", "tracked"])
    def test_where_only_one_is_offered_it_is_charged_in_any_case(
        self, tracked: bool, offered: dict[str, str], tmp_path: Path
    ) -> None:
        rate = load_rate(tmp_path, a_tariff(**offered), tracked=tracked)

        assert rate.is_tracked is bool(offered)


class TestZones:
    def test_the_closest_name_counts(self, tmp_path: Path) -> None:
        tariffs = [a_tariff(name=f'"{to}"', to=f'["{to}"]') for to in ("everywhere", "ISLES", "IE")]
        folder = a_whole_folder(tmp_path, tariff="".join(tariffs))
        tariff = Catalogue.load(folder).tariff

        found = [
            tariff.find_rate(country, "Prints", EXPRESS, tracked=True)
            for country in ("IE", "GB", "FR")
        ]

        assert [rate and rate.name for rate in found] == ["IE", "ISLES", "everywhere"]

    def test_a_closer_name_hides_both_prices_of_the_others(self, tmp_path: Path) -> None:
        near = a_tariff(to='["ISLES"]', **PARCEL)

        assert load_rate(tmp_path, a_tariff(), near).name == "Parcel"

    def test_a_block_may_have_names_of_all_kinds(self, tmp_path: Path) -> None:
        post = a_tariff(to='["everywhere", "ISLES"]')
        near = a_tariff(to='["ISLES"]', **PARCEL)

        assert load_rate(tmp_path, post, near).name == "Post"

    def test_two_blocks_that_price_the_same(self, tmp_path: Path) -> None:
        groups = WORDS + 'WEST = ["IE", "FR"]\n'
        west = a_tariff(to='["WEST"]', methods='["Budget"]')
        tariff = a_tariff() + a_tariff(to='["ISLES"]') + west
        folder = a_whole_folder(tmp_path, tariff=tariff, words=groups)

        assert problems_of(folder) == [
            "tariff.toml:18: Prints by Budget, untracked, to IE is priced here through `WEST` and "
            "at tariff.toml:12 through `ISLES`."
        ]


WRONG: Final = [
    ("name", "1", "`name` must be a text that is not empty."),
    ("to", '["Narnia"]', "`to` names `Narnia`, which is neither a country code nor a group"),
    ("methods", '["Rocket"]', "`Rocket` is no value of `methods`; known are `Budget`, "),
    ("tracked", "1", "`tracked` must be true or false, not 1."),
    ("bands", "{ Boxes = {} }", "`Boxes` is not in `bands`; known are `Prints`, `Canvas`."),
    ("bands", "{ Prints = { items = 1, GBP = [1, 1] } }", "`Prints` has no price in EUR."),
]


class TestMistakes:
    @pytest.mark.parametrize(("key", "value", "sentence"), WRONG)
    def test_a_wrong_value_is_named_with_its_line(
        self, key: str, value: str, sentence: str, tmp_path: Path
    ) -> None:
        [problem] = problems_of(a_whole_folder(tmp_path, tariff=a_tariff(**{key: value})))

        line = list(TARIFF).index(key) + 2
        assert problem.startswith(f"tariff.toml:{line}: {sentence}")

    @pytest.mark.parametrize("key", list(TARIFF))
    def test_what_is_missing_is_named_with_the_heading(self, key: str, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, tariff=a_tariff(**{key: None}))

        assert problems_of(folder) == [f"tariff.toml:1: `{key}` is missing."]

    def test_labs_need_a_tariff(self, tmp_path: Path) -> None:
        assert problems_of(a_whole_folder(tmp_path, tariff="")) == [
            "labs.toml:1: There are labs, but no `[[tariff]]`."
        ]

    def test_a_catalogue_without_labs_needs_none(self, tmp_path: Path) -> None:
        empty = dict.fromkeys(("labs", "services", "promises", "tariff", "rates"), "")

        assert not Catalogue.load(a_whole_folder(tmp_path, **empty)).tariff.rates

    def test_every_missing_price_is_named(self, tmp_path: Path) -> None:
        canvas = a_product(sku='"CANVAS"', type=None, band='"Canvas"')
        bands = ", ".join(
            f"{band} = {{ items = 1, GBP = [1, 1], EUR = [1, 1] }}" for band in ("Prints", "Canvas")
        )
        folder = a_whole_folder(
            tmp_path,
            a_product(),
            canvas,
            services=a_service(bands=f"{{ {bands} }}"),
            tariff=a_tariff(methods='["Budget", "Standard", "Express"]')
            + a_tariff(to='["IE"]', methods='["Overnight"]', bands=f"{{ {bands} }}"),
        )

        assert problems_of(folder) == [
            f"tariff.toml:1: {band} is sold to {countries} without a price for {method}."
            for band, method, countries in [
                ("Canvas", OVERNIGHT, "GB"),
                ("Canvas", BUDGET, "GB, IE"),
                ("Canvas", EXPRESS, "GB, IE"),
                ("Canvas", STANDARD, "GB, IE"),
                ("Prints", OVERNIGHT, "GB"),
            ]
        ]

    def test_a_tracked_price_needs_a_tracked_service(self, tmp_path: Path) -> None:
        express = a_service(
            code='"van"', to='["GB"]', methods='["Express", "Overnight"]', tracked="true"
        )
        tariff = a_tariff() + a_tariff(**PARCEL)
        folder = a_whole_folder(tmp_path, services=a_service() + express, tariff=tariff)

        sentence = "is priced as tracked, but no tracked service takes `PHOTO-4X6` to"
        # Where nothing else goes, the service of another method is used.
        assert problems_of(folder) == [
            f"tariff.toml:12: Prints by {method} {sentence} {countries}."
            for method, countries in [
                (BUDGET, "GB, IE"),
                (EXPRESS, "IE"),
                (OVERNIGHT, "IE"),
                (STANDARD, "GB, IE"),
            ]
        ]

    def test_promises_and_prices_are_chosen_alike(self, tmp_path: Path) -> None:
        folder = a_whole_folder(
            tmp_path, tariff=a_tariff() + a_tariff(), promises=a_promise() + a_promise()
        )

        assert len(problems_of(folder)) == 8


class TestTheOneThatIsBuiltIn:
    def test_every_band_has_a_price_in_every_currency_by_every_method_to_every_country(
        self,
    ) -> None:
        rates = BUILT_IN.tariff.rates

        assert set(rates) == {
            (country, band, method)
            for country in COUNTRIES
            for band in BUILT_IN.bands
            for method in ShippingMethod
        }
        assert all(
            rate.price(copies, currency) > 0
            for found in rates.values()
            for rate in found
            for currency in Currency
            for copies in (1, 100)
        )

    def test_tracking_and_haste_never_cost_less(self) -> None:
        for country in COUNTRIES:
            for band in BUILT_IN.bands:
                plain, tracked = (
                    [
                        rate.price(1, GBP)
                        for method in ShippingMethod
                        if (rate := BUILT_IN.tariff.find_rate(country, band, method, tracked=wish))
                    ]
                    for wish in (False, True)
                )
                assert plain == sorted(plain)
                assert tracked == sorted(tracked)
                assert plain <= tracked

    def test_british_prints_travel_by_second_class_mail(self) -> None:
        for method in (BUDGET, STANDARD):
            rate = BUILT_IN.tariff.find_rate("GB", "Prints", method, tracked=False)

            assert rate is not None
            assert (rate.name, rate.price(1, GBP)) == ("2nd Class Royal Mail", 199)
