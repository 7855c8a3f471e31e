"""Numbers, sums and hashes of documents, and how a credit is divided among rates."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.invoices import (
    divide_credit,
    hash_document,
    read_document,
    subtract,
    write_document,
    write_number,
)
from printworks.rules.taxes import TaxCategory, TaxedAmount, TaxRate, divide
from tests.invoices import documents

RATES = [TaxRate(TaxCategory.STANDARD, rate, "DE") for rate in (550, 700, 1900, 2500)] + [
    TaxRate(TaxCategory.EXPORT)
]
invoiced = st.dictionaries(st.sampled_from(RATES), st.integers(1, 10**7), min_size=1).map(
    lambda sums: {rate: divide(amount, rate.rate, is_gross=True) for rate, amount in sums.items()}
)


def test_a_number_has_the_year_and_six_digits_and_the_series_if_that_has_a_name() -> None:
    assert write_number("", 2026, 123) == "2026-000123"
    assert write_number("UK", 2026, 1) == "UK-2026-000001"
    assert write_number("", 2026, 12_345_678) == "2026-12345678"


def test_a_document_is_read_as_it_was_written() -> None:
    for document in (documents.invoice(), documents.credit_note()):
        assert read_document(write_document(document)) == document
        assert write_document(read_document(write_document(document))) == write_document(document)


def test_the_hash_of_a_document_depends_on_every_one_before_it() -> None:
    text = write_document(documents.invoice())
    assert hash_document(text, "") != hash_document(text, "another")
    assert hash_document(text, "") != hash_document(text.replace("gallery", "Gallery"), "")


def test_the_sums_of_a_document_are_those_of_its_lines() -> None:
    document = documents.invoice(paid=1000)
    assert document.net == sum(line.net for line in document.lines)
    assert document.gross == sum(line.gross for line in document.lines)
    assert document.due == document.gross - 1000
    assert [rate.rate for rate in document.sums] == [1900, 700]
    assert sum(amount.tax for amount in document.sums.values()) == document.tax


def test_a_document_names_the_country_only_if_everything_goes_there() -> None:
    abroad = documents.line(100, destination="FR")
    assert documents.invoice().destination == "DE"
    assert documents.invoice(lines=(*documents.LINES, abroad)).destination == ""


@given(invoiced, st.lists(st.integers(1, 99), max_size=5))
def test_credits_that_add_up_to_an_invoice_take_exactly_its_net_and_tax(
    sums: dict[TaxRate, TaxedAmount], percents: list[int]
) -> None:
    left = dict(sums)
    taken: dict[TaxRate, TaxedAmount] = dict.fromkeys(sums, TaxedAmount(0, 0))
    for percent in [*percents, 100]:
        credited = TaxedAmount(
            sum(amount.net for amount in left.values()) * percent // 100,
            sum(amount.tax for amount in left.values()) * percent // 100,
        )
        parts = divide_credit(left, credited)
        assert sum(part.net for part in parts.values()) == credited.net
        assert sum(part.tax for part in parts.values()) == credited.tax
        for rate, part in parts.items():
            assert 0 <= part.net <= left[rate].net
            assert 0 <= part.tax <= left[rate].tax
            before = taken[rate]
            taken[rate] = TaxedAmount(before.net + part.net, before.tax + part.tax)
            left[rate] = TaxedAmount(left[rate].net - part.net, left[rate].tax - part.tax)
    assert taken == sums


@pytest.mark.parametrize("net", [-1, 17_943])
def test_nobody_credits_less_than_nothing_or_more_than_was_invoiced(net: int) -> None:
    left = subtract(documents.LINES, ())
    with pytest.raises(ValueError, match="cannot be credited"):
        divide_credit(left, TaxedAmount(net, 0))


def test_what_is_left_of_an_invoice_lacks_what_was_credited_before() -> None:
    credited = (
        documents.LINES[2],
        documents.line(695),
        documents.line(5, documents.FREE[TaxCategory.EXPORT]),
    )
    left = subtract(documents.LINES, credited)
    assert left == {documents.STANDARD: TaxedAmount(15_997, 3171 - 132)}
