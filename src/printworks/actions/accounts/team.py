"""The people of a merchant: their roles, and their removal."""

from printworks.actions.work import Work
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import TEAM, Realm, Role
from printworks.store.accounts.invitations import withdraw_all
from printworks.store.accounts.people import (
    Person,
    delete_person,
    get_person_to_change,
    lock_owners,
    set_role,
)


def change_team_role(work: Work, person_id: int, role: Role) -> Person:
    """Change a colleague's role from the next request on; return the person as before."""
    if role not in TEAM:
        raise BadInput(f"A colleague's role is one of: {', '.join(TEAM)}.")
    owners = lock_owners(work.db, work.merchant.id)
    person = _get_colleague(work, person_id)
    if role is not Role.OWNER:
        _require_another_owner(person, owners)
    set_role(work.db, person.id, role)
    work.audit("change-team-role", person.email, role=role, before=person.role)
    return person


def remove_from_team(work: Work, person_id: int) -> Person:
    """Remove a colleague and end all their sessions; return who it was."""
    owners = lock_owners(work.db, work.merchant.id)
    person = _get_colleague(work, person_id)
    _require_another_owner(person, owners)
    delete_person(work.db, person.id)
    # Another invitation to the same address may still be unused.
    withdraw_all(work.db, Realm.MERCHANT, person.email, merchant_id=work.merchant.id)
    work.audit("remove-from-team", person.email, role=person.role)
    return person


def _get_colleague(work: Work, person_id: int) -> Person:
    person = get_person_to_change(work.db, person_id)
    if person.realm is not Realm.MERCHANT or person.merchant_id != work.merchant.id:
        raise NotFound("There is no person with this ID.")
    return person


def _require_another_owner(person: Person, owners: frozenset[int]) -> None:
    if owners == {person.id}:
        raise WrongState(f"{person.email} is the only owner. Make somebody else an owner first.")
