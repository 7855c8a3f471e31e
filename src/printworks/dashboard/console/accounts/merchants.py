"""The merchants: who they are, what they owe, and who may sign in for them."""

import re
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.accounts import merchants as actions
from printworks.actions.accounts.merchants import NewMerchant
from printworks.actions.accounts.people import (
    invite_colleague,
    invite_merchant,
    invite_to_choose_password,
    withdraw,
)
from printworks.actions.accounts.shares import change_share, usual_share
from printworks.actions.callbacks import resend_failed, trust_addresses
from printworks.actions.mail import reminders
from printworks.catalogue.products import Currency
from printworks.dashboard.shared.invitation_links import FreshLink, is_mailed, make_link
from printworks.dashboard.shared.labels import (
    BILLINGS,
    INVOICINGS,
    KEY_ACCESSES,
    REMINDER_TONES,
)
from printworks.dashboard.shared.logos import address_of_logo
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.site.forms import at_field, read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.invoices import Invoicing
from printworks.rules.payments import Billing, is_on_account
from printworks.rules.people import Duty, Realm
from printworks.rules.shares import ShareTerms
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.invitations import Invitation, list_open_invitations
from printworks.store.accounts.merchants import Merchant, get_merchant_by_code, list_keys
from printworks.store.accounts.passkeys import count_passkeys_of
from printworks.store.accounts.people import Person, get_person, list_people
from printworks.store.accounts.shops import get_shop
from printworks.store.callbacks.callbacks import list_callbacks
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.money.payments import SavedCard, get_card
from printworks.store.money.reminders import list_reminders, read_reminder_standing
from printworks.store.money.sellers import find_business
from printworks.store.orders.search import OrderSearch, search_orders
from printworks.store.views.console.ledger import list_money
from printworks.store.views.console.merchants import get_merchant_line, search_merchants

_ROWS: Final = 50
# Of each list on the page of one merchant.
_FEW: Final = 10
_CARD_WORD: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


@page_at("/console/merchants")
def show_merchants(
    visit: ConsoleVisit, link: FreshLink | None = None, new: NewMerchant | None = None
) -> Response:
    """Show the merchants, the newest first; the key of a new one is shown only once."""
    text = visit.search_text
    page = search_merchants(visit.db, text=text, before=visit.cursor(), limit=_ROWS)
    return visit.render(
        "console/merchants.html",
        merchants=page.merchants,
        text=text,
        link=link,
        invitations=_list_invitations(visit, None),
        may_invite=not visit.services.is_sandbox and visit.may(Duty.ADMINISTER),
        may_create=visit.services.is_sandbox and visit.may(Duty.ADMINISTER),
        new=new,
        currencies=[currency.value for currency in visit.services.catalogue.currencies],
        billings=BILLINGS,
        pages=visit.pages(page.next),
    )


@show_merchants.action("create-merchant", duty=Duty.ADMINISTER, needs_password=True)
def create_merchant(visit: ConsoleVisit) -> Response:
    """Create a merchant with its first key; only in a sandbox, where nobody needs to be invited."""
    if not visit.services.is_sandbox:
        raise WrongState("Merchants of a live service join by invitation.")
    sent = visit.sent
    known = {currency.value: currency for currency in visit.services.catalogue.currencies}
    currency = known.get(sent.text("currency"))
    if currency is None:
        raise BadInput("Choose a currency in which something is sold.", field="currency")
    if not sent.text("name"):
        raise BadInput("Enter the name of the shop.", field="name")
    new = actions.add_merchant(
        visit.system_work,
        sent.text("name"),
        currency=currency,
        billing=read_choice(
            Billing, sent.text("billing"), "Choose how the merchant pays.", field="billing"
        ),
    )
    return show_merchants(visit, None, new)


@show_merchants.action("invite-merchant", duty=Duty.ADMINISTER, needs_password=True)
def invite_one(visit: ConsoleVisit) -> Response:
    """Invite a merchant by mail, or show the link once."""
    email = visit.sent.text("email")
    token = invite_merchant(visit.system_work, email, by_mail=is_mailed(visit))
    return show_merchants(visit, make_link(visit, email, token))


@show_merchants.action(
    "withdraw-merchant-invitation", "The invitation was withdrawn.", duty=Duty.ADMINISTER
)
def withdraw_one(visit: ConsoleVisit) -> None:
    withdraw(visit.system_work, Realm.MERCHANT, visit.sent.text("invitation"))


@page_at("/console/merchants/{code}")
def show_merchant(visit: ConsoleVisit, link: FreshLink | None = None) -> Response:
    """Show everything about one merchant."""
    merchant = get_merchant_of(visit)
    orders = search_orders(visit.db, merchant.id, OrderSearch(), before=None, limit=_FEW)
    people = list_people(visit.db, Realm.MERCHANT, merchant_id=merchant.id)
    return visit.render(
        "console/merchant.html",
        merchant=get_merchant_line(visit.db, merchant.id),
        keys=list_keys(visit.db, merchant.id, now=visit.real_now),
        key_accesses=KEY_ACCESSES,
        lab_name=lambda code: name_lab(code, visit.services.catalogue),
        asks_challenge=visit.services.address_rules.needs_challenge,
        shop=(shop := get_shop(visit.db, merchant.id)),
        logo=address_of_logo(shop.logo) if shop.logo else "",
        callbacks=read_callback_settings(visit.db, merchant.id),
        failed_callbacks=list_callbacks(visit.db, merchant.id, is_failed=True, limit=_FEW),
        card=get_card(visit.db, merchant.id),
        company=find_business(visit.db, merchant.id),
        on_account=is_on_account(merchant.billing, visit.services.gateway.cards),
        overdue=read_reminder_standing(visit.db, merchant.id),
        reminders=list_reminders(visit.db, merchant.id, limit=_FEW),
        reminder_tones=REMINDER_TONES,
        billings=BILLINGS,
        invoicings=INVOICINGS,
        invoicing=merchant.invoicing,
        limits=merchant.share_terms,
        usual=usual_share(visit.services.settings),
        people=people,
        passkey_counts=count_passkeys_of(visit.db, people),
        invitations=_list_invitations(visit, merchant.id),
        orders=orders.orders,
        entries=list_money(visit.db, merchant_id=merchant.id, limit=_FEW).entries,
        done_lately=list_audit(visit.db, merchant_id=merchant.id, limit=_FEW)
        if visit.may(Duty.SUPPORT)
        else [],
        may_support=visit.may(Duty.SUPPORT),
        is_mine=visit.may(Duty.ADMINISTER),
        link=link,
    )


@show_merchant.action(
    "change-billing", "The billing was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def change_billing(visit: ConsoleVisit) -> None:
    """Change how a merchant pays, and how much it may owe."""
    merchant = get_merchant_of(visit)
    actions.change_billing(visit.work_for(merchant), _read_terms(visit, merchant.currency))


@show_merchant.action(
    "change-invoicing", "The invoicing was changed.", duty=Duty.ADMINISTER, needs_password=True
)
def change_invoicing(visit: ConsoleVisit) -> None:
    """Change when a merchant is sent invoices."""
    wrong = "Choose when the merchant is sent invoices."
    chosen = read_choice(Invoicing, visit.sent.text("invoicing"), wrong, field="invoicing")
    actions.change_invoicing(visit.work_for(get_merchant_of(visit)), chosen)


@show_merchant.action(
    "pause-reminders", "The merchant is not reminded any more.", duty=Duty.ADMINISTER
)
def pause_reminders(visit: ConsoleVisit) -> None:
    """Remind a merchant of nothing, such as while a payment is disputed."""
    reminders.pause_reminders(visit.work_for(get_merchant_of(visit)), visit.sent.text("reason"))


@show_merchant.action("resume-reminders", "The merchant is reminded again.", duty=Duty.ADMINISTER)
def resume_reminders(visit: ConsoleVisit) -> None:
    reminders.resume_reminders(visit.work_for(get_merchant_of(visit)))


@show_merchant.action(
    "revoke-merchant-key",
    "The key was revoked. Programs that use it are now refused.",
    duty=Duty.ADMINISTER,
    needs_password=True,
)
def revoke_key(visit: ConsoleVisit) -> None:
    actions.revoke_key(visit.work_for(get_merchant_of(visit)), visit.sent.number("key") or 0)


@show_merchant.action(
    "trust-callbacks",
    "New callback addresses of the merchant are not challenged.",
    duty=Duty.ADMINISTER,
    needs_password=True,
)
def trust_callbacks(visit: ConsoleVisit) -> None:
    """Vouch for the callback addresses of a merchant."""
    trust_addresses(visit.work_for(get_merchant_of(visit)), is_trusted=True)


@show_merchant.action(
    "distrust-callbacks",
    "New callback addresses of the merchant are challenged again.",
    duty=Duty.ADMINISTER,
    needs_password=True,
)
def distrust_callbacks(visit: ConsoleVisit) -> None:
    trust_addresses(visit.work_for(get_merchant_of(visit)), is_trusted=False)


@show_merchant.action(
    "change-limits", "The limits were changed.", duty=Duty.ADMINISTER, needs_password=True
)
def change_limits(visit: ConsoleVisit) -> None:
    """Change how many requests a merchant may send."""
    names = ("requests_per_second", "requests_burst", "requests_in_work")
    change_share(
        visit.work_for(get_merchant_of(visit)), ShareTerms(*(_read_limit(visit, n) for n in names))
    )


@show_merchant.action("resend-given-up", "The callbacks are being resent.", duty=Duty.SUPPORT)
def send_failed_again(visit: ConsoleVisit) -> None:
    if not resend_failed(visit.work_for(get_merchant_of(visit))):
        raise WrongState("There are no failed callbacks any more.")


@show_merchant.action("invite-colleague", duty=Duty.ADMINISTER, needs_password=True)
def invite_person(visit: ConsoleVisit) -> Response:
    """Invite a colleague of a merchant by mail, or show the link once."""
    email = visit.sent.text("email")
    token = invite_colleague(
        visit.work_for(get_merchant_of(visit)), email, by_mail=is_mailed(visit)
    )
    return show_merchant(visit, make_link(visit, email, token))


@show_merchant.action("reset-colleague", duty=Duty.ADMINISTER, needs_password=True)
def reset_person(visit: ConsoleVisit) -> Response:
    """Make a password reset link for one of a merchant's people."""
    person = _get_person(visit, get_merchant_of(visit))
    token = invite_to_choose_password(
        visit.system_work, Realm.MERCHANT, person.email, by_mail=is_mailed(visit)
    )
    return show_merchant(visit, make_link(visit, person.email, token))


@show_merchant.action(
    "withdraw-colleague-invitation", "The invitation was withdrawn.", duty=Duty.ADMINISTER
)
def withdraw_colleague(visit: ConsoleVisit) -> None:
    withdraw(visit.work_for(get_merchant_of(visit)), Realm.MERCHANT, visit.sent.text("invitation"))


def get_merchant_of(visit: ConsoleVisit) -> Merchant:
    """Return the merchant that the address of the page names."""
    return get_merchant_by_code(visit.db, str(visit.request.path_params["code"]))


def _get_person(visit: ConsoleVisit, merchant: Merchant) -> Person:
    person = get_person(visit.db, visit.sent.number("person") or 0)
    if person.merchant_id != merchant.id:
        raise NotFound("There is no such person.")
    return person


def _list_invitations(visit: ConsoleVisit, merchant_id: int | None) -> list[Invitation]:
    if not visit.may(Duty.ADMINISTER):
        return []
    return list_open_invitations(
        visit.db, Realm.MERCHANT, merchant_id=merchant_id, now=visit.real_now
    )


def _read_limit(visit: ConsoleVisit, name: str) -> int | None:
    """Read a limit; an empty field means the usual one."""
    if not visit.sent.text(name):
        return None
    # What is no number is refused like 0.
    return visit.sent.number(name) or 0


def _read_terms(visit: ConsoleVisit, currency: Currency) -> actions.BillingTerms:
    billing = read_choice(
        Billing, visit.sent.text("billing"), "Choose how the merchant pays.", field="billing"
    )
    typed = visit.sent.text("limit")
    # Without an amount, without a limit; that of nothing is one.
    with at_field("limit"):
        limit = read_money(typed, currency, what="a limit", least=0) if typed else None
    words = visit.sent.text("customer"), visit.sent.text("payment_method")
    terms = actions.BillingTerms(billing=billing, credit_limit=limit)
    if not any(words):
        return terms
    if not all(_CARD_WORD.fullmatch(word) for word in words):
        message = "A saved card needs both IDs, made of letters, digits, `_` and `-`."
        wrong = "customer" if not _CARD_WORD.fullmatch(words[0]) else "payment_method"
        raise BadInput(message, field=wrong)
    return msgspec.structs.replace(terms, card=SavedCard(*words))
