"""The simulated payment provider of the sandbox: charges nothing, and acts like a real bank.

Orders to the European Economic Area, and payers without a saved card, are sent to a bank page of
our own. Other outcomes are chosen by a word in the recipient's name or the merchant's reference.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol

from printworks.payments.cards import (
    CardDetails,
    CardOutcome,
    CardPage,
    CardRefused,
    CardRequest,
)
from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    ProviderUnavailable,
    Refunded,
    Unknown,
)

# fmt: off
EEA: Final = frozenset({
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE",
    "IS", "IT", "LI", "LT", "LU", "LV", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
})
# fmt: on


class Magic(StrEnum):
    """The words that choose an outcome."""

    DECLINED = "pay-declined"
    AUTHORISE = "pay-authorise"
    EXPIRED = "pay-expired"
    DOWN = "pay-down"
    LATE = "pay-late"
    LOST = "pay-lost"


# What they do, for the documentation.
MAGIC: Final[Mapping[Magic, str]] = {
    Magic.DECLINED: "The bank declines.",
    Magic.AUTHORISE: "The bank wants authorisation, whatever the destination.",
    Magic.EXPIRED: "The bank wants authorisation, and the time for it is over at once.",
    Magic.DOWN: "The bank does not answer, and never will; nothing is charged.",
    Magic.LATE: "The bank does not answer the first time; asked again, it does as usual.",
    Magic.LOST: "The bank does as usual, and its answer is lost on the way.",
}
_WORD: Final = re.compile(r"(?<![\w-])pay-[a-z]+(?![\w-])")


class State(StrEnum):
    """The state of a charge, as it is stored."""

    TRIED = "tried"
    WAITING = "waiting"
    PAID = "paid"
    REFUNDED = "refunded"
    DECLINED = "declined"
    REFUSED = "refused"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


_REASONS: Final[Mapping[State, str]] = {
    State.DECLINED: "The bank declined the card.",
    State.REFUSED: "The payment was not authorised.",
    State.EXPIRED: "The payment was not authorised in time.",
    State.CANCELLED: "The payment was cancelled.",
}
_FIRST_STATES: Final[Mapping[Magic | None, State]] = {
    Magic.DECLINED: State.DECLINED,
    Magic.AUTHORISE: State.WAITING,
    Magic.EXPIRED: State.EXPIRED,
}


class TestCard(NamedTuple):
    """A card that can be saved at this bank, and what it does."""

    name: str
    brand: str
    month: int
    year: int
    meaning: str


# By their last four digits.
TEST_CARDS: Final[Mapping[str, TestCard]] = {
    "4242": TestCard("Visa", "visa", 12, 2040, "Every charge succeeds."),
    "4444": TestCard("Mastercard", "mastercard", 6, 2040, "Every charge succeeds."),
    "0002": TestCard("Visa", "visa", 12, 2040, "Every charge is declined."),
    "0069": TestCard("Visa", "visa", 1, 2026, "It has expired, and every charge is declined."),
}
_BAD_CARDS: Final = ("sim_0002_", "sim_0069_")
_NOT_SAVED: Final = CardRefused(reason="No card was chosen.")


class Memory(Protocol):
    """Storage for the states of charges, by key, shared by all processes."""

    def get(self, key: str) -> str | None:
        """Return the stored text, or None."""

    def put(self, key: str, value: str, *, instead_of: str | None) -> bool:
        """Store a text if the current one is `instead_of`; return whether it was."""


class SimulatedProvider:
    """The simulated bank; `page` returns the address to authorise a charge, by its reference."""

    name = "simulated"

    def __init__(self, memory: Memory, page: Callable[[str], str]) -> None:
        self._memory = memory
        self._page = page

    def charge(self, charge: Charge) -> Outcome:
        """Decide by destination and words; repeat the decision on later calls."""
        usual = State.WAITING if charge.destination_country in EEA else State.PAID
        if charge.payment_method.startswith(_BAD_CARDS):
            usual = State.DECLINED
        return self._take(charge, usual)

    def ask_payer(self, charge: Charge) -> Outcome:
        """Return the bank page, unless a word chooses otherwise."""
        return self._take(charge, State.WAITING)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Return the decision, or what the bank page has recorded since."""
        _find_magic_or_fail(charge)
        return self._find_outcome(reference or charge.key)

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Cancel a charge, also one that has not arrived yet."""
        _find_magic_or_fail(charge)
        # In the order of the states, so that a concurrent change is not missed.
        for earlier in (None, State.TRIED, State.WAITING):
            self._memory.put(reference, State.CANCELLED, instead_of=earlier)
        outcome = self._find_outcome(reference)
        if isinstance(outcome, Paid | Declined):
            return outcome
        raise ProviderUnavailable("the stored state is missing")

    def refund(self, charge: Charge, paid: Paid) -> Refunded:
        _find_magic_or_fail(charge)
        self._memory.put(paid.reference, State.REFUNDED, instead_of=State.PAID)
        return Refunded()

    def look_up_refund(self, charge: Charge, paid: Paid) -> Refunded:  # noqa: ARG002
        """Return that it arrived: this bank rejects none."""
        return Refunded()

    def authorise(self, reference: str) -> Outcome | Unknown:
        """Authorise a charge on the bank page; return its outcome."""
        self._memory.put(reference, State.PAID, instead_of=State.WAITING)
        return self._find_outcome(reference)

    def refuse(self, reference: str) -> Outcome | Unknown:
        """Refuse a charge on the bank page; return its outcome."""
        self._memory.put(reference, State.REFUSED, instead_of=State.WAITING)
        return self._find_outcome(reference)

    def ask_for_card(self, request: CardRequest) -> CardPage:
        """Return the bank page on which a card is chosen."""
        reference = f"card-{request.key}"
        self._memory.put(reference, State.WAITING, instead_of=None)
        return CardPage(url=self._page(f"cards/{request.key}"), reference=reference)

    def look_up_card(self, reference: str) -> CardOutcome:
        """Return what was chosen on the bank page."""
        state = self._memory.get(reference)
        if state == State.WAITING:
            key = reference.removeprefix("card-")
            return CardPage(url=self._page(f"cards/{key}"), reference=reference)
        card = TEST_CARDS.get(state or "")
        if card is None:
            return _NOT_SAVED
        return CardDetails(
            customer="sim_customer",
            payment_method=f"sim_{state}_{reference[-12:]}",
            brand=card.brand,
            last_four=str(state),
            expires_month=card.month,
            expires_year=card.year,
        )

    def forget_card(self, payment_method: str) -> None:
        """Do nothing: a card is only known by whoever saved it."""

    def save_card(self, reference: str, card: str) -> None:
        """Save one of the test cards on the bank page."""
        self._memory.put(reference, card, instead_of=State.WAITING)

    def refuse_card(self, reference: str) -> None:
        """Leave the bank page without a card."""
        self._memory.put(reference, State.REFUSED, instead_of=State.WAITING)

    def _take(self, charge: Charge, usual: State) -> Outcome:
        magic = _find_magic_or_fail(charge)
        known = self._memory.get(charge.key)
        if known not in (None, State.TRIED):
            return self._decide(charge.key, State(known))
        if magic is Magic.LATE and known is None:
            self._memory.put(charge.key, State.TRIED, instead_of=None)
            raise ProviderUnavailable(magic)
        state = _FIRST_STATES.get(magic, usual)
        if not self._memory.put(charge.key, state, instead_of=known):
            # The same charge came twice at once: use the decision of the other call.
            return self._take(charge, usual)
        if magic is Magic.LOST:
            raise ProviderUnavailable(magic)
        if state is State.EXPIRED:
            return self._ask(charge.key)
        return self._decide(charge.key, state)

    def _find_outcome(self, key: str) -> Outcome | Unknown:
        state = self._memory.get(key)
        return Unknown() if state in (None, State.TRIED) else self._decide(key, State(state))

    def _decide(self, key: str, state: State) -> Outcome:
        if state is State.WAITING:
            return self._ask(key)
        if state in _REASONS:
            return Declined(reason=_REASONS[state])
        return Paid(provider=self.name, reference=key)

    def _ask(self, key: str) -> NeedsAuthorisation:
        return NeedsAuthorisation(url=self._page(key), reference=key)


def find_magic(charge: Charge) -> Magic | None:
    """Return the first word that chooses an outcome."""
    text = f"{charge.recipient}\n{charge.merchant_reference}".casefold()
    known = [Magic(word) for word in _WORD.findall(text) if word in set(Magic)]
    return known[0] if known else None


def _find_magic_or_fail(charge: Charge) -> Magic | None:
    magic = find_magic(charge)
    if magic is Magic.DOWN:
        raise ProviderUnavailable(magic)
    return magic
