"""Passwords, second factors and sessions. Each change is audited."""

from printworks.actions.work import SystemWork
from printworks.store.accounts.invitations import withdraw_links_of
from printworks.store.accounts.people import set_password, set_totp
from printworks.store.accounts.secrets import about_totp, seal
from printworks.store.accounts.sessions import end_session, end_sessions


def change_password(work: SystemWork, person_id: int, password_hash: str) -> None:
    """Set another password and end all sessions."""
    set_password(work.db, person_id, password_hash)
    withdraw_links_of(work.db, person_id)
    end_sessions(work.db, person_id)
    work.audit("change-password")


def begin_totp(work: SystemWork, person_id: int, secret: str, *, step: int) -> None:
    """Require authenticator codes from now on; `step` is that of the first code entered."""
    sealed = seal(work.db, work.backing.vault, secret, about=about_totp(person_id))
    set_totp(work.db, person_id, sealed, step=step)
    work.audit("begin-totp")


def end_totp(work: SystemWork, person_id: int, *, subject: str = "") -> None:
    """Stop requiring authenticator codes."""
    set_totp(work.db, person_id, None, step=0)
    work.audit("end-totp", subject)


def sign_out(work: SystemWork, person_id: int, session: str) -> None:
    """End one session of a person, by its hash."""
    end_session(work.db, person_id, session)
    work.audit("end-session")


def sign_out_everywhere(work: SystemWork, person_id: int) -> None:
    end_sessions(work.db, person_id)
    work.audit("sign-out-everywhere")
