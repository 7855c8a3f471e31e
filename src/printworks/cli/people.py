"""`printworks operator`, and a merchant's people: who may sign in to the pages."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from printworks.cli.options import (
    Data,
    Json,
    load_settings,
    make_console,
    open_database,
    print_json,
)
from printworks.rules.people import Realm, Role

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from printworks.store.accounts.people import Person

app = typer.Typer(
    help="Operators: who may sign in to the console, and as what.", no_args_is_help=True
)

Email = Annotated[str, typer.Argument(help="The e-mail address to sign in with.")]
MerchantId = Annotated[str, typer.Argument(metavar="MERCHANT", help="The merchant's id.")]
ForgetCode = Annotated[
    bool,
    typer.Option(
        "--forget-code", help="Ask for no code any more: for somebody whose telephone is gone."
    ),
]
# Whoever has a shell here is known to the machine, not to us.
WHO = "command line"


@app.command("invite")
def invite_operator(
    context: typer.Context,
    email: Email,
    *,
    role: Annotated[
        Role,
        typer.Option(
            case_sensitive=False,
            metavar="viewer|production|support|admin",
            help="What the operator may do; only an admin may do everything.",
        ),
    ] = Role.VIEWER,
    data: Data = None,
    json: Json = False,
) -> None:
    """Print a link with which somebody comes in to the console; it works once, for a week."""
    from printworks.actions.accounts.people import invite_operator as invite

    def make(db: "Connection", now: datetime) -> str:
        token = invite(db, email, role, now=now)
        _note(db, "invite-operator", email, now=now, role=role)
        return token

    _show_link(context, data, make, json=json)


@app.command("list")
def list_operators(context: typer.Context, *, data: Data = None, json: Json = False) -> None:
    """List who may sign in to the console."""
    from printworks.store.accounts.people import list_people

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        found = list_people(db, Realm.OPERATOR)
    _show_people(found, "Nobody can sign in to the console yet.", json=json)


@app.command("role")
def change_role(
    context: typer.Context,
    email: Email,
    role: Annotated[
        Role,
        typer.Argument(
            metavar="viewer|production|support|admin", help="What the operator may do from now on."
        ),
    ],
    *,
    data: Data = None,
) -> None:
    """Let an operator do more, or less, from now on."""
    from printworks.actions.accounts.operators import change_role as change
    from printworks.actions.accounts.people import get_person_by_email
    from printworks.clock import system_clock

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        person = change(db, get_person_by_email(db, Realm.OPERATOR, email).id, role)
        _note(db, "change-role", person.email, now=system_clock(), role=role)
    make_console().print(f"{person.email} is now: {role}.")


@app.command("reset")
def reset_operator(
    context: typer.Context,
    email: Email,
    *,
    forget_code: ForgetCode = False,
    data: Data = None,
    json: Json = False,
) -> None:
    """Print a link with which an operator chooses a new password."""
    _reset(context, data, Realm.OPERATOR, email, forget_code=forget_code, json=json)


@app.command("remove")
def remove_operator(context: typer.Context, email: Email, *, data: Data = None) -> None:
    """Let an operator in no more, and sign them out everywhere."""
    from printworks.actions.accounts.operators import remove_operator as remove
    from printworks.actions.accounts.people import get_person_by_email
    from printworks.clock import system_clock

    with open_database(load_settings(context, data)) as database, database.writing() as db:
        person = remove(db, get_person_by_email(db, Realm.OPERATOR, email).id)
        _note(db, "remove-operator", person.email, now=system_clock())
    make_console().print(f"{person.email} cannot sign in any more.")


def invite_merchant(
    context: typer.Context, email: Email, *, data: Data = None, json: Json = False
) -> None:
    """Print a link with which somebody opens an account; it works once, for a week."""
    from printworks.actions.accounts.people import invite_merchant as invite

    def make(db: "Connection", now: datetime) -> str:
        token = invite(db, email, now=now)
        _note(db, "invite-merchant", email, now=now)
        return token

    _show_link(context, data, make, json=json)


def list_merchants_people(
    context: typer.Context, merchant_id: MerchantId, *, data: Data = None, json: Json = False
) -> None:
    """List who may sign in to a merchant's dashboard."""
    from printworks.store.accounts.merchants import get_merchant_by_code
    from printworks.store.accounts.people import list_people

    with open_database(load_settings(context, data)) as database, database.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        found = list_people(db, Realm.MERCHANT, merchant_id=merchant.id)
    _show_people(found, f"Nobody can sign in for {merchant.code} yet.", json=json)


def invite_colleague(
    context: typer.Context,
    merchant_id: MerchantId,
    email: Email,
    *,
    data: Data = None,
    json: Json = False,
) -> None:
    """Print a link to a merchant's dashboard for one more person; it works once, for a week."""
    from printworks.actions.accounts.people import invite_colleague as invite
    from printworks.store.accounts.merchants import get_merchant_by_code

    def make(db: "Connection", now: datetime) -> str:
        merchant = get_merchant_by_code(db, merchant_id)
        token = invite(db, merchant.id, email, now=now)
        _note(db, "invite-colleague", email, merchant_id=merchant.id, now=now)
        return token

    _show_link(context, data, make, json=json)


def reset_merchants_person(
    context: typer.Context,
    email: Email,
    *,
    forget_code: ForgetCode = False,
    data: Data = None,
    json: Json = False,
) -> None:
    """Print a link with which one of a merchant's people chooses a new password."""
    _reset(context, data, Realm.MERCHANT, email, forget_code=forget_code, json=json)


def _reset(
    context: typer.Context, data: Data, realm: Realm, email: str, *, forget_code: bool, json: bool
) -> None:
    from printworks.actions.accounts.people import get_person_by_email, invite_to_choose_password
    from printworks.store.accounts.people import set_totp

    def make(db: "Connection", now: datetime) -> str:
        token = invite_to_choose_password(db, realm, email, now=now)
        person = get_person_by_email(db, realm, email)
        _note(db, "reset-password", person.email, merchant_id=person.merchant_id, now=now)
        if forget_code:
            set_totp(db, person.id, None, step=0)
            _note(db, "end-totp", person.email, merchant_id=person.merchant_id, now=now)
        return token

    _show_link(context, data, make, json=json)


def _note(
    db: "Connection",
    action: str,
    subject: str,
    *,
    now: datetime,
    merchant_id: int | None = None,
    **details: Any,
) -> None:
    from printworks.store.accounts.audit import record

    record(
        db,
        at=now,
        merchant_id=merchant_id,
        realm=Realm.OPERATOR,
        who=WHO,
        action=action,
        subject=subject,
        details=details,
    )


def _show_link(
    context: typer.Context,
    data: Data,
    make: "Callable[[Connection, datetime], str]",
    *,
    json: bool,
) -> None:
    from printworks.clock import system_clock

    settings = load_settings(context, data)
    with open_database(settings) as database, database.writing() as db:
        token = make(db, system_clock())
    link = f"{settings.public_url}/invitations/{token}"
    if json:
        print_json({"link": link})
        return
    console = make_console()
    console.print(link, style="bold")
    console.print("It works once, within a week; whoever has it can come in.", style="dim")


def _show_people(found: "Sequence[Person]", nobody: str, *, json: bool) -> None:
    from rich.table import Table

    if json:
        print_json(
            [
                {
                    "email": person.email,
                    "role": person.role,
                    "hasSecondFactor": person.has_totp,
                    "createdAt": person.created_at,
                }
                for person in found
            ]
        )
        return
    table = Table("e-mail", "role", "second factor", "since", box=None)
    for person in found:
        table.add_row(
            person.email,
            person.role,
            "yes" if person.has_totp else "no",
            f"{person.created_at:%Y-%m-%d}",
        )
    make_console().print(table if found else nobody)
