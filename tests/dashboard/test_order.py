"""The page of one order: what it says, and what can be done there."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import select

from printworks.actions.sellers import stop_selling
from printworks.catalogue.services import Carrier
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.tables import jobs, ledger_entries
from tests.api.conftest import MovableClock
from tests.api.images import add, an_image, create, judge, receive
from tests.api.production import hear, see, set_status, submit
from tests.dashboard.ordering import an_order
from tests.dashboard.scenes import let_labs_be_seen
from tests.dashboard.telling import did, last_callback, listen, see_merchant, try_once
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window
from tests.factories import a_system_work
from tests.sellers import sell

HOSTILE = "<script>alert(1)</script>"


def status_of(window: Window, order: int) -> str:
    """Return how far an order has come."""
    return str(see(window.api, order)["status"])


class TestWhatItSays:
    def test_images_that_are_not_here_yet_are_not_said_to_be(self, alice: Window) -> None:
        _, address = an_order(alice)

        words = alice.words(address)

        assert "One image has not been downloaded and checked yet." in words
        assert "The order is ready to submit." not in words

    def test_it_plans_no_parcels_for_an_order_that_is_cancelled(self, alice: Window) -> None:
        _, address = an_order(alice)
        alice.do(address, "cancel-order")

        words = alice.words(address)

        assert "No shipments: the order was cancelled." in words
        assert "once the order has an image" not in words

    @pytest.mark.parametrize("settings", ['can_hold_until = "submitted"'], indirect=True)
    def test_it_does_not_send_somebody_to_the_clock_for_an_order_that_is_held(
        self, alice: Window
    ) -> None:
        order = submit(alice.api)
        assert "Move the clock forward" in alice.words(f"/orders/{order}")
        alice.do(f"/orders/{order}", "hold-order")

        words = alice.words(f"/orders/{order}")

        assert "Release the order first" in words
        assert "Move the clock forward" not in words

    @pytest.mark.both_databases
    def test_it_tells_everything_of_an_order_that_was_sent(
        self, alice: Window, database: Database
    ) -> None:
        order = submit(alice.api, merchantOrderId="WEB-7", recipientName=HOSTILE)
        hear(
            database,
            alice.api,
            order,
            LabState.DISPATCHED,
            carrier=Carrier.DHL,
            tracking_number="JD014600",
            tracking_url="https://track.example/JD014600",
        )
        page = alice.open(f"/orders/{order}")
        words = words_of(page)

        assert HOSTILE not in page.body.decode()
        assert f"Order {order} Complete Reference WEB-7" in words
        assert f"{HOSTILE} 1 High Street London SW1A 1AA United Kingdom" in words
        assert "4x6 inch print" in words
        assert 'href="https://track.example/JD014600"' in page.body.decode()
        assert "Prints £0.28 Shipping £1.99 It cost you £2.27" in words
        assert "Charged 15 Nov 2026, 12:00 £2.27 Payment received 15 Nov 2026, 12:00 £2.27" in words
        happened = words.partition("History")[2]
        told = ["Complete: everything", "dispatched", "Submitted", "charged", "added", "Created"]
        assert sorted(told, key=happened.index) == told
        assert "can no longer be changed" in words
        assert "seen=" not in page.body.decode()

    @pytest.mark.both_databases
    def test_it_says_why_this_lab_and_nothing_of_what_labs_cost(
        self, alice: Window, operator: Window
    ) -> None:
        let_labs_be_seen(operator)
        order, address = an_order(alice)
        for heading in ("If it were submitted now", "When it was submitted"):
            why = alice.words(address).partition("Why this lab?")[2].partition("Callbacks")[0]

            assert f"{heading} Bristol (United Kingdom) prints sunset.jpg" in why
            assert "Leeds (United Kingdom) would have cost more." in why
            assert "too late: it would arrive by" in why
            assert "£" not in why
            set_status(alice.api, order, "Submitted")

    def test_a_picture_is_shown_with_what_is_cut_off_and_how_sharp_it_will_be(
        self, alice: Window, database: Database
    ) -> None:
        order = create(alice.api)
        receive(database, add(alice.api, order)["id"], 500, 400)
        receive(database, add(alice.api, order, sizing="ShrinkToFit")["id"], 1000, 3000)
        exact = add(alice.api, order, sizing="ShrinkToExactFit")["id"]
        receive(database, exact, 2000, 2000)
        bad = add(alice.api, order)["id"]
        judge(database, bad, ImageStatus.INVALID, error_message="This is a film.")
        small, tall = [one["id"] for one in alice.api.get(f"/orders/{order}").data["images"][:2]]
        all_words = alice.words(f"/orders/{order}")
        page = alice.open(f"/orders/{order}?image={small}")
        words = words_of(page)

        assert "This picture may look soft" in words
        assert (
            "500 \N{MULTIPLICATION SIGN} 333 pixels are 83 dpi at "
            "6 \N{MULTIPLICATION SIGN} 4 in; 150 or more look sharp." in words
        )
        assert "17 % of the picture is cropped." in words
        assert "50 % of the paper stays white." in alice.words(f"/orders/{order}?image={tall}")
        assert "The picture is stretched by 50 % to fit." in alice.words(
            f"/orders/{order}?image={exact}"
        )
        # The others are tiles, which say that there is something to look at.
        assert "83 dpi" in all_words
        assert "is cropped" not in all_words
        # 500x400 lies on its side; 80 of 96 twentieths of its height are printed.
        assert 'viewBox="-2 -2 104.0 84.0"' in page.body.decode()
        assert (
            'class="crop__kept" x="0.0" y="6.6" width="100.0" height="66.6"' in page.body.decode()
        )
        assert ", printed landscape: 83 dpi" in words
        assert page.body.decode().count('class="crop"') == 1
        assert "sunset.jpg: its file cannot be printed. This is a film." in words

    def test_an_order_of_two_hundred_images_is_shown_in_parts(
        self, alice: Window, database: Database
    ) -> None:
        order = create(alice.api)
        body = [an_image() for _ in range(200)]
        added = alice.api.post(f"/orders/{order}/images/batch", body).data["items"]
        ids = [image["id"] for image in added]
        receive(database, ids[0], 3000, 1000)

        shown: list[int] = []
        address = f"/orders/{order}"
        for _ in range(4):
            page = alice.open(address).body.decode()
            assert len(page) < 100_000
            shown += [
                int(number) for number in re.findall(r'<a class="snap" id="image-(\d+)"', page)
            ]
            found = re.findall(r'href="([^"]+)" rel="next">Next<', page)
            address = found[0] if found else ""
        assert shown == ids
        assert address == ""
        assert "181 to 200 of 200" in alice.words(f"/orders/{order}?from=180")
        assert "200 images added" in alice.words(f"/orders/{order}")

    def test_what_is_new_appears_and_nothing_is_sent_while_nothing_is(
        self, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        order, address = an_order(alice)
        page = alice.open(address)
        assert alice.look_again(page).status == 204

        receive(database, add(alice.api, order)["id"])
        page = alice.look_again(page)
        assert "Image 2 arrived" in words_of(page)
        assert alice.look_again(page).status == 204

        try_once(database, last_callback(database, alice), 500, CallbackState.PENDING)
        page = alice.look_again(page)
        assert "500 Internal Server Error" in words_of(page)
        assert alice.look_again(page).status == 204
        # Who opens the page sees it.
        assert alice.open(f"{address}?seen=1").status == 200

    def test_what_does_not_exist_is_not_there(self, alice: Window, bob: Window) -> None:
        theirs = create(bob.api)
        for number in (theirs, 0, 2**63, "9" * 30, "x", "1e3", "٣"):
            assert alice.open(f"/orders/{number}").status == 404
            assert alice.open(f"/orders/{number}/address").status == 404


class TestSubmitting:
    @pytest.mark.both_databases
    def test_an_order_with_everything_is_submitted(self, alice: Window, database: Database) -> None:
        order, address = an_order(alice)
        assert "You can submit this order." in alice.words(address)

        said = alice.follow(alice.do(address, "submit-order"))

        assert "The order was submitted." in said
        assert status_of(alice, order) == "Submitted"
        assert did(database) == [("submit-order", f"order {order}")]

    @pytest.mark.parametrize("payment", ["InvoiceMe", "InvoiceRecipient"])
    def test_whoever_looked_at_another_price_is_asked_once_more(
        self, alice: Window, payment: str
    ) -> None:
        doing = "submit-order" if payment == "InvoiceMe" else "await-payment"
        order, address = an_order(alice, payment=payment)
        [shown] = set(re.findall(r'name="price" value="(\d+)"', alice.open(address).body.decode()))
        add(alice.api, order)

        refused = alice.do(address, doing, price=shown)

        assert refused.status == 400
        assert re.search("The price was £[0-9.]+ when you looked, and is £", words_of(refused))
        assert status_of(alice, order) == "NotYetSubmitted"
        [now] = set(re.findall(r'name="price" value="(\d+)"', refused.body.decode()))
        assert alice.do(address, doing, price=now).status == 303

    def test_what_is_missing_is_said_and_keeps_it_from_being_submitted(
        self, alice: Window, database: Database
    ) -> None:
        order, address = an_order(alice, address1="", recipientName="Mary Fox")
        judge(database, 1, ImageStatus.FILE_NOT_FOUND_AT_URL, error_message="Gone.")
        words = alice.words(address)
        refused = alice.do(address, "submit-order")

        assert "The address is incomplete. Change address or shipping" in words
        assert "sunset.jpg: its file could not be downloaded. Gone." in words
        assert "Submit the order The order is incomplete." in words
        assert refused.status == 400
        assert "PostalAddressNotSet" in words_of(refused)
        assert status_of(alice, order) == "NotYetSubmitted"
        assert did(database) == []

    def test_the_browser_is_sent_to_a_bank_that_asks_and_finds_the_way_back(
        self, alice: Window
    ) -> None:
        order, address = an_order(alice, countryCode="DE")
        answer = alice.do(address, "submit-order")
        leaving = alice.open(answer.headers["location"])
        bank = leaving.headers["refresh"].partition("url=")[2]

        assert answer.status == 303
        assert leaving.status == 200
        assert re.fullmatch(r"/payments/[\w-]+", bank)
        assert status_of(alice, order) == "AwaitingPayment"
        words = alice.words(address)
        assert "Your bank asks you to authorise £" in words
        assert "Hold The order is awaiting payment." in words
        # Once more: the same payment.
        assert (
            alice.do(address, "submit-order").headers["location"].startswith(f"{address}?leaving")
        )
        assert bank in alice.open(address).body.decode()

    @pytest.mark.parametrize(
        ("word", "said"),
        [
            ("pay-declined", "The bank declined the card."),
            ("pay-down", "The payment provider could not be reached."),
        ],
    )
    def test_an_order_that_is_not_paid_stays_and_says_why(
        self, alice: Window, word: str, said: str
    ) -> None:
        order, address = an_order(alice, merchantOrderId=word)
        refused = alice.do(address, "submit-order")

        assert refused.status == 400
        assert said in words_of(refused)
        assert status_of(alice, order) == "NotYetSubmitted"

    def test_a_recipient_is_asked_to_pay(self, alice: Window, database: Database) -> None:
        order, address = an_order(alice, payment="InvoiceRecipient", address1="")
        words = alice.words(address)
        # The recipient is asked for it.
        assert "The address is incomplete" not in words
        assert "Submit the order" not in words

        said = alice.follow(alice.do(address, "await-payment"))

        assert f"{see(alice.api, order)['paymentUrl']}" in said
        assert status_of(alice, order) == "AwaitingPayment"
        assert did(database) == [("await-payment", f"order {order}")]


class TestChanging:
    @pytest.mark.both_databases
    def test_an_order_is_held_and_goes_on(self, alice: Window, database: Database) -> None:
        order, address = an_order(alice)

        assert "The order is on hold." in alice.follow(alice.do(address, "hold-order"))
        assert alice.do(address, "hold-order").status == 400
        assert "The order was released." in alice.follow(alice.do(address, "release-order"))
        assert alice.do(address, "release-order").status == 400
        subject = f"order {order}"
        assert did(database) == [("hold-order", subject), ("release-order", subject)]
        assert "Released from hold" in alice.words(address)

    @pytest.mark.both_databases
    def test_an_order_is_cancelled_after_a_question(
        self, alice: Window, database: Database
    ) -> None:
        order = submit(alice.api)
        address = f"/orders/{order}"
        asked = alice.words(f"{address}?confirm=cancel-order")

        assert "Cancel this order?" in asked
        assert "Cancel this order?" not in alice.words(address)
        assert "The order was cancelled." in alice.follow(alice.do(address, "cancel-order"))
        assert status_of(alice, order) == "Cancelled"
        assert did(database) == [("cancel-order", f"order {order}")]
        assert "Refunded" in alice.words(address)
        assert alice.do(address, "cancel-order").status == 400

    def test_once_a_lab_has_begun_it_is_said_what_cannot_be_done_and_why(
        self, alice: Window, database: Database
    ) -> None:
        order = submit(alice.api)
        hear(database, alice.api, order, LabState.IN_PRODUCTION)
        address = f"/orders/{order}"
        words = alice.words(address)

        begun = "Our lab (United Kingdom) has started making it."
        never = "Our lab (United Kingdom) does not offer this once an order is submitted."
        assert f"Change address or shipping {begun} Hold {never} Cancel {begun}" in words
        assert alice.do(address, "cancel-order").status == 400
        assert alice.do(address, "hold-order").status == 400
        assert did(database) == []


class TestCallbacks:
    @pytest.mark.both_databases
    def test_every_try_is_shown_and_one_is_sent_again(
        self, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        _, address = an_order(alice)
        callback = last_callback(database, alice)
        try_once(database, callback, 500, CallbackState.PENDING, answer=HOSTILE)
        try_once(database, callback, None, CallbackState.FAILED, error="It hung up.")
        page = alice.open(address)

        assert HOSTILE not in page.body.decode()
        assert "Failed" in words_of(page)
        assert "2 attempts No answer 15 Nov 2026, 12:00 in 12 ms It hung up." in words_of(page)
        assert f"500 Internal Server Error 15 Nov 2026, 12:00 in 12 ms {HOSTILE}" in words_of(page)

        again = alice.do(address, "send-order-callback-again", callback=callback)

        assert "The callback is being resent." in alice.follow(again)
        assert did(database) == [("send-callback-again", f"callback {callback}")]
        with database.reading() as db:
            kinds = select(jobs.c.args).where(jobs.c.kind == JobKind.DELIVER_CALLBACK)
            assert {"callback": callback, "round": 2} in db.execute(kinds).scalars().all()

    def test_only_those_of_this_order_are_sent_again(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        listen(database, alice)
        _, address = an_order(alice)
        create(alice.api)
        others = last_callback(database, alice)
        create(bob.api)
        for callback in (others, last_callback(database, bob), 0, 2**63, "9" * 40, "x", ""):
            sent = alice.do(address, "send-order-callback-again", callback=callback)
            assert sent.status == 404, callback
        assert did(database) == []


class TestTheClock:
    def test_it_is_moved_from_the_page_of_an_order_on_its_way(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        _, address = an_order(alice)
        assert "Sandbox clock" not in alice.words(address)
        submitted = submit(alice.api)
        assert "Sandbox clock" in alice.words(f"/orders/{submitted}")

        moved = alice.do(address, "move-clock-from-order", by="day")

        assert "Your clock was moved." in alice.follow(moved)
        assert see_merchant(database, alice).clock_offset == timedelta(days=1)
        assert did(database) == [("advance-clock", "1 day, 0:00:00")]

    @pytest.mark.parametrize("by", ["", "year", "-1"])
    def test_it_is_moved_by_what_is_offered_only(
        self, alice: Window, database: Database, by: str
    ) -> None:
        _, address = an_order(alice)
        assert alice.do(address, "move-clock-from-order", by=by).status == 400
        assert see_merchant(database, alice).clock_offset == timedelta(0)


def test_a_bank_that_did_not_answer_can_be_asked_again(alice: Window) -> None:
    order = create(alice.api, merchantOrderId="pay-late")
    add(alice.api, order)

    refused = alice.do(f"/orders/{order}", "submit-order")

    assert refused.status == 400
    assert "Submit the order again in a few minutes" in words_of(refused)
    assert b"Retry the payment" in refused.body
    assert "The order was submitted." in alice.follow(alice.do(f"/orders/{order}", "submit-order"))


def test_what_is_being_paid_for_is_not_taxed_again(alice: Window, database: Database) -> None:
    sell(database)
    order = create(alice.api, merchantOrderId="pay-late")
    add(alice.api, order)
    assert alice.do(f"/orders/{order}", "submit-order").status == 400
    asked = see(alice.api, order)["total"]
    with database.writing() as db:
        stop_selling(a_system_work(db))

    alice.follow(alice.do(f"/orders/{order}", "submit-order"))

    shown = see(alice.api, order)
    assert (shown["status"], shown["total"]) == ("Submitted", asked)
    with database.reading() as db:
        # What the card payment brings is what the charge takes.
        balances = select(ledger_entries.c.balance).order_by(ledger_entries.c.number)
        assert list(db.scalars(balances)) == [-asked, 0]


class TestBlurredPictures:
    """Whoever prints a picture that will look blurred has to say so; programs are not asked."""

    def test_they_are_named_in_red_and_the_order_is_not_called_ready(
        self, alice: Window, database: Database
    ) -> None:
        _, address = an_order(alice)
        receive(database, 1, 120, 180)

        words = alice.words(address)

        assert "One picture will look blurred sunset.jpg" in words
        assert "Blurred: 30 dpi" in words
        assert "ready to submit" not in words
        opened = alice.words(f"{address}?image=1")
        assert (
            "This picture will look blurred 120 \N{MULTIPLICATION SIGN} 180 pixels are 30 dpi at "
            "4 \N{MULTIPLICATION SIGN} 6 in; 150 or more look sharp." in opened
        )

    @pytest.mark.both_databases
    def test_they_are_submitted_only_when_that_is_confirmed(
        self, alice: Window, database: Database
    ) -> None:
        order, address = an_order(alice)
        receive(database, 1, 120, 180)

        unasked = alice.do(address, "submit-order")
        of_another = alice.do(address, "submit-order", is_confirmed="yes", blurred="2,x")
        unticked = alice.do(address, "submit-order", blurred="1")

        for refused in (unasked, of_another, unticked):
            assert refused.status == 400
            assert "“sunset.jpg” will look blurred. Confirm" in words_of(refused)
        assert status_of(alice, order) == "NotYetSubmitted"
        done = alice.do(address, "submit-order", is_confirmed="yes", blurred="1")
        assert done.status == 303
        assert status_of(alice, order) == "Submitted"

    def test_a_recipient_is_asked_to_pay_for_them_only_when_that_is_confirmed(
        self, alice: Window, database: Database
    ) -> None:
        order, address = an_order(alice, payment="InvoiceRecipient")
        receive(database, 1, 120, 180)

        refused = alice.do(address, "await-payment")
        done = alice.do(address, "await-payment", is_confirmed="yes", blurred="1")

        assert refused.status == 400
        assert done.status == 303
        assert status_of(alice, order) == "AwaitingPayment"

    def test_a_few_are_named(self, alice: Window, database: Database) -> None:
        order = create(alice.api)
        for name in ("cat", "dog", "owl"):
            url = f"https://shop.example/{name}.jpg"
            receive(database, add(alice.api, order, url=url)["id"], 120, 180)

        refused = words_of(alice.do(f"/orders/{order}", "submit-order"))

        assert "“cat.jpg”, “dog.jpg” and “owl.jpg” will look blurred." in refused
        assert "print them all the same" in refused

    def test_a_program_may_submit_them(self, alice: Window, database: Database) -> None:
        order, _ = an_order(alice)
        receive(database, 1, 120, 180)

        answer = alice.api.post(f"/orders/{order}/status", {"status": "Submitted"})

        assert answer.status == 200, answer.body

    def test_many_are_counted(self, alice: Window, database: Database) -> None:
        order = create(alice.api)
        for number in range(1, 13):
            url = f"https://shop.example/{number}.jpg"
            receive(database, add(alice.api, order, url=url)["id"], 120, 180)

        words = alice.words(f"/orders/{order}")
        refused = words_of(alice.do(f"/orders/{order}", "submit-order"))

        assert "12 pictures will look blurred" in words
        assert "and 2 more" in words
        assert "“5.jpg” and 7 more will look blurred." in refused
        assert len(re.findall(r"Print 12 blurred pictures all the same", words)) == 1


def test_forty_images_are_forty_small_tiles_with_their_names(
    alice: Window, database: Database
) -> None:
    order = create(alice.api)
    body = [{**an_image(), "url": f"https://shop.example/beach%20{n}.jpg"} for n in range(40)]
    alice.api.post(f"/orders/{order}/images/batch", body)

    page = alice.open(f"/orders/{order}")

    assert page.body.decode().count('class="snap"') == 40
    assert "beach 39.jpg" in words_of(page)
    assert len(page.body) < 60_000
