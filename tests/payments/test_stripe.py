"""Stripe: whatever breaks on the way, a charge is taken once or not at all, and we know which.

The first part runs against a whole server; the second one gives single answers that it cannot.
"""

from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
import stripe

from printworks.net.guard import Guard
from printworks.payments.guarded import GuardedClient
from printworks.payments.provider import (
    Declined,
    NeedsAuthorisation,
    Paid,
    ProviderUnavailable,
    Refunded,
    RefundRejected,
    Unknown,
)
from printworks.payments.stripe import NO_CARD, StripeProvider
from printworks.payments.stripe_answers import REASONS
from printworks.payments.webhooks import KEY
from tests.net.running import witness_connections
from tests.payments.banks import (
    SECRET_KEY,
    StripeBank,
    a_charge,
    a_page,
    ask_until_known,
    open_stripe,
)
from tests.payments.recorded import Recorder

FAULTS = [
    f"{kind} {when}" for kind in ("drop", "500", "nonsense") for when in ("before", "after")
] + ["429 before"]
OUTCOMES: Mapping[str, type] = {"paid": Paid, "declined": Declined, "waiting": NeedsAuthorisation}


class TestWholeStories:
    @pytest.mark.parametrize("fault", FAULTS)
    @pytest.mark.parametrize("outcome", OUTCOMES)
    def test_a_fault_at_any_request_leaves_one_payment(
        self, stripe_bank: StripeBank, outcome: str, fault: str
    ) -> None:
        for turn in range(4):
            charge = stripe_bank.a_charge(outcome)
            stripe_bank.server.fail(*[""] * turn, fault)

            found = ask_until_known(stripe_bank.provider, charge)
            stripe_bank.server.fail()

            assert isinstance(found, OUTCOMES[outcome])
            assert stripe_bank.count(charge) == (int(outcome == "paid"), 0)
            assert len(stripe_bank.server.list_intents(charge.customer)) == 1

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_while_refunding_leaves_one_refund(
        self, stripe_bank: StripeBank, fault: str
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        assert isinstance(paid, Paid)
        stripe_bank.server.fail(fault)
        with pytest.raises(ProviderUnavailable):
            stripe_bank.provider.refund(charge, paid)

        stripe_bank.provider.refund(charge, paid)

        assert stripe_bank.count(charge) == (1, 1)

    @pytest.mark.parametrize("turn", [0, 1])
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_while_cancelling_leaves_it_cancelled(
        self, stripe_bank: StripeBank, fault: str, turn: int
    ) -> None:
        charge = stripe_bank.a_charge("waiting")
        waiting = stripe_bank.provider.charge(charge)
        assert isinstance(waiting, NeedsAuthorisation)
        stripe_bank.server.fail(*[""] * turn, fault)
        # What only reads is tried again at once when the connection breaks.
        with suppress(ProviderUnavailable):
            stripe_bank.provider.cancel(charge, waiting.reference)

        outcome = stripe_bank.provider.cancel(charge, waiting.reference)

        assert outcome == Declined(reason="The payment was cancelled.")

    @pytest.mark.parametrize("fault", ["hang before", "hang after"])
    def test_nobody_waits_longer_than_agreed(self, stripe_bank: StripeBank, fault: str) -> None:
        charge = stripe_bank.a_charge("paid")
        stripe_bank.server.fail(fault)
        hasty = stripe_bank.open(timeout=timedelta(seconds=1))

        with pytest.raises(ProviderUnavailable) as raised:
            hasty.charge(charge)

        assert "TimedOut" in raised.value.detail
        assert isinstance(ask_until_known(stripe_bank.provider, charge), Paid)
        assert stripe_bank.count(charge) == (1, 0)

    def test_a_failure_that_stripe_repeats_ends_when_it_forgets_the_key(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        stripe_bank.server.fail("saved 500")
        for _ in range(2):
            with pytest.raises(ProviderUnavailable):
                stripe_bank.provider.charge(charge)
            assert stripe_bank.provider.look_up(charge) == Unknown()

        stripe_bank.server.forget_keys()

        assert isinstance(ask_until_known(stripe_bank.provider, charge), Paid)
        assert stripe_bank.count(charge) == (1, 0)

    @pytest.mark.parametrize("outcome", OUTCOMES)
    def test_what_is_looked_up_before_it_is_charged_again_is_safe_after_a_day(
        self, stripe_bank: StripeBank, outcome: str
    ) -> None:
        charge = stripe_bank.a_charge(outcome)
        before = stripe_bank.provider.charge(charge)

        stripe_bank.server.forget_keys()

        assert ask_until_known(stripe_bank.provider, charge) == before
        assert len(stripe_bank.server.list_intents(charge.customer)) == 1

    def test_a_refund_is_made_once_even_after_a_day(self, stripe_bank: StripeBank) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        assert isinstance(paid, Paid)
        stripe_bank.provider.refund(charge, paid)

        stripe_bank.server.forget_keys()
        stripe_bank.provider.refund(charge, paid)

        assert stripe_bank.count(charge) == (1, 1)

    def test_a_refund_that_a_bank_rejects_later_can_be_made_anew(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        assert isinstance(paid, Paid)
        assert stripe_bank.provider.refund(charge, paid) == Refunded()
        stripe_bank.server.reject_refund(paid.reference, "declined")
        rejected = stripe_bank.provider.look_up_refund(charge, paid)

        again = msgspec.structs.replace(charge, rejected_refunds=1)
        outcomes = [stripe_bank.provider.refund(again, paid) for _ in range(2)]

        assert rejected == RefundRejected(reason="The bank declined it.")
        assert outcomes == [Refunded()] * 2
        assert stripe_bank.provider.look_up_refund(again, paid) == Refunded()
        assert stripe_bank.count(charge) == (1, 2)

    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_while_looking_for_a_refund_says_nothing_of_it(
        self, stripe_bank: StripeBank, fault: str
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        assert isinstance(paid, Paid)
        stripe_bank.provider.refund(charge, paid)
        # What only reads is tried again at once when the connection breaks.
        stripe_bank.server.fail(fault, fault)

        with pytest.raises(ProviderUnavailable):
            stripe_bank.provider.look_up_refund(charge, paid)
        stripe_bank.server.fail()

        assert stripe_bank.provider.look_up_refund(charge, paid) == Refunded()

    def test_a_card_that_was_changed_meanwhile_is_not_charged_as_well(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        other = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)

        changed = msgspec.structs.replace(charge, payment_method=other.payment_method)

        assert stripe_bank.provider.charge(changed) == paid
        assert stripe_bank.count(charge) == (1, 0)

    def test_a_card_may_be_declined_although_its_owner_authorised_it(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("waiting, then declined")
        waiting = stripe_bank.provider.charge(charge)
        assert isinstance(waiting, NeedsAuthorisation)

        stripe_bank.authorise(waiting.reference, agrees=True)

        assert stripe_bank.provider.look_up(charge) == Declined(
            reason="The bank declined the card."
        )

    def test_the_payer_comes_back_to_our_page(self, stripe_bank: StripeBank) -> None:
        charge = stripe_bank.a_charge("waiting")

        waiting = stripe_bank.provider.charge(charge)

        assert isinstance(waiting, NeedsAuthorisation)
        assert waiting.url.endswith(f"?back={a_page(charge.key)}")

    def test_a_payment_is_found_among_many(self, stripe_bank: StripeBank) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        facts = {"amount": "1", "currency": "eur", "customer": charge.customer}
        for _ in range(101):
            stripe_bank.server.ask(
                "POST", "/v1/payment_intents", {**facts, "payment_method": charge.payment_method}
            )

        assert stripe_bank.provider.look_up(charge) == paid

    def test_charges_of_one_merchant_are_told_apart(self, stripe_bank: StripeBank) -> None:
        first = stripe_bank.a_charge("paid")
        second = msgspec.structs.replace(first, key=f"{first.key}-2")

        outcomes = [stripe_bank.provider.charge(each) for each in (first, second)]

        assert [stripe_bank.provider.look_up(each) for each in (first, second)] == outcomes
        assert outcomes[0] != outcomes[1]

    def test_a_look_up_goes_back_to_when_the_charge_was_asked_for(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("paid")
        paid = stripe_bank.provider.charge(charge)
        today, tomorrow = datetime.now(UTC), datetime.now(UTC) + timedelta(days=1)

        assert stripe_bank.provider.look_up(msgspec.structs.replace(charge, asked_at=today)) == paid
        later = msgspec.structs.replace(charge, asked_at=tomorrow)
        assert stripe_bank.provider.look_up(later) == Unknown()

    def test_a_card_that_is_gone_is_declined(self, stripe_bank: StripeBank) -> None:
        charge = stripe_bank.a_charge("paid")

        outcome = stripe_bank.provider.charge(
            msgspec.structs.replace(charge, payment_method="pm_gone")
        )

        assert isinstance(outcome, Declined)

    def test_a_reference_that_stripe_does_not_know_is_no_answer(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = stripe_bank.a_charge("paid")

        with pytest.raises(ProviderUnavailable) as raised:
            stripe_bank.provider.look_up(charge, "pi_missing")

        assert raised.value.detail == "InvalidRequestError 404 resource_missing"


@pytest.fixture
def provider(recorder: Recorder) -> StripeProvider:
    """Stripe, as the recorder plays it."""
    return open_stripe(recorder.base)


CHARGE = a_charge(customer="cus_1", payment_method="pm_1")
PAID = Paid(provider="stripe", reference="pi_1")


def an_intent(status: str, **values: Any) -> dict[str, Any]:
    """Write Stripe's record of a payment, as far as it matters."""
    return {
        "id": "pi_1",
        "object": "payment_intent",
        "status": status,
        "metadata": {KEY: CHARGE.key},
        "next_action": None,
        "last_payment_error": None,
        **values,
    }


def a_refund(status: str, **values: Any) -> dict[str, Any]:
    """Write Stripe's record of a refund, as far as it matters."""
    return {"id": "re_1", "object": "refund", "status": status, "amount": CHARGE.amount, **values}


def an_error(**values: Any) -> dict[str, Any]:
    """Write the body of a refusal."""
    return {"error": {"type": "card_error", "message": "Their own words.", **values}}


class TestSingleAnswers:
    def test_the_request_says_what_stripe_must_know(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, an_intent("succeeded"))]

        provider.charge(CHARGE)

        [asked] = recorder.asked
        assert (asked.method, asked.path) == ("POST", "/v1/payment_intents")
        assert asked.headers["Idempotency-Key"] == CHARGE.key
        assert asked.headers["Authorization"] == f"Bearer {SECRET_KEY}"
        body = asked.body.decode()
        for part in ("amount=1250", "currency=eur", "confirm=true", "off_session=true"):
            assert part in body.split("&")
        assert f"metadata[{KEY}]={CHARGE.key}" in body.replace("%5B", "[").replace("%5D", "]")

    def test_every_request_that_changes_something_has_a_key_of_its_own(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        without = an_intent("requires_action")
        refund = {"id": "re_1", "object": "refund", "status": "succeeded"}
        done, cancelled = an_intent("succeeded"), an_intent("canceled")
        recorder.answers = [(200, each) for each in (without, without, without, done)]
        recorder.answers += [(200, cancelled), (200, cancelled), (200, refund)]

        provider.charge(CHARGE)
        provider.cancel(CHARGE, "pi_1")
        provider.refund(CHARGE, Paid(provider="stripe", reference="pi_1"))

        posts = [asked for asked in recorder.asked if asked.method == "POST"]
        assert [asked.headers["Idempotency-Key"] for asked in posts] == [
            CHARGE.key,
            f"{CHARGE.key}-authorise",
            f"{CHARGE.key}-cancel",
            f"{CHARGE.key}-refund",
        ]

    def test_of_two_payments_with_one_key_the_one_that_was_paid_counts(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        found = [an_intent("canceled"), an_intent("succeeded", id="pi_2")]
        listed = {"object": "list", "data": found, "has_more": False, "url": "/v1/payment_intents"}
        recorder.answers = [(200, listed)]

        assert provider.look_up(CHARGE) == Paid(provider="stripe", reference="pi_2")

    def test_nothing_about_this_machine_is_sent(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, an_intent("succeeded"))] * 2

        provider.charge(CHARGE)
        provider.look_up(CHARGE, "pi_1")

        sent = {name.lower() for asked in recorder.asked for name in asked.headers}
        assert not [name for name in sent if name.startswith("x-stripe")]
        assert recorder.asked[0].headers["User-Agent"].startswith("Printworks/")

    @pytest.mark.parametrize(("code", "sentence"), REASONS.items())
    def test_a_refusal_becomes_a_sentence_of_ours(
        self, recorder: Recorder, provider: StripeProvider, code: str, sentence: str
    ) -> None:
        recorder.answers = [(402, an_error(code="card_declined", decline_code=code))]

        assert provider.charge(CHARGE) == Declined(reason=sentence)

    @pytest.mark.parametrize("code", ["fraudulent", "stolen_card", "do_not_honor", None])
    def test_what_merchants_need_not_know_is_a_plain_refusal(
        self, recorder: Recorder, provider: StripeProvider, code: str | None
    ) -> None:
        recorder.answers = [(402, an_error(code="card_declined", decline_code=code))]

        assert provider.charge(CHARGE) == Declined(reason="The bank declined the card.")

    def test_an_amount_that_cannot_be_charged_is_declined(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(400, an_error(type="invalid_request_error", code="amount_too_small"))]

        outcome = provider.charge(CHARGE)

        assert outcome == Declined(reason="The amount is less than can be charged.")

    @pytest.mark.parametrize("status", [401, 403, 409, 429, 500, 502, 503])
    def test_what_is_no_answer_to_the_question_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider, status: int
    ) -> None:
        recorder.answers = [(status, an_error(type="api_error"))]

        with pytest.raises(ProviderUnavailable) as raised:
            provider.charge(CHARGE)

        assert str(status) in raised.value.detail
        assert SECRET_KEY not in raised.value.detail
        assert "Their own words" not in raised.value.detail
        assert len(recorder.asked) == 1

    def test_the_same_key_with_other_facts_and_no_payment_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        nothing = {"object": "list", "data": [], "has_more": False, "url": "/v1/payment_intents"}
        recorder.answers = [(400, an_error(type="idempotency_error")), (200, nothing)]

        with pytest.raises(ProviderUnavailable, match="could not be asked"):
            provider.charge(CHARGE)

    @pytest.mark.parametrize("status", ["processing", "requires_capture", "something_new"])
    def test_a_payment_that_is_not_decided_is_asked_for_again(
        self, recorder: Recorder, provider: StripeProvider, status: str
    ) -> None:
        recorder.answers = [(200, an_intent(status))]

        with pytest.raises(ProviderUnavailable) as raised:
            provider.look_up(CHARGE, "pi_1")

        assert raised.value.detail == f"the payment pi_1 is {status}"

    def test_an_authorisation_without_an_address_is_asked_for_once_more(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        without = an_intent("requires_action", next_action={"type": "use_stripe_sdk"})
        bank = {"type": "redirect_to_url", "redirect_to_url": {"url": "https://bank.example"}}
        recorder.answers = [
            (200, without),
            (200, without),
            (200, without),
            (200, an_intent("requires_action", next_action=bank)),
        ]

        outcome = provider.charge(CHARGE)

        assert outcome == NeedsAuthorisation(url="https://bank.example", reference="pi_1")
        assert [asked.path.rpartition("/")[2] for asked in recorder.asked] == [
            "payment_intents",
            "pi_1",
            "confirm",
            "pi_1",
        ]

    def test_a_card_may_be_declined_when_its_owner_is_asked_for(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        wanted = an_intent(
            "requires_payment_method", last_payment_error={"code": "authentication_required"}
        )
        declined = an_intent(
            "requires_payment_method",
            last_payment_error={"code": "card_declined", "decline_code": "insufficient_funds"},
        )
        recorder.answers = [
            (402, an_error(code="authentication_required", payment_intent=wanted)),
            (200, wanted),
            (402, an_error(code="card_declined", payment_intent=declined)),
            (200, declined),
        ]

        outcome = provider.charge(CHARGE)

        assert outcome == Declined(reason="There is not enough money for the payment.")

    def test_a_request_that_stripe_turns_down_is_declined_in_plain_words(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(400, an_error(type="invalid_request_error", code="parameter_unknown"))]

        outcome = provider.charge(CHARGE)

        assert outcome == Declined(reason="The payment provider refused the request.")

    def test_an_authorisation_without_any_address_is_no_answer(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, an_intent("requires_action"))] * 4

        with pytest.raises(ProviderUnavailable):
            provider.charge(CHARGE)

    def test_a_payment_that_cannot_be_cancelled_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        bank = {"type": "redirect_to_url", "redirect_to_url": {"url": "https://bank.example"}}
        recorder.answers = [
            (400, an_error(type="invalid_request_error")),
            (200, an_intent("requires_action", next_action=bank)),
        ]

        with pytest.raises(ProviderUnavailable):
            provider.cancel(CHARGE, "pi_1")

    def test_a_refund_that_was_not_made_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        refusal = an_error(type="invalid_request_error", code="resource_missing")
        recorder.answers = [(400, refusal)]

        with pytest.raises(ProviderUnavailable):
            provider.refund(CHARGE, PAID)

    @pytest.mark.parametrize("status", ["pending", "requires_action", "succeeded"])
    def test_a_refund_that_is_under_way_is_made(
        self, recorder: Recorder, provider: StripeProvider, status: str
    ) -> None:
        recorder.answers = [(200, a_refund(status))]

        assert provider.refund(CHARGE, PAID) == Refunded()

    @pytest.mark.parametrize(
        ("refund", "sentence"),
        [
            (
                a_refund("failed", failure_reason="lost_or_stolen_card"),
                "The card was lost or stolen.",
            ),
            (a_refund("failed", failure_reason="unknown"), "The bank gave no reason."),
            (a_refund("failed", failure_reason="something_new"), "The bank gave no reason."),
            (a_refund("failed"), "The bank gave no reason."),
            (a_refund("canceled"), "It was cancelled at Stripe."),
        ],
    )
    def test_a_refund_that_is_rejected_at_once_says_why(
        self, recorder: Recorder, provider: StripeProvider, refund: Any, sentence: str
    ) -> None:
        recorder.answers = [(200, refund)]

        assert provider.refund(CHARGE, PAID) == RefundRejected(reason=sentence)

    @pytest.mark.parametrize(
        ("found", "outcome"),
        [
            ([], Refunded()),
            ([a_refund("pending")], Refunded()),
            ([a_refund("failed")], RefundRejected(reason="The bank gave no reason.")),
            ([a_refund("succeeded"), a_refund("failed")], Refunded()),
            # Somebody gave back a part of it on Stripe's own pages.
            (
                [a_refund("succeeded", amount=1249), a_refund("canceled")],
                RefundRejected(reason="It was cancelled at Stripe."),
            ),
        ],
    )
    def test_what_is_on_its_way_decides_what_became_of_a_refund(
        self, recorder: Recorder, provider: StripeProvider, found: list[Any], outcome: object
    ) -> None:
        listed = {"object": "list", "data": found, "has_more": False, "url": "/v1/refunds"}
        refusal = an_error(type="invalid_request_error", code="charge_already_refunded")
        recorder.answers = [(200, listed), (400, refusal), (200, listed)]

        assert provider.look_up_refund(CHARGE, PAID) == outcome
        assert provider.refund(CHARGE, PAID) == outcome

        assert recorder.asked[0].path == "/v1/refunds?payment_intent=pi_1&limit=100"

    @pytest.mark.parametrize("answer", [{}, [], {"id": 1, "status": 2}, "text", None, 1])
    def test_an_answer_that_cannot_be_read_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider, answer: Any
    ) -> None:
        recorder.answers = [(200, answer)]

        with pytest.raises(ProviderUnavailable):
            provider.look_up(CHARGE, "pi_1")

    @pytest.mark.parametrize("missing", ["customer", "payment_method"])
    def test_a_merchant_without_a_card_is_declined_without_a_question(
        self, recorder: Recorder, provider: StripeProvider, missing: str
    ) -> None:
        charge = msgspec.structs.replace(CHARGE, **{missing: ""})

        assert provider.charge(charge) == Declined(reason=NO_CARD)
        assert recorder.asked == []


class TestTheWayThere:
    @pytest.mark.parametrize("status", [301, 302, 307])
    def test_no_redirect_is_followed(
        self, recorder: Recorder, provider: StripeProvider, status: int
    ) -> None:
        recorder.answers = [(status, f"{recorder.base}/v1/elsewhere")] * 2

        with pytest.raises(ProviderUnavailable):
            provider.charge(CHARGE)
        with pytest.raises(ProviderUnavailable):
            provider.look_up(CHARGE, "pi_1")

        assert len(recorder.asked) == 2

    def test_the_guard_is_asked(self, recorder: Recorder) -> None:
        provider = open_stripe(recorder.base, guard=Guard())

        with witness_connections() as connections, pytest.raises(ProviderUnavailable) as raised:
            provider.charge(CHARGE)

        assert "Refused" in raised.value.detail
        assert connections == []

    @pytest.mark.parametrize(
        ("method", "url"),
        [
            ("get", "https://files.stripe.com/v1/files"),
            ("get", "http://api.stripe.example.evil.example/v1/charges"),
            ("get", "{base}.evil.example/v1/charges"),
            ("get", "{base}/v2/core/events"),
            ("delete", "{base}/v1/customers/cus_1"),
        ],
    )
    def test_nothing_else_is_asked(self, recorder: Recorder, method: str, url: str) -> None:
        guard = Guard(allow_loopback=True)
        client = GuardedClient(guard, base=recorder.base, timeout=timedelta(seconds=5))

        with witness_connections() as connections, pytest.raises(stripe.APIConnectionError):
            client.request(method, url.format(base=recorder.base), {})

        assert connections == []

    def test_a_closed_port_is_an_exception(self) -> None:
        provider = open_stripe("http://127.0.0.1:9")

        with pytest.raises(ProviderUnavailable) as raised:
            provider.charge(CHARGE)

        assert "Unreachable" in raised.value.detail
