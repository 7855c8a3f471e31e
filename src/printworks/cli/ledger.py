"""`printworks ledger`: what merchants owe, and whether all of it adds up."""

from itertools import accumulate
from typing import Annotated, NamedTuple

import typer

from printworks.actions.payments.by_hand import (
    PostedByHand,
    PostingByHand,
    approve,
    post_money,
    reject,
    reverse_entry,
)
from printworks.actions.payments.ledger import (
    LedgerCheck,
    note_ledger_check,
    post_by_hand,
    verify_ledgers,
)
from printworks.actions.payments.refunds import note_repaid, refund_again
from printworks.cli.options import Limit, MerchantId
from printworks.cli.output import Columns, pick, write_count, write_debt, write_money
from printworks.cli.session import CommandSession, command
from printworks.rules.ledger import EntryKind
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.money.approvals import list_waiting
from printworks.store.money.ledger import list_entries, read_books
from printworks.store.views.console.problems import find_rejected

app = typer.Typer(no_args_is_help=True)

Amount = Annotated[int, typer.Argument(min=1, max=10**12, help="In pence or cents.")]
Memo = Annotated[str, typer.Option(help="What it is for, in a few words.")]
Key = Annotated[
    str | None, typer.Option(help="The same key is posted once, such as a bank's reference.")
]


@command(app, "verify")
def verify(session: CommandSession) -> None:
    """Recompute everything from the beginning; exit with 1 if something does not add up."""
    with session.reading() as db:
        verified = verify_ledgers(db)
    with session.system_work() as system:
        note_ledger_check(system, verified)
    found = [
        {"merchant": one.whose, "fault": one.fault.kind, "sentence": one.fault.sentence}
        for one in verified.faults
    ]
    result = write_count(len(found), "fault", "faults") if found else "everything adds up"
    session.show(
        {
            "merchants": verified.merchants,
            "entries": verified.entries,
            "invoices": verified.invoices,
            "waiting": verified.waiting,
            "faults": found,
        },
        *(f"{fault['merchant']}  {fault['sentence']}" for fault in found),
        *_describe_invoices(verified),
        f"{write_count(verified.merchants, 'merchant', 'merchants')}, "
        f"{write_count(verified.entries, 'entry', 'entries')}: {result}.",
    )
    if found:
        raise typer.Exit(1)


def _describe_invoices(verified: LedgerCheck) -> list[str]:
    if not verified.invoices and not verified.waiting:
        return []
    return [f"{verified.invoices} invoices; {verified.waiting} entries wait for theirs."]


@command(app, "statement")
def statement(session: CommandSession, merchant_id: MerchantId) -> None:
    """List what was charged, refunded, credited and paid, and what is owed."""
    with session.reading() as db:
        merchant = get_merchant_by_code(db, merchant_id)
        entries = [booked.entry for booked in list_entries(db, merchant.id)]
    members = (
        *("number", "key", "kind", "order_id", "currency", "lines", "memo", "created_at"),
        "previous",
    )
    found = [
        {**pick(entry, *members), "amount": entry.owed, "owed": owed}
        for entry, owed in zip(entries, accumulate(entry.owed for entry in entries), strict=True)
    ]
    columns: Columns = {
        "number": "number",
        "when": "createdAt",
        "what": "kind",
        "order": "orderId",
        "amount": lambda entry: write_money(entry["amount"], entry["currency"]),
        "owed": lambda entry: write_money(entry["owed"], entry["currency"]),
        "memo": "memo",
    }
    session.show_list(found, columns, "Nothing has been charged yet.")


@command(app, "credit")
def credit(
    session: CommandSession, merchant_id: MerchantId, amount: Amount, *, memo: Memo, key: Key = None
) -> None:
    """Credit a merchant, to compensate it for something."""
    _post(session, merchant_id, _Posting(EntryKind.CREDIT, amount, memo, key))


@command(app, "payment")
def payment(
    session: CommandSession, merchant_id: MerchantId, amount: Amount, *, memo: Memo, key: Key = None
) -> None:
    """Post a payment of a merchant."""
    _post(session, merchant_id, _Posting(EntryKind.PAYMENT, amount, memo, key))


Again = Annotated[
    int | None, typer.Option(help="The amount once more, if it is above `confirm_above`.")
]


@command(app, "debit")
def debit(
    session: CommandSession,
    merchant_id: MerchantId,
    amount: Amount,
    *,
    memo: Memo,
    again: Again = None,
) -> None:
    """Debit a merchant with something beside its orders."""
    posting = PostingByHand(kind=EntryKind.DEBIT, amount=amount, memo=memo, again=again)
    with session.work(merchant_id) as work:
        posted = post_money(work, posting)
    _say_posted(session, merchant_id, posted)


@command(app, "pay-out")
def pay_out(
    session: CommandSession,
    merchant_id: MerchantId,
    amount: Amount,
    *,
    memo: Memo,
    again: Again = None,
) -> None:
    """Note that a merchant was paid what it has in its favour."""
    posting = PostingByHand(kind=EntryKind.PAYOUT, amount=amount, memo=memo, again=again)
    with session.work(merchant_id) as work:
        posted = post_money(work, posting)
    _say_posted(session, merchant_id, posted)


@command(app, "reverse")
def reverse(
    session: CommandSession,
    merchant_id: MerchantId,
    entry: Annotated[int, typer.Argument(help="The number of the entry.")],
    *,
    memo: Memo,
    again: Again = None,
) -> None:
    """Reverse a debit, a credit, a payment or a pay-out that was posted by hand."""
    with session.work(merchant_id) as work:
        posted = reverse_entry(work, entry, memo, again=again)
    _say_posted(session, merchant_id, posted)


def _say_posted(session: CommandSession, merchant_id: str, posted: PostedByHand) -> None:
    number = posted.entry.number if posted.entry else None
    sentence = (
        f"Posted as entry {number}."
        if number
        else f"A second person must approve it: approval {posted.approval}."
    )
    session.done(sentence, merchantId=merchant_id, entry=number, approval=posted.approval)


@command(app, "approvals")
def list_approvals(session: CommandSession, *, limit: Limit = 50) -> None:
    """List what waits for a second person, the oldest first."""
    with session.reading() as db:
        found = list_waiting(db, limit=limit + 1)
    names = ("id", "merchant_code", "kind", "amount", "currency", "memo", "asked_by", "asked_at")
    columns: Columns = {
        "number": "id",
        "merchant": "merchantCode",
        "what": "kind",
        "amount": lambda one: write_money(one["amount"], one["currency"]),
        "memo": "memo",
        "asked by": "askedBy",
    }
    rows = [pick(one, *names) for one in found]
    session.show_list(rows, columns, "Nothing waits for approval.", limit=limit)


@command(app, "approve")
def approve_one(
    session: CommandSession,
    number: Annotated[int, typer.Argument(help="The number of the approval.")],
) -> None:
    """Approve what somebody else has asked for."""
    with session.system_work() as system:
        entry = approve(system, number)
    session.done(f"Posted as entry {entry.number}.", entry=entry.number)


@command(app, "reject")
def reject_one(
    session: CommandSession,
    number: Annotated[int, typer.Argument(help="The number of the approval.")],
) -> None:
    """Reject what was asked for, or withdraw it."""
    with session.system_work() as system:
        reject(system, number)
    session.done(f"Approval {number} is rejected.", approval=number)


PaymentNumber = Annotated[
    int, typer.Argument(metavar="PAYMENT", help="The number that `rejected-refunds` lists.")
]


@command(app, "rejected-refunds")
def list_rejected(session: CommandSession, *, limit: Limit = 50) -> None:
    """List refunds that a bank has rejected and nobody has dealt with, the oldest first."""
    with session.reading() as db:
        found = find_rejected(db, limit=limit + 1).rows
    names = ("id", "order_id", "merchant", "payer", "provider", "amount", "currency", "reason")
    columns: Columns = {
        "payment": "id",
        "order": "orderId",
        "merchant": "merchant",
        "paid by": "payer",
        "amount": lambda one: write_money(one["amount"], one["currency"]),
        "reason": "reason",
    }
    rows = [pick(one, *names) for one in found]
    session.show_list(rows, columns, "No refund was rejected.", limit=limit)


@command(app, "refund-again")
def send_again(session: CommandSession, payment: PaymentNumber) -> None:
    """Send a refund once more that a bank has rejected."""
    with session.system_work() as system:
        refund_again(system, payment)
    session.done(f"The refund of payment {payment} is being sent again.", payment=payment)


@command(app, "repaid")
def repaid(session: CommandSession, payment: PaymentNumber, *, memo: Memo) -> None:
    """Note that a payer got in another way what a bank had rejected; no money moves by this."""
    with session.system_work() as system:
        note_repaid(system, payment, memo)
    session.done(f"Payment {payment} is noted as repaid.", payment=payment)


class _Posting(NamedTuple):
    kind: EntryKind
    amount: int
    memo: str
    key: str | None


def _post(session: CommandSession, merchant_id: str, new: _Posting) -> None:
    with session.work(merchant_id) as work:
        entry = post_by_hand(work, new.kind, new.amount, new.memo, key=new.key)
        balance = read_books(work.db, work.merchant.id).balance
    how = "That was posted before" if entry is None else f"Posted as entry {entry.number}"
    session.done(
        f"{how}; {merchant_id} owes {write_debt(balance, work.merchant.currency)}.",
        merchantId=merchant_id,
        entry=None if entry is None else entry.number,
        owed=balance,
        currency=work.merchant.currency,
    )
