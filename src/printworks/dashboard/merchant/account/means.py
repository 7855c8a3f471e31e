"""How a merchant pays, and what a page says about it before something is charged."""

from typing import Final

import msgspec

from printworks.actions.payments.balances import read_share_of_balance
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.payments import is_on_account
from printworks.store.money.cards import find_shown_card
from printworks.store.money.ledger import read_books, read_credit_limit
from printworks.store.money.payments import get_card

# So many characters of a card's name are shown.
_HINT: Final = 4


class Means(msgspec.Struct, frozen=True, kw_only=True):
    """How a merchant pays."""

    is_on_account: bool
    # Above zero, what the merchant owes; below, what it has in hand.
    owed: int
    # The most that it may owe, and how much of that is left; None is without a limit.
    limit: int | None
    left: int | None
    # Who charges cards, and by which few letters the saved one is known; empty if none is saved.
    provider: str
    card: str
    # Whether what it has in hand pays for its orders before the card does.
    balance_pays: bool

    @property
    def is_simulated(self) -> bool:
        """Whether nothing is really charged."""
        return self.provider == "simulated"


def find_means(visit: MerchantVisit) -> Means:
    """Return how the merchant pays now."""
    merchant, cards = visit.merchant, visit.services.gateway.cards
    owed = read_books(visit.db, merchant.id).balance
    limit = read_credit_limit(visit.db, merchant.id)
    shown = find_shown_card(visit.db, merchant.id)
    return Means(
        is_on_account=is_on_account(merchant.billing, cards),
        owed=owed,
        limit=limit,
        left=None if limit is None else max(limit - owed, 0),
        provider="" if cards is None else cards.provider,
        card=shown.last_four if shown else get_card(visit.db, merchant.id).payment_method[-_HINT:],
        balance_pays=cards is not None and cards.uses_balance,
    )


def announce_charge(means: Means, amount: int, currency: str, *, from_balance: int = 0) -> str:
    """Say what will be charged to what, before it is; a part may come from the balance."""
    if not amount:
        return "Nothing will be charged."
    if from_balance:
        return _announce_parts(means, amount, currency, from_balance)
    charged = f"{format_money(amount, currency)} will be charged to"
    if not means.is_on_account:
        if means.is_simulated:
            return f"{charged} the test card of the sandbox. No money is taken."
        return f"{charged} your saved card{f' …{means.card}' if means.card else ''}."
    if means.limit is None or means.left is None:
        return f"{charged} your account."
    left, limit = format_money(means.left, currency), format_money(means.limit, currency)
    return f"{charged} your account. Before that, {left} of your limit of {limit} is left."


def _announce_parts(means: Means, amount: int, currency: str, from_balance: int) -> str:
    taken = f"{format_money(from_balance, currency)} will be taken from your balance"
    if from_balance == amount:
        return f"{taken}. Nothing will be charged to a card."
    rest = f"{taken}, and {format_money(amount - from_balance, currency)} from"
    if means.is_simulated:
        return f"{rest} the test card of the sandbox."
    return f"{rest} your saved card{f' …{means.card}' if means.card else ''}."


def find_part_from_balance(visit: MerchantVisit, amount: int) -> int:
    """Return how much of what an order costs the merchant's balance pays, beside a card."""
    cards = visit.services.gateway.cards
    if cards is None or not cards.uses_balance or is_on_account(visit.merchant.billing, cards):
        return 0
    return read_share_of_balance(visit.db, visit.merchant.id, amount)
