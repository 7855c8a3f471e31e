"""Labs, services, promises and rates: what an operator may write, and what comes out of it."""

import re
import tempfile
from collections.abc import Callable
from contextlib import suppress
from datetime import date, time
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printworks.catalogue.form_reading import BlockForm, list_fields
from printworks.catalogue.forms import (
    LabForm,
    MakingLine,
    PromiseForm,
    ServiceForm,
    StepsForm,
    TariffForm,
)
from printworks.catalogue.labs import Connector, Lab, LastChance
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.services import Carrier, Service, StepPrice
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import NotFound
from printworks.rules.orders import ShippingMethod
from tests.catalogue.folders import (
    LAB,
    PROMISE,
    SERVICE,
    WORDS,
    a_family,
    a_lab,
    a_product,
    a_promise,
    a_service,
    a_tariff,
    a_whole_folder,
)

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "labs.md"
BUILT_IN = open_catalogue(None)
GBP, EUR = Currency.GBP, Currency.EUR


def load_lab(where: Path, *makes: str, **keys: str | None) -> Lab:
    [lab] = Catalogue.load(a_whole_folder(where, labs=a_lab(*makes, **keys))).labs
    return lab


def load_service(where: Path, **keys: str | None) -> Service:
    [service] = Catalogue.load(a_whole_folder(where, services=a_service(**keys))).services
    return service


class TestLabs:
    def test_a_lab_has_what_is_written(self, tmp_path: Path) -> None:
        lab = load_lab(
            tmp_path,
            working_days='["mon-wed", "sat"]',
            holidays="[2026-12-25, 2027-01-01]",
            paused="true",
            packing_slips="true",
            connector='"folder"',
            can_cancel_until='"accepted"',
            can_hold_until='"submitted"',
            can_change_shipping_until='"never"',
        )

        assert (lab.code, lab.name, lab.country) == ("hill", "Hill", "GB")
        assert (lab.time_zone, lab.currency, lab.capacity) == ("Europe/London", GBP, 100)
        assert lab.cut_off == time(14, 0)
        assert lab.working_days == {0, 1, 2, 5}
        assert lab.holidays == {date(2026, 12, 25), date(2027, 1, 1)}
        assert (lab.paused, lab.packing_slips) == (True, True)
        assert lab.connector is Connector.FOLDER
        assert lab.can_cancel_until is LastChance.ACCEPTED
        assert lab.can_hold_until is LastChance.SUBMITTED
        assert lab.can_change_shipping_until is LastChance.NEVER

    def test_without_more_it_works_from_monday_to_friday(self, tmp_path: Path) -> None:
        lab = load_lab(tmp_path)

        assert lab.working_days == {0, 1, 2, 3, 4}
        assert lab.holidays == frozenset()
        assert (lab.paused, lab.packing_slips, lab.connector) == (False, False, None)

    def test_without_more_it_lets_cancel_and_readdress_until_it_accepts(
        self, tmp_path: Path
    ) -> None:
        lab = load_lab(tmp_path)

        assert lab.can_cancel_until is LastChance.SUBMITTED
        assert lab.can_change_shipping_until is LastChance.SUBMITTED
        assert lab.can_hold_until is LastChance.NEVER

    def test_holidays_may_have_a_name(self, tmp_path: Path) -> None:
        labs = "[holidays]\nGB = [2026-12-25]\n\n" + a_lab(holidays='["GB", 2026-08-14]')

        [lab] = Catalogue.load(a_whole_folder(tmp_path, labs=labs)).labs

        assert lab.holidays == {date(2026, 12, 25), date(2026, 8, 14)}

    def test_a_cut_off_may_be_a_time(self, tmp_path: Path) -> None:
        assert load_lab(tmp_path, cut_off="09:30:00").cut_off == time(9, 30)


class TestCosts:
    def test_a_cost_is_part_of_the_price_and_an_amount_on_top(self, tmp_path: Path) -> None:
        folder = a_whole_folder(tmp_path, labs=a_lab("{ percent = 42.5, each = 3 }"))
        catalogue = Catalogue.load(folder)
        [lab], [product] = catalogue.labs, catalogue.products

        # 42.5 per cent of 20 is 8.5, which is rounded up.
        assert lab.find_cost(product, 1) == 9 + 3
        assert lab.find_cost(product, 10) == 120
        assert lab.find_cost(product, 0) == 0

    def test_the_first_line_that_fits_counts(self, tmp_path: Path) -> None:
        labs = a_lab(
            '{ skus = "*-8X10", each = 50, days = 5 }',
            '{ kinds = ["print"], bands = ["Prints"], except = ["photo-4*"], each = 20 }',
            "{ each = 10, days = 0 }",
        )
        family = a_family(
            '"image", "GBP", "EUR"', '"4x6", 20, 25', '"5x7", 30, 40', '"8x10", 90, 99'
        )
        catalogue = Catalogue.load(a_whole_folder(tmp_path, family, labs=labs))
        [lab] = catalogue.labs

        assert [lab.find_cost(product, 1) for product in catalogue.products] == [10, 20, 50]
        assert [lab.makes[product.sku].production_days for product in catalogue.products] == [
            0,
            2,
            5,
        ]

    def test_what_a_lab_does_not_make_has_no_cost(self, tmp_path: Path) -> None:
        labs = a_lab('{ skus = ["PHOTO-*"], each = 5 }') + a_lab(
            '{ skus = ["OTHER"], each = 5 }', code='"dale"'
        )
        folder = a_whole_folder(
            tmp_path,
            a_product(),
            a_product(sku='"OTHER"', type=None),
            labs=labs,
            services=a_service(labs='["hill", "dale"]'),
        )
        catalogue = Catalogue.load(folder)
        hill, other = catalogue.get_lab("hill"), catalogue.get_product("OTHER")

        assert not hill.can_make(other)
        assert hill.find_cost(other, 1) is None
        assert other.sku not in hill.makes

    # Writes and reads a folder each time.
    @settings(deadline=None)
    @given(
        price=st.integers(1, 100_000),
        percent=st.decimals("0.01", "200", places=2),
        each=st.integers(0, 1000),
        copies=st.integers(1, 1000),
    )
    def test_a_cost_is_exact(self, price: int, percent: Decimal, each: int, copies: int) -> None:
        with tempfile.TemporaryDirectory() as where:
            folder = a_whole_folder(
                Path(where),
                a_product(price=f"{{ GBP = {price}, EUR = 1 }}"),
                labs=a_lab(f"{{ percent = {percent:f}, each = {each} }}"),
            )
            catalogue = Catalogue.load(folder)
        [lab], [product] = catalogue.labs, catalogue.products

        share = (price * percent / 100).to_integral_value(ROUND_HALF_UP)
        assert lab.find_cost(product, copies) == (int(share) + each) * copies


class TestServices:
    def test_a_service_has_what_is_written(self, tmp_path: Path) -> None:
        service = load_service(tmp_path)

        assert (service.code, service.name) == ("post", "Second class")
        assert service.carrier is Carrier.ROYAL_MAIL
        assert service.labs == ("hill",)
        assert service.methods == (ShippingMethod.BUDGET, ShippingMethod.STANDARD)
        assert service.countries == {"GB", "IE"}
        assert (service.min_transit_days, service.max_transit_days) == (2, 4)
        assert service.tracked is False
        assert service.bands == ("Prints",)

    def test_a_service_may_leave_out_countries(self, tmp_path: Path) -> None:
        service = load_service(tmp_path, to='["everywhere"]', **{"except": '["EH", "AQ"]'})

        assert service.goes_to("gb")
        assert not service.goes_to("AQ")

    @pytest.mark.parametrize(
        ("copies", "price"), [(0, 0), (1, 199), (50, 199), (51, 279), (100, 279), (101, 359)]
    )
    def test_a_step_that_is_begun_is_paid_for(
        self, copies: int, price: int, tmp_path: Path
    ) -> None:
        assert load_service(tmp_path).find_cost("Prints", copies, GBP) == price

    def test_what_a_service_does_not_carry_has_no_price(self, tmp_path: Path) -> None:
        service = load_service(tmp_path)

        assert service.find_cost("Canvas", 1, GBP) is None
        assert service.find_cost("Prints", 1, Currency.USD) is None

    @given(
        price=st.builds(
            StepPrice, st.integers(1, 100), st.integers(0, 10_000), st.integers(0, 10_000)
        ),
        copies=st.integers(1, 10_000),
    )
    def test_each_further_step_costs_the_same(self, price: StepPrice, copies: int) -> None:
        further = price.price(copies + price.items) - price.price(copies)

        assert further == price.further
        assert price.price(copies) <= price.price(copies + 1)


class TestPromises:
    def test_the_closest_name_counts(self, tmp_path: Path) -> None:
        promises = a_promise() + a_promise(to='["GB"]', Standard="4") + a_promise(to='["ISLES"]')
        catalogue = Catalogue.load(a_whole_folder(tmp_path, promises=promises))

        found = [
            catalogue.find_promise(ShippingMethod.STANDARD, country)
            for country in ("gb", "IE", "FR")
        ]

        assert [(promise.to, promise.days) for promise in found if promise] == [
            *(("GB", 4), ("ISLES", 8), ("everywhere", 8)),
        ]

    def test_a_promise_may_leave_a_method_to_another(self, tmp_path: Path) -> None:
        promises = a_promise() + a_promise(to='["GB"]', Budget=None, Standard=None, Express=None)
        catalogue = Catalogue.load(a_whole_folder(tmp_path, promises=promises))

        budget = catalogue.find_promise(ShippingMethod.BUDGET, "GB")
        overnight = catalogue.find_promise(ShippingMethod.OVERNIGHT, "GB")

        assert budget is not None
        assert overnight is not None
        assert (budget.to, overnight.to) == ("everywhere", "GB")

    def test_two_groups_may_overlap_in_a_country_that_is_named_itself(self, tmp_path: Path) -> None:
        promises = "".join(
            [
                a_promise(),
                *(a_promise(to=to) for to in ('["ISLES"]', '["WEST"]', '["IE"]')),
            ]
        )
        folder = a_whole_folder(tmp_path, promises=promises, words=WORDS + 'WEST = ["IE"]\n')

        promise = Catalogue.load(folder).find_promise(ShippingMethod.EXPRESS, "IE")

        assert promise is not None
        assert promise.to == "IE"

    def test_nothing_is_promised_to_a_country_that_does_not_exist(self, tmp_path: Path) -> None:
        catalogue = Catalogue.load(a_whole_folder(tmp_path))

        assert catalogue.find_promise(ShippingMethod.BUDGET, "ZZ") is None


class TestLookups:
    def test_services_are_listed_by_lab_and_country(self, tmp_path: Path) -> None:
        services = a_service() + a_service(code='"van"', to='["GB"]')
        catalogue = Catalogue.load(a_whole_folder(tmp_path, services=services))

        def codes(lab: str, country: str) -> list[str]:
            return [service.code for service in catalogue.list_services(lab, country)]

        assert codes("hill", "gb") == ["post", "van"]
        assert codes("hill", "IE") == ["post"]
        assert codes("hill", "FR") == codes("dale", "GB") == []

    def test_an_unknown_lab_is_refused(self, tmp_path: Path) -> None:
        catalogue = Catalogue.load(a_whole_folder(tmp_path))

        assert catalogue.find_lab("hill") is catalogue.get_lab("hill")
        assert catalogue.find_lab("dale") is None
        with pytest.raises(NotFound, match=r"^There is no lab dale in the catalogue\.$"):
            catalogue.get_lab("dale")

    def test_amounts_are_converted_exactly(self, tmp_path: Path) -> None:
        catalogue = Catalogue.load(a_whole_folder(tmp_path))

        assert catalogue.convert(100, EUR, to=GBP) == 85
        assert catalogue.convert(85, GBP, to=EUR) == 100
        assert catalogue.convert(1, GBP, to=EUR) == Fraction(20, 17)

    @given(amount=st.integers(0, 10**9))
    def test_there_and_back_is_the_same(self, amount: int) -> None:
        for currency in Currency:
            there = BUILT_IN.convert(amount, GBP, to=currency)
            assert BUILT_IN.convert(there, currency, to=GBP) == amount

    def test_one_currency_needs_no_rates(self, tmp_path: Path) -> None:
        folder = a_whole_folder(
            tmp_path,
            a_product(price="{ GBP = 20 }"),
            words=WORDS.replace(', "EUR"', ""),
            services=a_service(bands="{ Prints = { items = 1, GBP = [3, 1] } }"),
            tariff=a_tariff(bands="{ Prints = { items = 1, GBP = [3, 1] } }"),
            rates="",
        )

        assert Catalogue.load(folder).convert(7, GBP, to=GBP) == 7

    def test_a_snapshot_cannot_be_changed(self, tmp_path: Path) -> None:
        catalogue = Catalogue.load(a_whole_folder(tmp_path))

        changes = [
            (catalogue.labs[0], "paused"),
            (catalogue.services[0], "name"),
            (catalogue.promises[ShippingMethod.BUDGET, "GB"], "days"),
        ]
        for frozen, name in changes:
            with pytest.raises(AttributeError):
                setattr(frozen, name, None)
        for mapping in (
            *(catalogue.labs[0].makes, catalogue.services[0].costs),
            *(catalogue.promises, catalogue.rates),
        ):
            assert isinstance(mapping, MappingProxyType)


class TestForms:
    def test_a_price_may_be_in_every_currency(self) -> None:
        assert set(list_fields(StepsForm)) == {"items", *Currency}

    def test_a_promise_may_name_every_method(self) -> None:
        assert set(list_fields(PromiseForm)) == {"to", *ShippingMethod}


class TestManual:
    def test_the_example_of_the_manual_is_a_catalogue(self, tmp_path: Path) -> None:
        example = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        assert example is not None
        (tmp_path / "example.toml").write_text(example[1], encoding="utf-8")

        catalogue = Catalogue.load(tmp_path)

        york, ghent = catalogue.labs
        photo, mug = catalogue.get_product("PHOTO-4X6"), catalogue.get_product("MUG-WHITE")
        assert (york.find_cost(photo, 10), ghent.find_cost(photo, 10)) == (90, 110)
        assert (york.find_cost(mug, 2), ghent.find_cost(mug, 2)) == (400, None)
        assert [service.code for service in catalogue.list_services("york", "IE")] == ["parcel"]

    @pytest.mark.parametrize("form", [LabForm, MakingLine, ServiceForm, PromiseForm, TariffForm])
    def test_the_manual_names_every_key(self, form: type[BlockForm]) -> None:
        manual = PAGE.read_text(encoding="utf-8")

        assert [key for key in list_fields(form) if f"`{key}`" not in manual] == []

    def test_the_manual_names_every_carrier(self) -> None:
        manual = PAGE.read_text(encoding="utf-8")

        assert [code for code in Carrier if f"`{code}`" not in manual] == []


TOML_VALUES = st.sampled_from(
    [
        *("1", "-1", "1.5", "nan", "true", "1979-05-27", "1979-05-27T07:32:00", "07:32:00"),
        *('""', '"x"', '"hill"', '"GBP"', "[]", "[[]]", "[1]", "[1, 2]", "[2, 1]", '["GB"]'),
        *("{}", "{ a = 1 }", "[{}]", "[{ each = 1 }]", '[{ skus = "*", percent = 1 }]'),
        *("{ Prints = 1 }", "{ Prints = { items = 1 } }", "{ Prints = { items = 0, GBP = [] } }"),
        *('["mon-xyz"]', '["Standard"]', "[2026-12-25]", '"Europe"', '"../etc"', '"a\\u0000b"'),
    ]
)


@pytest.mark.parametrize(
    ("table", "usual", "write"),
    [
        ("labs", [*LAB, "working_days", "holidays", "connector", "x"], a_lab),
        ("services", [*SERVICE, "except", "x"], a_service),
        ("promises", [*PROMISE, "x"], a_promise),
    ],
)
# The names of all time zones are looked up for a suggestion: slow, and slower side by side.
@settings(deadline=None)
@given(data=st.data())
def test_nothing_that_is_toml_breaks_the_reader(
    table: str, usual: list[str], write: Callable[..., str], data: st.DataObject
) -> None:
    changed = data.draw(st.dictionaries(st.sampled_from(usual), TOML_VALUES, max_size=4))
    with tempfile.TemporaryDirectory() as where:
        folder = a_whole_folder(Path(where), **{table: write(**changed)})

        with suppress(BadCatalogue):
            Catalogue.load(folder)


@given(st.dictionaries(st.sampled_from(["rates", "holidays", "labs", "promises"]), TOML_VALUES))
def test_nothing_that_is_toml_breaks_the_tables(tables: dict[str, str]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in tables.items())
    with tempfile.TemporaryDirectory() as where:
        folder = a_whole_folder(Path(where), rates=text)

        with suppress(BadCatalogue):
            Catalogue.load(folder)
