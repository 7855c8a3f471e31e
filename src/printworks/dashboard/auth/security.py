"""Somebody's own settings: the password, the second factor, and where they are signed in."""

import base64
import secrets
from typing import Any, Final

import msgspec
import segno
from starlette.responses import Response

from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.sessions import SIGN_IN_PATHS, give_cookie, sign_in_here, take_cookie
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.rules.people import check_password
from printworks.rules.totp import find_step, make_address
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.invitations import withdraw_links_of
from printworks.store.accounts.people import get_person, set_password, set_totp
from printworks.store.accounts.sessions import end_session, end_sessions, list_sessions

_SECRET_BYTES: Final = 20
_ENTRIES: Final = 20


def security_page(path: str) -> Page[Any]:
    """Return the page for one realm."""
    return Page(
        path=path,
        show=show_security,
        form_actions=(
            FormAction(
                name="change-password",
                take=change_password,
                says="Your password was changed. Other browsers were signed out.",
                needs_password=True,
                # A hash takes longer than others should wait for the database.
                alone=True,
            ),
            FormAction(name="begin-totp", take=begin_totp, needs_password=True),
            FormAction(
                name="confirm-totp",
                take=confirm_totp,
                says="From now on, signing in asks for a code as well.",
                needs_password=True,
            ),
            FormAction(
                name="end-totp",
                take=end_totp,
                says="Signing in asks for your password only.",
                needs_password=True,
            ),
            FormAction(name="end-session", take=end_one, says="That browser was signed out."),
            FormAction(name="sign-out-everywhere", take=sign_out_everywhere),
        ),
    )


def show_security(visit: Visit, totp_secret: str = "") -> Response:
    """Show everything about somebody's own way in, and what was done lately."""
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


def change_password(visit: Visit) -> Response:
    """Set another password, and sign everybody out who knew only the old one.

    This browser gets another cookie: somebody may have a copy of the one it had.
    """
    person, services = visit.person, visit.services
    password = visit.sent.raw("new_password")
    check_password(password, email=person.email)
    password_hash = services.passwords.hash(password)
    with services.database.writing() as db:
        set_password(db, person.id, password_hash)
        withdraw_links_of(db, person.id)
        end_sessions(db, person.id)
        token = sign_in_here(services, visit.request, person, db)
        visit.within(db).note("change-password")
    answer = send_on(f"{visit.path}?done=change-password")
    changed = msgspec.structs.replace(person, password_hash=password_hash)
    Devices(services).remember(answer, changed)
    give_cookie(answer, person.realm, token)
    return answer


def begin_totp(visit: Visit) -> Response:
    """Show a new secret; nothing asks for its codes before one of them was entered."""
    secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return show_security(visit, secret)


def confirm_totp(visit: Visit) -> str | Response:
    """Ask for codes from now on, if somebody's authenticator shows the right ones."""
    secret = visit.sent.text("totp_secret")
    step = find_step(secret, visit.sent.text("code"), last_step=0, now=visit.real_now)
    if step is None or len(secret) != len(base64.b32encode(bytes(_SECRET_BYTES))):
        raise BadInput("That code does not belong to the picture. Begin again with a new one.")
    set_totp(visit.db, visit.person.id, secret, step=step)
    visit.note("begin-totp")
    return visit.path


def end_totp(visit: Visit) -> str:
    """Ask for no code any more."""
    set_totp(visit.db, visit.person.id, None, step=0)
    visit.note("end-totp")
    return visit.path


def end_one(visit: Visit) -> str:
    """Sign one browser out."""
    end_session(visit.db, visit.person.id, visit.sent.text("session"))
    visit.note("end-session")
    return visit.path


def sign_out_everywhere(visit: Visit) -> Response:
    """Sign every browser out, this one too."""
    end_sessions(visit.db, visit.person.id)
    visit.note("sign-out-everywhere")
    answer = send_on(SIGN_IN_PATHS[visit.person.realm])
    take_cookie(answer, visit.person.realm)
    return answer


def _draw(visit: Visit, secret: str) -> str:
    address = make_address(secret, issuer="Printworks", account=visit.person.email)
    return segno.make(address, error="m").svg_data_uri(scale=5, border=2, light="#fff")
