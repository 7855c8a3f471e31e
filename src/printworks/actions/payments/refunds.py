"""Refunds that a bank rejected: taken back in the ledger, then sent again or paid in another way."""

from typing import Final

from printworks.actions.payments.charges import record_payment
from printworks.actions.payments.payments import begin_refund
from printworks.actions.work import SystemWork, Work
from printworks.errors import BadInput, WrongState
from printworks.payments.provider import RefundRejected
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import PaymentState
from printworks.store.money.payments import PaymentRequest, get_request, update_request

_SENT: Final = frozenset({PaymentState.REFUNDING, PaymentState.REFUNDED})


def record_rejected(system: SystemWork, asked_for: PaymentRequest, answer: RefundRejected) -> None:
    """Record that a bank rejected a refund, and reverse its repayment. Idempotent.

    `asked_for` is the payment as it was when its provider was asked: what is said of one refund
    does not count for the next one.
    """
    work, _ = system.lock_order(asked_for.order_id)
    payment = get_request(work.db, asked_for.id)
    is_same = payment.rejected_refunds == asked_for.rejected_refunds
    if payment.state not in _SENT or not is_same:
        return
    # One that is rejected at once was never recorded as repaid.
    if payment.state is PaymentState.REFUNDED:
        record_payment(work, payment, EntryKind.REPAYMENT_REVERSAL)
    values = {
        "state": PaymentState.REFUND_REJECTED,
        "reason": answer.reason,
        "rejected_refunds": payment.rejected_refunds + 1,
        "updated_at": work.now,
    }
    update_request(work.db, payment, values)


def refund_again(system: SystemWork, payment_id: int) -> None:
    """Send a refund once more that a bank has rejected."""
    work, payment = _lock_rejected(system, payment_id)
    begin_refund(work, update_request(work.db, payment, {"reason": None}), payment.reference)
    work.audit("refund-again", f"order {payment.order_id}", amount=payment.amount)


def note_repaid(system: SystemWork, payment_id: int, memo: str) -> None:
    """Note that a payer got in another way what a bank had rejected; `memo` says how.

    Money does not move by this.
    """
    if not memo.strip():
        raise BadInput("Write in a few words how it was paid.", field="memo")
    work, payment = _lock_rejected(system, payment_id)
    record_payment(work, payment, EntryKind.REPAYMENT, memo=memo.strip())
    update_request(work.db, payment, {"state": PaymentState.REPAID, "updated_at": work.now})
    work.audit("note-repaid", f"order {payment.order_id}", amount=payment.amount, memo=memo.strip())


def _lock_rejected(system: SystemWork, payment_id: int) -> tuple[Work, PaymentRequest]:
    work, _ = system.lock_order(get_request(system.db, payment_id).order_id)
    payment = get_request(work.db, payment_id)
    if payment.state is not PaymentState.REFUND_REJECTED:
        raise WrongState("No rejected refund of this payment is left to deal with.")
    return work, payment
