"""Who wants to be told what."""

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, and_, select

from printworks.rules.mail import NOTICES, MailKind, is_wanted
from printworks.store.accounts.people import COLUMNS as OF_PERSON
from printworks.store.accounts.people import Person
from printworks.store.engine.upsert import insert_or_update, insert_unless_there
from printworks.store.tables import mail_choices, mail_refusals, people

_CHOSEN: Final = mail_choices.c.is_wanted


def list_readers(db: Connection, merchant_id: int | None, kind: MailKind) -> list[Person]:
    """Return who is told of something: people of a merchant, or operators."""
    theirs = and_(mail_choices.c.person_id == people.c.id, mail_choices.c.kind == kind)
    wanted = (
        select(*OF_PERSON, _CHOSEN)
        .join_from(people, mail_choices, theirs, isouter=True)
        .where(
            people.c.realm == NOTICES[kind].realm,
            people.c.merchant_id.is_not_distinct_from(merchant_id),
        )
        .order_by(people.c.id)
    )
    return [
        person
        for *columns, chosen in db.execute(wanted)
        for person in [Person(*columns)]
        if is_wanted(kind, person.role, {} if chosen is None else {kind: chosen})
    ]


def read_choices(db: Connection, person_id: int) -> Mapping[MailKind, bool]:
    """Return what a person has chosen."""
    wanted = select(mail_choices.c.kind, _CHOSEN).where(mail_choices.c.person_id == person_id)
    return {row.kind: row.is_wanted for row in db.execute(wanted)}


def write_choice(db: Connection, person_id: int, kind: MailKind, *, is_wanted: bool) -> None:
    """Store what a person has chosen."""
    key = {"person_id": person_id, "kind": kind}
    db.execute(insert_or_update(db, mail_choices, key, {"is_wanted": is_wanted}))


def hash_recipient(merchant_id: int, email: str) -> str:
    """Return what stands for a recipient of a merchant."""
    return hashlib.sha256(f"{merchant_id} {email}".encode()).hexdigest()


def refuse_mails(db: Connection, recipient: str, *, now: datetime) -> None:
    """Store that a recipient wants no more mail on behalf of a merchant."""
    insert_unless_there(db, mail_refusals, hash=recipient, created_at=now)


def has_refused(db: Connection, recipient: str) -> bool:
    wanted = select(mail_refusals.c.hash).where(mail_refusals.c.hash == recipient)
    return db.execute(wanted).first() is not None
