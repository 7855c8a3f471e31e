"""Notifications: only Stripe's own, only fresh ones, only about our charges."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import stripe

from printworks.payments.provider import Charge, NeedsAuthorisation, Paid
from printworks.payments.webhooks import (
    FRESH_FOR,
    KEY,
    KINDS,
    BadWebhook,
    ProviderEvent,
    read_webhook,
)
from tests.factories import NOON
from tests.payments.banks import StripeBank
from tests.payments.recorded import Recorder

SECRET = "whsec_ours"
INTENT = {"id": "pi_1", "object": "payment_intent", "metadata": {KEY: "order-1", "order": "1"}}


def a_body(kind: str = "payment_intent.succeeded", found: Any = INTENT) -> bytes:
    """Write a notification."""
    notice = {"id": "evt_1", "object": "event", "type": kind, "data": {"object": found}}
    return json.dumps(notice).encode()


def sign(body: bytes, *, secret: str = SECRET, at: datetime = NOON) -> dict[str, str]:
    """Sign as Stripe's own package does."""
    timestamp = int(at.timestamp())
    signature = stripe.WebhookSignature._compute_signature(f"{timestamp}.{body.decode()}", secret)
    return {"Stripe-Signature": f"t={timestamp},v1={signature},v0=older"}


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_notification_names_the_charge(kind: str) -> None:
    body = a_body(kind)

    event = read_webhook(body, sign(body), SECRET, now=NOON)

    assert event == ProviderEvent(id="evt_1", kind=kind, key="order-1", reference="pi_1")


def test_a_notification_about_a_page_names_the_page() -> None:
    body = a_body("checkout.session.completed", {"id": "cs_1", "metadata": {KEY: "order-1"}})

    event = read_webhook(body, sign(body), SECRET, now=NOON)

    assert event is not None
    assert (event.key, event.reference) == ("order-1", "cs_1")


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_stripes_own_package_agrees_about_the_signature(kind: str) -> None:
    body = a_body(kind)
    header = sign(body)["Stripe-Signature"]

    assert stripe.WebhookSignature.verify_header(body.decode(), header, SECRET)


@pytest.mark.parametrize(
    "body",
    [
        a_body("customer.created", {"id": "cus_1"}),
        a_body("payment_intent.created"),
        a_body("something.new", "text"),
        a_body("checkout.session.completed", {"id": "cs_1", "metadata": None}),
        a_body(found={"id": "pi_1", "metadata": {}}),
        a_body(found={"id": "pi_1", "metadata": {"order": "1"}}),
        a_body(found={"id": "pi_1", "metadata": {KEY: ""}}),
    ],
)
def test_what_is_not_about_a_charge_of_ours_is_nothing(body: bytes) -> None:
    assert read_webhook(body, sign(body), SECRET, now=NOON) is None


def test_header_names_may_be_written_in_any_case() -> None:
    body = a_body()
    headers = {"stripe-signature": sign(body)["Stripe-Signature"]}

    assert read_webhook(body, headers, SECRET, now=NOON)


def test_one_of_several_signatures_is_enough_while_the_secret_is_replaced() -> None:
    body = a_body()
    theirs, ours = sign(body, secret="whsec_new"), sign(body)
    other = theirs["Stripe-Signature"].split(",")[1]
    headers = {"Stripe-Signature": f"{other},{ours['Stripe-Signature']}"}

    assert read_webhook(body, headers, SECRET, now=NOON)


@pytest.mark.parametrize("late", [FRESH_FOR, -FRESH_FOR])
def test_a_notification_may_take_its_time(late: timedelta) -> None:
    body = a_body()

    assert read_webhook(body, sign(body), SECRET, now=NOON + late)


@pytest.mark.parametrize("late", [timedelta(seconds=301), timedelta(days=9), -timedelta(hours=1)])
def test_an_old_notification_is_refused(late: timedelta) -> None:
    body = a_body()

    with pytest.raises(BadWebhook, match="too old"):
        read_webhook(body, sign(body), SECRET, now=NOON + late)


MOMENT = int(NOON.timestamp())


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        "t=,v1=",
        f"t={MOMENT}",
        f"t={MOMENT},v1=",
        f"t={MOMENT},v1=é",
        f"t={MOMENT},v1={'0' * 64}",
        f"t={MOMENT},t={MOMENT},v1={'0' * 64}",
        f"t=-{MOMENT},v1={'0' * 64}",
        f"t=²,v1={'0' * 64}",
        f"t={'9' * 40},v1={'0' * 64}",
    ],
)
def test_a_forged_notification_is_refused(header: str) -> None:
    with pytest.raises(BadWebhook):
        read_webhook(a_body(), {"Stripe-Signature": header}, SECRET, now=NOON)


def test_a_body_without_a_header_is_refused() -> None:
    with pytest.raises(BadWebhook, match="not signed"):
        read_webhook(a_body(), {}, SECRET, now=NOON)


def test_another_secret_is_refused() -> None:
    body = a_body()

    with pytest.raises(BadWebhook, match="wrong"):
        read_webhook(body, sign(body, secret="whsec_theirs"), SECRET, now=NOON)


def test_nobody_can_sign_with_a_secret_that_is_not_set() -> None:
    body = a_body()

    with pytest.raises(BadWebhook, match="not signed"):
        read_webhook(body, sign(body, secret=""), "", now=NOON)


def test_a_changed_body_is_refused() -> None:
    body = a_body()

    with pytest.raises(BadWebhook, match="wrong"):
        read_webhook(body.replace(b"order-1", b"order-2"), sign(body), SECRET, now=NOON)


def test_a_changed_moment_is_refused() -> None:
    body = a_body()
    header = sign(body)["Stripe-Signature"].replace(str(MOMENT), str(MOMENT + 60))

    with pytest.raises(BadWebhook, match="wrong"):
        read_webhook(body, {"Stripe-Signature": header}, SECRET, now=NOON)


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"[]", b"not json", a_body(found="text"), a_body(found={"id": 1})]
)
def test_what_cannot_be_read_is_refused_although_it_is_signed(body: bytes) -> None:
    with pytest.raises(BadWebhook, match="cannot be read"):
        read_webhook(body, sign(body), SECRET, now=NOON)


def hear_about(charge: Charge, recorder: Recorder) -> Iterator[str]:
    """Give what is announced about a charge; others may be announced, too."""
    for asked in iter(recorder.wait, None):
        event = read_webhook(asked.body, asked.headers, SECRET, now=datetime.now(UTC))
        if event and event.key == charge.key:
            yield event.kind


@pytest.fixture
def listening(stripe_bank: StripeBank, recorder: Recorder) -> Iterator[Recorder]:
    """A receiver to which the test server announces what happens."""
    recorder.answers += [(200, {})] * 100
    stripe_bank.server.listen(recorder.base, SECRET)
    yield recorder
    stripe_bank.server.listen("http://127.0.0.1:9", SECRET)


def test_a_notification_comes_as_localstripe_sends_it(
    stripe_bank: StripeBank, listening: Recorder
) -> None:
    charge = stripe_bank.a_charge("paid")

    stripe_bank.provider.charge(charge)

    assert next(hear_about(charge, listening)) == "payment_intent.succeeded"


def test_what_becomes_of_a_page_is_announced(stripe_bank: StripeBank, listening: Recorder) -> None:
    charge = stripe_bank.a_charge_to_ask_for()
    waiting = stripe_bank.provider.ask_payer(charge)
    assert isinstance(waiting, NeedsAuthorisation)

    stripe_bank.pay(waiting.reference)

    heard = hear_about(charge, listening)
    assert {next(heard), next(heard)} == {"payment_intent.succeeded", "checkout.session.completed"}


def test_a_refund_that_a_bank_rejects_is_announced(
    stripe_bank: StripeBank, listening: Recorder
) -> None:
    charge = stripe_bank.a_charge("paid")
    paid = stripe_bank.provider.charge(charge)
    assert isinstance(paid, Paid)
    stripe_bank.provider.refund(charge, paid)

    stripe_bank.server.reject_refund(paid.reference)

    heard = hear_about(charge, listening)
    assert {next(heard) for _ in range(4)} == {
        "payment_intent.succeeded",
        "refund.failed",
        "refund.updated",
        "charge.refund.updated",
    }
