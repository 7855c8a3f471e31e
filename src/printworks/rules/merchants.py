"""Merchants: the states of an account, and what each of them permits."""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from printworks.errors import BadInput, Restricted, WrongState

LONGEST_NAME: Final = 200
LONGEST_REASON: Final = 200


class MerchantState(StrEnum):
    """Whether a merchant may order."""

    ACTIVE = "active"
    # Orders can be read and cancelled, and those in production go on; nothing new is ordered.
    SUSPENDED = "suspended"
    # Nobody signs in, and no key is valid. What is stored stays.
    CLOSED = "closed"


# Which state can follow which.
MOVES: Final = {
    MerchantState.ACTIVE: frozenset({MerchantState.SUSPENDED, MerchantState.CLOSED}),
    MerchantState.SUSPENDED: frozenset({MerchantState.ACTIVE, MerchantState.CLOSED}),
    MerchantState.CLOSED: frozenset({MerchantState.ACTIVE}),
}


def check_may_order(state: MerchantState, reason: str) -> None:
    """Refuse to order anything for a merchant that is suspended or closed."""
    why_not = explain_account(state, reason)
    if why_not is not None:
        raise Restricted(why_not)


def explain_account(state: MerchantState, reason: str) -> str | None:
    """Say why nothing can be ordered for a merchant; None if it can."""
    if state is MerchantState.ACTIVE:
        return None
    return (
        f"This account is {state} ({reason}): nothing new can be ordered until the operator of the "
        "service reopens it. Orders can still be read and cancelled, and those in production go on."
    )


def check_not_closed(state: MerchantState) -> None:
    """Refuse to let anybody in to a closed account."""
    if state is MerchantState.CLOSED:
        raise WrongState("This account is closed. Ask the operator of the service to reopen it.")


def check_move(state: MerchantState, wanted: MerchantState) -> None:
    """Refuse a change of state that makes no sense."""
    if state is wanted:
        raise WrongState(f"The account is {state} already.")
    if wanted not in MOVES[state]:
        raise WrongState(f"The account is {state}. Reopen it first.")


def check_nothing_open(refused: str, *, open_orders: int, balance: int) -> None:
    """Refuse to close an account, or to change its currency, while something of it is open."""
    found = []
    if open_orders:
        found.append(
            "an order that is neither complete nor cancelled"
            if open_orders == 1
            else f"{open_orders:,} orders that are neither complete nor cancelled"
        )
    if balance:
        found.append("a balance that is not settled")
    if found:
        raise WrongState(f"{refused} while the merchant has {' and '.join(found)}.")


def read_state_reason(text: str) -> str:
    """Return why an account is suspended or closed, for the merchant and for other operators."""
    reason = " ".join(text.split())
    if not 1 <= len(reason) <= LONGEST_REASON or not reason.isprintable():
        raise BadInput(f"`reason` must be 1 to {LONGEST_REASON} printable characters.")
    return reason


def read_merchant_name(text: str) -> str:
    """Return what a merchant is called."""
    name = text.strip()
    if not 1 <= len(name) <= LONGEST_NAME or not name.isprintable():
        raise BadInput(f"`name` must be 1 to {LONGEST_NAME} printable characters.")
    return name


def check_currency(currency: str, sold_in: Collection[str]) -> None:
    """Refuse a currency in which nothing is sold."""
    if currency not in sold_in:
        raise BadInput(
            f"Nothing is sold in {currency}; the currencies of the catalogue are: "
            f"{', '.join(sold_in)}."
        )


def explain_currency(currency: str, sold_in: Collection[str]) -> str | None:
    """Say that nothing is sold any more in the currency of an account; None if that is not so."""
    if currency in sold_in:
        return None
    return (
        f"Nothing is sold any more in {currency}, the currency of this account. Ask the operator of "
        f"the service to change it; the currencies of the catalogue are: {', '.join(sold_in)}."
    )


def check_same_currency(charged_in: str, kept_in: str) -> None:
    """Refuse to charge for an order of one currency if the account is kept in another by now."""
    if charged_in != kept_in:
        raise WrongState(
            f"The order is in {charged_in}, and the account is kept in {kept_in} by now, so its "
            "shipping method can no longer be changed."
        )
