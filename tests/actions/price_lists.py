"""Price lists to test with."""

from typing import Any, Final

from sqlalchemy import Connection

from printworks.actions.price_lists import ListTerms, add_list, assign_to_merchant, set_lines
from printworks.actions.work import Actor, SystemWork
from printworks.rules.people import Realm
from printworks.rules.price_lists import PriceBook, PriceLine, PriceList, PriceRates
from printworks.store.accounts.merchants import Merchant
from printworks.store.money.price_lists import read_lists, read_revision, read_revisions
from tests.factories import NOON, a_system_work

OWNER: Final = Actor(Realm.OPERATOR, "owner@works.example")


def a_list_of(system: SystemWork, merchant: Merchant, *lines: PriceLine, **terms: Any) -> PriceList:
    """Add a list and give it to a merchant."""
    added = add_list(system, ListTerms(**{"name": "Spring", **terms}))
    if lines:
        set_lines(system, added.id, lines)
    return assign_to_merchant(system, added.id, merchant)


def read_book(db: Connection) -> PriceBook:
    """Return all lists as a process reads them."""
    found = read_lists(db, read_revisions(db, now=NOON))
    return PriceBook(read_revision(db), [PriceRates(one) for one in found])


def an_owner(db: Connection, **given: Any) -> SystemWork:
    """Begin work of an operator."""
    return a_system_work(db, actor=OWNER, **given)
