"""`printworks merchant invite` and others: who may sign in to a merchant's dashboard."""

import typer

from printworks.actions.accounts.people import invite_colleague as make_invitation
from printworks.actions.accounts.people import invite_merchant as make_first_invitation
from printworks.cli.operators import ForgetCode, ShowLink, is_mailed, reset, show_link, show_people
from printworks.cli.options import Email, MerchantId
from printworks.cli.session import CommandSession, command
from printworks.rules.people import Realm
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.accounts.people import list_people

app = typer.Typer()


@command(app, "invite")
def invite_merchant(session: CommandSession, email: Email, *, by_hand: ShowLink = False) -> None:
    """Email or print a link to open a merchant account; it works once, for a week."""
    by_mail = is_mailed(session, by_hand=by_hand)
    with session.system_work() as system:
        token = make_first_invitation(system, email, by_mail=by_mail)
    show_link(session, token, mailed_to=email if by_mail else None)


@command(app, "people")
def list_merchants_people(session: CommandSession, merchant_id: MerchantId) -> None:
    """List who may sign in to a merchant's dashboard."""
    with session.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        found = list_people(db, Realm.MERCHANT, merchant_id=merchant.id)
    show_people(session, found, f"Nobody can sign in for {merchant.code} yet.")


@command(app, "invite-colleague")
def invite_colleague(
    session: CommandSession, merchant_id: MerchantId, email: Email, *, by_hand: ShowLink = False
) -> None:
    """Email or print a link to a merchant's dashboard; it works once, for a week."""
    by_mail = is_mailed(session, by_hand=by_hand)
    with session.work(merchant_id) as work:
        token = make_invitation(work, email, by_mail=by_mail)
    show_link(session, token, mailed_to=email if by_mail else None)


@command(app, "reset")
def reset_person(
    session: CommandSession,
    email: Email,
    *,
    forget_code: ForgetCode = False,
    by_hand: ShowLink = False,
) -> None:
    """Email or print a link with which one of a merchant's people chooses a new password."""
    by_mail = is_mailed(session, by_hand=by_hand)
    reset(session, Realm.MERCHANT, email, forget_code=forget_code, by_mail=by_mail)
