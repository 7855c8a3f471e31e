"""On account: the merchant pays later, by invoice."""

from printworks.payments.provider import Charge, Paid


class AccountProvider:
    """Always agrees: what is owed is written down with the order."""

    name = "account"

    def charge(self, charge: Charge) -> Paid:
        """Note that the merchant owes it."""
        return Paid(provider=self.name, reference=charge.key)

    def refund(self, charge: Charge, paid: Paid) -> None:
        """Note that the merchant no longer owes it: the order's own events say so."""
