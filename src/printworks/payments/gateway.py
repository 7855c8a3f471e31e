"""The payment gateway: opens the providers of a deployment when they are first needed."""

from functools import cached_property
from typing import Final

from printworks.payments import choose_provider, open_provider
from printworks.payments.provider import PaymentProvider, ProviderUnavailable
from printworks.payments.quarantined import QuarantinedProvider
from printworks.payments.simulated import SimulatedProvider
from printworks.rules.payments import Cards
from printworks.settings import BadSetting, Settings
from printworks.store.engine.database import Database
from printworks.store.money.simulated_charges import BankMemory
from printworks.store.queue.quarantine import QuarantineWatch

# These keep what they know in our own database.
_WITHIN: Final = frozenset({"simulated", "account"})


class Gateway:
    """Opens providers by name; safe to use from many threads."""

    def __init__(self, settings: Settings, database: Database, quarantine: QuarantineWatch) -> None:
        self._settings = settings
        self._quarantine = quarantine
        self._memory = BankMemory(database)
        self._opened: dict[str, PaymentProvider] = {}

    @cached_property
    def cards(self) -> Cards | None:
        """The provider that charges cards; None if all merchants are on account."""
        name = choose_provider(self._settings)
        if name == "account":
            return None
        within = self._settings.authorise_within, self._settings.checkout_within
        return Cards(
            name,
            *within,
            needs_saved_card=name != "simulated",
            uses_balance=self._settings.balance_pays,
        )

    def open(self, name: str) -> PaymentProvider:
        """Return the provider of this name, whatever the settings choose now.

        Raise `ProviderUnavailable` if it can no longer be used. In quarantine, one is returned that
        cannot be reached.
        """
        if name not in self._opened:
            try:
                self._opened[name] = self._open(name)
            except BadSetting as error:
                # It was used before, and its settings were removed.
                raise ProviderUnavailable(str(error)) from error
        if name not in _WITHIN and self._quarantine.is_on():
            return QuarantinedProvider(name)
        return self._opened[name]

    @property
    def bank(self) -> SimulatedProvider:
        """The simulated bank, for its own pages."""
        provider = self.open("simulated")
        if not isinstance(provider, SimulatedProvider):
            raise BadSetting("There is no simulated bank here.")
        return provider

    def page_of(self, key: str) -> str:
        """Return our page about a payment, from which its payer is sent to the bank."""
        return f"{self._settings.public_url}/payments/{key}"

    def _open(self, name: str) -> PaymentProvider:
        page = self._bank_page_of if name == "simulated" else self.page_of
        return open_provider(self._settings, memory=self._memory, page=page, named=name)

    def _bank_page_of(self, key: str) -> str:
        return f"{self._settings.public_url}/bank/{key}"
