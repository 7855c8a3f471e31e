"""What waits for a merchant: each a sentence and the place where it is solved."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Final
from zoneinfo import ZoneInfo

import msgspec

from printworks.dashboard.merchant.account.card import describe_card
from printworks.dashboard.shared.dates import write_day_of_year
from printworks.dashboard.shared.labels import Tone, count, shorten
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.payments import Payer, PaymentState, is_on_account
from printworks.rules.people import Duty
from printworks.rules.reasons import UNPAID, Reason, ReasonCode, read_reasons, write_reason
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.money.cards import find_shown_card
from printworks.store.money.ledger import read_books, read_credit_limit
from printworks.store.money.statements import list_pending_payments
from printworks.store.views.home.needs import (
    MOST_CALLBACKS,
    OrderInTrouble,
    count_failed_callbacks,
    list_answered,
    list_failed_drafts,
    list_old_drafts_of,
    list_troubled,
)

# Of each kind; whoever solves some sees the next ones.
_LISTED: Final = 5
_MOST_PENDING: Final = 20
# Orders that were not submitted are mentioned this long before they are cancelled.
_BEFORE_CANCELLED: Final = timedelta(days=7)
_LONGEST: Final = 200
_LOOK: Final = "See the order"


class Need(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that waits for the merchant."""

    # What it is about, in a few words.
    title: str
    sentence: str
    # What to do, and where.
    verb: str
    address: str
    tone: Tone = "warn"


def list_needs(visit: MerchantVisit) -> list[Need]:
    """Return what waits for the merchant, the most urgent first; what is solved is gone."""
    return [
        *_list_payments(visit),
        *_list_card(visit),
        *_list_orders(visit),
        *_list_drafts(visit),
        *_list_issues(visit),
        *_list_callbacks(visit),
        *_list_credit(visit),
        *_list_old_drafts(visit),
    ]


def name_order(order_id: int, reference: str | None) -> str:
    """Return an order as its merchant knows it."""
    return f"Order {order_id}" + (f" ({shorten(reference, 40)})" if reference else "")


def _list_payments(visit: MerchantVisit) -> Iterator[Need]:
    """Tell of payments that the merchant has to authorise at the bank."""
    # Those of recipients, of which a shop may have many, would leave no place for them.
    pending = list_pending_payments(
        visit.db, visit.merchant.id, payer=Payer.MERCHANT, limit=_MOST_PENDING
    )
    for payment in pending:
        if payment.state is PaymentState.WAITING:
            amount = format_money(payment.amount, payment.currency)
            yield Need(
                title=name_order(payment.order_id, None),
                sentence=f"Your bank wants you to confirm the payment of {amount}.",
                verb=_choose(visit, "Confirm the payment"),
                address=f"/orders/{payment.order_id}",
            )


def _list_card(visit: MerchantVisit) -> Iterator[Need]:
    """Tell of a card that can no longer be charged, or not for long."""
    if is_on_account(visit.merchant.billing, visit.services.gateway.cards):
        return
    card = find_shown_card(visit.db, visit.merchant.id)
    if card is None:
        return
    shown = describe_card(card, today=visit.now.date())
    sentence = ""
    if shown.has_expired:
        sentence = f"{shown.name} has expired. Save another card before you submit an order."
    elif shown.refusal:
        sentence = f"Your bank declined {shown.name}: {shown.refusal}"
    elif shown.expires_soon:
        sentence = f"{shown.name} expires at the end of {shown.until:%B %Y}. Save another card."
    if sentence:
        may_see = visit.may(Duty.ACCOUNT)
        yield Need(
            title="Card",
            sentence=sentence,
            verb="Replace the card" if may_see else "See the team",
            address="/settings/card" if may_see else "/team",
            tone="error" if shown.has_expired or shown.refusal else "warn",
        )


def _list_orders(visit: MerchantVisit) -> Iterator[Need]:
    found = list_troubled(visit.db, visit.merchant.id, limit=_LISTED + 1)
    for order in found[:_LISTED]:
        reasons = read_reasons(order.reasons)
        for reason in reasons[:1]:
            verb = _choose(visit, _name_remedy(reason))
            yield _describe_reason(order, reason, verb, more=len(reasons) - 1)
        if order.held_at is not None:
            yield Need(
                title=name_order(order.id, order.merchant_order_id),
                sentence="The order is on hold: nothing of it is sent to a lab.",
                verb=_choose(visit, "Release the order"),
                address=f"/orders/{order.id}",
            )
    if len(found) > _LISTED:
        yield Need(
            title="More orders",
            sentence="More orders do not go ahead. They appear here as you solve the first ones.",
            verb="See your orders",
            address="/orders",
        )


def _choose(visit: MerchantVisit, verb: str) -> str:
    """Return what to do; whoever may not do it can only look."""
    return verb if visit.may(Duty.ORDER) else _LOOK


def _name_remedy(reason: Reason) -> str:
    if reason.code in UNPAID:
        return "Submit it again"
    return "Replace the image" if reason.code is ReasonCode.IMAGE_FAILED else _LOOK


def _describe_reason(order: OrderInTrouble, reason: Reason, verb: str, *, more: int) -> Need:
    others = f" {count(more, 'more problem')} on its page." if more else ""
    return Need(
        title=name_order(order.id, order.merchant_order_id),
        sentence=shorten(write_reason(reason), _LONGEST) + others,
        verb=verb,
        address=f"/orders/{order.id}",
        tone="error",
    )


def _list_drafts(visit: MerchantVisit) -> Iterator[Need]:
    for draft in list_failed_drafts(visit.db, visit.merchant.id, limit=_LISTED):
        those, them = (
            ("One image", "it") if draft.failed == 1 else (f"{draft.failed} images", "them")
        )
        yield Need(
            title=name_order(draft.id, draft.merchant_order_id),
            sentence=f"{those} cannot be printed. Remove or replace {them} before you submit the "
            "order.",
            verb="See the images",
            address=f"/orders/{draft.id}",
            tone="error",
        )


def _list_issues(visit: MerchantVisit) -> Iterator[Need]:
    for issue in list_answered(visit.db, visit.merchant.id, limit=_LISTED):
        yield Need(
            title=f"Issue about order {issue.order_id}",
            sentence="We have answered you, and wait for your reply.",
            verb="Read the answer",
            address=f"/issues/{issue.id}",
        )


def _list_callbacks(visit: MerchantVisit) -> Iterator[Need]:
    failed = count_failed_callbacks(visit.db, visit.merchant.id)
    if failed:
        number = f"{MOST_CALLBACKS:,} or more callbacks" if failed >= MOST_CALLBACKS else ""
        yield Need(
            title="Callbacks",
            sentence=f"{number or count(failed, 'callback')} could not be delivered, and we have "
            "stopped trying.",
            verb="See and resend them" if visit.may(Duty.MANAGE) else "See them",
            address="/integrations?state=given-up",
            tone="error",
        )
    candidate = read_callback_settings(visit.db, visit.merchant.id).candidate
    if candidate is not None and candidate.is_over:
        yield Need(
            title="Callbacks",
            sentence="Your new callback address did not answer our challenge, so it is not used.",
            verb="Try it again" if visit.may(Duty.MANAGE) else "See the address",
            address="/integrations",
        )


def _list_credit(visit: MerchantVisit) -> Iterator[Need]:
    merchant = visit.merchant
    if not is_on_account(merchant.billing, visit.services.gateway.cards):
        return
    limit = read_credit_limit(visit.db, merchant.id)
    if limit is not None and read_books(visit.db, merchant.id).balance >= limit:
        may_see = visit.may(Duty.ACCOUNT)
        yield Need(
            title="Credit",
            sentence="Your credit limit is used up: orders are refused until you have paid.",
            verb="See what you owe" if may_see else "See the team",
            address="/account" if may_see else "/team",
            tone="error",
        )


def _list_old_drafts(visit: MerchantVisit) -> Iterator[Need]:
    keep: timedelta | None = visit.services.settings.keep_drafts
    if keep is None:
        return
    before = visit.real_now - keep + _BEFORE_CANCELLED
    zone = ZoneInfo(visit.time_zone)
    drafts = list_old_drafts_of(visit.db, visit.merchant.id, before=before, limit=_LISTED)
    for draft in drafts:
        yield Need(
            title=name_order(draft.id, draft.merchant_order_id),
            sentence=f"It was never submitted, and is cancelled on "
            f"{write_day_of_year((draft.updated_at + keep).astimezone(zone))} unless you submit or "
            "change it.",
            verb=_choose(visit, "Submit or change it"),
            address=f"/orders/{draft.id}",
        )
