"""Money that operators post by hand: debits, credits, pay-outs and reversals, with a reason.

Above a limit it waits until a second person approves it.
"""

import secrets

import msgspec

from printworks.actions.invoices.causes import note_reversal
from printworks.actions.work import SystemWork, Work
from printworks.errors import BadInput, WrongState
from printworks.rules.approvals import ApprovalState, check_second_person
from printworks.rules.ledger import REVERSALS, EntryKind, LedgerEntry, entry_key, reversal_key
from printworks.rules.payments import find_free_balance
from printworks.store.accounts.merchants import get_merchant
from printworks.store.money.approvals import (
    Approval,
    NewApproval,
    decide,
    get_approval,
    insert_approval,
)
from printworks.store.money.ledger import NewLedgerEntry, get_entry, lock_books, post_entry
from printworks.store.money.payments import sum_claimed


class PostingByHand(msgspec.Struct, frozen=True, kw_only=True):
    """An entry that an operator wants to post."""

    kind: EntryKind
    amount: int
    memo: str
    # The amount, typed once more.
    again: int | None = None


class PostedByHand(msgspec.Struct, frozen=True):
    """What became of a posting: an entry, or the number under which it waits for approval."""

    entry: LedgerEntry | None
    approval: int | None = None


def post_money(work: Work, posting: PostingByHand) -> PostedByHand:
    """Post a debit, a credit or a pay-out, or ask for a second person's approval of it."""
    memo = _read_memo(posting.memo)
    work.backing.money_terms.check_confirmed(posting.amount, posting.again)
    if posting.kind is EntryKind.PAYOUT:
        _require_balance(work, posting.amount)
    new = NewLedgerEntry(
        key=entry_key(posting.kind, secrets.token_hex(8)),
        kind=posting.kind,
        amount=posting.amount,
        currency=work.merchant.currency,
        memo=memo,
    )
    return _post_or_ask(work, new, reverses=None)


def reverse_entry(work: Work, number: int, memo: str, *, again: int | None = None) -> PostedByHand:
    """Reverse an entry that was posted by hand, or ask for approval of that."""
    new = _describe_reversal(work, get_entry(work.db, work.merchant.id, number), _read_memo(memo))
    work.backing.money_terms.check_confirmed(new.amount, again)
    return _post_or_ask(work, new, reverses=number)


def _describe_reversal(work: Work, entry: LedgerEntry, memo: str) -> NewLedgerEntry:
    if entry.kind not in REVERSALS or entry.order_id is not None:
        message = f"Entry {entry.number} cannot be reversed: it changes with its order alone."
        raise WrongState(message)
    _require_currency(work, entry.currency)
    return NewLedgerEntry(
        key=reversal_key(entry),
        kind=REVERSALS[entry.kind],
        amount=entry.amount,
        tax=entry.tax,
        currency=entry.currency,
        memo=memo,
    )


def _require_currency(work: Work, currency: str) -> None:
    """Refuse an amount of one currency in an account that is kept in another by now."""
    kept_in = work.merchant.currency
    if currency != kept_in:
        raise WrongState(
            f"That amount is in {currency}, and the account is kept in {kept_in} by now. "
            f"Post what it is worth in {kept_in} instead."
        )


def _post_or_ask(work: Work, new: NewLedgerEntry, *, reverses: int | None) -> PostedByHand:
    if not work.backing.money_terms.needs_approval(new.amount):
        return PostedByHand(_post(work, new, reverses=reverses))
    asked = NewApproval(
        merchant_id=work.merchant.id,
        kind=new.kind,
        amount=new.amount,
        currency=work.merchant.currency,
        memo=new.memo,
        reverses=reverses,
        asked_by=work.actor.who,
    )
    number = insert_approval(work.db, asked, now=work.real_now)
    work.audit(f"ask-{new.kind}", f"approval {number}", amount=new.amount, memo=new.memo)
    return PostedByHand(None, number)


def _post(work: Work, new: NewLedgerEntry, *, reverses: int | None = None) -> LedgerEntry:
    entry = post_entry(work.db, work.merchant.id, new, now=work.real_now)
    if entry is None:
        raise WrongState("That entry was reversed before.")
    if reverses is not None:
        note_reversal(work, entry, of=reverses)
    work.audit(f"post-{new.kind}", f"entry {entry.number}", amount=new.amount, memo=new.memo)
    return entry


def _require_balance(work: Work, amount: int) -> None:
    """Refuse to pay out more than the merchant has in its favour.

    What is on its way back to cards, or pays for orders, is not counted: it would be paid twice.
    """
    balance = lock_books(work.db, work.merchant.id).balance
    free = find_free_balance(balance, sum_claimed(work.db, work.merchant.id))
    if amount > free:
        message = (
            f"At most {free / 100:,.2f} {work.merchant.currency} can be paid out: what the merchant "
            "has in its favour, less pending refunds and payments."
        )
        raise BadInput(message, field="amount")


def approve(system: SystemWork, approval_id: int) -> LedgerEntry:
    """Post what somebody else has asked for."""
    approval = _settle(system, approval_id, ApprovalState.APPROVED)
    work = system.for_merchant(get_merchant(system.db, approval.merchant_id))
    check_second_person(approval.asked_by, work.actor.who)
    if approval.reverses is not None:
        reversed_one = get_entry(work.db, work.merchant.id, approval.reverses)
        reversal = _describe_reversal(work, reversed_one, approval.memo)
        return _post(work, reversal, reverses=approval.reverses)
    _require_currency(work, approval.currency)
    if approval.kind is EntryKind.PAYOUT:
        _require_balance(work, approval.amount)
    new = NewLedgerEntry(
        key=entry_key(approval.kind, f"approval-{approval.id}"),
        kind=approval.kind,
        amount=approval.amount,
        currency=approval.currency,
        memo=approval.memo,
    )
    return _post(work, new)


def reject(system: SystemWork, approval_id: int) -> None:
    """Reject what was asked for; whoever asked may withdraw it so."""
    approval = _settle(system, approval_id, ApprovalState.REJECTED)
    system.audit_for(approval.merchant_id, f"reject-{approval.kind}", approval=approval_id)


def _settle(system: SystemWork, approval_id: int, state: ApprovalState) -> Approval:
    approval = get_approval(system.db, approval_id)
    who, now = system.actor.who, system.real_now
    if not decide(system.db, approval, state, who=who, now=now):
        raise WrongState("This entry has already been approved or rejected.")
    return approval


def _read_memo(memo: str) -> str:
    if not memo.strip():
        raise BadInput("Write the reason in a few words.", field="memo")
    return memo.strip()
