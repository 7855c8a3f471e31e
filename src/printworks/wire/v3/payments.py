"""A payment that its payer has to authorise, through 3.0."""

from typing import Self

import msgspec

from printworks.store.money.payments import PaymentRequest


class PaymentAddress(msgspec.Struct, frozen=True):
    """Where the payer goes, and the number of the payment."""

    url: str
    paymentRequest: int


class PaymentRequired(msgspec.Struct, frozen=True):
    """The order waits until its payment is authorised."""

    data: PaymentAddress
    statusTxt: str = "Payment Authorization Required"
    statusCode: int = 402

    @classmethod
    def of(cls, request: PaymentRequest, url: str) -> Self:
        return cls(PaymentAddress(url=url, paymentRequest=request.id))
