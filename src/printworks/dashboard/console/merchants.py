"""The merchants: who they are, what they owe, and who may sign in for them."""

import re
from typing import Final

from starlette.responses import Response

from printworks.actions.accounts.people import (
    invite_colleague,
    invite_merchant,
    invite_to_choose_password,
)
from printworks.actions.callbacks.callbacks import resend_failed
from printworks.catalogue.products import Currency
from printworks.dashboard.console.invitations import FreshLink, make_link
from printworks.dashboard.console.words import name_state
from printworks.dashboard.shared.callbacks import view_callback
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.shared.words import ENTRY_WORDS
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.payments import Billing
from printworks.rules.people import Duty, Realm
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.invitations import Invitation
from printworks.store.accounts.merchants import (
    Merchant,
    get_merchant_by_code,
    list_keys,
    set_billing,
)
from printworks.store.accounts.operators import list_open_invitations, withdraw_invitation
from printworks.store.accounts.people import Person, get_person, list_people
from printworks.store.callbacks.callbacks import list_callbacks
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.console.ledger import list_money
from printworks.store.console.merchants import get_merchant_line, search_merchants
from printworks.store.money.ledger import set_credit_limit
from printworks.store.money.payments import SavedCard, get_card, save_card
from printworks.store.orders.search import OrderSearch, search_orders

_MERCHANTS: Final = "/console/merchants"
_ROWS: Final = 50
# Of each list on the page of one merchant.
_FEW: Final = 10
_LONGEST_SEARCH: Final = 200
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
        may_invite=not visit.services.is_sandbox and visit.may(Duty.ADMINISTER),
        pages=visit.pages(page.next),
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
        given_up=[
            view_callback(one)
            for one in list_callbacks(visit.db, merchant.id, is_failed=True, limit=_FEW)
        ],
        card=get_card(visit.db, merchant.id),
        billings=list(Billing),
        people=list_people(visit.db, Realm.MERCHANT, merchant_id=merchant.id),
        invitations=_list_invitations(visit, merchant.id),
        orders=[(order, name_state(order.status)) for order in orders.orders],
        entries=list_money(visit.db, merchant_id=merchant.id, limit=_FEW).entries,
        words=ENTRY_WORDS,
        done_lately=list_audit(visit.db, merchant_id=merchant.id, limit=_FEW)
        if visit.may(Duty.SUPPORT)
        else [],
        may_support=visit.may(Duty.SUPPORT),
        is_mine=visit.may(Duty.ADMINISTER),
        link=link,
    )


def change_billing(visit: ConsoleVisit) -> str:
    """Say how a merchant pays from now on, and how much it may owe."""
    merchant = _get(visit)
    billing, limit, card = _read_billing(visit, merchant.currency)
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


def send_failed_again(visit: ConsoleVisit) -> str:
    """Tell the merchant's program once more of what was given up."""
    merchant = _get(visit)
    now = visit.real_now + merchant.clock_offset
    sent = resend_failed(visit.db, merchant, now=now)
    if not sent:
        raise WrongState("Nothing is given up any more.")
    visit.note("resend-given-up", merchant.code, merchant_id=merchant.id, callbacks=sent)
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
    return get_merchant_by_code(visit.db, str(visit.request.path_params["code"]))


def _get_person(visit: ConsoleVisit, merchant: Merchant) -> Person:
    person = get_person(visit.db, visit.sent.number("person") or 0)
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


def _read_billing(
    visit: ConsoleVisit, currency: Currency
) -> tuple[Billing, int | None, SavedCard | None]:
    try:
        billing = Billing(visit.sent.text("billing"))
    except ValueError:
        raise BadInput("Choose how the merchant pays.") from None
    typed = visit.sent.text("limit")
    # Without an amount, without a limit; that of nothing is one.
    limit = read_money(typed, currency, what="a limit", least=0) if typed else None
    words = visit.sent.text("customer"), visit.sent.text("payment_method")
    if not any(words):
        return billing, limit, None
    if not all(_CARD_WORD.fullmatch(word) for word in words):
        raise BadInput("A saved card needs both ids, of letters, digits, `_` and `-`.")
    return billing, limit, SavedCard(*words)


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(
        path=_MERCHANTS,
        show=show_merchants,
        form_actions=(
            FormAction(
                name="invite-merchant", take=invite_one, duty=Duty.ADMINISTER, needs_password=True
            ),
            FormAction(
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
        form_actions=(
            FormAction(
                name="change-billing",
                take=change_billing,
                says="How the merchant pays was changed.",
                duty=Duty.ADMINISTER,
                needs_password=True,
            ),
            FormAction(
                name="resend-given-up",
                take=send_failed_again,
                says="The callbacks are on their way again.",
                duty=Duty.SUPPORT,
            ),
            FormAction(
                name="invite-colleague",
                take=invite_person,
                duty=Duty.ADMINISTER,
                needs_password=True,
            ),
            FormAction(
                name="reset-colleague", take=reset_person, duty=Duty.ADMINISTER, needs_password=True
            ),
            FormAction(
                name="withdraw-colleague-invitation",
                take=withdraw_colleague,
                says="The link does not work any more.",
                duty=Duty.ADMINISTER,
            ),
        ),
    ),
)
