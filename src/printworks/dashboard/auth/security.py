"""The security settings of a person: password, second factors and sessions."""

import base64
import re
import secrets
from collections.abc import Sequence
from typing import Any, Final

import msgspec
import segno
from starlette.responses import Response

from printworks.actions.accounts import security
from printworks.dashboard.auth.devices import Devices
from printworks.dashboard.auth.new_passwords import check_new_password
from printworks.dashboard.auth.passkeys import Passkeys
from printworks.dashboard.auth.second_factor import is_required
from printworks.dashboard.auth.sessions import (
    SIGN_IN_PATHS,
    delete_session_cookie,
    set_session_cookie,
    sign_in_here,
)
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.router import Page, page_at
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.rules.people import Duty
from printworks.rules.totp import find_step, make_address
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.passkeys import list_passkeys
from printworks.store.accounts.people import get_person
from printworks.store.accounts.recovery_codes import count_codes
from printworks.store.accounts.sessions import list_sessions

_SECRET_BYTES: Final = 20
_TOTP_ON: Final = "Two-factor authentication is on."
_PASSKEY_ADDED: Final = "The passkey was added. You can sign in with it."
_SECRET: Final = re.compile(r"[A-Z2-7]{32}")
_ENTRIES: Final = 20


class Setup(msgspec.Struct, frozen=True):
    """What the page shows once: a secret to scan, a passkey to make, codes to write down."""

    totp_secret: str = ""
    with_passkey: bool = False
    codes: Sequence[str] = ()
    # What was done, where the page itself is the answer.
    done: str = ""


# Each area has it at a path of its own.
@page_at("", forms=Duty.LOOK)
def show_security(visit: Visit, setup: Setup | None = None) -> Response:
    """Show the security settings, the sessions and the latest audit entries."""
    setup = setup or _set_up_again(visit)
    merchant_id = visit.person.merchant_id
    entries = (
        [] if merchant_id is None else list_audit(visit.db, merchant_id=merchant_id, limit=_ENTRIES)
    )
    person = get_person(visit.db, visit.person.id)
    passkeys = list_passkeys(visit.db, person.id)
    shown = msgspec.structs.replace(visit, done=setup.done) if setup.done else visit
    return shown.render(
        "security.html",
        person=person,
        sessions=list_sessions(visit.db, person.id, now=visit.real_now),
        entries=entries,
        passkeys_known=passkeys,
        passkey_options=(
            Passkeys(visit.services).ask_to_register(_whose(visit), person, passkeys)
            if setup.with_passkey
            else ""
        ),
        codes=count_codes(visit.db, person.id),
        new_codes=setup.codes,
        is_required=is_required(visit.services, person),
        totp_secret=setup.totp_secret,
        totp_picture=_draw(visit, setup.totp_secret) if setup.totp_secret else "",
    )


def _set_up_again(visit: Visit) -> Setup:
    """Return what was being set up when a mistake was made: the same secret, or another try."""
    if not visit.problem:
        return Setup()
    secret = visit.sent.text("totp_secret")
    return Setup(
        totp_secret=secret if _SECRET.fullmatch(secret) else "",
        with_passkey=visit.sent.text("do") == "add-passkey" and not visit.needs_proof,
    )


def _whose(visit: Visit) -> str:
    return f"session {visit.session.hash}"


@show_security.action(
    "change-password",
    "Your password was changed. Other sessions were signed out.",
    needs_password=True,
    always_asks=True,
    # A hash takes longer than others should wait for the database.
    alone=True,
)
def change_password(visit: Visit) -> Response:
    """Set a new password and end all other sessions.

    This browser gets a new cookie: the old one may have been copied.
    """
    person, services = visit.person, visit.services
    password = visit.sent.raw("new_password")
    check_new_password(password, person.email, _shop_of(visit))
    password_hash = services.passwords.hash(password)
    with services.database.writing() as db:
        security.change_password(visit.within(db).own_work, person.id, password_hash)
        token = sign_in_here(
            db, visit.request, person, is_strong=visit.session.is_strong, now=visit.real_now
        )
    answer = send_on(f"{visit.path}?done=change-password")
    changed = msgspec.structs.replace(person, password_hash=password_hash)
    Devices(services).remember(answer, changed)
    set_session_cookie(answer, person.realm, token)
    return answer


@show_security.action("begin-totp", needs_password=True)
def begin_totp(visit: Visit) -> Response:
    """Show a new secret; it takes effect once a code was entered."""
    secret = base64.b32encode(secrets.token_bytes(_SECRET_BYTES)).decode()
    return show_security(visit, Setup(totp_secret=secret))


@show_security.action("confirm-totp", _TOTP_ON, needs_password=True)
def confirm_totp(visit: Visit) -> Response | None:
    """Turn two-factor authentication on if the code of the authenticator is right."""
    secret = visit.sent.text("totp_secret")
    step = find_step(secret, visit.sent.text("code"), last_step=0, now=visit.real_now)
    if step is None or not _SECRET.fullmatch(secret):
        raise BadInput("That code is wrong. Enter the one that your app shows now.")
    codes = security.begin_totp(
        visit.own_work, visit.person.id, secret, step=step, session=visit.session.hash
    )
    return show_security(visit, Setup(codes=codes, done=_TOTP_ON)) if codes else None


@show_security.action("end-totp", "Two-factor authentication is off.", needs_password=True)
def end_totp(visit: Visit) -> None:
    must_have = is_required(visit.services, visit.person)
    security.end_totp(visit.own_work, visit.person.id, is_required=must_have)


@show_security.action("begin-passkey", needs_password=True)
def begin_passkey(visit: Visit) -> Response:
    """Show the form that asks the browser for a passkey."""
    return show_security(visit, Setup(with_passkey=True))


@show_security.action("add-passkey", _PASSKEY_ADDED, needs_password=True)
def add_passkey(visit: Visit) -> Response | None:
    """Add the passkey that the browser has made."""
    sent = visit.sent
    new = Passkeys(visit.services).read_registration(
        _whose(visit), sent.text("passkey"), sent.text("name")
    )
    codes = security.add_passkey(visit.own_work, visit.person.id, new, session=visit.session.hash)
    return show_security(visit, Setup(codes=codes, done=_PASSKEY_ADDED)) if codes else None


@show_security.action("remove-passkey", "The passkey was removed.", needs_password=True)
def remove_passkey(visit: Visit) -> None:
    must_have = is_required(visit.services, visit.person)
    passkey = visit.sent.number("passkey_id") or 0
    security.remove_passkey(visit.own_work, visit.person.id, passkey, is_required=must_have)


@show_security.action("make-recovery-codes", needs_password=True)
def make_recovery_codes(visit: Visit) -> Response:
    """Make new recovery codes, and show them once."""
    codes = security.make_recovery_codes(visit.own_work, visit.person.id)
    return show_security(visit, Setup(codes=codes))


@show_security.action("end-session", "That session was signed out.")
def end_one(visit: Visit) -> None:
    security.sign_out(visit.own_work, visit.person.id, visit.sent.text("session"))


@show_security.action("sign-out-others", "Your other sessions were signed out.")
def sign_out_others(visit: Visit) -> None:
    security.sign_out_others(visit.own_work, visit.person.id, visit.session.hash)


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


def _shop_of(visit: Visit) -> str:
    if visit.person.merchant_id is None:
        return ""
    with visit.services.database.reading() as db:
        return get_merchant(db, visit.person.merchant_id).name


def _draw(visit: Visit, secret: str) -> str:
    address = make_address(secret, issuer=find_brand().name, account=visit.person.email)
    return segno.make(address, error="m").svg_data_uri(scale=5, border=2, light="#fff")
