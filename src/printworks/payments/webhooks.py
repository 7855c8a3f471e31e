"""Reads what Stripe sends us by itself: that something became of a payment, not what.

What became of it is then asked, with `look_up`: notifications come late, twice and in any order.
"""

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec

# The name under which a payment or a page at Stripe has the key of our charge.
KEY: Final = "printworks_charge"
FRESH_FOR: Final = timedelta(minutes=5)
KINDS: Final = frozenset(
    {
        "payment_intent.succeeded",
        "payment_intent.payment_failed",
        "payment_intent.canceled",
        "checkout.session.completed",
        "checkout.session.expired",
        # Only ways to pay that take days send these; we accept none, and looking does no harm.
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
    }
)


class ProviderEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something became of a charge; the same event has the same id, however often it comes."""

    id: str
    kind: str
    key: str
    reference: str


class BadWebhook(Exception):
    """Not from Stripe, or not from now; whoever sent it gets no other answer than that."""


class _Data(msgspec.Struct):
    object: msgspec.Raw


class _Body(msgspec.Struct):
    id: str
    type: str
    data: _Data


class _Subject(msgspec.Struct):
    id: str
    # A page that somebody else opened may have none.
    metadata: dict[str, str] | None = None


_read_body: Final = msgspec.json.Decoder(_Body).decode
_read_subject: Final = msgspec.json.Decoder(_Subject).decode


def read_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: datetime
) -> ProviderEvent | None:
    """Return what a notification says, None if that is not about a charge of ours.

    Raise `BadWebhook` if its signature is missing, wrong or old. Write down the id together with
    what follows from it: Stripe sends until it hears a 200, and sometimes again after that.
    """
    given = {name.lower(): text for name, text in headers.items()}
    _check_signature(body, given.get("stripe-signature", ""), secret, now)
    try:
        notice = _read_body(body)
        if notice.type not in KINDS:
            return None
        subject = _read_subject(notice.data.object)
    except msgspec.MsgspecError as error:
        message = "The notification cannot be read."
        raise BadWebhook(message) from error
    key = (subject.metadata or {}).get(KEY)
    if not key:
        return None
    return ProviderEvent(id=notice.id, kind=notice.type, key=key, reference=subject.id)


def _check_signature(body: bytes, header: str, secret: str, now: datetime) -> None:
    parts = [part.strip().partition("=") for part in header.split(",")]
    moments = [text for name, _, text in parts if name == "t"]
    # While a secret is being replaced, there is a signature for each.
    given = [text for name, _, text in parts if name == "v1"]
    if not secret or len(moments) != 1 or not re.fullmatch(r"[0-9]{1,11}", moments[0], re.ASCII):
        message = "The notification is not signed."
        raise BadWebhook(message)
    signed = hmac.new(secret.encode(), f"{moments[0]}.".encode() + body, sha256).hexdigest()
    if not any(hmac.compare_digest(signed.encode(), text.encode()) for text in given):
        message = "The signature of the notification is wrong."
        raise BadWebhook(message)
    if abs(now - datetime.fromtimestamp(int(moments[0]), UTC)) > FRESH_FOR:
        message = "The notification is too old, or the clock of this machine is wrong."
        raise BadWebhook(message)
