"""Which rate a country has on a day."""

from datetime import date

import pytest

from printworks.catalogue.taxes import load_taxes
from printworks.rules.tax_table import UNION, DatedRate, TaxClass, TaxTable, find_tax_country

TABLE = TaxTable.of(
    [
        ("EE", TaxClass.STANDARD, DatedRate(date(2025, 7, 1), 2400)),
        ("EE", TaxClass.STANDARD, DatedRate(date(2024, 1, 1), 2200)),
        ("EE", TaxClass.BOOKS, DatedRate(date(2024, 1, 1), 900)),
    ]
)


@pytest.mark.parametrize(
    ("tax_class", "day", "rate"),
    [
        (TaxClass.STANDARD, date(2025, 6, 30), 2200),
        (TaxClass.STANDARD, date(2025, 7, 1), 2400),
        (TaxClass.STANDARD, date(2023, 12, 31), None),
        (TaxClass.BOOKS, date(2026, 1, 1), 900),
        # Without a rate of its own.
        (TaxClass.REDUCED, date(2026, 1, 1), 2400),
    ],
)
def test_a_rate_counts_from_its_day_on(tax_class: TaxClass, day: date, rate: int | None) -> None:
    assert TABLE.find_rate("EE", tax_class, day) == rate
    assert TABLE.find_rate("US", tax_class, day) is None


def test_another_table_replaces_the_rates_of_a_country_and_class() -> None:
    other = TaxTable.of([("EE", TaxClass.BOOKS, DatedRate(date(2026, 1, 1), 500))])
    both = TABLE.replaced_by(other)

    assert both.find_rate("EE", TaxClass.BOOKS, date(2026, 1, 1)) == 500
    assert both.find_rate("EE", TaxClass.STANDARD, date(2026, 1, 1)) == 2400


def test_some_places_are_taxed_as_others() -> None:
    assert [find_tax_country(code) for code in ("MC", "im", "DE")] == ["FR", "GB", "DE"]


def test_every_member_state_has_a_rate_today() -> None:
    table = load_taxes()
    rates = [table.find_rate(code, TaxClass.STANDARD, date(2026, 11, 1)) for code in sorted(UNION)]

    assert all(rate is not None and 1700 <= rate <= 2700 for rate in rates)
