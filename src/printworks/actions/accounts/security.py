"""Passwords, second factors and sessions. Each change is audited."""

import secrets
from typing import Final

from sqlalchemy.exc import IntegrityError

from printworks.actions.mail.accounts import tell_password_changed
from printworks.actions.work import SystemWork
from printworks.errors import BadInput, WrongState
from printworks.rules.recovery_codes import CODE_BYTES, CODES, write_code
from printworks.store.accounts.invitations import withdraw_links_of
from printworks.store.accounts.passkeys import (
    NewPasskey,
    count_passkeys,
    delete_passkey,
    delete_passkeys,
    insert_passkey,
)
from printworks.store.accounts.people import get_person_to_change, set_password, set_totp
from printworks.store.accounts.recovery_codes import count_codes, delete_codes, replace_codes
from printworks.store.accounts.secrets import about_totp, seal
from printworks.store.accounts.sessions import end_session, end_sessions, mark_strong

MOST_PASSKEYS: Final = 20
LONGEST_NAME: Final = 60


def change_password(work: SystemWork, person_id: int, password_hash: str) -> None:
    """Set another password and end all sessions."""
    set_password(work.db, person_id, password_hash)
    withdraw_links_of(work.db, person_id)
    end_sessions(work.db, person_id)
    work.audit("change-password")
    tell_password_changed(work, person_id)


def begin_totp(
    work: SystemWork, person_id: int, secret: str, *, step: int, session: str
) -> list[str]:
    """Require authenticator codes from now on; `step` is that of the first code entered.

    Return recovery codes, if there were none left.
    """
    sealed = seal(work.db, work.backing.vault, secret, about=about_totp(person_id))
    set_totp(work.db, person_id, sealed, step=step)
    mark_strong(work.db, session)
    work.audit("begin-totp")
    return _make_first_codes(work, person_id)


def end_totp(work: SystemWork, person_id: int, *, is_required: bool) -> None:
    """Stop requiring authenticator codes; refuse if a required second factor would be gone."""
    get_person_to_change(work.db, person_id)
    if is_required and not count_passkeys(work.db, person_id):
        raise WrongState("Your role needs a second factor. Add a passkey before you turn this off.")
    set_totp(work.db, person_id, None, step=0)
    work.audit("end-totp")


def add_passkey(work: SystemWork, person_id: int, new: NewPasskey, *, session: str) -> list[str]:
    """Let a person sign in with a passkey; return recovery codes, if there were none left."""
    name = new.name.strip()
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        message = f"Enter a name for the passkey, of at most {LONGEST_NAME} characters."
        raise BadInput(message, field="name")
    get_person_to_change(work.db, person_id)
    if count_passkeys(work.db, person_id) >= MOST_PASSKEYS:
        raise WrongState(f"You have {MOST_PASSKEYS} passkeys. Remove one before you add another.")
    try:
        insert_passkey(work.db, person_id, new, now=work.real_now)
    except IntegrityError:
        raise WrongState("This passkey was added before.") from None
    mark_strong(work.db, session)
    work.audit("add-passkey", name)
    return _make_first_codes(work, person_id)


def remove_passkey(work: SystemWork, person_id: int, passkey_id: int, *, is_required: bool) -> None:
    """Remove a passkey; refuse if a required second factor would be gone."""
    person = get_person_to_change(work.db, person_id)
    gone = delete_passkey(work.db, person_id, passkey_id)
    if gone is None:
        raise BadInput("That passkey was removed already.")
    if is_required and not person.has_totp and not count_passkeys(work.db, person_id):
        raise WrongState(
            "Your role needs a second factor. Add another passkey, or set up an authenticator app, "
            "before you remove this one."
        )
    work.audit("remove-passkey", gone.name)


def make_recovery_codes(work: SystemWork, person_id: int) -> list[str]:
    """Make new recovery codes; the ones before stop working. Only their hashes are stored."""
    codes = [write_code(secrets.token_bytes(CODE_BYTES)) for _ in range(CODES)]
    replace_codes(work.db, person_id, codes, now=work.real_now)
    work.audit("make-recovery-codes")
    return codes


def _make_first_codes(work: SystemWork, person_id: int) -> list[str]:
    return [] if count_codes(work.db, person_id).left else make_recovery_codes(work, person_id)


def forget_second_factor(work: SystemWork, person_id: int, *, subject: str) -> None:
    """Remove every second factor of a person who has lost them: codes, passkeys, recovery codes."""
    set_totp(work.db, person_id, None, step=0)
    delete_passkeys(work.db, person_id)
    delete_codes(work.db, person_id)
    work.audit("forget-second-factor", subject)


def sign_out(work: SystemWork, person_id: int, session: str) -> None:
    """End one session of a person, by its hash."""
    end_session(work.db, person_id, session)
    work.audit("end-session")


def sign_out_others(work: SystemWork, person_id: int, session: str) -> None:
    """End all sessions of a person but one, by its hash."""
    ended = end_sessions(work.db, person_id, but=session)
    work.audit("sign-out-others", ended=ended)


def sign_out_everywhere(work: SystemWork, person_id: int) -> None:
    end_sessions(work.db, person_id)
    work.audit("sign-out-everywhere")
