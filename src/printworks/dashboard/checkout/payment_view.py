"""The pages of a payment and of the simulated bank."""

from datetime import timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.rendering import (
    Fact,
    Link,
    Message,
    Onwards,
    render,
    render_message,
    send_on,
)
from printworks.payments.provider import Declined, NeedsAuthorisation, Outcome, Paid
from printworks.rules.payments import PaymentState

_BANK: Final = "Simulated bank"
# How soon a page that waits for news refreshes.
REFRESH_AFTER: Final = timedelta(seconds=4)


class PaymentView(msgspec.Struct, frozen=True, kw_only=True):
    """A payment for a merchant's order."""

    page: str
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

    page: str
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
    "We are checking whether the payment went through",
    "This page refreshes automatically. You will not be charged twice.",
)
_EXPIRED: Final = _PaymentText(
    "warn",
    "This payment has expired",
    "Nothing was charged. Submit the order again to start a new payment.",
)
_WORDS: Final = {
    PaymentState.ASKED: _FINDING_OUT,
    PaymentState.WAITING: _FINDING_OUT,
    PaymentState.PAID: _PaymentText(
        "ok",
        "Payment received",
        "The payment went through and the order was submitted. You can close this page.",
    ),
    PaymentState.DECLINED: _PaymentText(
        "error", "The payment was declined", "Nothing was charged. Submit the order again to retry."
    ),
    PaymentState.CANCELLED: _PaymentText(
        "warn",
        "This payment is no longer needed",
        "The order was cancelled or changed. Any payment is refunded.",
    ),
    PaymentState.REFUNDING: _PaymentText(
        "warn",
        "The payment is being refunded",
        "The order is not going ahead. The refund goes to the original payment method.",
    ),
    PaymentState.REFUNDED: _PaymentText(
        "warn",
        "The payment was refunded",
        "The order is not going ahead. The refund went to the original payment method.",
    ),
}


def show_payment(view: PaymentView) -> Response:
    """Send the payer on to the bank, or say what became of the payment."""
    if view.state is PaymentState.WAITING and view.bank_url and not view.is_expired:
        return send_on(view.bank_url)
    words = _EXPIRED if _is_too_late(view) else _WORDS[view.state]
    is_waiting = words is _FINDING_OUT
    reason = (view.reason,) if view.reason and view.state is PaymentState.DECLINED else ()
    message = Message(
        tone=words.tone,
        title=words.title,
        sentences=(*reason, words.sentence),
        facts=describe(view),
        link=Link("Refresh", view.page) if is_waiting else _link_order(view),
    )
    onwards = Onwards(REFRESH_AFTER) if is_waiting else None
    return render_message(message, onwards=onwards)


def _link_order(view: PaymentView) -> Link | None:
    return Link("View the order", view.order_page) if view.order_page else None


def _is_too_late(view: PaymentView) -> bool:
    return view.is_expired and view.state is PaymentState.WAITING


def describe(view: PaymentView | BankView) -> tuple[Fact, ...]:
    """Return what a payment is for."""
    return (
        Fact("Merchant", view.merchant),
        Fact("Order", view.order),
        Fact("Amount", format_money(view.amount, view.currency)),
    )


def show_bank(view: BankView) -> Response:
    """Ask the payer to decide, or say what was decided."""
    match view.outcome:
        case NeedsAuthorisation():
            return render("bank.html", view=view, facts=describe(view)[:-1])
        case Paid():
            return _show_decision(view, "ok", "Authorised", "Nothing was actually charged.")
        case Declined(reason=reason):
            return _show_decision(view, "warn", "Not authorised", reason)


def _show_decision(view: BankView, tone: Tone, title: str, sentence: str) -> Response:
    message = Message(
        heading=_BANK,
        tone=tone,
        title=title,
        sentences=(sentence,),
        facts=describe(view),
        link=Link("Continue", view.back),
    )
    return render_message(message)


def show_unreachable_bank() -> Response:
    message = Message(
        heading=_BANK,
        tone="warn",
        title="The simulated bank is not responding",
        sentences=("A keyword in the order's reference or recipient asks for this.",),
    )
    return render_message(message, status=503)


def show_unknown_payment() -> Response:
    message = Message(
        tone="warn",
        title="Payment not found",
        sentences=("Check that the link is complete, or ask the shop for a new one.",),
    )
    return render_message(message, status=404)
