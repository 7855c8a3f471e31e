"""On account: the merchant pays later, by invoice."""

from typing import Final

from printworks.payments.provider import Charge, Declined, Paid

NO_CARDS: Final = "This service takes no cards."


class AccountProvider:
    """Always agrees: what is owed is written down with the order."""

    name = "account"

    def charge(self, charge: Charge) -> Paid:
        """Note that the merchant owes it."""
        return Paid(provider=self.name, reference=charge.key)

    def ask_payer(self, charge: Charge) -> Declined:  # noqa: ARG002
        """Decline: only merchants have an account."""
        return Declined(reason=NO_CARDS)

    def look_up(self, charge: Charge, reference: str = "") -> Paid:  # noqa: ARG002
        """Say that the merchant owes it: whoever asks may write it down."""
        return self.charge(charge)

    def cancel(self, charge: Charge, reference: str) -> Paid:  # noqa: ARG002
        """Say that the merchant owes it: nothing waits for an authorisation here."""
        return self.charge(charge)

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Note that the merchant no longer owes it: the order's own events say so."""
