"""Limits of a merchant's own: given, taken back, written down."""

import pytest

from printworks.actions.accounts.shares import change_share
from printworks.actions.work import Actor
from printworks.errors import BadInput
from printworks.rules.people import Realm
from printworks.rules.shares import ShareTerms
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from tests.factories import a_merchant, a_work

OPERATOR = Actor(Realm.OPERATOR, "admin@works.example")


def test_a_merchant_gets_limits_of_its_own_and_the_usual_ones_again(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db, "Alice"), a_merchant(db, "Bob")
        change_share(a_work(db, alice, actor=OPERATOR), ShareTerms(100, 400, 16))
        changed = get_merchant(db, alice.id)
        assert changed.share_terms == ShareTerms(100, 400, 16)
        assert get_merchant(db, bob.id).share_terms == ShareTerms()

        change_share(a_work(db, changed, actor=OPERATOR), ShareTerms())
        # This changes nothing, and so is not written down.
        again = a_work(db, get_merchant(db, alice.id), actor=OPERATOR)
        change_share(again, ShareTerms())

        assert get_merchant(db, alice.id).share_terms == ShareTerms()
        entries = list_audit(db, merchant_id=alice.id, limit=5)
    told = [entry.details for entry in entries if entry.action == "change-limits"]
    assert {"per_second": 100, "burst": 400, "in_work": 16} in told
    assert len(told) == 2


@pytest.mark.parametrize(
    ("terms", "name"),
    [
        (ShareTerms(per_second=0), "rate"),
        (ShareTerms(burst=-1), "burst"),
        (ShareTerms(in_work=1_000_001), "number of concurrent requests"),
    ],
)
def test_a_limit_that_makes_no_sense_is_refused(
    database: Database, terms: ShareTerms, name: str
) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        with pytest.raises(BadInput, match=f"The {name} must be from 1 to 1000000"):
            change_share(a_work(db, alice), terms)
