"""Sellers and companies to test with."""

from typing import Any, Final

from printworks.actions.sellers import set_seller
from printworks.rules.businesses import Business
from printworks.rules.sellers import Seller
from printworks.rules.taxes import TaxRounding
from printworks.store.engine.database import Database
from tests.factories import a_system_work

BRITISH: Final = Business(
    name="Prints Ltd",
    street="1 High Street",
    postal_code="YO1 1AA",
    town="York",
    country="GB",
    vat_id="GB980780684",
)
GERMAN: Final = Business(
    name="Bilder GmbH",
    street="Hauptstr. 1",
    postal_code="10115",
    town="Berlin",
    country="DE",
    vat_id="DE136695976",
)


def sell(database: Database, company: Business = BRITISH, **given: Any) -> None:
    """Say who sells, so that orders carry tax."""
    terms = {"rounding": TaxRounding.DOCUMENT, **given}
    with database.writing() as db:
        set_seller(a_system_work(db), Seller(company=company, **terms))
