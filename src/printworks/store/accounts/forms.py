"""Forms of people: what became of those that were sent, and those that wait for a sign-in."""

from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import ColumnElement, Connection, delete, select, tuple_, update

from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of, find_struct
from printworks.store.engine.upsert import insert_or_update, insert_unless_there
from printworks.store.tables import kept_forms, sent_forms

# How long a page that a form showed is repeated. It may have a new key on it.
KEEP_ANSWERS: Final = timedelta(minutes=10)
# Of one browser: the oldest makes room.
MOST_KEPT: Final = 5
# Of one person: a program that sends no cookie is another browser each time.
MOST_KEPT_OF_PERSON: Final = 20
# Pages of one person that are repeated: an older one says that it is not shown again.
MOST_ANSWERS: Final = 20
# Forms of one person that are known as sent: an older one that is sent again is done again.
MOST_SENT: Final = 1000


class FormClaim(msgspec.Struct, frozen=True):
    """A form of a person, by the token that it got when it was shown, and what is in it."""

    person_id: int
    token: str
    fingerprint: str


class SentForm(msgspec.Struct, frozen=True):
    """What became of a form that came before."""

    fingerprint: str
    claimed_until: datetime
    location: str | None
    answer: str | None
    finished_at: datetime | None
    created_at: datetime


def about_answer(claim: FormClaim) -> str:
    """Name the page that a form showed, for the seal."""
    return f"form {claim.person_id} {claim.token}"


def claim_form(db: Connection, claim: FormClaim, *, now: datetime, until: datetime) -> bool:
    """Say whether a form came for the first time; wait for another process that is doing it now.

    Raising an error later in the same transaction makes it as if it had never come.
    """
    is_new = insert_unless_there(
        db, sent_forms, **msgspec.structs.asdict(claim), claimed_until=until, created_at=now
    )
    if is_new:
        _forget_more_forms(db, claim.person_id)
    return is_new


def _forget_more_forms(db: Connection, person_id: int) -> None:
    is_theirs = sent_forms.c.person_id == person_id
    oldest_known = (
        select(sent_forms.c.created_at)
        .where(is_theirs)
        .order_by(sent_forms.c.created_at.desc())
        .offset(MOST_SENT - 1)
        .limit(1)
        .scalar_subquery()
    )
    db.execute(delete(sent_forms).where(is_theirs, sent_forms.c.created_at < oldest_known))


def find_form(db: Connection, claim: FormClaim) -> SentForm | None:
    """Return what became of the form with this token."""
    query = select(*columns_of(sent_forms, SentForm)).where(_is(claim))
    return find_struct(db, SentForm, query)


def note_location(db: Connection, claim: FormClaim, location: str) -> None:
    """Write down where a form leads that is not finished yet."""
    db.execute(update(sent_forms).where(_is(claim)).values(location=location))


def finish_form(
    db: Connection, claim: FormClaim, *, location: str, answer: str | None, now: datetime
) -> None:
    """Write down what a form came to: where it leads, or the page that it showed, sealed."""
    outcome = {"location": location, "answer": answer, "finished_at": now}
    db.execute(update(sent_forms).where(_is(claim)).values(**outcome))
    if answer is not None:
        _forget_more_answers(db, claim.person_id)


def _forget_more_answers(db: Connection, person_id: int) -> None:
    has_answer = (sent_forms.c.person_id == person_id) & sent_forms.c.answer.is_not(None)
    newest = (
        select(sent_forms.c.token)
        .where(has_answer)
        .order_by(sent_forms.c.finished_at.desc())
        .limit(MOST_ANSWERS)
    )
    more = update(sent_forms).where(has_answer, sent_forms.c.token.not_in(newest))
    db.execute(more.values(answer=None))


def release_form(db: Connection, claim: FormClaim, *, now: datetime) -> None:
    """Let a form that was refused come again; one that has led somewhere is finished."""
    is_open = _is(claim) & sent_forms.c.finished_at.is_(None)
    db.execute(delete(sent_forms).where(is_open, sent_forms.c.location.is_(None)))
    db.execute(update(sent_forms).where(is_open).values(finished_at=now))


def forget_answers(db: Connection, *, before: datetime, limit: int) -> int:
    """Blank the oldest pages that forms showed; return how many."""
    key = tuple_(*sent_forms.primary_key)
    oldest = (
        select(*sent_forms.primary_key)
        .where(sent_forms.c.answer.is_not(None), sent_forms.c.finished_at < before)
        .order_by(sent_forms.c.finished_at)
        .limit(limit)
    )
    return db.execute(update(sent_forms).where(key.in_(oldest)).values(answer=None)).rowcount


def purge_sent_forms(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete the oldest forms that were sent; return how many."""
    is_old = sent_forms.c.created_at < before
    return delete_oldest(db, sent_forms.c.created_at, is_old, limit=limit)


class KeptForm(msgspec.Struct, frozen=True):
    """What was typed into a form whose session had ended, sealed."""

    # Of the cookie, so that only the browser that sent it gets it back.
    hash: str
    page: str
    person_id: int
    content: str
    expires_at: datetime


def keep_form(db: Connection, kept: KeptForm) -> None:
    """Keep a form in place of an earlier one of the same page.

    The oldest of a browser makes room, and the oldest of a person.
    """
    key = {"hash": kept.hash, "page": kept.page}
    values = {
        "person_id": kept.person_id,
        "content": kept.content,
        "expires_at": kept.expires_at,
    }
    db.execute(insert_or_update(db, kept_forms, key, values))
    _drop_more(db, kept_forms.c.hash == kept.hash, MOST_KEPT)
    _drop_more(db, kept_forms.c.person_id == kept.person_id, MOST_KEPT_OF_PERSON)


def _drop_more(db: Connection, is_theirs: ColumnElement[bool], most: int) -> None:
    key = tuple_(*kept_forms.primary_key)
    newest = (
        select(*kept_forms.primary_key)
        .where(is_theirs)
        .order_by(kept_forms.c.expires_at.desc())
        .limit(most)
    )
    db.execute(delete(kept_forms).where(is_theirs, key.not_in(newest)))


def find_kept_form(
    db: Connection, cookie_hash: str, page: str, person_id: int, *, now: datetime
) -> KeptForm | None:
    """Return what a person had typed into a form of a page in this browser."""
    query = select(*columns_of(kept_forms, KeptForm)).where(
        kept_forms.c.hash == cookie_hash,
        kept_forms.c.page == page,
        kept_forms.c.person_id == person_id,
        kept_forms.c.expires_at > now,
    )
    return find_struct(db, KeptForm, query)


def drop_kept_forms(db: Connection, cookie_hash: str, page: str | None = None) -> None:
    """Forget the form of a page, or all forms, of a browser."""
    is_meant = kept_forms.c.hash == cookie_hash
    if page is not None:
        is_meant &= kept_forms.c.page == page
    db.execute(delete(kept_forms).where(is_meant))


def purge_kept_forms(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete forms that nobody came back for, the oldest first; return how many."""
    is_old = kept_forms.c.expires_at <= before
    return delete_oldest(db, kept_forms.c.expires_at, is_old, limit=limit)


def _is(claim: FormClaim) -> ColumnElement[bool]:
    return (sent_forms.c.person_id == claim.person_id) & (sent_forms.c.token == claim.token)
