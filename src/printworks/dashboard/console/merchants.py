"""The merchants: who they are, what they owe, and who may sign in for them."""

import re
from typing import Final

from starlette.responses import Response

from printworks.actions.people import (
    invite_colleague,
    invite_merchant,
    invite_to_choose_password,
)
from printworks.dashboard.console.finding import find_merchant
from printworks.dashboard.console.invitations import FreshLink, make_link
from printworks.dashboard.console.ledger import WORDS
from printworks.dashboard.desk import Deed, Page
from printworks.dashboard.visits import ConsoleVisit
from printworks.errors import BadInput, NotFound
from printworks.rules.payments import Billing
from printworks.rules.people import Duty, Realm
from printworks.store.audit import list_audit
from printworks.store.callback_settings import read_callback_settings
from printworks.store.console import get_merchant_line, list_money, search_merchants
from printworks.store.invitations import Invitation
from printworks.store.ledger import set_credit_limit
from printworks.store.merchants import Merchant, list_keys, set_billing
from printworks.store.operators import list_open_invitations, withdraw_invitation
from printworks.store.order_search import OrderSearch, search_orders
from printworks.store.payments import SavedCard, get_card, save_card
from printworks.store.people import Person, get_person, list_people

_MERCHANTS: Final = "/console/merchants"
_ROWS: Final = 50
# Of each list on the page of one merchant.
_FEW: Final = 10
_LONGEST_SEARCH: Final = 200
_AMOUNT: Final = re.compile(r"([0-9]{1,10})(?:\.([0-9]{1,2}))?")
_CARD_WORD: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


def show_merchants(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show the merchants, the newest first."""
    text = visit.query.get("q", "").strip()[:_LONGEST_SEARCH]
    page = search_merchants(visit.db, text=text, before=visit.cursor(), limit=_ROWS)
    return visit.render(
        "console/merchants.html",
        merchants=page.merchants,
        text=text,
        link=link,
        invitations=_list_invitations(visit, None),
        may_invite=not visit.office.is_sandbox and visit.may(Duty.ADMINISTER),
        newer=visit.here(before=None) if visit.cursor() else "",
        older=visit.here(before=page.next) if page.next else "",
    )


def invite_one(visit: ConsoleVisit) -> Response:
    """Make a link with which a new merchant opens an account, and show it this once."""
    email = visit.sent.text("email")
    token = invite_merchant(visit.db, email, now=visit.real_now)
    visit.note("invite-merchant", email)
    return show_merchants(visit, make_link(visit, email, token))


def withdraw_one(visit: ConsoleVisit) -> str:
    """Let the link of a new merchant work no more."""
    _withdraw(visit, None)
    return _MERCHANTS


def show_merchant(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show one merchant: everything that somebody asks who rings up."""
    merchant = _get(visit)
    orders = search_orders(visit.db, merchant.id, OrderSearch(), before=None, limit=_FEW)
    return visit.render(
        "console/merchant.html",
        merchant=get_merchant_line(visit.db, merchant.id),
        keys=list_keys(visit.db, merchant.id, now=visit.real_now),
        callbacks=read_callback_settings(visit.db, merchant.id),
        card=get_card(visit.db, merchant.id),
        billings=list(Billing),
        people=list_people(visit.db, Realm.MERCHANT, merchant_id=merchant.id),
        invitations=_list_invitations(visit, merchant.id),
        orders=orders.orders,
        entries=list_money(visit.db, merchant_id=merchant.id, limit=_FEW).entries,
        words=WORDS,
        done_lately=list_audit(visit.db, merchant_id=merchant.id, limit=_FEW)
        if visit.may(Duty.SUPPORT)
        else [],
        is_mine=visit.may(Duty.ADMINISTER),
        link=link,
    )


def change_billing(visit: ConsoleVisit) -> str:
    """Say how a merchant pays from now on, and how much it may owe."""
    merchant = _get(visit)
    billing, limit, card = _read_billing(visit)
    set_billing(visit.db, merchant.id, billing)
    set_credit_limit(visit.db, merchant.id, limit)
    if card is not None:
        save_card(visit.db, merchant.id, card)
    visit.note(
        "change-billing",
        merchant.code,
        merchant_id=merchant.id,
        billing=billing,
        limit=limit,
        card="changed" if card else "as it was",
    )
    return visit.path


def invite_person(visit: ConsoleVisit) -> Response:
    """Make a link to a merchant's dashboard for one more person, and show it this once."""
    merchant, email = _get(visit), visit.sent.text("email")
    token = invite_colleague(visit.db, merchant.id, email, now=visit.real_now)
    visit.note("invite-colleague", email, merchant_id=merchant.id)
    return show_merchant(visit, make_link(visit, email, token))


def reset_person(visit: ConsoleVisit) -> Response:
    """Make a link with which one of a merchant's people chooses a new password."""
    merchant = _get(visit)
    person = _get_person(visit, merchant)
    token = invite_to_choose_password(visit.db, Realm.MERCHANT, person.email, now=visit.real_now)
    visit.note("reset-password", person.email, merchant_id=merchant.id)
    return show_merchant(visit, make_link(visit, person.email, token))


def withdraw_colleague(visit: ConsoleVisit) -> str:
    """Let the link of a colleague work no more."""
    _withdraw(visit, _get(visit))
    return visit.path


def _get(visit: ConsoleVisit) -> Merchant:
    merchant = find_merchant(visit, str(visit.request.path_params["code"]))
    if merchant is None:
        raise NotFound("There is no such merchant.")
    return merchant


def _get_person(visit: ConsoleVisit, merchant: Merchant) -> Person:
    digits = visit.sent.text("person")
    if not digits.isascii() or not digits.isdigit() or len(digits) > 18:
        raise NotFound("There is nobody with this number.")
    person = get_person(visit.db, int(digits))
    if person.merchant_id != merchant.id:
        raise NotFound("There is nobody with this number.")
    return person


def _list_invitations(visit: ConsoleVisit, merchant_id: int | None) -> list[Invitation]:
    if not visit.may(Duty.ADMINISTER):
        return []
    return list_open_invitations(
        visit.db, Realm.MERCHANT, merchant_id=merchant_id, now=visit.real_now
    )


def _withdraw(visit: ConsoleVisit, merchant: Merchant | None) -> None:
    merchant_id = merchant.id if merchant else None
    gone = withdraw_invitation(
        visit.db, Realm.MERCHANT, visit.sent.text("invitation"), merchant_id=merchant_id
    )
    if gone is None:
        raise BadInput("That link was used or withdrawn already.")
    visit.note("withdraw-invitation", gone.email, merchant_id=merchant_id)


def _read_billing(visit: ConsoleVisit) -> tuple[Billing, int | None, SavedCard | None]:
    try:
        billing = Billing(visit.sent.text("billing"))
    except ValueError:
        raise BadInput("Choose how the merchant pays.") from None
    limit = read_amount(visit.sent.text("limit"))
    words = visit.sent.text("customer"), visit.sent.text("payment_method")
    if not any(words):
        return billing, limit, None
    if not all(_CARD_WORD.fullmatch(word) for word in words):
        raise BadInput("A saved card needs both ids, of letters, digits, `_` and `-`.")
    return billing, limit, SavedCard(*words)


def read_amount(text: str) -> int | None:
    """Return an amount such as `1,250.00` in minor units; None for nothing at all."""
    plain = text.replace(",", "").replace(" ", "")
    if not plain:
        return None
    found = _AMOUNT.fullmatch(plain)
    if found is None:
        raise BadInput("Enter the limit as an amount such as 250 or 250.00, or leave it empty.")
    whole, rest = found.groups()
    return int(whole) * 100 + int((rest or "0").ljust(2, "0"))


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(
        path=_MERCHANTS,
        show=show_merchants,
        deeds=(
            Deed(name="invite-merchant", take=invite_one, duty=Duty.ADMINISTER, proves=True),
            Deed(
                name="withdraw-merchant-invitation",
                take=withdraw_one,
                says="The link does not work any more.",
                duty=Duty.ADMINISTER,
            ),
        ),
    ),
    Page(
        path=f"{_MERCHANTS}/{{code}}",
        show=show_merchant,
        deeds=(
            Deed(
                name="change-billing",
                take=change_billing,
                says="How the merchant pays was changed.",
                duty=Duty.ADMINISTER,
                proves=True,
            ),
            Deed(name="invite-colleague", take=invite_person, duty=Duty.ADMINISTER, proves=True),
            Deed(name="reset-colleague", take=reset_person, duty=Duty.ADMINISTER, proves=True),
            Deed(
                name="withdraw-colleague-invitation",
                take=withdraw_colleague,
                says="The link does not work any more.",
                duty=Duty.ADMINISTER,
            ),
        ),
    ),
)
