"""What a seller and a buying company may say about themselves."""

import msgspec
import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.errors import BadInput
from printworks.rules.businesses import Business, tidy_business
from printworks.rules.sellers import (
    Registration,
    Seller,
    add_registration,
    remove_registration,
    tidy_seller,
)
from printworks.rules.tax_terms import SellerPlace
from printworks.rules.taxes import TaxPolicy, TaxRounding

COMPANY = Business(
    name="Prints  GmbH",
    street=" Hauptstr. 1 \n\n Hinterhof ",
    postal_code="10115",
    town="Berlin",
    country="de",
    vat_id="de136695976",
)
SELLER = Seller(
    company=COMPANY,
    email="hello@example.com",
    bank="A  bank",
    iban="DE89 3704 0044 0532 0130 00",
    bic="cobadeff",
)


def test_texts_are_tidied() -> None:
    seller = tidy_seller(SELLER, COUNTRIES)

    assert seller.company == Business(
        name="Prints GmbH",
        street="Hauptstr. 1\nHinterhof",
        postal_code="10115",
        town="Berlin",
        country="DE",
        vat_id="DE136695976",
    )
    assert seller.company.vat_country == "DE"
    assert (seller.bank, seller.iban) == ("A bank", "DE89 3704 0044 0532 0130 00")
    assert seller.bic == "COBADEFF"
    assert seller.policy == TaxPolicy(is_gross=False, rounding=TaxRounding.LINE)


def test_what_is_not_needed_may_be_empty() -> None:
    bare = msgspec.structs.replace(COMPANY, postal_code="", vat_id="")
    seller = tidy_seller(Seller(company=bare), COUNTRIES)

    assert (seller.email, seller.iban, seller.bic) == ("", "", "")
    assert seller.place == SellerPlace(country="DE", is_registered=False)


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("name", ""),
        ("name", "x" * 101),
        ("town", "Ber\x00lin"),
        ("country", "XX"),
        ("country", ""),
        ("vat_id", "DE136695977"),
    ],
)
def test_a_wrong_company_is_refused_at_its_field(field: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        tidy_business(msgspec.structs.replace(COMPANY, **{field: text}), COUNTRIES)
    assert list(refused.value.fields) == [field]


@pytest.mark.parametrize(
    ("field", "text"),
    [("email", "nobody"), ("iban", "DE00"), ("bic", "X"), ("bank", "x" * 101)],
)
def test_a_wrong_seller_is_refused_at_its_field(field: str, text: str) -> None:
    with pytest.raises(BadInput) as refused:
        tidy_seller(msgspec.structs.replace(SELLER, **{field: text}), COUNTRIES)
    assert list(refused.value.fields) == [field]


def test_a_seller_can_be_registered_elsewhere_and_no_longer() -> None:
    seller = tidy_seller(SELLER, COUNTRIES)
    french = Registration("FR 40 303 265 045", is_reverse_charged=True)
    added = add_registration(seller, "fr", french, COUNTRIES)

    assert added.registrations["FR"].vat_id == "FR40303265045"
    assert added.place.registered_in == added.place.reverse_charged_in == {"FR"}
    assert remove_registration(added, "FR") == seller


@pytest.mark.parametrize(
    ("country", "vat_id", "field"),
    [("DE", "DE136695976", "country"), ("XX", "1", "country"), ("FR", " ", "vat_id")],
)
def test_a_wrong_registration_is_refused(country: str, vat_id: str, field: str) -> None:
    seller = tidy_seller(SELLER, COUNTRIES)
    with pytest.raises(BadInput) as refused:
        add_registration(seller, country, Registration(vat_id), COUNTRIES)
    assert list(refused.value.fields) == [field]


def test_only_a_registration_that_is_there_can_be_removed() -> None:
    with pytest.raises(BadInput, match="not registered in FR"):
        remove_registration(tidy_seller(SELLER, COUNTRIES), "FR")
