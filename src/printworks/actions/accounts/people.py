"""People: signing up, invitations and password resets."""

from functools import partial
from typing import Final

from sqlalchemy import Connection
from sqlalchemy.exc import IntegrityError

from printworks.actions.accounts.merchants import open_account
from printworks.actions.mail.accounts import LinkToMail, mail_link, tell_password_changed
from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.mail import MailKind
from printworks.rules.people import MOST_IN_TEAM, OPERATORS, TEAM, Realm, Role, read_email
from printworks.rules.sign_in import OF_A_TEAM, OF_AN_INVITATION, Allowance, Tries, count_within
from printworks.store.accounts.invitations import (
    NewInvitation,
    add_invitation,
    find_invitation,
    list_open_invitations,
    use_invitation,
    withdraw_invitation,
    withdraw_links_of,
)
from printworks.store.accounts.merchants import get_merchant
from printworks.store.accounts.people import (
    NewPerson,
    Person,
    find_person,
    get_person,
    insert_person,
    list_people,
    set_password,
)
from printworks.store.accounts.sessions import end_sessions
from printworks.store.accounts.tries import count_try
from printworks.store.views.home.news import begin_unread

_TAKEN = "This email address is already in use; sign in instead."
_USED = "This link was used before or has expired. Ask for another one."


def sign_up(
    work: SystemWork, *, email: str, shop: str, password_hash: str, currency: Currency | None
) -> Person:
    """Create a merchant and its first person."""
    if find_person(work.db, Realm.MERCHANT, email) is not None:
        raise WrongState(_TAKEN)
    merchant = open_account(work, shop, currency=currency)
    owner = NewPerson(
        realm=Realm.MERCHANT,
        email=email,
        role=Role.OWNER,
        merchant_id=merchant.id,
        password_hash=password_hash,
    )
    return _add_person(work, owner)


# Each of these is mailed to its address if the deployment sends mail, unless the caller shows the
# link to somebody instead.


def invite_merchant(work: SystemWork, email: str, *, by_mail: bool = True) -> str:
    """Invite a merchant to sign up; return the link's token."""
    invitation = NewInvitation(Realm.MERCHANT, Role.OWNER, read_email(email))
    return _invite(work, invitation, MailKind.MERCHANT_INVITATION, by_mail=by_mail)


def invite_colleague(
    work: Work, email: str, role: Role = Role.OWNER, *, by_mail: bool = True
) -> str:
    """Invite one more person to the dashboard of a merchant; return the link's token."""
    if role not in TEAM:
        raise BadInput(f"A colleague's role is one of: {', '.join(TEAM)}.")
    merchant_id = work.merchant.id
    team = list_people(work.db, Realm.MERCHANT, merchant_id=merchant_id)
    invited = list_open_invitations(
        work.db, Realm.MERCHANT, merchant_id=merchant_id, now=work.real_now
    )
    if len(team) + len(invited) >= MOST_IN_TEAM:
        raise WrongState(
            f"A team has at most {MOST_IN_TEAM} people, with those who are invited. Remove somebody "
            "or withdraw an invitation first."
        )
    invitation = NewInvitation(Realm.MERCHANT, role, read_email(email), merchant_id)
    return _invite(work, invitation, MailKind.COLLEAGUE_INVITATION, by_mail=by_mail)


def invite_operator(work: SystemWork, email: str, role: Role, *, by_mail: bool = True) -> str:
    """Invite an operator to the console; return the link's token."""
    if role not in OPERATORS:
        raise BadInput(f"An operator's role is one of: {', '.join(OPERATORS)}.")
    invitation = NewInvitation(Realm.OPERATOR, role, read_email(email))
    return _invite(work, invitation, MailKind.OPERATOR_INVITATION, by_mail=by_mail)


# As the audit log names them.
_INVITING: Final = {
    MailKind.MERCHANT_INVITATION: "invite-merchant",
    MailKind.COLLEAGUE_INVITATION: "invite-colleague",
    MailKind.OPERATOR_INVITATION: "invite-operator",
}


def _invite(work: SystemWork, new: NewInvitation, kind: MailKind, *, by_mail: bool) -> str:
    known = find_person(work.db, new.realm, new.email)
    # A merchant must not learn who signs in for others: the link says so to whoever it is for.
    is_secret = work.actor.realm is Realm.MERCHANT
    if known is not None and (known.merchant_id == new.merchant_id or not is_secret):
        raise WrongState(f"{new.email} can sign in already.")
    if by_mail:
        _check_allowance(work, new)
    details = {} if kind is MailKind.MERCHANT_INVITATION else {"role": new.role}
    work.audit(_INVITING[kind], new.email, **details)
    token = add_invitation(work.db, new, now=work.real_now)
    if by_mail:
        mail_link(work, LinkToMail(kind, new, token, new.merchant_id))
    return token


def _check_allowance(work: SystemWork, new: NewInvitation) -> None:
    """Refuse an invitation that would be one email too many for its address or its merchant."""
    if work.backing.mail_terms is None:
        return
    if not _is_allowed(work, f"invitation {new.realm} {new.email}", OF_AN_INVITATION):
        raise WrongState(
            f"{new.email} was sent {OF_AN_INVITATION.together} invitations lately. One more can be "
            "sent every 20 minutes, or pass the link on yourself."
        )
    is_of_merchant = new.merchant_id is not None
    if is_of_merchant and not _is_allowed(work, f"team {new.merchant_id}", OF_A_TEAM):
        raise WrongState(
            f"The team sent {OF_A_TEAM.together} invitations lately. One more can be sent every "
            "hour, or pass the link on yourself."
        )


def _is_allowed(work: SystemWork, what: str, allowance: Allowance) -> bool:
    rule = partial(count_within, allowance, now=work.real_now)
    return isinstance(count_try(work.db, what, rule, now=work.real_now), Tries)


def invite_to_choose_password(
    work: SystemWork, realm: Realm, email: str, *, by_mail: bool = True
) -> str:
    """Invite a person to choose a new password; return the link's token."""
    person = get_person_by_email(work.db, realm, email)
    work_for_person(work, person).audit("reset-password", person.email)
    invitation = NewInvitation(
        realm=realm, role=person.role, email=person.email, person_id=person.id
    )
    token = add_invitation(work.db, invitation, now=work.real_now)
    if by_mail:
        link = LinkToMail(MailKind.PASSWORD_RESET, invitation, token, person.merchant_id)
        mail_link(work, link)
    return token


def withdraw(work: SystemWork, realm: Realm, token_hash: str) -> None:
    """Withdraw an invitation: of the merchant, or of the operator where there is none."""
    merchant_id = work.merchant.id if isinstance(work, Work) else None
    gone = withdraw_invitation(work.db, realm, token_hash, merchant_id=merchant_id)
    if gone is None:
        raise BadInput("That link was used or withdrawn already.")
    work.audit("withdraw-invitation", gone.email)


def work_for_person(work: SystemWork, person: Person) -> SystemWork:
    """Continue for the merchant of a person, so that its audit log shows what follows."""
    if person.merchant_id is None:
        return work
    return work.for_merchant(get_merchant(work.db, person.merchant_id))


def get_person_by_email(db: Connection, realm: Realm, email: str) -> Person:
    """Return the person who signs in with an email address."""
    person = find_person(db, realm, read_email(email))
    if person is None:
        raise NotFound(f"Nobody signs in with the address {email}.")
    return person


def accept_invitation(
    work: SystemWork, token: str, *, shop: str, password_hash: str, currency: Currency | None
) -> Person:
    """Accept an invitation with the chosen password."""
    invitation = find_invitation(work.db, token, now=work.real_now)
    if invitation is None or not use_invitation(work.db, invitation, now=work.real_now):
        raise WrongState(_USED)
    if invitation.person_id is not None:
        return _choose_password(work, invitation.person_id, password_hash)
    if invitation.realm is Realm.MERCHANT and invitation.merchant_id is None:
        return sign_up(
            work, email=invitation.email, shop=shop, password_hash=password_hash, currency=currency
        )
    invited = NewPerson(
        realm=invitation.realm,
        email=invitation.email,
        role=invitation.role,
        merchant_id=invitation.merchant_id,
        password_hash=password_hash,
    )
    person = _add_person(work, invited)
    if person.merchant_id is not None:
        begin_unread(work.db, person.merchant_id, person.id)
    return person


def _choose_password(work: SystemWork, person_id: int, password_hash: str) -> Person:
    set_password(work.db, person_id, password_hash)
    # Old sessions and other reset links must stop working.
    end_sessions(work.db, person_id)
    withdraw_links_of(work.db, person_id)
    tell_password_changed(work, person_id)
    return get_person(work.db, person_id)


def _add_person(work: SystemWork, new: NewPerson) -> Person:
    try:
        return insert_person(work.db, new, now=work.real_now)
    except IntegrityError:
        # Another request added the same address at the same time.
        raise WrongState(_TAKEN) from None
