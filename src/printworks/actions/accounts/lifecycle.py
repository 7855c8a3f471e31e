"""A merchant's account over time: suspended, closed, reopened, renamed, in another currency.

Orders in production, payments under way and callbacks go on whatever becomes of the account.
"""

from typing import Final

from printworks.actions.payments.cards import forget_cards
from printworks.actions.work import Work
from printworks.catalogue.products import Currency
from printworks.rules.merchants import (
    MerchantState,
    check_currency,
    check_move,
    check_nothing_open,
    read_merchant_name,
    read_state_reason,
)
from printworks.store.accounts import lifecycle as store

# As the audit log calls them.
_AUDITED: Final = {
    MerchantState.ACTIVE: "reopen-merchant",
    MerchantState.SUSPENDED: "suspend-merchant",
    MerchantState.CLOSED: "close-merchant",
}


def suspend_merchant(work: Work, reason: str) -> None:
    """Order nothing more for a merchant until it is reopened; the merchant reads the reason."""
    _move(work, MerchantState.SUSPENDED, read_state_reason(reason))


def close_merchant(work: Work, reason: str) -> None:
    """Close an account with nothing open: its people are signed out, its keys refused, its card forgotten."""
    why = read_state_reason(reason)
    standing = store.lock_standing(work.db, work.merchant.id)
    check_move(standing.state, MerchantState.CLOSED)
    _require_nothing_open(work, standing, "The account cannot be closed")
    store.end_sessions_of_merchant(work.db, work.merchant.id)
    forget_cards(work)
    _move(work, MerchantState.CLOSED, why)


def reopen_merchant(work: Work) -> None:
    """Let a merchant order again; its keys are valid again, too."""
    _move(work, MerchantState.ACTIVE, "")


def rename_merchant(work: Work, name: str) -> None:
    """Call a merchant something else."""
    name = read_merchant_name(name)
    if name != work.merchant.name:
        store.set_name(work.db, work.merchant.id, name)
        work.audit("rename-merchant", work.merchant.code, name=name, before=work.merchant.name)


def change_currency(work: Work, currency: Currency) -> None:
    """Charge a merchant in another currency from now on, while nothing is open.

    The credit limit is the same number in the new currency.
    """
    check_currency(currency, work.catalogue.currencies)
    standing = store.lock_standing(work.db, work.merchant.id)
    if standing.currency is currency:
        return
    _require_nothing_open(work, standing, "The currency cannot be changed")
    store.set_currency(work.db, work.merchant.id, currency)
    work.audit("change-currency", work.merchant.code, currency=currency, before=standing.currency)


def _move(work: Work, state: MerchantState, reason: str) -> None:
    check_move(store.lock_standing(work.db, work.merchant.id).state, state)
    store.set_state(work.db, work.merchant.id, state, reason)
    details = {"reason": reason} if reason else {}
    work.audit(_AUDITED[state], work.merchant.code, **details)


def _require_nothing_open(work: Work, standing: store.MerchantStanding, refused: str) -> None:
    orders = store.count_open_orders(work.db, work.merchant.id)
    check_nothing_open(refused, open_orders=orders, balance=standing.balance)
