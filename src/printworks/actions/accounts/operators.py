"""Who runs the console: let the first one in, change what somebody may do, let somebody go."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from printworks.actions.accounts.people import invite_operator
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import OPERATORS, Realm, Role
from printworks.store.accounts.operators import (
    delete_person,
    has_operators,
    lock_admins,
    withdraw_all,
)
from printworks.store.accounts.people import Person, get_person, set_role

# The first operator of a sandbox signs in with this; others bring their own.
FIRST_OPERATOR: Final = "operator@example.com"
_LAST: Final = "{email} is the only admin. Make somebody else an admin first."


def get_operator(db: Connection, person_id: int) -> Person:
    """Return one of the operator's people; a merchant's are nobody here."""
    person = get_person(db, person_id)
    if person.realm is not Realm.OPERATOR:
        raise NotFound("There is nobody with this number.")
    return person


def change_role(db: Connection, person_id: int, role: Role) -> Person:
    """Let an operator do more, or less, from the next page on; return who it was before."""
    if role not in OPERATORS:
        raise BadInput(f"An operator's role is one of: {', '.join(OPERATORS)}.")
    admins = lock_admins(db)
    person = get_operator(db, person_id)
    if role is not Role.ADMIN:
        _keep_an_admin(person, admins)
    set_role(db, person.id, role)
    return person


def remove_operator(db: Connection, person_id: int) -> Person:
    """Let an operator in no more, at once and everywhere; return who it was."""
    admins = lock_admins(db)
    person = get_operator(db, person_id)
    _keep_an_admin(person, admins)
    delete_person(db, person.id)
    # Two links may have been sent to the same address, and only one of them used.
    withdraw_all(db, Realm.OPERATOR, person.email)
    return person


def invite_first_operator(db: Connection, *, now: datetime) -> str | None:
    """Return what a link for the first operator must hold; None once there is somebody.

    Those that were made before work no more.
    """
    if has_operators(db):
        return None
    withdraw_all(db, Realm.OPERATOR, FIRST_OPERATOR)
    return invite_operator(db, FIRST_OPERATOR, Role.ADMIN, now=now)


def _keep_an_admin(person: Person, admins: frozenset[int]) -> None:
    if admins == {person.id}:
        raise WrongState(_LAST.format(email=person.email))
