"""What payers are shown of a payment, and how it is said."""

from datetime import timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.rendering import (
    Fact,
    Link,
    Message,
    Onwards,
    Tone,
    render,
    render_message,
    send_on,
)
from printworks.payments.provider import Declined, NeedsAuthorisation, Outcome, Paid
from printworks.rules.payments import PaymentState

_BANK: Final = "Simulated bank"
# How soon a page that waits for news looks again.
LOOK_AGAIN_AFTER: Final = timedelta(seconds=4)


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


class _Words(msgspec.Struct, frozen=True):
    tone: Tone
    title: str
    sentence: str


_FINDING_OUT: Final = _Words(
    "",
    "We are finding out whether the payment went through",
    "This page looks again by itself. Nothing is charged twice, and there is nothing to do.",
)
_EXPIRED: Final = _Words(
    "warn",
    "The time for this payment is over",
    "Nothing was charged. Submit the order again to be asked for a new payment.",
)
_WORDS: Final = {
    PaymentState.ASKED: _FINDING_OUT,
    PaymentState.WAITING: _FINDING_OUT,
    PaymentState.PAID: _Words(
        "ok",
        "Paid, the order is on its way",
        "The payment went through and the order was submitted. You can close this page.",
    ),
    PaymentState.DECLINED: _Words(
        "error",
        "The payment was declined",
        "Nothing was charged. Submit the order again to try another time.",
    ),
    PaymentState.CANCELLED: _Words(
        "warn",
        "This payment is not needed any more",
        "The order was cancelled or changed. Whatever was taken is given back.",
    ),
    PaymentState.REFUNDING: _Words(
        "warn",
        "The payment is being given back",
        "The order is not going ahead, so the money goes back to where it came from.",
    ),
    PaymentState.REFUNDED: _Words(
        "warn",
        "The payment was given back",
        "The order is not going ahead, so the money went back to where it came from.",
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
        link=Link("Look again now", view.page) if is_waiting else _link_order(view),
    )
    onwards = Onwards(LOOK_AGAIN_AFTER) if is_waiting else None
    return render_message(message, onwards=onwards)


def _link_order(view: PaymentView) -> Link | None:
    return Link("See the order", view.order_page) if view.order_page else None


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
            return _say_decided(view, "ok", "Authorised", "Nothing was really charged.")
        case Declined(reason=reason):
            return _say_decided(view, "warn", "Not authorised", reason)


def _say_decided(view: BankView, tone: Tone, title: str, sentence: str) -> Response:
    message = Message(
        heading=_BANK,
        tone=tone,
        title=title,
        sentences=(sentence,),
        facts=describe(view),
        link=Link("Continue", view.back),
    )
    return render_message(message)


def show_silent_bank() -> Response:
    """Say what the simulated bank says when it is asked not to answer."""
    message = Message(
        heading=_BANK,
        tone="warn",
        title="The simulated bank does not answer",
        sentences=("The order asks for that with a word in its reference or its recipient.",),
    )
    return render_message(message, status=503)


def show_unknown_payment() -> Response:
    """Say that there is no such payment."""
    message = Message(
        tone="warn",
        title="There is no such payment",
        sentences=("Check that the address is complete, or ask the shop for a new link.",),
    )
    return render_message(message, status=404)
