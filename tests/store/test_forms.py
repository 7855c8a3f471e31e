"""Forms of people take so much room and no more, however many are sent."""

from datetime import timedelta

import pytest
from sqlalchemy import func, select

from printworks.rules.people import Realm, Role
from printworks.store.accounts.forms import (
    MOST_ANSWERS,
    MOST_KEPT,
    MOST_KEPT_OF_PERSON,
    MOST_SENT,
    FormClaim,
    KeptForm,
    claim_form,
    find_form,
    finish_form,
    keep_form,
)
from printworks.store.engine.database import Database
from printworks.store.tables import kept_forms, people, sent_forms
from tests.factories import NOON


def add_person(database: Database, email: str) -> int:
    values = {"realm": Realm.OPERATOR, "role": Role.ADMIN, "email": email, "created_at": NOON}
    with database.writing() as db:
        added = people.insert().values(**values, password_hash="").returning(people.c.id)
        return int(db.execute(added).scalar_one())


def keep_many(database: Database, person: int, *, browsers: int, pages: int) -> None:
    with database.writing() as db:
        for number in range(browsers * pages):
            browser, page = divmod(number, pages)
            keep_form(
                db,
                KeptForm(
                    hash=f"{person} {browser}",
                    page=f"/orders/{page}",
                    person_id=person,
                    content="x",
                    expires_at=NOON + timedelta(seconds=number),
                ),
            )


def test_one_browser_keeps_a_few_and_a_person_not_many(database: Database) -> None:
    mary, zoe = add_person(database, "mary@example.com"), add_person(database, "zoe@example.com")

    keep_many(database, zoe, browsers=1, pages=MOST_KEPT + 2)
    # A program that sends no cookie is a new browser each time.
    keep_many(database, mary, browsers=MOST_KEPT_OF_PERSON + 3, pages=1)

    with database.reading() as db:
        counted = select(kept_forms.c.person_id, func.count()).group_by(kept_forms.c.person_id)
        assert dict(map(tuple, db.execute(counted))) == {mary: MOST_KEPT_OF_PERSON, zoe: MOST_KEPT}
        left = set(db.execute(select(kept_forms.c.hash)).scalars())
    assert {f"{mary} 0", f"{mary} 1", f"{mary} 2"}.isdisjoint(left)


@pytest.mark.slow
def test_the_newest_forms_of_a_person_are_known_as_sent(database: Database) -> None:
    mary, zoe = add_person(database, "mary@example.com"), add_person(database, "zoe@example.com")
    with database.writing() as db:
        others = FormClaim(zoe, "token", "")
        assert claim_form(db, others, now=NOON - timedelta(days=1), until=NOON)
        claims = [FormClaim(mary, f"token {number}", "") for number in range(MOST_SENT + 2)]
        for number, claim in enumerate(claims):
            at = NOON + timedelta(seconds=number)
            assert claim_form(db, claim, now=at, until=at)

        counted = select(sent_forms.c.person_id, func.count()).group_by(sent_forms.c.person_id)
        assert dict(map(tuple, db.execute(counted))) == {mary: MOST_SENT, zoe: 1}
        assert [find_form(db, claim) for claim in claims[:2]] == [None, None]
        again = NOON + timedelta(days=1)
        assert not claim_form(db, claims[2], now=again, until=again)


def test_the_last_few_pages_that_forms_showed_are_repeated(database: Database) -> None:
    mary = add_person(database, "mary@example.com")
    claims = [FormClaim(mary, f"token {number}", "") for number in range(MOST_ANSWERS + 2)]
    with database.writing() as db:
        for number, claim in enumerate(claims):
            at = NOON + timedelta(seconds=number)
            assert claim_form(db, claim, now=at, until=at)
            finish_form(db, claim, location="", answer="sealed", now=at)

    with database.reading() as db:
        found = [find_form(db, claim) for claim in claims]
    answers = [one and one.answer for one in found]
    assert answers == [None, None, *["sealed"] * MOST_ANSWERS]
