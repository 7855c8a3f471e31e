"""`printworks operator`: who may sign in to the console, in which role."""

from collections.abc import Sequence
from typing import Annotated

import typer

from printworks.actions.accounts.operators import change_role, remove_operator
from printworks.actions.accounts.people import (
    get_person_by_email,
    invite_operator,
    invite_to_choose_password,
    work_for_person,
)
from printworks.actions.accounts.security import forget_second_factor
from printworks.cli.options import Email
from printworks.cli.output import Columns, pick
from printworks.cli.session import CommandSession, command
from printworks.rules.people import Realm, Role
from printworks.store.accounts.passkeys import count_passkeys_of
from printworks.store.accounts.people import Person, list_people

ROLES = "viewer|production|support|admin"

app = typer.Typer(no_args_is_help=True)

ShowLink = Annotated[
    bool,
    typer.Option(
        "--show-link", help="Print the link instead of emailing it, where mail is set up."
    ),
]
ForgetCode = Annotated[
    bool,
    typer.Option(
        "--forget-code",
        help="Also remove the second factor, passkeys and recovery codes: for a lost telephone.",
    ),
]


@command(app, "invite")
def invite(
    session: CommandSession,
    email: Email,
    *,
    role: Annotated[
        Role,
        typer.Option(
            case_sensitive=False,
            metavar=ROLES,
            help="What the operator may do; only an admin may do everything.",
        ),
    ] = Role.VIEWER,
    by_hand: ShowLink = False,
) -> None:
    """Email or print a link to the console for a new operator; it works once, for a week."""
    by_mail = is_mailed(session, by_hand=by_hand)
    with session.system_work() as system:
        token = invite_operator(system, email, role, by_mail=by_mail)
    show_link(session, token, mailed_to=email if by_mail else None)


@command(app, "list")
def list_operators(session: CommandSession) -> None:
    """List who may sign in to the console."""
    with session.reading() as db:
        found = list_people(db, Realm.OPERATOR)
    show_people(session, found, "Nobody can sign in to the console yet.")


@command(app, "role")
def give_role(
    session: CommandSession,
    email: Email,
    role: Annotated[
        Role, typer.Argument(metavar=ROLES, help="What the operator may do from now on.")
    ],
) -> None:
    """Change an operator's role."""
    with session.system_work() as system:
        person = get_person_by_email(system.db, Realm.OPERATOR, email)
        change_role(system, person.id, role)
    session.done(f"{person.email} is now: {role}.", email=person.email, role=role)


@command(app, "reset")
def reset_operator(
    session: CommandSession,
    email: Email,
    *,
    forget_code: ForgetCode = False,
    by_hand: ShowLink = False,
) -> None:
    """Email or print a link with which an operator chooses a new password."""
    by_mail = is_mailed(session, by_hand=by_hand)
    reset(session, Realm.OPERATOR, email, forget_code=forget_code, by_mail=by_mail)


@command(app, "remove")
def remove(session: CommandSession, email: Email) -> None:
    """Remove an operator, and sign them out everywhere."""
    with session.system_work() as system:
        person = get_person_by_email(system.db, Realm.OPERATOR, email)
        remove_operator(system, person.id)
    session.done(f"{person.email} cannot sign in any more.", email=person.email)


def reset(
    session: CommandSession, realm: Realm, email: str, *, forget_code: bool, by_mail: bool
) -> None:
    """Make a link to choose a new password; end the second factor too if wanted."""
    with session.system_work() as system:
        token = invite_to_choose_password(system, realm, email, by_mail=by_mail)
        if forget_code:
            person = get_person_by_email(system.db, realm, email)
            work = work_for_person(system, person)
            forget_second_factor(work, person.id, subject=person.email)
    show_link(session, token, mailed_to=email if by_mail else None)


def is_mailed(session: CommandSession, *, by_hand: bool) -> bool:
    """Return whether a link is mailed, and not printed."""
    return bool(session.settings.smtp_host) and not by_hand


def show_link(session: CommandSession, token: str, *, mailed_to: str | None) -> None:
    """Print the link of an invitation, or that it was mailed."""
    if mailed_to is not None:
        session.show(
            {"mailedTo": mailed_to}, f"An email with the link is on its way to {mailed_to}."
        )
        return
    link = f"{session.settings.public_url}/invitations/{token}"
    sentence = "It works once, within a week, for anyone who has it."
    session.show({"link": link}, link, sentence)


def show_people(session: CommandSession, people: Sequence[Person], none: str) -> None:
    """Print who may sign in."""
    with session.reading() as db:
        passkeys = count_passkeys_of(db, people)
    found = [
        {
            **pick(person, "email", "role", "created_at"),
            "hasSecondFactor": person.has_totp or person.id in passkeys,
        }
        for person in people
    ]
    columns: Columns = {
        "email": "email",
        "role": "role",
        "second factor": "hasSecondFactor",
        "since": "createdAt",
    }
    session.show_list(found, columns, none)
