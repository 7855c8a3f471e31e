"""The pages of a payment and of the simulated bank."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.checkout.readers import (
    RecipientReader,
    link_refresh,
    show_message_to,
    show_to,
)
from printworks.dashboard.checkout.refusals import explain_decline, is_certain
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.rendering import Fact, Link, Message, Onwards, send_on
from printworks.language.words import mark
from printworks.payments.provider import Declined, NeedsAuthorisation, Outcome, Paid
from printworks.rules.payments import PaymentState

# How soon a page that waits for news refreshes.
REFRESH_AFTER: Final = timedelta(seconds=4)


class PaymentView(msgspec.Struct, frozen=True, kw_only=True):
    """A payment for a merchant's order."""

    state: PaymentState
    merchant: str
    order: str
    amount: int
    currency: str
    # Where the bank waits for the payer.
    bank_url: str = ""
    # Why nothing was paid, as a sentence.
    reason: str = ""
    is_expired: bool = False
    # Where the merchant sees the order, once there is nothing to wait for.
    order_page: str = ""


class BankView(msgspec.Struct, frozen=True, kw_only=True):
    """A payment as the simulated bank shows it."""

    merchant: str
    order: str
    amount: int
    currency: str
    form_token: str
    # What the bank says of it.
    outcome: Outcome
    # Where to go once that is decided.
    back: str = ""


class _PaymentText(msgspec.Struct, frozen=True):
    tone: Tone
    title: str
    sentence: str


_FINDING_OUT: Final = _PaymentText(
    "",
    mark("We are checking whether the payment went through"),
    mark("This page refreshes automatically. You will not be charged twice."),
)
# How it is repaid is between the payer and the shop.
_ENDED: Final = mark("The order was cancelled or changed. Any payment is refunded.")
_EXPIRED: Final = _PaymentText(
    "warn",
    mark("This payment has expired"),
    mark("Nothing was charged. Submit the order again to start a new payment."),
)
_UNCONFIRMED: Final = _PaymentText(
    "error",
    mark("The payment did not go through"),
    mark("Whatever was charged is refunded. Submit the order again to retry."),
)
_WORDS: Final[Mapping[PaymentState, _PaymentText]] = {
    PaymentState.ASKED: _FINDING_OUT,
    PaymentState.WAITING: _FINDING_OUT,
    PaymentState.PAID: _PaymentText(
        "ok",
        mark("Payment received"),
        mark("The payment went through and the order was submitted. You can close this page."),
    ),
    PaymentState.DECLINED: _PaymentText(
        "error",
        mark("The payment was declined"),
        mark("Nothing was charged. Submit the order again to retry."),
    ),
    PaymentState.CANCELLED: _PaymentText(
        "warn",
        mark("This payment is no longer needed"),
        _ENDED,
    ),
    PaymentState.REFUNDING: _PaymentText(
        "warn",
        mark("The payment is being refunded"),
        mark("The order is not going ahead. The refund goes to the original payment method."),
    ),
    PaymentState.REFUNDED: _PaymentText(
        "warn",
        mark("The payment was refunded"),
        mark("The order is not going ahead. The refund went to the original payment method."),
    ),
    PaymentState.REFUND_REJECTED: _PaymentText(
        "warn", mark("The payment is being refunded"), _ENDED
    ),
    PaymentState.REPAID: _PaymentText("warn", mark("The payment was refunded"), _ENDED),
}


def show_payment(view: PaymentView, reader: RecipientReader) -> Response:
    """Send the payer on to the bank, or say what became of the payment."""
    if view.state is PaymentState.WAITING and view.bank_url and not view.is_expired:
        return send_on(view.bank_url)
    is_declined = view.reason and view.state is PaymentState.DECLINED
    words = _EXPIRED if _is_too_late(view) else _WORDS[view.state]
    if is_declined and not is_certain(view.reason):
        words = _UNCONFIRMED
    is_waiting, say = words is _FINDING_OUT, reader.words.say
    reason = (explain_decline(view.reason, reader.words),) if is_declined else ()
    message = Message(
        tone=words.tone,
        title=say(words.title),
        sentences=(*reason, say(words.sentence)),
        facts=describe(view, reader),
        link=link_refresh(reader) if is_waiting else _link_order(view, reader),
    )
    return show_message_to(reader, message, onwards=Onwards(REFRESH_AFTER) if is_waiting else None)


def _link_order(view: PaymentView, reader: RecipientReader) -> Link | None:
    return Link(reader.words.say("View the order"), view.order_page) if view.order_page else None


def _is_too_late(view: PaymentView) -> bool:
    return view.is_expired and view.state is PaymentState.WAITING


def describe(view: PaymentView | BankView, reader: RecipientReader) -> tuple[Fact, ...]:
    """Return what a payment is for."""
    say = reader.words.say
    return (
        Fact(say("Shop"), view.merchant),
        Fact(say("Order"), view.order),
        Fact(say("Amount"), reader.words.money(view.amount, view.currency)),
    )


def show_bank(view: BankView, reader: RecipientReader) -> Response:
    """Ask the payer to decide, or say what was decided."""
    say = reader.words.say
    match view.outcome:
        case NeedsAuthorisation():
            facts = describe(view, reader)[:-1]
            return show_to(reader, "recipient/bank.html", view=view, facts=facts)
        case Paid():
            said = say("Nothing was actually charged.")
            return _show_decision(view, reader, "ok", say("Authorised"), said)
        case Declined(reason=reason):
            said = explain_decline(reason, reader.words)
            return _show_decision(view, reader, "warn", say("Not authorised"), said)


def _show_decision(
    view: BankView, reader: RecipientReader, tone: Tone, title: str, sentence: str
) -> Response:
    message = Message(
        heading=reader.words.say("Simulated bank"),
        tone=tone,
        title=title,
        sentences=(sentence,),
        facts=describe(view, reader),
        link=Link(reader.words.say("Continue"), view.back),
    )
    return show_message_to(reader, message)


def show_unreachable_bank(reader: RecipientReader) -> Response:
    say = reader.words.say
    message = Message(
        heading=say("Simulated bank"),
        tone="warn",
        title=say("The simulated bank is not responding"),
        sentences=(say("A keyword in the order's reference or recipient asks for this."),),
    )
    return show_message_to(reader, message, status=503)


def show_unknown_payment(reader: RecipientReader) -> Response:
    say = reader.words.say
    message = Message(
        tone="warn",
        title=say("Payment not found"),
        sentences=(say("Check that the link is complete, or ask the shop for a new one."),),
    )
    return show_message_to(reader, message, status=404)
