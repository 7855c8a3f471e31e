"""The page about a payment for a merchant's order, and the sandbox's own bank."""

import pytest
from sqlalchemy import update

from printworks.rules.payments import PaymentState
from printworks.store.engine.database import Database
from printworks.store.tables import payment_requests
from printworks.worker.payments import NOT_ANSWERED
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.production import see, set_status
from tests.dashboard.visits import ask_merchant, fill_in, send, token_of, visit, words_of


def bank_of(browser: Client, url: str) -> str:
    """Return where the bank waits for a payment."""
    return visit(browser, url).headers["location"]


def test_a_payment_that_waits_leads_to_the_bank(v3: Client, browser: Client) -> None:
    order, url = ask_merchant(v3, merchantOrderId="A-1")

    forwarded = visit(browser, url)
    bank = visit(browser, forwarded.headers["location"])

    assert forwarded.status == 303
    assert url.startswith("https://print.example/payments/")
    assert bank.status == 200
    said = words_of(bank)
    assert "Nothing is charged" in said
    assert "Shop Alice" in said
    assert f"Order {order} (A-1)" in said


def test_the_bank_asks_for_what_the_order_costs(v3: Client, browser: Client) -> None:
    order, url = ask_merchant(v3)
    price = see(v3, order)["price"]

    said = words_of(visit(browser, bank_of(browser, url)))

    assert f"£{price // 100}.{price % 100:02}" in said


@pytest.mark.both_databases
def test_an_authorised_payment_sends_the_order_on_its_way(v3: Client, browser: Client) -> None:
    order, url = ask_merchant(v3)

    decided = fill_in(browser, bank_of(browser, url), decision="authorise")
    page = visit(browser, decided.headers["location"])

    assert decided.status == 303
    assert "Payment received" in words_of(page)
    assert see(v3, order)["status"] == "Submitted"


def test_a_payment_that_was_declined_says_why_and_what_to_do(v3: Client, browser: Client) -> None:
    order, url = ask_merchant(v3)

    decided = fill_in(browser, bank_of(browser, url), decision="decline")
    said = words_of(visit(browser, decided.headers["location"]))

    assert "The payment was declined" in said
    assert "The payment was not authorised." in said
    assert "Submit the order again" in said
    assert see(v3, order)["status"] == "NotYetSubmitted"


def test_no_merchant_is_told_that_nothing_was_charged_if_nobody_knows(
    v3: Client, browser: Client, database: Database
) -> None:
    _, url = ask_merchant(v3)
    with database.writing() as db:
        ended = {"state": PaymentState.DECLINED, "reason": NOT_ANSWERED}
        db.execute(update(payment_requests).values(ended))

    said = words_of(visit(browser, url))

    assert "The payment did not go through" in said
    assert "Whatever was charged is refunded. Submit the order again to retry." in said
    assert "Nothing was charged" not in said


@pytest.mark.parametrize(
    ("state", "title"),
    [
        (PaymentState.REFUND_REJECTED, "The payment is being refunded"),
        (PaymentState.REPAID, "The payment was refunded"),
    ],
)
def test_what_the_bank_rejected_is_not_said_to_be_at_the_bank(
    v3: Client, browser: Client, database: Database, state: PaymentState, title: str
) -> None:
    _, url = ask_merchant(v3)
    with database.writing() as db:
        db.execute(update(payment_requests).values(state=state))

    said = words_of(visit(browser, url))

    assert title in said
    assert "original payment method" not in said


@pytest.mark.parametrize(
    ("decision", "said"), [("authorise", "Authorised"), ("decline", "Not authorised")]
)
def test_the_bank_says_what_was_decided(
    v3: Client, browser: Client, decision: str, said: str
) -> None:
    _, url = ask_merchant(v3)
    bank = bank_of(browser, url)
    fill_in(browser, bank, decision=decision)

    page = visit(browser, bank)

    assert page.status == 200
    assert said in words_of(page)
    assert b"<form" not in page.body


@pytest.mark.both_databases
def test_the_second_decision_changes_nothing(v3: Client, browser: Client) -> None:
    order, url = ask_merchant(v3)
    bank = bank_of(browser, url)
    token = token_of(visit(browser, bank))
    send(browser, bank, {"form_token": token, "decision": "authorise"})

    again = send(browser, bank, {"form_token": token, "decision": "decline"})

    assert again.status == 303
    assert see(v3, order)["status"] == "Submitted"


@pytest.mark.parametrize(
    "fields", [{}, {"form_token": ""}, {"form_token": "0" * 64}, {"form_token": "\N{SNOWMAN}"}]
)
def test_a_form_without_its_token_is_refused(
    v3: Client, browser: Client, fields: dict[str, str]
) -> None:
    order, url = ask_merchant(v3)

    refused = send(browser, bank_of(browser, url), {**fields, "decision": "authorise"})

    assert refused.status == 403
    assert "Reload the page and send the form again." in words_of(refused)
    assert see(v3, order)["status"] == "AwaitingPayment"


def test_the_token_of_another_page_is_refused(v3: Client, browser: Client) -> None:
    _, own = ask_merchant(v3)
    _, other = ask_merchant(v3)
    token = token_of(visit(browser, bank_of(browser, own)))

    refused = send(browser, bank_of(browser, other), {"form_token": token, "decision": "authorise"})

    assert refused.status == 403


@pytest.mark.parametrize(
    ("site", "status"),
    [("same-origin", 303), ("none", 303), ("same-site", 403), ("cross-site", 403)],
)
def test_a_form_of_another_site_is_refused(
    v3: Client, browser: Client, site: str, status: int
) -> None:
    _, url = ask_merchant(v3)
    bank = bank_of(browser, url)
    fields = {"form_token": token_of(visit(browser, bank)), "decision": "authorise"}

    assert send(browser, bank, fields, sec_fetch_site=site).status == status


def test_who_decides_too_often_has_to_wait(
    v3: Client, browser: Client, clock: MovableClock
) -> None:
    _, url = ask_merchant(v3)
    bank = bank_of(browser, url)
    fields = {"form_token": token_of(visit(browser, bank)), "decision": "authorise"}
    for _ in range(10):
        assert send(browser, bank, fields).status == 303

    refused = send(browser, bank, fields)
    clock.advance(seconds=int(refused.headers["retry-after"]))
    again = send(browser, bank, fields)

    assert refused.status == 429
    assert "Try again in 10 seconds." in words_of(refused)
    assert again.status == 303


def test_who_looks_too_often_has_to_wait(v3: Client, browser: Client) -> None:
    _, url = ask_merchant(v3)
    for _ in range(60):
        assert visit(browser, url).status == 303

    refused = visit(browser, url)

    assert refused.status == 429
    assert refused.headers["retry-after"] == "1"


def test_a_payment_whose_time_is_over_says_so(
    v3: Client, browser: Client, clock: MovableClock
) -> None:
    _, url = ask_merchant(v3)

    clock.advance(days=2)
    page = visit(browser, url)

    assert page.status == 200
    assert "This payment has expired" in words_of(page)


def test_a_payment_that_the_bank_closed_in_between_says_so(v3: Client, browser: Client) -> None:
    _, url = ask_merchant(v3, merchantOrderId="pay-expired")

    said = words_of(visit(browser, url))

    assert "The payment was declined" in said
    assert "not authorised in time" in said


def test_a_payment_for_a_cancelled_order_is_not_needed_any_more(
    v3: Client, browser: Client
) -> None:
    order, url = ask_merchant(v3)

    assert set_status(v3, order, "Cancelled").status == 200

    assert "This payment is no longer needed" in words_of(visit(browser, url))
