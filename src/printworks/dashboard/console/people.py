"""Who runs the console: invite, give a role, a new password, or let somebody go."""

from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.operators import change_role, get_operator, remove_operator
from printworks.actions.accounts.people import invite_operator, invite_to_choose_password
from printworks.dashboard.console.invitations import FreshLink, make_link
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.people import MAY, OPERATORS, Duty, Realm, Role
from printworks.store.accounts.operators import (
    find_last_visits,
    list_open_invitations,
    withdraw_invitation,
)
from printworks.store.accounts.people import list_people

_PEOPLE: Final = "/console/people"
# What each role is for, in the words of whoever gives it.
_MEANINGS: Final = {
    Role.VIEWER: "Looks at everything and changes nothing.",
    Role.PRODUCTION: "Runs the labs: accepts, dispatches and rejects jobs, holds orders.",
    Role.SUPPORT: "Answers issues and merchants, and reads who did what.",
    Role.ADMIN: "Does everything: merchants, money, jobs and people.",
}


def show_people(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show who may sign in, who was invited, and what each role may do."""
    return visit.render(
        "console/people.html",
        people=list_people(visit.db, Realm.OPERATOR),
        last_visits=find_last_visits(visit.db, Realm.OPERATOR),
        invitations=list_open_invitations(visit.db, Realm.OPERATOR, now=visit.real_now),
        roles=OPERATORS,
        meanings=_MEANINGS,
        link=link,
    )


def invite(visit: ConsoleVisit) -> Response:
    """Make a link for a new operator, and show it this once."""
    email, role = visit.sent.text("email"), _read_role(visit)
    token = invite_operator(visit.db, email, role, now=visit.real_now)
    visit.note("invite-operator", email, role=role)
    return show_people(visit, make_link(visit, email, token))


def withdraw(visit: ConsoleVisit) -> str:
    """Let a link work no more."""
    gone = withdraw_invitation(visit.db, Realm.OPERATOR, visit.sent.text("invitation"))
    if gone is None:
        raise BadInput("That link was used or withdrawn already.")
    visit.note("withdraw-invitation", gone.email)
    return _PEOPLE


def show_person(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show one of the operators, and what can be changed."""
    person = get_operator(visit.db, visit.number("id"))
    return visit.render(
        "console/person.html",
        person=person,
        last_visit=find_last_visits(visit.db, Realm.OPERATOR).get(person.id),
        duties=[duty for duty in Duty if duty in MAY[person.role]],
        roles=OPERATORS,
        meanings=_MEANINGS,
        link=link,
    )


def give_role(visit: ConsoleVisit) -> str:
    """Let somebody do more, or less."""
    role = _read_role(visit)
    before = change_role(visit.db, visit.number("id"), role)
    visit.note("change-role", before.email, role=role, before=before.role)
    return visit.path


def reset_password(visit: ConsoleVisit) -> Response:
    """Make a link with which somebody chooses a new password, and show it this once."""
    person = get_operator(visit.db, visit.number("id"))
    token = invite_to_choose_password(visit.db, Realm.OPERATOR, person.email, now=visit.real_now)
    visit.note("reset-password", person.email)
    return show_person(visit, make_link(visit, person.email, token))


def remove(visit: ConsoleVisit) -> str:
    """Let somebody in no more."""
    person = remove_operator(visit.db, visit.number("id"))
    visit.note("remove-operator", person.email, role=person.role)
    return _PEOPLE


def _read_role(visit: ConsoleVisit) -> Role:
    try:
        return Role(visit.sent.text("role"))
    except ValueError:
        raise BadInput("Choose one of the roles.") from None


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(
        path=_PEOPLE,
        show=show_people,
        duty=Duty.ADMINISTER,
        form_actions=(
            FormAction(
                name="invite-operator", take=invite, duty=Duty.ADMINISTER, needs_password=True
            ),
            FormAction(
                name="withdraw-operator-invitation",
                take=withdraw,
                says="The link does not work any more.",
                duty=Duty.ADMINISTER,
            ),
        ),
    ),
    Page(
        path=f"{_PEOPLE}/{{id}}",
        show=show_person,
        duty=Duty.ADMINISTER,
        form_actions=(
            FormAction(
                name="change-role",
                take=give_role,
                says="The role was changed. It counts from the next page on.",
                duty=Duty.ADMINISTER,
                needs_password=True,
            ),
            FormAction(
                name="reset-operator",
                take=reset_password,
                duty=Duty.ADMINISTER,
                needs_password=True,
            ),
            FormAction(
                name="remove-operator",
                take=remove,
                says="They cannot sign in any more, and were signed out everywhere.",
                duty=Duty.ADMINISTER,
                needs_password=True,
            ),
        ),
    ),
)
