"""The sandbox's bank: what it does for which order, and that it forgets nothing."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Paid,
    ProviderUnavailable,
    Unknown,
)
from printworks.payments.simulated import EEA, MAGIC, Magic, SimulatedProvider, find_magic
from tests.payments.banks import SimulatedBank, SqliteMemory, a_charge, a_page, ask_until_known

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "payments.md"
EXPIRED = Declined(reason="The payment was not authorised in time.")


@pytest.mark.parametrize("country", ["GB", "US", "CH", ""])
def test_elsewhere_the_bank_agrees_at_once(simulated: SimulatedBank, country: str) -> None:
    charge = a_charge(destination_country=country)

    assert simulated.provider.charge(charge) == Paid(provider="simulated", reference=charge.key)


@pytest.mark.parametrize("country", sorted(EEA))
def test_in_the_european_economic_area_the_bank_wants_authorisation(
    simulated: SimulatedBank, country: str
) -> None:
    charge = a_charge(destination_country=country)

    waiting = simulated.provider.charge(charge)

    assert waiting == NeedsAuthorisation(url=a_page(charge.key), reference=charge.key)


def test_the_european_economic_area_has_thirty_countries() -> None:
    assert len(EEA) == 30
    assert {"GB", "CH"}.isdisjoint(EEA)


@pytest.mark.parametrize(
    ("recipient", "reference", "magic"),
    [
        ("Ada Lovelace", "1234", None),
        ("pay-declined", "", Magic.DECLINED),
        ("Ada Pay-Declined", "", Magic.DECLINED),
        ("Ada", "PAY-LOST 17", Magic.LOST),
        ("Ada pay-down", "pay-lost", Magic.DOWN),
        ("Ada pay-nothing", "pay-late", Magic.LATE),
        ("Ada pay-declinedly", "re-pay-lost pay-lost-2", None),
    ],
)
def test_words_are_found_in_names_and_references(
    recipient: str, reference: str, magic: Magic | None
) -> None:
    assert find_magic(a_charge(recipient=recipient, merchant_reference=reference)) is magic


def with_word(magic: Magic) -> Charge:
    """Describe a charge with a word in it."""
    return a_charge(recipient=f"Ada {magic}", destination_country="GB")


def test_a_word_declines(simulated: SimulatedBank) -> None:
    outcome = simulated.provider.charge(with_word(Magic.DECLINED))

    assert outcome == Declined(reason="The bank declined the card.")


def test_a_word_asks_for_authorisation_anywhere(simulated: SimulatedBank) -> None:
    assert isinstance(simulated.provider.charge(with_word(Magic.AUTHORISE)), NeedsAuthorisation)


def test_a_word_lets_the_time_for_authorisation_run_out(simulated: SimulatedBank) -> None:
    charge = with_word(Magic.EXPIRED)

    waiting = simulated.provider.charge(charge)

    assert isinstance(waiting, NeedsAuthorisation)
    assert simulated.simulated.authorise(waiting.reference) == EXPIRED
    assert simulated.provider.look_up(charge) == EXPIRED
    assert simulated.provider.charge(charge) == EXPIRED


def test_a_word_takes_the_bank_away_for_good(simulated: SimulatedBank) -> None:
    charge = with_word(Magic.DOWN)
    paid = Paid(provider="simulated", reference=charge.key)

    for ask in (
        lambda: simulated.provider.charge(charge),
        lambda: simulated.provider.ask_payer(charge),
        lambda: simulated.provider.look_up(charge),
        lambda: simulated.provider.cancel(charge, charge.key),
        lambda: simulated.provider.refund(charge, paid),
    ):
        with pytest.raises(ProviderUnavailable):
            ask()

    assert simulated.memory.get(charge.key) is None


def test_a_word_makes_the_bank_late(simulated: SimulatedBank) -> None:
    charge = with_word(Magic.LATE)
    with pytest.raises(ProviderUnavailable):
        simulated.provider.charge(charge)
    assert simulated.provider.look_up(charge) == Unknown()
    assert simulated.count(charge) == (0, 0)

    outcome = ask_until_known(simulated.provider, charge)

    assert isinstance(outcome, Paid)
    assert simulated.count(charge) == (1, 0)


def test_a_word_loses_the_answer(simulated: SimulatedBank) -> None:
    charge = with_word(Magic.LOST)

    with pytest.raises(ProviderUnavailable):
        simulated.provider.charge(charge)

    assert simulated.count(charge) == (1, 0)


def test_who_is_asked_gets_the_bank_page_whatever_the_destination(simulated: SimulatedBank) -> None:
    for country in ("GB", "FR", ""):
        charge = a_charge(destination_country=country)

        waiting = simulated.provider.ask_payer(charge)

        assert waiting == NeedsAuthorisation(url=a_page(charge.key), reference=charge.key)


def test_who_is_asked_may_refuse(simulated: SimulatedBank) -> None:
    charge = a_charge()
    simulated.provider.ask_payer(charge)

    refused = simulated.simulated.refuse(charge.key)

    assert refused == Declined(reason="The payment was not authorised.")
    assert simulated.provider.ask_payer(charge) == refused


def test_the_words_work_for_who_is_asked(simulated: SimulatedBank) -> None:
    declined, late, lost = map(with_word, (Magic.DECLINED, Magic.LATE, Magic.LOST))
    down, authorise = map(with_word, (Magic.DOWN, Magic.AUTHORISE))

    assert isinstance(simulated.provider.ask_payer(declined), Declined)
    assert isinstance(simulated.provider.ask_payer(authorise), NeedsAuthorisation)
    for charge in (down, late, lost):
        with pytest.raises(ProviderUnavailable):
            simulated.provider.ask_payer(charge)
    assert simulated.provider.look_up(late) == Unknown()
    assert isinstance(simulated.provider.look_up(lost), NeedsAuthorisation)
    assert isinstance(simulated.provider.ask_payer(late), NeedsAuthorisation)
    with pytest.raises(ProviderUnavailable):
        simulated.provider.ask_payer(down)


def test_of_two_that_ask_at_once_both_hear_the_same(memory: SqliteMemory) -> None:
    charge = a_charge(destination_country="GB")
    quicker = SimulatedProvider(memory, a_page)

    slower = SimulatedProvider(Racing(memory, lambda: quicker.ask_payer(charge)), a_page)

    assert slower.ask_payer(charge) == quicker.ask_payer(charge)


def test_a_charge_that_was_cancelled_before_it_came_is_declined(simulated: SimulatedBank) -> None:
    charge = a_charge()

    simulated.provider.cancel(charge, charge.key)

    assert simulated.provider.charge(charge) == Declined(reason="The payment was cancelled.")


def test_a_page_that_belongs_to_no_charge_does_nothing(simulated: SimulatedBank) -> None:
    assert simulated.simulated.authorise("nothing") == Unknown()
    assert simulated.simulated.refuse("nothing") == Unknown()


def test_pressing_the_other_button_afterwards_changes_nothing(simulated: SimulatedBank) -> None:
    charge = a_charge(destination_country="FR")
    simulated.provider.charge(charge)
    paid = simulated.simulated.authorise(charge.key)

    assert isinstance(paid, Paid)
    assert simulated.simulated.refuse(charge.key) == paid
    assert simulated.simulated.authorise(charge.key) == paid


@pytest.mark.slow
def test_another_process_knows_what_this_one_did(tmp_path: Path, simulated: SimulatedBank) -> None:
    charge = a_charge(destination_country="FR", recipient="Ada pay-lost")
    story = f"""
from pathlib import Path
from printworks.payments.provider import Charge, ProviderUnavailable
from printworks.payments.simulated import SimulatedProvider
from tests.payments.banks import SqliteMemory, a_page
import msgspec
provider = SimulatedProvider(SqliteMemory(Path({str(tmp_path / "memory.db")!r})), a_page)
try:
    provider.charge(msgspec.json.decode({msgspec.json.encode(charge)!r}, type=Charge))
except ProviderUnavailable:
    provider.authorise({charge.key!r})
"""

    subprocess.run([sys.executable, "-c", story], check=True, cwd=Path(__file__).parents[2])

    assert isinstance(simulated.provider.look_up(charge), Paid)


def test_two_providers_with_one_memory_are_one_bank(memory: SqliteMemory) -> None:
    charge = a_charge(destination_country="FR")
    web, worker = SimulatedProvider(memory, a_page), SimulatedProvider(memory, a_page)

    web.charge(charge)
    web.authorise(charge.key)

    assert isinstance(worker.look_up(charge), Paid)


class Racing:
    """A memory to which somebody else comes first, once."""

    def __init__(self, memory: SqliteMemory, other: Callable[[], object]) -> None:
        self.get: Callable[[str], str | None] = memory.get
        self._memory = memory
        self._others = [other]

    def put(self, key: str, value: str, *, instead_of: str | None) -> bool:
        """Let the other one act, then put."""
        if self._others:
            self._others.pop()()
        return self._memory.put(key, value, instead_of=instead_of)


def test_of_two_that_charge_at_once_both_hear_the_same(memory: SqliteMemory) -> None:
    charge = a_charge(recipient="pay-lost")
    quicker = SimulatedProvider(memory, a_page)

    def come_first() -> None:
        with pytest.raises(ProviderUnavailable):
            quicker.charge(charge)

    slower = SimulatedProvider(Racing(memory, come_first), a_page)

    assert isinstance(slower.charge(charge), Paid)


def test_what_is_authorised_while_it_is_cancelled_is_paid(memory: SqliteMemory) -> None:
    charge = a_charge(destination_country="FR")
    web = SimulatedProvider(memory, a_page)
    web.charge(charge)

    worker = SimulatedProvider(Racing(memory, lambda: web.authorise(charge.key)), a_page)

    assert isinstance(worker.cancel(charge, charge.key), Paid)


def test_what_is_charged_while_it_is_cancelled_is_cancelled(memory: SqliteMemory) -> None:
    charge = a_charge(destination_country="FR")
    web = SimulatedProvider(memory, a_page)

    worker = SimulatedProvider(Racing(memory, lambda: web.charge(charge)), a_page)

    assert isinstance(worker.cancel(charge, charge.key), Declined)


def test_a_memory_that_forgets_is_noticed(memory: SqliteMemory) -> None:
    charge = a_charge()
    forgetful = Racing(memory, lambda: None)
    forgetful.get = lambda _key: None

    with pytest.raises(ProviderUnavailable):
        SimulatedProvider(forgetful, a_page).cancel(charge, charge.key)


def test_every_word_is_documented_in_the_same_sentence() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()

    documented = [line for line in lines if line.startswith("| `pay-")]

    assert documented == [f"| `{word}` | {sentence} |" for word, sentence in MAGIC.items()]
    assert list(MAGIC) == list(Magic)
