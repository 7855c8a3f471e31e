"""Let people in: sign up, invite, accept; and give them another password."""

from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from printworks.actions.accounts.merchants import NewMerchant, add_merchant
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.people import OPERATORS, Realm, Role, read_email
from printworks.store.accounts.invitations import (
    Invitation,
    add_invitation,
    find_invitation,
    use_invitation,
    withdraw_links_of,
)
from printworks.store.accounts.people import (
    Person,
    find_person,
    get_person,
    insert_person,
    set_password,
)
from printworks.store.accounts.sessions import end_sessions

_TAKEN = "There is somebody with this e-mail address already; sign in instead."
_USED = "This link was used before, or is too old. Ask for another one."


def sign_up(
    db: Connection,
    *,
    email: str,
    shop: str,
    password_hash: str,
    currency: Currency,
    environment: str,
    now: datetime,
) -> tuple[Person, NewMerchant]:
    """Make a merchant, and its first person."""
    if find_person(db, Realm.MERCHANT, email) is not None:
        raise WrongState(_TAKEN)
    new = add_merchant(db, shop, environment=environment, currency=currency, now=now)
    owner = _add_person(
        db, Realm.MERCHANT, email, Role.OWNER, new.merchant.id, password_hash, now=now
    )
    return owner, new


def invite_merchant(db: Connection, email: str, *, now: datetime) -> str:
    """Let somebody sign up where not everybody may; return what the link must hold."""
    email = read_email(email)
    _refuse_known(db, Realm.MERCHANT, email)
    return add_invitation(db, realm=Realm.MERCHANT, role=Role.OWNER, email=email, now=now)


def invite_colleague(db: Connection, merchant_id: int, email: str, *, now: datetime) -> str:
    """Let somebody into the dashboard of a merchant that is there already."""
    email = read_email(email)
    _refuse_known(db, Realm.MERCHANT, email)
    return add_invitation(
        db, realm=Realm.MERCHANT, role=Role.OWNER, email=email, merchant_id=merchant_id, now=now
    )


def invite_operator(db: Connection, email: str, role: Role, *, now: datetime) -> str:
    """Let somebody into the console."""
    if role not in OPERATORS:
        raise BadInput(f"An operator's role is one of: {', '.join(OPERATORS)}.")
    email = read_email(email)
    _refuse_known(db, Realm.OPERATOR, email)
    return add_invitation(db, realm=Realm.OPERATOR, role=role, email=email, now=now)


def invite_to_choose_password(db: Connection, realm: Realm, email: str, *, now: datetime) -> str:
    """Let somebody choose a new password."""
    person = get_person_by_email(db, realm, email)
    return add_invitation(
        db, realm=realm, role=person.role, email=person.email, person_id=person.id, now=now
    )


def get_person_by_email(db: Connection, realm: Realm, email: str) -> Person:
    """Return who signs in with an address that somebody typed."""
    person = find_person(db, realm, read_email(email))
    if person is None:
        raise NotFound(f"There is nobody with the address {email}.")
    return person


def accept_invitation(
    db: Connection,
    token: str,
    *,
    shop: str,
    password_hash: str,
    currency: Currency,
    environment: str,
    now: datetime,
) -> tuple[Person, NewMerchant | None]:
    """Let the invited in, with the password of their choice."""
    invitation = find_invitation(db, token, now=now)
    if invitation is None or not use_invitation(db, invitation, now=now):
        raise WrongState(_USED)
    if invitation.person_id is not None:
        return _choose_password(db, invitation.person_id, password_hash), None
    if invitation.realm is Realm.MERCHANT and invitation.merchant_id is None:
        return sign_up(
            db,
            email=invitation.email,
            shop=shop,
            password_hash=password_hash,
            currency=currency,
            environment=environment,
            now=now,
        )
    return _join(db, invitation, password_hash, now=now), None


def _join(db: Connection, invitation: Invitation, password_hash: str, *, now: datetime) -> Person:
    return _add_person(
        db,
        invitation.realm,
        invitation.email,
        invitation.role,
        invitation.merchant_id,
        password_hash,
        now=now,
    )


def _choose_password(db: Connection, person_id: int, password_hash: str) -> Person:
    set_password(db, person_id, password_hash)
    # Whoever knew the old one is out, and so is whoever has another link of the same kind.
    end_sessions(db, person_id)
    withdraw_links_of(db, person_id)
    return get_person(db, person_id)


def _refuse_known(db: Connection, realm: Realm, email: str) -> None:
    if find_person(db, realm, email) is not None:
        raise WrongState(f"{email} can sign in already.")


def _add_person(
    db: Connection,
    realm: Realm,
    email: str,
    role: Role,
    merchant_id: int | None,
    password_hash: str,
    *,
    now: datetime,
) -> Person:
    try:
        return insert_person(
            db,
            realm=realm,
            email=email,
            role=role,
            merchant_id=merchant_id,
            password_hash=password_hash,
            now=now,
        )
    except IntegrityError:
        # Somebody with the same address came in at the same moment.
        raise WrongState(_TAKEN) from None
