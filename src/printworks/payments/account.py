"""Payment on account: the merchant pays later, by invoice."""

from typing import Final

from printworks.payments.cards import CardPage, CardRefused, CardRequest
from printworks.payments.provider import (
    Charge,
    Declined,
    Paid,
    ProviderUnavailable,
    Refunded,
)

NO_CARDS: Final = "This service takes no cards."


class AccountProvider:
    """Accepts every charge: what is owed is posted to the ledger."""

    name = "account"

    def charge(self, charge: Charge) -> Paid:
        return Paid(provider=self.name, reference=charge.key)

    def ask_payer(self, charge: Charge) -> Declined:  # noqa: ARG002
        """Decline: only merchants have an account."""
        return Declined(reason=NO_CARDS)

    def look_up(self, charge: Charge, reference: str = "") -> Paid:  # noqa: ARG002
        return self.charge(charge)

    def cancel(self, charge: Charge, reference: str) -> Paid:  # noqa: ARG002
        """Return that the merchant owes it: there is no authorisation to wait for."""
        return self.charge(charge)

    def ask_for_card(self, request: CardRequest) -> CardPage:  # noqa: ARG002
        """Refuse: nobody is asked for a card where none is charged."""
        raise ProviderUnavailable(NO_CARDS)

    def look_up_card(self, reference: str) -> CardRefused:  # noqa: ARG002
        return CardRefused(reason=NO_CARDS)

    def forget_card(self, payment_method: str) -> None:
        """Do nothing: there are no cards."""

    def refund(self, charge: Charge, paid: Paid) -> Refunded:  # noqa: ARG002
        """Do nothing: the order's own events post the refund."""
        return Refunded()

    def look_up_refund(self, charge: Charge, paid: Paid) -> Refunded:
        return self.refund(charge, paid)
