"""The operators: invite them, change a role, reset a password, remove one."""

from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.operators import change_role, get_operator, remove_operator
from printworks.actions.accounts.people import invite_operator, invite_to_choose_password, withdraw
from printworks.dashboard.auth.second_factor import is_required
from printworks.dashboard.shared.invitation_links import FreshLink, is_mailed, make_link
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import MAY, OPERATORS, Duty, Realm, Role
from printworks.store.accounts.invitations import list_open_invitations
from printworks.store.accounts.passkeys import count_passkeys, count_passkeys_of
from printworks.store.accounts.people import find_last_visits, list_people

# What each role is for.
_ROLE_TEXTS: Final = {
    Role.VIEWER: "Can view everything except privacy, the seller, people and the audit log; "
    "cannot change anything.",
    Role.PRODUCTION: "Runs the labs: accepts, dispatches and rejects jobs, and holds orders.",
    Role.SUPPORT: "Handles issues and orders, resends emails and callbacks, and reads the audit log.",
    Role.ADMIN: "Can do everything: merchants, money, jobs and people.",
}


@page_at("/console/people", duty=Duty.ADMINISTER)
def show_people(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show who may sign in, who was invited, and what each role may do."""
    operators = list_people(visit.db, Realm.OPERATOR)
    return visit.render(
        "console/people.html",
        passkey_counts=count_passkeys_of(visit.db, operators),
        people=operators,
        last_visits=find_last_visits(visit.db, Realm.OPERATOR),
        invitations=list_open_invitations(visit.db, Realm.OPERATOR, now=visit.real_now),
        roles=OPERATORS,
        meanings=_ROLE_TEXTS,
        link=link,
    )


@show_people.action("invite-operator", needs_password=True)
def invite(visit: ConsoleVisit) -> Response:
    """Invite an operator by mail, or show the link once."""
    email, role = visit.sent.text("email"), _read_role(visit)
    token = invite_operator(visit.system_work, email, role, by_mail=is_mailed(visit))
    return show_people(visit, make_link(visit, email, token))


@show_people.action("withdraw-operator-invitation", "The invitation was withdrawn.")
def withdraw_one(visit: ConsoleVisit) -> None:
    withdraw(visit.system_work, Realm.OPERATOR, visit.sent.text("invitation"))


@page_at("/console/people/{id}", duty=Duty.ADMINISTER)
def show_person(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show one of the operators, and what can be changed."""
    person = get_operator(visit.db, visit.number("id"))
    return visit.render(
        "console/person.html",
        person=person,
        passkey_count=count_passkeys(visit.db, person.id),
        is_required=is_required(visit.services, person),
        last_visit=find_last_visits(visit.db, Realm.OPERATOR).get(person.id),
        duties=[duty for duty in Duty if duty in MAY[person.role]],
        roles=OPERATORS,
        meanings=_ROLE_TEXTS,
        link=link,
    )


@show_person.action("change-role", "The role was changed.", needs_password=True)
def give_role(visit: ConsoleVisit) -> None:
    change_role(visit.system_work, visit.number("id"), _read_role(visit))


@show_person.action("reset-operator", needs_password=True)
def reset_password(visit: ConsoleVisit) -> Response:
    """Mail a password reset link, or show it once."""
    person = get_operator(visit.db, visit.number("id"))
    token = invite_to_choose_password(
        visit.system_work, Realm.OPERATOR, person.email, by_mail=is_mailed(visit)
    )
    return show_person(visit, make_link(visit, person.email, token))


@show_person.action(
    "remove-operator",
    "They can no longer sign in, and were signed out everywhere.",
    needs_password=True,
)
def remove(visit: ConsoleVisit) -> str:
    remove_operator(visit.system_work, visit.number("id"))
    return "/console/people"


def _read_role(visit: ConsoleVisit) -> Role:
    return read_choice(Role, visit.sent.text("role"), "Choose one of the roles.", field="role")
