"""Submitting an order, or letting its recipient pay for it."""

from printworks.actions.orders.moves import move_order
from printworks.actions.payments.balances import reserve_balance
from printworks.actions.payments.charges import FROM_BALANCE, ON_ACCOUNT
from printworks.actions.payments.payments import request_payment, resume_payment
from printworks.actions.production.lab_limits import check_lab_of_key
from printworks.actions.production.release import release_to_production
from printworks.actions.submission.check import (
    NO_CHECKOUT,
    ReadySubmission,
    find_debt,
    make_ready,
    require_payable,
    require_valid,
)
from printworks.actions.taxes import tax_again
from printworks.actions.work import Work
from printworks.errors import BadInput, WrongState
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, Payment, check_move
from printworks.rules.payments import is_on_account
from printworks.rules.reasons import UNPAID, drop_reasons
from printworks.store.money.ledger import lock_books
from printworks.store.money.payments import PaymentRequest, get_card
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import get_whole_order


def prepare_submission(work: Work, order_id: int) -> ReadySubmission | None:
    """Choose the labs of an open order, and examine it, before the transaction that submits it.

    If the order changes in between, that is done again in the transaction.
    """
    whole = get_whole_order(work.db, work.merchant.id, order_id)
    is_open = whole.order.status is OrderStatus.NOT_YET_SUBMITTED
    return make_ready(work, whole) if is_open else None


def submit_order(
    work: Work,
    order: Order,
    *,
    needs_recipient: bool = True,
    ready: ReadySubmission | None = None,
) -> Order | PaymentRequest:
    """Release a valid order to production, if the merchant's credit covers it.

    If a card must be charged, return a payment instead: the caller calls the provider, outside any
    transaction, and settles its answer. A payment that is under way is returned again.
    """
    work.check_may_order()
    work.check_may_spend()
    check_move(order.status, OrderStatus.SUBMITTED)
    if order.payment is Payment.INVOICE_RECIPIENT:
        raise BadInput(
            "`status` cannot be Submitted for an order with payment InvoiceRecipient; "
            "set it to AwaitingPayment and send the recipient to `paymentUrl`."
        )
    check_lab_of_key(work, order, ready and ready.routing)
    if order.payment_request_id is not None:
        return resume_payment(work, order.payment_request_id)
    on_account = is_on_account(work.merchant.billing, work.cards)
    if on_account:
        # Locked, so that two orders at once cannot exceed the same limit.
        lock_books(work.db, work.merchant.id)
    images = require_valid(work, order, needs_recipient=needs_recipient, ready=ready).images
    # The total is what was shown; who buys and sells is what the invoice says.
    order = tax_again(work, order)
    work.audit_routine(
        "submit-order", f"order {order.id}", price=order.total, currency=order.currency
    )
    routing = ready and ready.routing
    # Nothing is charged for a free order.
    if work.cards is None or on_account or order.total == 0:
        return release_to_production(work, order, images, provider=ON_ACCOUNT, ready=routing)
    paid = reserve_balance(work, order.total) if work.cards.uses_balance else 0
    if paid == order.total:
        return release_to_production(work, order, images, provider=FROM_BALANCE, ready=routing)
    card, rest = get_card(work.db, work.merchant.id), order.total - paid
    return request_payment(work, order, work.cards, amount=rest, from_balance=paid, card=card)


def await_payment(work: Work, order: Order, ready: ReadySubmission | None = None) -> Order:
    """Let the recipient pay for an order and complete its address."""
    work.check_may_order()
    work.check_may_spend()
    check_move(order.status, OrderStatus.AWAITING_PAYMENT)
    if order.payment is Payment.INVOICE_ME:
        raise WrongState(
            "An order with payment InvoiceMe that is NotYetSubmitted cannot become "
            "AwaitingPayment; set its status to Submitted."
        )
    if work.cards is None:
        raise WrongState(NO_CHECKOUT)
    check_lab_of_key(work, order, ready and ready.routing)
    # Locked, so that two orders at once cannot exceed the same limit.
    lock_books(work.db, work.merchant.id)
    images = require_payable(work, order, ready).images
    taxed = tax_again(work, order)
    if taxed.recipient_tax != order.recipient_tax:
        # Then the merchant pays another part of it.
        require_payable(work, taxed)
    work.audit_routine("await-payment", f"order {order.id}")
    pay_until = work.now + work.cards.checkout_within
    work.enqueue(JobKind.END_CHECKOUT, {"order": order.id}, wait=work.cards.checkout_within)
    return move_order(
        work,
        taxed,
        OrderStatus.AWAITING_PAYMENT,
        pay_until=pay_until,
        shortfall=find_debt(work, taxed, images),
        reasons=drop_reasons(taxed.reasons, UNPAID),
    )
