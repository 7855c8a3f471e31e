"""The security settings of a person: password, second factor and sessions."""

import base64
import secrets
from typing import Any, Final

import msgspec
import segno
from starlette.responses import Response

from printworks.actions.accounts import security
from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.sessions import (
    SIGN_IN_PATHS,
    delete_session_cookie,
    set_session_cookie,
    sign_in_here,
)
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.router import Page, page_at
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.rules.people import check_password
from printworks.rules.totp import find_step, make_address
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.people import get_person
from printworks.store.accounts.sessions import list_sessions

_SECRET_BYTES: Final = 20
_ENTRIES: Final = 20


# Each area has it at a path of its own.
@page_at("")
def show_security(visit: Visit, totp_secret: str = "") -> Response:
    """Show the security settings, the sessions and the latest audit entries."""
    merchant_id = visit.person.merchant_id
    entries = (
        [] if merchant_id is None else list_audit(visit.db, merchant_id=merchant_id, limit=_ENTRIES)
    )
    return visit.render(
        "security.html",
        person=get_person(visit.db, visit.person.id),
        sessions=list_sessions(visit.db, visit.person.id, now=visit.real_now),
        entries=entries,
        totp_secret=totp_secret,
        totp_picture=_draw(visit, totp_secret) if totp_secret else "",
    )


@show_security.action(
    "change-password",
    "Your password was changed. Other sessions were signed out.",
    needs_password=True,
    # A hash takes longer than others should wait for the database.
    alone=True,
)
def change_password(visit: Visit) -> Response:
    """Set a new password and end all other sessions.

    This browser gets a new cookie: the old one may have been copied.
    """
    person, services = visit.person, visit.services
    password = visit.sent.raw("new_password")
    check_password(password, email=person.email)
    password_hash = services.passwords.hash(password)
    with services.database.writing() as db:
        security.change_password(visit.within(db).own_work, person.id, password_hash)
        token = sign_in_here(services, visit.request, person, db)
    answer = send_on(f"{visit.path}?done=change-password")
    changed = msgspec.structs.replace(person, password_hash=password_hash)
    Devices(services).remember(answer, changed)
    set_session_cookie(answer, person.realm, token)
    return answer


@show_security.action("begin-totp", needs_password=True)
def begin_totp(visit: Visit) -> Response:
    """Show a new secret; it takes effect once a code was entered."""
    secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return show_security(visit, secret)


@show_security.action("confirm-totp", "Two-factor authentication is on.", needs_password=True)
def confirm_totp(visit: Visit) -> None:
    """Turn two-factor authentication on if the code of the authenticator is right."""
    secret = visit.sent.text("totp_secret")
    step = find_step(secret, visit.sent.text("code"), last_step=0, now=visit.real_now)
    if step is None or len(secret) != len(base64.b32encode(bytes(_SECRET_BYTES))):
        raise BadInput("That code is wrong. Start again and scan the new QR code.")
    security.begin_totp(visit.own_work, visit.person.id, secret, step=step)


@show_security.action("end-totp", "Two-factor authentication is off.", needs_password=True)
def end_totp(visit: Visit) -> None:
    security.end_totp(visit.own_work, visit.person.id)


@show_security.action("end-session", "That session was signed out.")
def end_one(visit: Visit) -> None:
    security.sign_out(visit.own_work, visit.person.id, visit.sent.text("session"))


@show_security.action("sign-out-everywhere")
def sign_out_everywhere(visit: Visit) -> Response:
    """End all sessions, this one too."""
    security.sign_out_everywhere(visit.own_work, visit.person.id)
    answer = send_on(SIGN_IN_PATHS[visit.person.realm])
    delete_session_cookie(answer, visit.person.realm)
    return answer


def security_page(path: str) -> Page[Any]:
    """Return the page for one realm."""
    return msgspec.structs.replace(show_security, path=path)


def _draw(visit: Visit, secret: str) -> str:
    address = make_address(secret, issuer="Printworks", account=visit.person.email)
    return segno.make(address, error="m").svg_data_uri(scale=5, border=2, light="#fff")
