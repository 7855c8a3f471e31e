"""Whoever looks at a page sees in the menu where it belongs."""

from collections.abc import Sequence
from typing import Any, Final

import pytest

from printworks.dashboard import console, merchant
from printworks.dashboard.site.navigation import list_links
from printworks.rules.people import Realm, Role
from printworks.store.accounts.people import Person
from tests.factories import NOON

# The bell is above the menu, and a file is no page.
BESIDE_THE_MENU: Final = frozenset({"/news", "/console/reports.csv"})
PAGES: Final[dict[Realm, Sequence[Any]]] = {
    Realm.MERCHANT: merchant.PAGES,
    Realm.OPERATOR: console.PAGES,
}


def a_person_of(realm: Realm) -> Person:
    """Somebody who may see every line of a menu."""
    role = Role.OWNER if realm is Realm.MERCHANT else Role.ADMIN
    return Person(
        id=1,
        realm=realm,
        email="mary@fox.example",
        role=role,
        merchant_id=1 if realm is Realm.MERCHANT else None,
        password_hash="",
        totp_secret=None,
        totp_step=0,
        created_at=NOON,
        news_seen=0,
        events_seen=0,
        hides_first_steps=False,
    )


@pytest.mark.parametrize("realm", list(PAGES))
def test_every_page_belongs_to_one_line_of_the_menu(realm: Realm) -> None:
    person = a_person_of(realm)
    found = {
        page.path: [
            line.text for line in list_links(person, page.path, is_sandbox=True) if line.is_here
        ]
        for page in PAGES[realm]
        if page.path not in BESIDE_THE_MENU
    }

    assert {path: lines for path, lines in found.items() if len(lines) != 1} == {}
