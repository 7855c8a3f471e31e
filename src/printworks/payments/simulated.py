"""A bank for the sandbox: it takes nothing, and does on demand what real banks do.

Who orders to the European Economic Area is sent to a bank page of our own, and so is everybody
who has no saved card. What else can happen is asked for with a word in the recipient's name or in
the merchant's own reference.
"""

import re
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, Protocol

from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    ProviderUnavailable,
    Unknown,
)

# fmt: off
EEA: Final = frozenset({
    "AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE",
    "IS", "IT", "LI", "LT", "LU", "LV", "MT", "NL", "NO", "PL", "PT", "RO", "SE", "SI", "SK",
})
# fmt: on


class Magic(StrEnum):
    """The words, as merchants write them."""

    DECLINED = "pay-declined"
    AUTHORISE = "pay-authorise"
    EXPIRED = "pay-expired"
    DOWN = "pay-down"
    LATE = "pay-late"
    LOST = "pay-lost"


# The same in sentences, for the documentation.
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
    """How far a charge has come; this is what the memory keeps."""

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
_BEGINNINGS: Final[Mapping[Magic | None, State]] = {
    Magic.DECLINED: State.DECLINED,
    Magic.AUTHORISE: State.WAITING,
    Magic.EXPIRED: State.EXPIRED,
}


class Memory(Protocol):
    """Where the bank keeps what it did: texts by their keys, shared by all processes."""

    def get(self, key: str) -> str | None:
        """Return what was put last, or None."""

    def put(self, key: str, value: str, *, instead_of: str | None) -> bool:
        """Put a text if the present one is still `instead_of`; say whether that was so."""


class SimulatedProvider:
    """The bank; `page` gives the address at which a charge, by its reference, is authorised."""

    name = "simulated"

    def __init__(self, memory: Memory, page: Callable[[str], str]) -> None:
        self._memory = memory
        self._page = page

    def charge(self, charge: Charge) -> Outcome:
        """Decide by destination and words; the second time, say what was decided."""
        usual = State.WAITING if charge.destination_country in EEA else State.PAID
        return self._take(charge, usual)

    def ask_payer(self, charge: Charge) -> Outcome:
        """Give the bank page, unless a word says otherwise."""
        return self._take(charge, State.WAITING)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        """Say what was decided, and what the bank page recorded since."""
        _answering(charge)
        key = reference or charge.key
        return self._tell(key, self._find(key))

    def cancel(self, charge: Charge, reference: str) -> Paid | Declined:
        """Close the bank page of a charge; one that never came can then come no more."""
        _answering(charge)
        # In the order in which a charge goes through them, so that none slips through.
        for earlier in (None, State.TRIED, State.WAITING):
            self._memory.put(reference, State.CANCELLED, instead_of=earlier)
        outcome = self._tell(reference, self._find(reference))
        if isinstance(outcome, Paid | Declined):
            return outcome
        raise ProviderUnavailable("the memory forgot what was put into it")

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Note that the money went back."""
        _answering(charge)
        self._memory.put(paid.reference, State.REFUNDED, instead_of=State.PAID)

    def authorise(self, reference: str) -> Outcome | Unknown:
        """Do what the bank page is for; the answer is what holds now."""
        self._memory.put(reference, State.PAID, instead_of=State.WAITING)
        return self._tell(reference, self._find(reference))

    def refuse(self, reference: str) -> Outcome | Unknown:
        """Let the payer say no at the bank page; the answer is what holds now."""
        self._memory.put(reference, State.REFUSED, instead_of=State.WAITING)
        return self._tell(reference, self._find(reference))

    def _take(self, charge: Charge, usual: State) -> Outcome:
        magic = _answering(charge)
        known = self._find(charge.key)
        if not isinstance(told := self._tell(charge.key, known), Unknown):
            return told
        if magic is Magic.LATE and known is None:
            self._memory.put(charge.key, State.TRIED, instead_of=None)
            raise ProviderUnavailable(magic)
        begun = _BEGINNINGS.get(magic, usual)
        if not self._memory.put(charge.key, begun, instead_of=known):
            # The same charge came twice at once: the other one has decided.
            return self._take(charge, usual)
        if magic is Magic.LOST:
            raise ProviderUnavailable(magic)
        if begun is State.EXPIRED:
            return self._ask(charge.key)
        return self._decide(charge.key, begun)

    def _find(self, key: str) -> State | None:
        found = self._memory.get(key)
        return None if found is None else State(found)

    def _tell(self, key: str, state: State | None) -> Outcome | Unknown:
        if state is None or state is State.TRIED:
            return Unknown()
        return self._decide(key, state)

    def _decide(self, key: str, state: State) -> Outcome:
        if state is State.WAITING:
            return self._ask(key)
        if state in _REASONS:
            return Declined(reason=_REASONS[state])
        return Paid(provider=self.name, reference=key)

    def _ask(self, key: str) -> NeedsAuthorisation:
        return NeedsAuthorisation(url=self._page(key), reference=key)


def find_magic(charge: Charge) -> Magic | None:
    """Return the first word that means something to the bank."""
    text = f"{charge.recipient}\n{charge.merchant_reference}".casefold()
    known = [Magic(word) for word in _WORD.findall(text) if word in set(Magic)]
    return known[0] if known else None


def _answering(charge: Charge) -> Magic | None:
    magic = find_magic(charge)
    if magic is Magic.DOWN:
        raise ProviderUnavailable(magic)
    return magic
