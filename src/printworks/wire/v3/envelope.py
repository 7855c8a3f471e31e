"""What surrounds every answer of 3.0."""

from typing import Any, Generic, TypeVar

import msgspec

T = TypeVar("T")


class Envelope(msgspec.Struct, Generic[T], frozen=True):
    """A successful answer."""

    data: T
    statusTxt: str = "OK"
    statusCode: int = 200


class Refusal(msgspec.Struct, frozen=True):
    """An answer that says what is wrong, and that nothing happened."""

    errorMessage: str
    statusTxt: str
    statusCode: int
    data: None = None


class WrongCredentials(msgspec.Struct, frozen=True):
    """The answer to a request without valid credentials; clients look in several places."""

    errorMessage: str
    message: str
    Message: str
    statusTxt: str
    statusCode: int
    data: None = None


class Nothing(msgspec.Struct, frozen=True):
    """The empty object."""


def refuse(status: int, message: str) -> Any:
    if status == 401:
        return WrongCredentials(message, message, message, message, status)
    return Refusal(message, message, status)
