"""A provider that is not asked: the service is in quarantine."""

from typing import NoReturn

from printworks.payments.cards import CardOutcome, CardPage, CardRequest
from printworks.payments.provider import (
    Charge,
    Outcome,
    Paid,
    ProviderUnavailable,
    RefundOutcome,
    Unknown,
)
from printworks.rules.quarantine import IN_QUARANTINE


class QuarantinedProvider:
    """Behaves like a provider that cannot be reached: whoever asks waits, and nothing is charged."""

    def __init__(self, name: str) -> None:
        self.name = name

    def charge(self, charge: Charge) -> Outcome:
        self._refuse(charge)

    def ask_payer(self, charge: Charge) -> Outcome:
        self._refuse(charge)

    def look_up(self, charge: Charge, reference: str = "") -> Outcome | Unknown:
        self._refuse(charge, reference)

    def cancel(self, charge: Charge, reference: str) -> Paid:
        self._refuse(charge, reference)

    def refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        self._refuse(charge, paid)

    def look_up_refund(self, charge: Charge, paid: Paid) -> RefundOutcome:
        self._refuse(charge, paid)

    def ask_for_card(self, request: CardRequest) -> CardPage:
        self._refuse(request)

    def look_up_card(self, reference: str) -> CardOutcome:
        self._refuse(reference)

    def forget_card(self, payment_method: str) -> None:
        self._refuse(payment_method)

    def _refuse(self, *_asked: object) -> NoReturn:
        raise ProviderUnavailable(IN_QUARANTINE)
