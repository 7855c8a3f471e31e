"""Who sells: the company of the operator, where it is registered, and how its prices are kept."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec
from stdnum import bic, iban

from printworks.errors import BadInput
from printworks.rules.businesses import Business, tidy_business
from printworks.rules.mail import find_address
from printworks.rules.tax_terms import SellerPlace
from printworks.rules.taxes import TaxPolicy, TaxRounding
from printworks.rules.vat_ids import tidy_vat_id

_LONGEST_BANK: Final = 100


class Registration(msgspec.Struct, frozen=True):
    """The VAT ID of a seller in another country than its own."""

    vat_id: str
    # Whether businesses there account for the tax of a foreign seller.
    is_reverse_charged: bool = False


class Seller(msgspec.Struct, frozen=True, kw_only=True):
    """Who sells, as it stands on invoices."""

    company: Business
    email: str = ""
    # The number of the company in its country's register.
    register_number: str = ""
    # Where invoices are paid to.
    bank: str = ""
    iban: str = ""
    bic: str = ""
    # By the code of the country.
    registrations: Mapping[str, Registration] = msgspec.field(default_factory=dict)
    # Whether it reports sales to consumers in the Union in one place.
    has_one_stop: bool = False
    # Whether the prices of the catalogue include tax.
    is_gross: bool = False
    rounding: TaxRounding = TaxRounding.LINE

    @property
    def place(self) -> SellerPlace:
        """Where it is registered for tax."""
        return SellerPlace(
            country=self.company.country,
            is_registered=bool(self.company.vat_id),
            registered_in=frozenset(self.registrations),
            reverse_charged_in=frozenset(
                country for country, each in self.registrations.items() if each.is_reverse_charged
            ),
            has_one_stop=self.has_one_stop,
        )

    @property
    def policy(self) -> TaxPolicy:
        """How its prices are kept, and where they are rounded."""
        return TaxPolicy(self.is_gross, self.rounding)


def tidy_seller(typed: Seller, countries: Collection[str]) -> Seller:
    """Return a seller as it is kept; raise `BadInput` at the field that is wrong."""
    company = tidy_business(typed.company, countries)
    email = find_address(typed.email) if typed.email.strip() else ""
    if email is None:
        raise BadInput("Enter an email address such as hello@example.com.", field="email")
    account = typed.iban.strip()
    if account and not iban.is_valid(account):
        raise BadInput("Enter the IBAN as it stands on your bank statement.", field="iban")
    code = typed.bic.strip()
    if code and not bic.is_valid(code):
        raise BadInput("Enter the BIC of your bank: 8 or 11 letters and digits.", field="bic")
    return msgspec.structs.replace(
        typed,
        company=company,
        email=email,
        register_number=_tidy_line(typed.register_number, "register_number"),
        bank=_tidy_line(typed.bank, "bank"),
        iban=iban.format(account) if account else "",
        bic=bic.compact(code) if code else "",
    )


def add_registration(
    seller: Seller, country: str, registration: Registration, countries: Collection[str]
) -> Seller:
    """Return a seller that is registered in another country, too."""
    code = country.strip().upper()
    if code not in countries or code == seller.company.country:
        raise BadInput("Choose another country than that of the seller.", field="country")
    vat_id = tidy_vat_id(registration.vat_id, code)
    if not vat_id:
        raise BadInput("Enter the VAT ID that you have there.", field="vat_id")
    added = msgspec.structs.replace(registration, vat_id=vat_id)
    return msgspec.structs.replace(seller, registrations={**seller.registrations, code: added})


def remove_registration(seller: Seller, country: str) -> Seller:
    """Return a seller that is no longer registered in a country."""
    code = country.strip().upper()
    if code not in seller.registrations:
        raise BadInput(f"The seller is not registered in {code}.", field="country")
    left = {name: each for name, each in seller.registrations.items() if name != code}
    return msgspec.structs.replace(seller, registrations=left)


def _tidy_line(text: str, field: str) -> str:
    line = " ".join(text.split())
    if len(line) > _LONGEST_BANK or not line.isprintable():
        label = field.replace("_", " ")
        raise BadInput(f"The {label} can have at most {_LONGEST_BANK} characters.", field=field)
    return line
