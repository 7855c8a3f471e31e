"""Stripe's own pages: whatever breaks on the way, there is one page, and it is paid once or never.

The first part runs against a whole server; the second one gives single answers that it cannot.
"""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import msgspec
import pytest

from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Paid,
    ProviderUnavailable,
    Unknown,
)
from printworks.payments.stripe import StripeProvider
from printworks.payments.webhooks import KEY
from tests.payments.banks import (
    CARDS,
    StripeBank,
    a_charge,
    a_page,
    ask_payer_until_known,
    open_stripe,
)
from tests.payments.recorded import Recorder

FAULTS = [
    f"{kind} {when}" for kind in ("drop", "500", "nonsense") for when in ("before", "after")
] + ["429 before"]


def ask(bank: StripeBank, **values: Any) -> tuple[Charge, NeedsAuthorisation]:
    """Open a page."""
    charge = a_charge(**values)
    waiting = bank.provider.ask_payer(charge)
    assert isinstance(waiting, NeedsAuthorisation)
    return charge, waiting


class TestWholeStories:
    @pytest.mark.parametrize("turn", range(3))
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_at_any_request_leaves_one_page(
        self, stripe_bank: StripeBank, fault: str, turn: int
    ) -> None:
        charge = a_charge()
        stripe_bank.server.fail(*[""] * turn, fault)

        found = ask_payer_until_known(stripe_bank.provider, charge)
        stripe_bank.server.fail()

        assert isinstance(found, NeedsAuthorisation)
        assert len(stripe_bank.server.list_pages(charge.key)) == 1

    @pytest.mark.parametrize("turn", [0, 1])
    @pytest.mark.parametrize("fault", FAULTS)
    def test_a_fault_while_closing_leaves_it_closed(
        self, stripe_bank: StripeBank, fault: str, turn: int
    ) -> None:
        charge, waiting = ask(stripe_bank)
        stripe_bank.server.fail(*[""] * turn, fault)
        # What only reads is tried again at once when the connection breaks.
        with suppress(ProviderUnavailable):
            stripe_bank.provider.cancel(charge, waiting.reference)

        outcome = stripe_bank.provider.cancel(charge, waiting.reference)

        assert outcome == Declined(reason="The payment was cancelled.")

    def test_a_failure_that_stripe_repeats_ends_when_it_forgets_the_key(
        self, stripe_bank: StripeBank
    ) -> None:
        charge = a_charge()
        stripe_bank.server.fail("saved 500")
        for _ in range(2):
            with pytest.raises(ProviderUnavailable):
                stripe_bank.provider.ask_payer(charge)
            assert stripe_bank.provider.look_up(charge) == Unknown()

        stripe_bank.server.forget_keys()

        assert isinstance(ask_payer_until_known(stripe_bank.provider, charge), NeedsAuthorisation)

    def test_what_is_looked_up_before_it_is_asked_for_again_is_safe_after_a_day(
        self, stripe_bank: StripeBank
    ) -> None:
        charge, waiting = ask(stripe_bank)
        stripe_bank.pay(waiting.reference)

        stripe_bank.server.forget_keys()

        assert isinstance(ask_payer_until_known(stripe_bank.provider, charge), Paid)
        assert len(stripe_bank.server.list_pages(charge.key)) == 1

    def test_another_address_of_the_payer_opens_no_second_page(
        self, stripe_bank: StripeBank
    ) -> None:
        charge, waiting = ask(stripe_bank, payer_email="ada@example.com")

        changed = msgspec.structs.replace(charge, payer_email="ada@lovelace.example")

        assert stripe_bank.provider.ask_payer(changed) == waiting
        assert len(stripe_bank.server.list_pages(charge.key)) == 1

    def test_a_declined_card_may_be_followed_by_another_one(self, stripe_bank: StripeBank) -> None:
        charge, waiting = ask(stripe_bank)

        stripe_bank.server.pay(waiting.reference, CARDS["declined"])

        assert stripe_bank.provider.look_up(charge) == waiting
        [failed] = stripe_bank.list_payments(charge)
        assert stripe_bank.provider.look_up(charge, failed["id"]) == waiting
        stripe_bank.server.pay(waiting.reference, CARDS["paid"])
        paid = Paid(provider="stripe", reference=failed["id"])
        assert stripe_bank.provider.look_up(charge, failed["id"]) == paid
        assert stripe_bank.count(charge) == (1, 0)

    def test_a_page_is_closed_by_its_payment_too(self, stripe_bank: StripeBank) -> None:
        charge, waiting = ask(stripe_bank)
        stripe_bank.server.pay(waiting.reference, CARDS["declined"])
        [failed] = stripe_bank.list_payments(charge)

        outcome = stripe_bank.provider.cancel(charge, failed["id"])

        assert outcome == Declined(reason="The payment was cancelled.")
        [page] = stripe_bank.server.list_pages(charge.key)
        assert page["status"] == "expired"

    def test_the_page_after_its_time_says_so(self, stripe_bank: StripeBank) -> None:
        charge, waiting = ask(stripe_bank)
        stripe_bank.server.pay(waiting.reference, CARDS["declined"])
        [failed] = stripe_bank.list_payments(charge)

        stripe_bank.run_out(waiting.reference)

        late = Declined(reason="The payment was not made in time.")
        assert stripe_bank.provider.look_up(charge) == late
        assert stripe_bank.provider.look_up(charge, failed["id"]) == late

    def test_a_page_is_found_among_many(self, stripe_bank: StripeBank) -> None:
        charge, waiting = ask(stripe_bank)
        price = "line_items[0][price_data]"
        facts = {
            "mode": "payment",
            "success_url": a_page("x"),
            "allowed_payment_method_types[0]": "card",
            "line_items[0][quantity]": "1",
            f"{price}[currency]": "eur",
            f"{price}[unit_amount]": "100",
            f"{price}[product_data][name]": "Somebody else's",
        }
        for _ in range(101):
            stripe_bank.server.ask("POST", "/v1/checkout/sessions", facts)

        assert stripe_bank.provider.look_up(charge) == waiting

    def test_a_look_up_goes_back_to_when_the_payer_was_asked(self, stripe_bank: StripeBank) -> None:
        charge, waiting = ask(stripe_bank)
        now = datetime.now(UTC)

        today = msgspec.structs.replace(charge, asked_at=now)
        later = msgspec.structs.replace(charge, asked_at=now + timedelta(days=1))

        assert stripe_bank.provider.look_up(today) == waiting
        assert stripe_bank.provider.look_up(later) == Unknown()

    @pytest.mark.parametrize(
        ("values", "sentence"),
        [
            ({"amount": 1}, "The amount is less than can be charged."),
            ({"payer_email": "nobody"}, "The email address of the payer is not valid."),
        ],
    )
    def test_what_cannot_be_asked_for_is_declined(
        self, stripe_bank: StripeBank, values: dict[str, Any], sentence: str
    ) -> None:
        assert stripe_bank.provider.ask_payer(a_charge(**values)) == Declined(reason=sentence)

    def test_a_page_that_stripe_does_not_know_is_no_answer(self, stripe_bank: StripeBank) -> None:
        for ask_about in (stripe_bank.provider.look_up, stripe_bank.provider.cancel):
            with pytest.raises(ProviderUnavailable) as raised:
                ask_about(a_charge(), "cs_test_missing")

            assert raised.value.detail == "InvalidRequestError 404 resource_missing"


CHARGE = a_charge(payer_email="ada@example.com")


def a_session(status: str | None, payment_status: str = "unpaid", **values: Any) -> dict[str, Any]:
    """Write Stripe's record of a page, as far as it matters."""
    return {
        "id": "cs_1",
        "object": "checkout.session",
        "status": status,
        "payment_status": payment_status,
        "metadata": {KEY: CHARGE.key},
        "payment_intent": None,
        "url": "https://checkout.example/cs_1" if status == "open" else None,
        **values,
    }


def an_intent(status: str, **values: Any) -> dict[str, Any]:
    """Write Stripe's record of a payment that was made on a page."""
    metadata = {KEY: CHARGE.key, "printworks_asked": "checkout"}
    found = {"id": "pi_1", "object": "payment_intent", "status": status, "metadata": metadata}
    return {**found, **values}


def a_list(*found: dict[str, Any]) -> dict[str, Any]:
    """Write a list as Stripe does."""
    return {"object": "list", "data": found, "has_more": False, "url": "/v1/checkout/sessions"}


@pytest.fixture
def provider(recorder: Recorder) -> StripeProvider:
    """Stripe, as the recorder plays it."""
    return open_stripe(recorder.base)


class TestSingleAnswers:
    def test_the_request_says_what_stripe_must_know(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, a_session("open"))] * 2

        provider.ask_payer(CHARGE)

        asked, read = recorder.asked
        assert (asked.method, asked.path) == ("POST", "/v1/checkout/sessions")
        assert asked.headers["Idempotency-Key"] == CHARGE.key
        assert read.path == "/v1/checkout/sessions/cs_1?expand[0]=payment_intent"
        sent = {name: text for name, [text] in parse_qs(asked.body.decode()).items()}
        price = "line_items[0][price_data]"
        inside = "payment_intent_data[metadata]"
        assert sent == {
            "mode": "payment",
            "line_items[0][quantity]": "1",
            f"{price}[currency]": "eur",
            f"{price}[unit_amount]": "1250",
            f"{price}[product_data][name]": "Order 42",
            "allowed_payment_method_types[0]": "card",
            "success_url": a_page(CHARGE.key),
            "cancel_url": a_page(CHARGE.key),
            "customer_email": "ada@example.com",
            f"metadata[{KEY}]": CHARGE.key,
            "metadata[merchant]": "shop",
            "metadata[order]": "42",
            f"{inside}[{KEY}]": CHARGE.key,
            f"{inside}[merchant]": "shop",
            f"{inside}[order]": "42",
            f"{inside}[printworks_asked]": "checkout",
        }

    def test_without_an_address_of_the_payer_none_is_sent(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, a_session("open"))] * 2

        provider.ask_payer(a_charge())

        assert b"customer_email" not in recorder.asked[0].body

    def test_of_two_pages_with_one_key_the_one_that_was_paid_counts(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        paid = a_session("complete", "paid", id="cs_2", payment_intent="pi_1")
        others = [a_session("expired", id="cs_3"), a_session("open", id="cs_4")]
        strangers = [a_session(None, metadata=None), a_session("open", metadata={})]
        expanded = {**paid, "payment_intent": an_intent("succeeded")}
        recorder.answers = [(200, a_list(*strangers, *others, paid)), (200, expanded)]

        assert provider.look_up(CHARGE) == Paid(provider="stripe", reference="pi_1")
        assert "/cs_2?" in recorder.asked[1].path

    def test_pages_of_others_are_no_answer(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, a_list(a_session("open", metadata={KEY: "another"})))]

        assert provider.look_up(CHARGE) == Unknown()

    @pytest.mark.parametrize(
        "session",
        [
            a_session("open", url=None),
            a_session("complete", payment_intent=an_intent("processing")),
            a_session("complete", "paid"),
            a_session("something_new"),
            a_session(None),
        ],
    )
    def test_a_page_that_is_not_decided_is_looked_at_again(
        self, recorder: Recorder, provider: StripeProvider, session: dict[str, Any]
    ) -> None:
        recorder.answers = [(200, session)]

        with pytest.raises(ProviderUnavailable) as raised:
            provider.look_up(CHARGE, "cs_1")

        assert raised.value.detail.startswith(f"the page cs_1 is {session['status']} and ")

    def test_a_payment_that_failed_after_days_is_declined(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        trouble = {"code": "card_declined", "decline_code": "insufficient_funds"}
        failed = an_intent("requires_payment_method", last_payment_error=trouble)
        recorder.answers = [(200, a_session("complete", payment_intent=failed))]

        outcome = provider.look_up(CHARGE, "cs_1")

        assert outcome == Declined(reason="There is not enough money for the payment.")

    def test_a_page_that_cannot_be_closed_is_an_exception_and_tried_anew_each_time(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        refusal = {"error": {"type": "invalid_request_error"}}
        recorder.answers = [(400, refusal), (200, a_session("open"))] * 2

        for _ in range(2):
            with pytest.raises(ProviderUnavailable, match="could not be asked"):
                provider.cancel(CHARGE, "cs_1")

        first, _, second, _ = recorder.asked
        assert first.path == second.path == "/v1/checkout/sessions/cs_1/expire"
        assert first.headers["Idempotency-Key"] != second.headers["Idempotency-Key"]

    def test_the_same_key_with_other_facts_and_no_page_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(400, {"error": {"type": "idempotency_error"}}), (200, a_list())]

        with pytest.raises(ProviderUnavailable, match="could not be asked"):
            provider.ask_payer(CHARGE)

    def test_a_payment_without_its_page_is_no_answer(
        self, recorder: Recorder, provider: StripeProvider
    ) -> None:
        recorder.answers = [(200, an_intent("requires_payment_method")), (200, a_list())]

        with pytest.raises(ProviderUnavailable) as raised:
            provider.look_up(CHARGE, "pi_1")

        assert raised.value.detail == "the payment pi_1 has no page"

    @pytest.mark.parametrize("status", [401, 403, 409, 429, 500, 502, 503])
    def test_what_is_no_answer_to_the_question_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider, status: int
    ) -> None:
        recorder.answers = [(status, {"error": {"type": "api_error", "message": "Their words."}})]

        with pytest.raises(ProviderUnavailable) as raised:
            provider.ask_payer(CHARGE)

        assert str(status) in raised.value.detail
        assert "Their words" not in raised.value.detail
        assert len(recorder.asked) == 1

    @pytest.mark.parametrize("answer", [{}, [], {"id": 1, "status": 2}, "text", None, 1])
    def test_an_answer_that_cannot_be_read_is_an_exception(
        self, recorder: Recorder, provider: StripeProvider, answer: Any
    ) -> None:
        recorder.answers = [(200, answer)]

        with pytest.raises(ProviderUnavailable):
            provider.look_up(CHARGE, "cs_1")
