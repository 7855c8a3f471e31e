"""Operators: the first invitation, roles and removal."""

from typing import Final

from sqlalchemy import Connection

from printworks.actions.accounts.people import invite_operator
from printworks.actions.work import SystemWork
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import OPERATORS, Realm, Role
from printworks.store.accounts.invitations import withdraw_all
from printworks.store.accounts.people import (
    Person,
    delete_person,
    get_person,
    has_operators,
    lock_admins,
    set_role,
)

# The address of a sandbox's first operator.
FIRST_OPERATOR: Final = "operator@example.com"


def get_operator(db: Connection, person_id: int) -> Person:
    """Return an operator; raise `NotFound` for a merchant's person."""
    person = get_person(db, person_id)
    if person.realm is not Realm.OPERATOR:
        raise NotFound("There is no operator with this number.")
    return person


def change_role(work: SystemWork, person_id: int, role: Role) -> Person:
    """Change an operator's role from the next request on; return the person as before."""
    if role not in OPERATORS:
        raise BadInput(f"An operator's role is one of: {', '.join(OPERATORS)}.")
    admins = lock_admins(work.db)
    person = get_operator(work.db, person_id)
    if role is not Role.ADMIN:
        _require_another_admin(person, admins)
    set_role(work.db, person.id, role)
    work.audit("change-role", person.email, role=role, before=person.role)
    return person


def remove_operator(work: SystemWork, person_id: int) -> Person:
    """Remove an operator and end all their sessions; return who it was."""
    admins = lock_admins(work.db)
    person = get_operator(work.db, person_id)
    _require_another_admin(person, admins)
    delete_person(work.db, person.id)
    # Another invitation to the same address may still be unused.
    withdraw_all(work.db, Realm.OPERATOR, person.email)
    work.audit("remove-operator", person.email, role=person.role)
    return person


def invite_first_operator(work: SystemWork) -> str | None:
    """Return the token of a link for the first operator; None once there is one.

    Earlier links stop working.
    """
    if has_operators(work.db):
        return None
    withdraw_all(work.db, Realm.OPERATOR, FIRST_OPERATOR)
    # Nobody reads mail at that address.
    return invite_operator(work, FIRST_OPERATOR, Role.ADMIN, by_mail=False)


def _require_another_admin(person: Person, admins: frozenset[int]) -> None:
    if admins == {person.id}:
        raise WrongState(f"{person.email} is the only admin. Make another operator an admin first.")
