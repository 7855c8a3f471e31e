"""Reads webhooks of Stripe, which tell that a payment or its refund has changed.

The new state is then read from Stripe: webhooks come late, twice and in any order.
"""

import hmac
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Final

import msgspec

# The metadata name of our charge's key, on payments, pages and refunds at Stripe.
KEY: Final = "printworks_charge"
# That of a page on which a card is saved.
CARD_KEY: Final = "printworks_card"
FRESH_FOR: Final = timedelta(minutes=5)
KINDS: Final = frozenset(
    {
        "payment_intent.succeeded",
        "payment_intent.payment_failed",
        "payment_intent.canceled",
        "checkout.session.completed",
        "checkout.session.expired",
        # Only payment methods that take days send these; we accept none, but a check is harmless.
        "checkout.session.async_payment_succeeded",
        "checkout.session.async_payment_failed",
        # A bank may reject a refund days after it was made.
        "refund.failed",
        "refund.updated",
        "charge.refund.updated",
    }
)


class ProviderEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A charge or a card has changed; the same event always has the same id."""

    id: str
    kind: str
    key: str
    reference: str
    is_about_card: bool = False


class BadWebhook(Exception):
    """The webhook is not from Stripe, or too old; the sender learns nothing else."""


class _Data(msgspec.Struct):
    object: msgspec.Raw


class _Body(msgspec.Struct):
    id: str
    type: str
    data: _Data


class _Subject(msgspec.Struct):
    id: str
    # A page that was opened elsewhere may have none.
    metadata: dict[str, str] | None = None


_read_body: Final = msgspec.json.Decoder(_Body).decode
_read_subject: Final = msgspec.json.Decoder(_Subject).decode


def read_webhook(
    body: bytes, headers: Mapping[str, str], secret: str, *, now: datetime
) -> ProviderEvent | None:
    """Return the event of a webhook, None if it is not about a charge of ours.

    Raise `BadWebhook` if its signature is missing, wrong or old. Store the id in the same
    transaction as its effects: Stripe repeats webhooks until it gets a 200, sometimes longer.
    """
    given = {name.lower(): text for name, text in headers.items()}
    _check_signature(body, given.get("stripe-signature", ""), secret, now)
    try:
        notice = _read_body(body)
        if notice.type not in KINDS:
            return None
        subject = _read_subject(notice.data.object)
    except msgspec.MsgspecError as error:
        raise BadWebhook("The notification cannot be read.") from error
    known = subject.metadata or {}
    card = known.get(CARD_KEY, "")
    key = card or known.get(KEY)
    if not key:
        return None
    return ProviderEvent(
        id=notice.id,
        kind=notice.type,
        key=key,
        reference=subject.id,
        is_about_card=bool(card),
    )


def _check_signature(body: bytes, header: str, secret: str, now: datetime) -> None:
    parts = [part.strip().partition("=") for part in header.split(",")]
    timestamps = [text for name, _, text in parts if name == "t"]
    # While a secret is being replaced, there is a signature for both.
    given = [text for name, _, text in parts if name == "v1"]
    if (
        not secret
        or len(timestamps) != 1
        or not re.fullmatch(r"[0-9]{1,11}", timestamps[0], re.ASCII)
    ):
        raise BadWebhook("The notification is not signed.")
    signed = hmac.new(secret.encode(), f"{timestamps[0]}.".encode() + body, sha256).hexdigest()
    if not any(hmac.compare_digest(signed.encode(), text.encode()) for text in given):
        raise BadWebhook("The signature of the notification is wrong.")
    if abs(now - datetime.fromtimestamp(int(timestamps[0]), UTC)) > FRESH_FOR:
        raise BadWebhook("The notification is too old, or the clock of this machine is wrong.")
