"""What a merchant has in its favour: how much of it is free, and how much pays for an order."""

from sqlalchemy import Connection

from printworks.actions.work import Work
from printworks.rules.ledger import Books
from printworks.rules.payments import find_free_balance, share_balance
from printworks.store.money.approvals import sum_waiting
from printworks.store.money.ledger import lock_books, read_books
from printworks.store.money.payments import sum_claimed
from printworks.store.orders.orders import sum_shortfalls


def reserve_balance(work: Work, total: int) -> int:
    """Return how much of what an order costs the merchant's balance pays.

    The books stay locked: whoever comes next sees what this transaction takes, which is a payment
    with that part or a charge.
    """
    # Most merchants have nothing in their favour, and need not wait for each other.
    if read_books(work.db, work.merchant.id).balance >= 0:
        return 0
    books = lock_books(work.db, work.merchant.id)
    return share_balance(total, _find_free(work.db, work.merchant.id, books))


def read_share_of_balance(db: Connection, merchant_id: int, total: int) -> int:
    """Return how much of what an order costs the balance would pay now."""
    books = read_books(db, merchant_id)
    return share_balance(total, _find_free(db, merchant_id, books)) if books.balance < 0 else 0


def read_owed(db: Connection, merchant_id: int) -> int:
    """Return what a merchant owes, with what it will owe once recipients have paid their orders."""
    return read_books(db, merchant_id).balance + sum_shortfalls(db, merchant_id)


def _find_free(db: Connection, merchant_id: int, books: Books) -> int:
    """Return what nothing claims: no refund or pay-out under way, and no order being paid for."""
    claimed = sum_claimed(db, merchant_id) + sum_waiting(db, merchant_id)
    return find_free_balance(books.balance, claimed)
