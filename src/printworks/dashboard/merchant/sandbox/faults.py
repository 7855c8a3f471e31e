"""The faults that a sandbox can simulate, and their keywords."""

from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from printworks.payments.simulated import MAGIC, Magic

# What goes before the words for a lab.
_FOR_LABS: Final = "sandbox:"


class SandboxFault(msgspec.Struct, frozen=True):
    """A word for the reference of an order, and what it does."""

    word: str
    name: str
    what: str
    # How to see it.
    try_it: str


# By the words of the simulated lab.
LABS: Final[Mapping[str, tuple[str, str, str]]] = {
    "reject": (
        "The first lab says no",
        "The first lab rejects the job, and the next one takes it.",
        "Submit the order and move the clock by an hour: it is complete, and its page says "
        "which lab made it instead.",
    ),
    "reject-all": (
        "Every lab says no",
        "Each lab that could make it rejects the job, until none is left.",
        "Submit the order and move the clock by an hour: its shipment is held, and its page says why.",
    ),
    "fail": (
        "The lab spoils the prints",
        "It fails in production, with a reason, when it should have been dispatched.",
        "Submit the order and move the clock by an hour: its page says that a lab could not make it.",
    ),
    "late": (
        "The lab is late",
        "It is dispatched three days later than usual.",
        "Submit the order and move the clock by a day: nothing is sent yet. After four days it is.",
    ),
    "lost": (
        "The shipment gets lost",
        "It is dispatched, and ten days later the carrier has lost it. The order stays "
        "complete: this is for trying what you do when a customer has received nothing.",
        "Submit the order, move the clock by two weeks, and open an issue.",
    ),
    "no-tracking": (
        "No tracking number",
        "It is dispatched without a tracking number although the service is tracked.",
        "Choose Express, submit the order and move the clock by an hour: the shipment has no number.",
    ),
    "wrong-print": (
        "The wrong picture is printed",
        "Another picture was printed than the one that was approved, and the shipment is held.",
        "Submit the order and move the clock by an hour: its shipment is held, and its page says why.",
    ),
    "twice": (
        "The lab says everything twice",
        "Every report comes twice, and they are mixed up. Nobody should notice.",
        "Submit the order and move the clock by an hour: it is complete, once.",
    ),
    "silent": (
        "The lab says nothing",
        "The lab never says anything.",
        "Submit the order: however far you move the clock, it is never complete.",
    ),
}

# The simulated bank explains its words itself; this is what they are called, and how to see them.
BANK: Final[Mapping[Magic, tuple[str, str]]] = {
    Magic.DECLINED: (
        "The card is declined",
        "Submit the order: it stays open, and its page says why.",
    ),
    Magic.AUTHORISE: (
        "The bank wants to be asked",
        "Submit the order: you are sent to the page of the bank.",
    ),
    Magic.EXPIRED: (
        "The bank is asked too late",
        "Submit the order and move the clock by an hour: it is open again, since nobody paid in time.",
    ),
    Magic.DOWN: (
        "The bank does not answer",
        "Submit the order: it is not paid, and its page says that we are finding out.",
    ),
    Magic.LATE: (
        "The bank answers late",
        "Submit the order and move the clock by an hour: it is open again. A program that submits "
        "it twice within a minute finds it paid.",
    ),
    Magic.LOST: (
        "The bank's answer gets lost",
        "Submit the order and move the clock by an hour: it is paid, and only once.",
    ),
}

LAB_FAULTS: Final[Sequence[SandboxFault]] = tuple(
    SandboxFault(f"{_FOR_LABS}{word}", *explained) for word, explained in LABS.items()
)
BANK_FAULTS: Final[Sequence[SandboxFault]] = tuple(
    SandboxFault(magic, name, MAGIC[magic], try_it) for magic, (name, try_it) in BANK.items()
)
FAULTS: Final[Sequence[SandboxFault]] = (*LAB_FAULTS, *BANK_FAULTS)


def add_words(reference: str, chosen: Sequence[str]) -> str:
    """Return a reference that asks for what was chosen as well."""
    known = [fault.word for fault in FAULTS if fault.word in chosen]
    present = reference.casefold().split()
    return " ".join([*reference.split(), *(word for word in known if word not in present)])
