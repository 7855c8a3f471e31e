"""People who sign in, and what is remembered of their mistakes."""

from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.errors import NotFound
from printworks.rules.people import Realm, Role
from printworks.store.tables import people


class Person(msgspec.Struct, frozen=True):
    """Somebody who may sign in."""

    id: int
    realm: Realm
    email: str
    role: Role
    # Null for the operator's own people.
    merchant_id: int | None
    password_hash: str
    totp_secret: str | None
    # The step of the last code that was used: none counts twice.
    totp_step: int
    failures: int
    failed_at: datetime | None
    created_at: datetime

    @property
    def has_totp(self) -> bool:
        """Whether a code is asked for besides the password."""
        return self.totp_secret is not None


COLUMNS: Final = [people.c[name] for name in Person.__struct_fields__]


def insert_person(
    db: Connection,
    *,
    realm: Realm,
    email: str,
    role: Role,
    merchant_id: int | None,
    password_hash: str,
    now: datetime,
) -> Person:
    """Add somebody; there must be nobody with this address at the same door."""
    values: dict[str, Any] = {
        "realm": realm,
        "email": email,
        "role": role,
        "merchant_id": merchant_id,
        "password_hash": password_hash,
        "totp_secret": None,
        "totp_step": 0,
        "failures": 0,
        "failed_at": None,
        "created_at": now,
    }
    number = db.execute(insert(people).values(**values).returning(people.c.id)).scalar_one()
    return Person(number, **values)


def find_person(db: Connection, realm: Realm, email: str) -> Person | None:
    """Return who has this address at this door."""
    wanted = select(*COLUMNS).where(people.c.realm == realm, people.c.email == email)
    row = db.execute(wanted).one_or_none()
    return None if row is None else Person(*row)


def get_person(db: Connection, person_id: int) -> Person:
    """Return somebody by number."""
    row = db.execute(select(*COLUMNS).where(people.c.id == person_id)).one_or_none()
    if row is None:
        raise NotFound("There is nobody with this number.")
    return Person(*row)


def list_people(db: Connection, realm: Realm, *, merchant_id: int | None = None) -> list[Person]:
    """Return who may come in at a door, for one merchant or for the operator."""
    wanted = (
        select(*COLUMNS)
        .where(people.c.realm == realm, people.c.merchant_id.is_not_distinct_from(merchant_id))
        .order_by(people.c.email)
    )
    return [Person(*row) for row in db.execute(wanted)]


def set_password(db: Connection, person_id: int, password_hash: str) -> None:
    """Remember another password, and forget the mistakes made with the old one."""
    _change(db, person_id, password_hash=password_hash, failures=0, failed_at=None)


def set_totp(db: Connection, person_id: int, secret: str | None, *, step: int) -> None:
    """Ask for codes of this secret from now on, or for none."""
    _change(db, person_id, totp_secret=secret, totp_step=step)


def set_role(db: Connection, person_id: int, role: Role) -> None:
    """Let somebody do more, or less."""
    _change(db, person_id, role=role)


def note_failure(db: Connection, person_id: int, *, now: datetime) -> None:
    """Count a wrong password or code."""
    _change(db, person_id, failures=people.c.failures + 1, failed_at=now)


def forget_failures(db: Connection, person_id: int) -> None:
    """Begin anew after the right password."""
    _change(db, person_id, failures=0, failed_at=None)


def use_step(db: Connection, person_id: int, step: int) -> bool:
    """Use up a code; say whether nobody has before."""
    used = db.execute(
        update(people)
        .where(people.c.id == person_id, people.c.totp_step < step)
        .values(totp_step=step)
    )
    return used.rowcount == 1


def _change(db: Connection, person_id: int, **values: Any) -> None:
    db.execute(update(people).where(people.c.id == person_id).values(**values))
