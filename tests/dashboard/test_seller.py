"""The pages on which operators say who sells, and merchants as which company they buy."""

import pytest

from printworks.rules.sellers import Registration
from printworks.rules.taxes import TaxRounding
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.money.sellers import find_business, find_seller
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, merchant_of
from tests.sellers import BRITISH, GERMAN, sell

PAGE = "/console/seller"
COMPANY = {
    "name": "Prints Ltd",
    "street": "1 High Street",
    "postal_code": "YO1 1AA",
    "town": "York",
    "country": "GB",
    "vat_id": "GB 980 7806 84",
}
GIVEN = {
    **COMPANY,
    "email": "hello@prints.example",
    "bank": "A bank",
    "iban": "GB33BUKB20201555555555",
    "bic": "BUKBGB22",
    "register_number": "123",
    "prices": "gross",
    "rounding": "document",
    "has_one_stop": "yes",
}


@pytest.mark.both_databases
def test_a_seller_is_saved_registered_and_ended(operator: Window, database: Database) -> None:
    assert "no tax is collected" in operator.words(PAGE)

    assert "The seller was saved." in operator.follow(operator.do(PAGE, "set-seller", **GIVEN))
    operator.do(
        PAGE, "register-seller", country="FR", vat_id="FR40303265045", is_reverse_charged="yes"
    )
    with database.reading() as db:
        stored = find_seller(db)
    assert stored is not None
    seller = stored.seller
    assert seller.company == BRITISH
    assert (seller.is_gross, seller.rounding) == (True, TaxRounding.DOCUMENT)
    assert seller.registrations == {"FR": Registration("FR40303265045", is_reverse_charged=True)}
    said = operator.words(PAGE)
    assert "France: FR40303265045 Businesses account for the tax themselves." in said

    operator.do(PAGE, "unregister-seller", country="FR")
    ended = operator.follow(operator.do(PAGE, "end-seller", password=PASSWORD))
    assert "No tax is collected any more." in ended
    with database.reading() as db:
        assert find_seller(db) is None


@pytest.mark.parametrize(
    ("form_action", "given"),
    [
        ("set-seller", {**GIVEN, "iban": "DE89370400440532013000"}),
        ("register-seller", {"country": "DE", "vat_id": "DE136695976"}),
        ("unregister-seller", {"country": "FR"}),
        ("end-seller", {}),
    ],
)
def test_whoever_changes_what_stands_on_invoices_enters_the_password_again(
    operator: Window,
    database: Database,
    clock: MovableClock,
    form_action: str,
    given: dict[str, str],
) -> None:
    operator.do(PAGE, "set-seller", **GIVEN)
    operator.do(PAGE, "register-seller", country="FR", vat_id="FR40303265045")
    clock.advance(minutes=11)
    with database.reading() as db:
        before = find_seller(db)

    refused = operator.do(PAGE, form_action, **given)
    with database.reading() as db:
        unchanged = find_seller(db)
    confirmed = operator.do(PAGE, form_action, current_password=PASSWORD, **given)

    assert refused.status == 403
    assert "Enter your password to confirm this change." in words_of(refused)
    assert unchanged == before
    assert confirmed.status == 303
    with database.reading() as db:
        assert find_seller(db) != before


def test_the_audit_log_tells_which_account_was_replaced_by_which(
    operator: Window, database: Database
) -> None:
    for iban in (GIVEN["iban"], "DE89370400440532013000", ""):
        operator.do(PAGE, "set-seller", **{**GIVEN, "iban": iban})
    operator.do(PAGE, "set-seller", **{**GIVEN, "iban": "", "bank": "Another bank"})

    with database.reading() as db:
        told = [entry.details for entry in list_audit(db, limit=4)]
    assert told == [
        {"changed": ["bank"]},
        {"changed": ["iban"], "iban": "", "before": "…3000"},
        {"changed": ["iban"], "iban": "…3000", "before": "…5555"},
        {"changed": ["all"], "iban": "…5555", "before": ""},
    ]


def test_what_is_wrong_is_said_at_its_field_and_stays_typed(
    operator: Window, database: Database
) -> None:
    refused = operator.do(PAGE, "set-seller", **{**GIVEN, "vat_id": "GB980780685"})

    assert refused.status == 400
    assert "is not a VAT ID of GB" in words_of(refused)
    assert b"A bank" in refused.body
    with database.reading() as db:
        assert find_seller(db) is None


@pytest.mark.both_databases
def test_a_merchant_names_its_company(
    alice: Window, bob: Window, database: Database, operator: Window
) -> None:
    sell(database, GERMAN)
    assert "/settings/business" in alice.open("/account").body.decode()

    said = alice.follow(alice.do("/settings/business", "change-business", **COMPANY))

    assert "The company was saved." in said
    with database.reading() as db:
        mine, theirs = merchant_of(db, alice), merchant_of(db, bob)
        assert find_business(db, mine.id) == BRITISH
        assert find_business(db, theirs.id) is None
    shown = operator.words(f"/console/merchants/{alice.code}")
    assert "Prints Ltd" in shown
    assert "GB980780684" in shown

    alice.do("/settings/business", "remove-business")
    with database.reading() as db:
        assert find_business(db, mine.id) is None


def test_an_operator_names_the_company_of_a_merchant(
    alice: Window, operator: Window, database: Database
) -> None:
    page = f"/console/merchants/{alice.code}/account"

    operator.follow(operator.do(page, "change-company", **COMPANY))

    with database.reading() as db:
        assert find_business(db, merchant_of(db, alice).id) == BRITISH


def test_a_wrong_vat_id_of_a_merchant_is_refused(alice: Window, database: Database) -> None:
    refused = alice.do("/settings/business", "change-business", **{**COMPANY, "vat_id": "GB1"})

    assert refused.status == 400
    assert "is not a VAT ID of GB" in words_of(refused)
    with database.reading() as db:
        assert find_business(db, merchant_of(db, alice).id) is None


def test_the_catalogue_says_whether_prices_include_tax(alice: Window, database: Database) -> None:
    sell(database)
    assert "Prices are net: tax is added to them." in alice.words("/catalogue")
    sell(database, is_gross=True)
    assert "Prices include tax." in alice.words("/catalogue")
