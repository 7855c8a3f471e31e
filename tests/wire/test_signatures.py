"""Receivers can tell our callbacks from anybody else's."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from standardwebhooks import Webhook, WebhookVerificationError

from printworks.wire.signatures import is_secret, make_secret, sign

BODY = '{"orderId":42,"merchantOrderId":"Café 🖼"}'.encode()


def test_a_secret_is_long_random_and_as_libraries_take_it() -> None:
    kept, other = make_secret(), make_secret()

    assert kept.startswith("whsec_")
    assert 24 <= len(base64.b64decode(kept.removeprefix("whsec_"), validate=True)) <= 64
    assert kept != other


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("whsec_" + "A" * 32, True),
        ("whsec_" + "A" * 86 + "==", True),
        ("whsec_" + "A" * 28, False),
        ("whsec_" + "A" * 88, False),
        ("A" * 32, False),
        ("whsec_" + "A" * 31, False),
        ("whsec_" + "ä" * 32, False),
        ("", False),
    ],
)
def test_a_secret_is_known_by_its_form(text: str, is_one: bool) -> None:
    assert is_secret(text) is is_one
    assert is_secret(make_secret())


def test_a_receiver_with_the_secret_accepts_the_callback() -> None:
    secret = make_secret()
    headers = sign(BODY, message_id="msg_1", at=datetime.now(UTC), secrets=[secret])

    assert Webhook(secret).verify(BODY, headers)["orderId"] == 42


def test_while_one_secret_replaces_another_either_verifies() -> None:
    new, old = make_secret(), make_secret()
    headers = sign(BODY, message_id="msg_1", at=datetime.now(UTC), secrets=[new, old])

    for secret in (new, old):
        Webhook(secret).verify(BODY, headers)
    assert len(headers["webhook-signature"].split(" ")) == 2


@pytest.mark.parametrize("changed", ["body", "webhook-id", "webhook-timestamp", "secret"])
def test_whatever_is_changed_on_the_way_is_noticed(changed: str) -> None:
    secret, now = make_secret(), datetime.now(UTC)
    headers = sign(BODY, message_id="msg_1", at=now, secrets=[secret])
    changes = {
        "webhook-id": "msg_2",
        "webhook-timestamp": str(int(now.timestamp()) + 1),
    }
    headers.update({name: value for name, value in changes.items() if name == changed})
    body = BODY.replace(b"42", b"43") if changed == "body" else BODY

    with pytest.raises(WebhookVerificationError):
        Webhook(make_secret() if changed == "secret" else secret).verify(body, headers)


def test_an_old_callback_cannot_be_sent_again_by_somebody_who_overheard_it() -> None:
    secret = make_secret()
    yesterday = datetime.now(UTC) - timedelta(days=1)
    headers = sign(BODY, message_id="msg_1", at=yesterday, secrets=[secret])

    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(BODY, headers)


@given(
    text=st.text(st.characters(exclude_categories=["Cs"])),
    hours=st.integers(-12, 12),
    timestamp=st.datetimes(datetime(2000, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001
)
def test_the_signature_is_the_hmac_of_id_time_and_body_whatever_the_zone(
    text: str, hours: int, timestamp: datetime
) -> None:
    at = timestamp.replace(tzinfo=timezone(timedelta(hours=hours)))
    key = bytes(range(32))
    secret = "whsec_" + base64.b64encode(key).decode()

    headers = sign(text.encode(), message_id="msg_1", at=at, secrets=[secret])

    signed = f"msg_1.{headers['webhook-timestamp']}.{text}".encode()
    digest = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    assert headers["webhook-signature"] == f"v1,{digest}"
    assert 0 <= at.timestamp() - int(headers["webhook-timestamp"]) < 1
