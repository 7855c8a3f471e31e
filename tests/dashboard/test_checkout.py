"""The page at which a recipient pays for an order."""

import re
from typing import Any

import pytest
from sqlalchemy import update

from printworks.actions.payments.payments import settle
from printworks.payments.provider import Declined, Outcome, Paid
from printworks.rules.merchants import MerchantState
from printworks.rules.payments import PaymentState
from printworks.store.accounts.lifecycle import set_state
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.payments import find_last_request
from printworks.store.tables import payment_requests
from printworks.worker.payments import NOT_ANSWERED
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import add, create, receive
from tests.api.production import see, set_status
from tests.dashboard.visits import ask_recipient, fill_in, send, token_of, visit, words_of
from tests.factories import a_system_work

EMAIL = {"email": "mary@example.com"}
GIVEN = {
    "recipient_name": "Mary Fox",
    "address1": "12 Long Lane",
    "town_or_city": "York",
    "postal_code": "YO1 1AA",
    **EMAIL,
}
WITHOUT_ADDRESS = {"address1": "", "addressTownOrCity": "", "postalOrZipCode": ""}


def order_of(v3: Client) -> dict[str, Any]:
    """Return the merchant's newest order."""
    order: dict[str, Any] = v3.get("/orders").data["content"][0]
    return order


def begin_payment(browser: Client, url: str) -> str:
    """Ask to pay, and return where the bank waits."""
    asked = fill_in(browser, url, do="pay")
    assert asked.status == 303, words_of(asked)
    leaving = visit(browser, asked.headers["location"])
    return leaving.headers["refresh"].partition("url=")[2]


def test_no_tax_is_not_mentioned(v3: Client, browser: Client) -> None:
    assert "Tax" not in words_of(visit(browser, ask_recipient(v3, **EMAIL)))


def test_the_recipient_sees_what_is_paid_for(
    v3: Client, browser: Client, database: Database
) -> None:
    url = ask_recipient(v3, invoiceTax=55, invoiceCurrency="GBP", **EMAIL)
    order = order_of(v3)
    shipping = see(v3, order["id"])["price"] - 2 * order["images"][0]["price"]

    said = words_of(visit(browser, url))

    assert said.startswith("Skip to content Alice Order")
    assert "4x6 inch print" in said
    assert "2 \N{MULTIPLICATION SIGN} £12.50 £25.00" in said
    assert "Prints £25.00" in said
    assert f"Standard shipping £{shipping // 100}.{shipping % 100:02}" in said
    assert "Tax £0.55" in said
    total = 2500 + shipping + 55
    assert f"Pay £{total // 100}.{total % 100:02}" in said
    assert "Mary Fox 1 High Street London, SW1A 1AA United Kingdom" in said


def test_a_picture_that_has_arrived_is_shown(
    v3: Client, browser: Client, database: Database
) -> None:
    url = ask_recipient(v3, **EMAIL)
    [image] = order_of(v3)["images"]
    before = visit(browser, url)

    receive(database, image["id"])
    after = visit(browser, url)

    assert b"/proofs/" not in before.body
    thumbnail = see(v3, order_of(v3)["id"])["images"][0]["thumbnailUrl"]
    assert thumbnail.removeprefix("https://print.example").encode() in after.body


def test_the_choices_of_a_product_are_named(v3: Client, browser: Client) -> None:
    order_id = create(v3, payment="InvoiceRecipient", **EMAIL)
    add(v3, order_id, sku="FRA-INSTA-30X30", attributes={"frameColour": "black"})
    assert set_status(v3, order_id, "AwaitingPayment").status == 200

    said = words_of(visit(browser, see(v3, order_id)["paymentUrl"]))

    assert "Frame colour: black" in said


def test_what_merchants_and_recipients_write_is_shown_and_not_run(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, recipientName='"><script>alert(1)</script>', **EMAIL)

    page = visit(browser, url)

    assert b"<script" not in page.body
    assert '"><script>alert(1)</script>' in words_of(page)


@pytest.mark.both_databases
def test_the_recipient_completes_the_address_and_then_pays(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **WITHOUT_ADDRESS)
    missing = words_of(visit(browser, url))

    completed = fill_in(browser, url, do="complete", **GIVEN)
    page = visit(browser, completed.headers["location"])

    assert "Where should we send your order?" in missing
    assert "Country United Kingdom" in missing
    assert completed.status == 303
    assert "Mary Fox 12 Long Lane York, YO1 1AA United Kingdom" in words_of(page)
    order = order_of(v3)
    assert (order["address1"], order["addressTownOrCity"]) == ("12 Long Lane", "York")


def test_what_is_missing_is_said_beside_each_field_and_what_was_typed_stays(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, **WITHOUT_ADDRESS)

    refused = fill_in(
        browser, url, do="complete", address1="12 Long Lane", town_or_city=" ", email="mary at home"
    )

    assert refused.status == 400
    page = refused.body.decode()
    assert 'value="12 Long Lane"' in page
    assert 'value="mary at home"' in page
    wrong = set(re.findall(r'id="(\w+)-error"', page))
    assert wrong == {"town_or_city", "postal_code", "email"}
    assert "such as mary@example.com" in words_of(refused)
    assert order_of(v3)["address1"] is None


def test_only_what_is_missing_is_asked_for(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3)

    page = visit(browser, url)

    assert "How can we reach you?" in words_of(page)
    assert "1 High Street" in words_of(page)
    assert re.findall(r'<input class="\w+" id="(\w+)"', page.body.decode()) == ["email"]


@pytest.mark.parametrize("email", ["mary at home", "mary@example", "a, b@example.com"])
def test_an_email_that_cannot_be_used_is_corrected_before_anybody_pays(
    v3: Client, browser: Client, email: str
) -> None:
    url = ask_recipient(v3, email=email)
    asked = visit(browser, url)

    refused = fill_in(browser, url, do="complete", email=email)
    corrected = fill_in(browser, url, do="complete", **EMAIL)

    assert "How can we reach you?" in words_of(asked)
    assert f'value="{email}"' in asked.body.decode()
    assert refused.status == 400
    assert 'id="email-error"' in refused.body.decode()
    said = words_of(visit(browser, corrected.headers["location"]))
    assert "Review and pay" in said
    assert "mary@example.com" in said


def test_what_the_merchant_said_stays(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3)

    fill_in(browser, url, do="complete", **{**GIVEN, "address1": "Elsewhere"})

    assert order_of(v3)["address1"] == "1 High Street"


@pytest.mark.parametrize(
    ("field", "value"),
    [("email", "a" * 250 + "@b.example"), ("email", "a\x07b@c.example"), ("email", "a@b")],
)
def test_what_cannot_be_used_is_said_beside_its_field(
    v3: Client, browser: Client, field: str, value: str
) -> None:
    url = ask_recipient(v3)

    refused = fill_in(browser, url, do="complete", **{field: value})

    assert refused.status == 400
    assert f'id="{field}-error"' in refused.body.decode()


@pytest.mark.both_databases
def test_the_recipient_goes_to_the_bank_and_comes_back_having_paid(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, **EMAIL)

    bank = begin_payment(browser, url)
    decided = fill_in(browser, bank, decision="authorise")
    page = visit(browser, decided.headers["location"])

    assert decided.headers["location"] == url.removeprefix("https://print.example")
    said = words_of(page)
    assert "Thank you for your payment" in said
    assert f"Your order number is {order_of(v3)['id']}." in said
    assert order_of(v3)["status"] == "Submitted"


def test_a_form_never_leads_to_another_site_by_a_redirect(v3: Client, browser: Client) -> None:
    """Browsers would refuse that; the page sends the recipient on by itself instead."""
    url = ask_recipient(v3, **EMAIL)

    asked = fill_in(browser, url, do="pay")
    leaving = visit(browser, asked.headers["location"])

    assert asked.headers["location"].startswith("/pay/")
    assert leaving.status == 200
    assert leaving.headers["refresh"].startswith("0;url=https://print.example/bank/")
    assert "Continue to the bank" in words_of(leaving)


def test_a_declined_payment_says_why_and_can_be_tried_again(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    declined = fill_in(browser, begin_payment(browser, url), decision="decline")

    said = words_of(visit(browser, declined.headers["location"]))
    again = fill_in(browser, begin_payment(browser, url), decision="authorise")

    assert (
        "The payment was declined The payment was not authorised. You have not been charged."
        in said
    )
    assert "Thank you for your payment" in words_of(visit(browser, again.headers["location"]))


def settle_with(database: Database, v3: Client, outcome: Outcome) -> None:
    """Let a worker conclude what became of the payment for the newest order."""
    with database.writing() as db:
        payment = find_last_request(db, order_of(v3)["id"])
        assert payment is not None
        settle(a_system_work(db), payment.id, outcome)


def test_nobody_is_told_that_nothing_was_charged_if_nobody_knows(
    v3: Client, browser: Client, database: Database, clock: MovableClock
) -> None:
    url = ask_recipient(v3, **EMAIL)
    begin_payment(browser, url)
    settle_with(database, v3, Declined(reason=NOT_ANSWERED))

    said = words_of(visit(browser, url))
    clock.advance(days=31)
    expired = words_of(visit(browser, url))

    assert (
        "The payment did not go through The bank did not confirm the payment. "
        "Whatever was charged is refunded. Try again, or use another card." in said
    )
    assert "Whatever was charged is refunded. Ask Alice for a new link." in expired
    assert "not been charged" not in said
    assert "Nothing was charged" not in expired


def test_whoever_paid_too_late_is_told_of_the_refund(
    v3: Client, browser: Client, database: Database, clock: MovableClock
) -> None:
    url = ask_recipient(v3, **EMAIL)
    begin_payment(browser, url)
    settle_with(database, v3, Declined(reason=NOT_ANSWERED))
    settle_with(database, v3, Paid(provider="simulated", reference="late"))
    clock.advance(days=31)

    said = words_of(visit(browser, url))

    assert "Your payment is refunded to the original payment method. Ask Alice" in said
    assert "Nothing was charged" not in said


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (PaymentState.CANCELLED, "Whatever was charged is refunded."),
        (PaymentState.REFUNDED, "Your payment was refunded to the original payment method."),
        (PaymentState.REFUND_REJECTED, "Your payment is refunded."),
        (PaymentState.REPAID, "Your payment was refunded."),
    ],
)
def test_a_cancelled_order_says_what_becomes_of_what_was_paid(
    v3: Client, browser: Client, database: Database, state: PaymentState, sentence: str
) -> None:
    url = ask_recipient(v3, **EMAIL)
    fill_in(browser, begin_payment(browser, url), decision="authorise")
    assert set_status(v3, order_of(v3)["id"], "Cancelled").status == 200
    with database.writing() as db:
        db.execute(update(payment_requests).values(state=state))

    assert f"there is nothing to pay. {sentence}" in words_of(visit(browser, url))


def test_who_comes_back_without_having_decided_can_go_on(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    bank = begin_payment(browser, url)

    page = visit(browser, url)

    assert "refresh" not in page.headers
    assert "Your bank is waiting for you" in words_of(page)
    assert bank in page.body.decode()


def test_a_provider_that_sends_the_recipient_back_to_the_payment_sends_it_to_the_checkout(
    v3: Client, browser: Client
) -> None:
    url = ask_recipient(v3, **EMAIL)
    bank = begin_payment(browser, url)

    page = visit(browser, bank.replace("/bank/", "/payments/"))

    assert page.status == 303
    assert page.headers["location"] == url.removeprefix("https://print.example")


@pytest.mark.both_databases
def test_who_pays_twice_at_once_pays_once(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    fields = {"form_token": token_of(visit(browser, url)), "do": "pay"}

    first = send(browser, url, fields)
    second = send(browser, url, fields)

    assert (first.status, second.status) == (303, 303)
    banks = {visit(browser, f"{url}?leaving").headers["refresh"] for _ in range(2)}
    assert len(banks) == 1


def test_an_answer_that_never_came_is_looked_for(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, merchantOrderId="pay-down", **EMAIL)

    asked = fill_in(browser, url, do="pay")
    page = visit(browser, asked.headers["location"])

    assert "We are checking whether the payment went through" in words_of(page)
    assert page.headers["refresh"] == "4"


def test_a_bank_that_never_answers_has_a_page_that_says_so(
    v3: Client, browser: Client, database: Database
) -> None:
    url = ask_recipient(v3, merchantOrderId="pay-down", **EMAIL)
    fill_in(browser, url, do="pay")
    with database.reading() as db:
        payment = find_last_request(db, order_of(v3)["id"])
    assert payment is not None

    page = visit(browser, f"/bank/{payment.key}")

    assert page.status == 503
    assert "The simulated bank is not responding" in words_of(page)


def test_an_answer_that_was_lost_is_found_again(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, merchantOrderId="pay-lost", **EMAIL)

    bank = begin_payment(browser, url)

    assert bank.startswith("https://print.example/bank/")


def test_an_order_that_is_not_ready_says_so(v3: Client, browser: Client) -> None:
    order_id = create(v3, payment="InvoiceRecipient")
    add(v3, order_id)

    said = words_of(visit(browser, see(v3, order_id)["paymentUrl"]))

    assert "This order is not ready for payment" in said


def test_an_order_of_a_shop_that_is_suspended_says_so_before_anybody_pays(
    v3: Client, browser: Client, database: Database
) -> None:
    url = ask_recipient(v3, **EMAIL)
    with database.writing() as db:
        merchant = get_merchant_by_code(db, v3.credentials["X-Service-MerchantId"])
        set_state(db, merchant.id, MerchantState.SUSPENDED, "May is unpaid")

    said = words_of(visit(browser, url))

    assert "This order is not ready for payment" in said
    assert "unpaid" not in said


def test_who_saw_another_amount_sees_the_new_one_before_paying(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    page = visit(browser, url)
    [shown] = re.findall(r'name="amount" value="(\d+)"', page.body.decode())
    form = {"form_token": token_of(page), "do": "pay"}

    refused = send(browser, url, {**form, "amount": str(int(shown) - 1)})

    assert refused.status == 400
    assert "The amount has changed. Check it before you pay." in words_of(refused)
    assert send(browser, url, {**form, "amount": shown}).status == 303


def test_a_cancelled_order_cannot_be_paid(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    token = token_of(visit(browser, url))
    assert set_status(v3, order_of(v3)["id"], "Cancelled").status == 200

    refused = send(browser, url, {"form_token": token, "do": "pay"})
    page = visit(browser, refused.headers["location"])

    assert "This order was cancelled" in words_of(page)
    assert order_of(v3)["status"] == "Cancelled"


def test_an_order_that_is_paid_cannot_be_paid_again(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    token = token_of(visit(browser, url))
    fill_in(browser, begin_payment(browser, url), decision="authorise")

    again = send(browser, url, {"form_token": token, "do": "pay"})

    assert again.status == 303
    assert "Thank you for your payment" in words_of(visit(browser, again.headers["location"]))


def test_the_time_to_pay_ends(v3: Client, browser: Client, clock: MovableClock) -> None:
    url = ask_recipient(v3, **EMAIL)

    clock.advance(days=31)
    page = visit(browser, url)

    assert page.status == 410
    assert "The time to pay for this order has expired" in words_of(page)


def test_a_form_without_its_token_changes_nothing(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **WITHOUT_ADDRESS)

    refused = send(browser, url, {"do": "complete", **GIVEN})

    assert refused.status == 403
    assert order_of(v3)["address1"] is None


def test_an_order_that_the_merchant_pays_has_no_checkout(v3: Client, browser: Client) -> None:
    url = ask_recipient(v3, **EMAIL)
    order_id = create(v3, payment="InvoiceRecipient")
    hers = see(v3, order_id)["paymentUrl"]

    changed = v3.put(
        f"/orders/{order_id}",
        {
            "recipientName": "Mary Fox",
            "countryCode": "GB",
            "preferredShippingMethod": "Standard",
            "payment": "InvoiceMe",
        },
    )

    assert changed.status == 200
    assert visit(browser, hers).status == 404
    assert visit(browser, url).status == 200
