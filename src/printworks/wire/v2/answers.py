"""The answers of the 2.x family that are about no thing of its own."""

from typing import Self

import msgspec

from printworks.store.money.payments import PaymentRequest


class DoneOut(msgspec.Struct, frozen=True):
    """It happened, and there is nothing to show."""

    errorMessage: str | None = None


class WrongCredentials(msgspec.Struct, frozen=True):
    """The answer to a request without valid credentials; clients look in several places."""

    errorMessage: str
    message: str
    Message: str


class PaymentRequired(msgspec.Struct, frozen=True):
    """The order waits until its payment is authorised at `url`."""

    url: str
    paymentRequest: int
    errorMessage: str

    @classmethod
    def of(cls, request: PaymentRequest, url: str) -> Self:
        return cls(url, request.id, "Payment Authorization Required")
