"""The feed of events, and callbacks wanted again: additions to the 3.0 contract."""

from typing import Any

import pytest

from printworks.actions.callbacks import REPLAY_PAGE, set_callback
from printworks.rules.callbacks import CallbackFormat
from printworks.rules.events import CallbackState
from printworks.store.accounts.merchants import Merchant, get_merchant_by_code
from printworks.store.callbacks.callbacks import list_callbacks
from printworks.store.callbacks.deliveries import DeliveryOutcome, load_deliveries, write_outcomes
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock, an_order
from tests.api.images import add
from tests.api.production import set_status
from tests.factories import NOON, a_work

RECEIVER = "https://shop.example/callbacks?shop=1"
BEYOND = 10**30


def merchant_of(client: Client, database: Database) -> Merchant:
    """Return the merchant whose program this is."""
    with database.reading() as db:
        return get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])


def listens(client: Client, database: Database, wanted: CallbackFormat | None = None) -> None:
    """Let the operator set a callback address."""
    with database.writing() as db:
        set_callback(a_work(db, merchant_of(client, database)), RECEIVER, wanted)


def acknowledges(client: Client, database: Database) -> None:
    """Let the receiver have said 200 to every callback so far."""
    with database.writing() as db:
        sent = list_callbacks(db, merchant_of(client, database).id, limit=1000)
        known = load_deliveries(db, [callback.id for callback in sent]).values()
        heard = [DeliveryOutcome(delivery=one, state=CallbackState.DELIVERED) for one in known]
        write_outcomes(db, heard, now=NOON)


def create(client: Client, **members: Any) -> int:
    return int(client.post("/orders", an_order(**members)).data["id"])


def feed(client: Client, query: str = "") -> list[dict[str, Any]]:
    """Return the events of the feed."""
    events: list[dict[str, Any]] = client.get(f"/events{query}").data["events"]
    return events


def states(client: Client) -> list[str]:
    return [event["delivery"]["state"] for event in feed(client)]


class TestTheFeed:
    @pytest.mark.both_databases
    def test_tells_what_happened_in_the_words_of_the_callback(
        self, v3: Client, database: Database, clock: MovableClock
    ) -> None:
        listens(v3, database)
        order_id = create(v3, merchantOrderId="invoice 42")
        clock.advance(minutes=5)

        set_status(v3, order_id, "Cancelled")

        created, cancelled = feed(v3)
        assert created["callback"]["status"] == "NotYetSubmitted"
        assert cancelled == {
            "number": 2,
            "orderId": order_id,
            "sequence": 2,
            "at": "2026-11-15T12:05:00.000",
            "kind": "order-moved",
            "messageId": f"msg_{cancelled['delivery']['callbackId']}",
            "hasNews": True,
            "callback": {
                "orderId": order_id,
                "environment": "SANDBOX",
                "timestamp": "2026-11-15T12:05:00.000",
                "status": "Cancelled",
                "shipments": [],
                "id": order_id,
                "merchantOrderId": "invoice 42",
            },
            "delivery": {
                "callbackId": cancelled["delivery"]["callbackId"],
                "state": "pending",
                "attempts": 0,
                "nextAttempt": cancelled["delivery"]["nextAttempt"],
                "delivered": None,
            },
        }

    def test_says_which_events_tell_nothing_new(self, v3: Client) -> None:
        order_id = create(v3, payment="InvoiceRecipient")
        add(v3, order_id)
        assert set_status(v3, order_id, "AwaitingPayment").status == 200
        set_status(v3, order_id, "Cancelled")

        told = [(event["callback"]["status"], event["hasNews"]) for event in feed(v3)]

        assert told == [("NotYetSubmitted", True), ("NotYetSubmitted", False), ("Cancelled", True)]

    @pytest.mark.both_databases
    def test_numbers_are_without_gaps_and_nobody_elses_events_count(
        self, v3: Client, somebody_else: Client
    ) -> None:
        for _ in range(3):
            create(v3)
            create(somebody_else)

        assert [event["number"] for event in feed(v3)] == [1, 2, 3]
        assert [event["number"] for event in feed(somebody_else)] == [1, 2, 3]
        mine = {event["orderId"] for event in feed(v3)}
        theirs = {event["orderId"] for event in feed(somebody_else)}
        assert mine.isdisjoint(theirs)

    def test_there_is_one_for_those_who_have_no_callback_address(self, v3: Client) -> None:
        create(v3)

        [event] = feed(v3)

        assert event["delivery"]["state"] == "quiet"
        assert event["callback"]["status"] == "NotYetSubmitted"

    @pytest.mark.both_databases
    def test_it_goes_on_after_the_last_event_that_one_knows(self, v3: Client) -> None:
        for _ in range(4):
            create(v3)

        page = v3.get("/events?after=1&limit=2").data

        assert [event["number"] for event in page["events"]] == [2, 3]
        assert page["last"] == 4
        assert feed(v3, "?after=4") == []

    @pytest.mark.parametrize(
        ("query", "numbers"),
        [
            ("?limit=0", []),
            ("?limit=-1", []),
            ("?limit=1000", [1, 2]),
            ("?after=-5", [1, 2]),
            (f"?after={BEYOND}", []),
            ("?After=1&LIMIT=5", [2]),
        ],
    )
    def test_what_is_out_of_bounds_is_brought_within_them(
        self, v3: Client, query: str, numbers: list[int]
    ) -> None:
        create(v3)
        create(v3)

        assert [event["number"] for event in feed(v3, query)] == numbers

    @pytest.mark.parametrize("query", ["?after=x", "?limit=many", "?after=1.5"])
    def test_what_is_no_number_is_refused(self, v3: Client, query: str) -> None:
        answer = v3.get(f"/events{query}")

        assert answer.status == 400
        assert answer.error.startswith("`")

    def test_it_speaks_the_format_that_the_merchant_chose(
        self, v3: Client, database: Database
    ) -> None:
        listens(v3, database, CallbackFormat.V2_3)
        create(v3)

        [event] = feed(v3)

        assert event["callback"]["eventData"] == "NotYetSubmitted"
        assert event["callback"]["status"] == "notyetsubmitted"

    def test_it_can_be_had_as_xml(self, v3: Client) -> None:
        create(v3)

        answer = v3.get("/events", Accept="application/xml")

        assert b"<kind>order-created</kind>" in answer.body

    def test_strangers_see_nothing(self, stranger: Client) -> None:
        assert stranger.get("/events").status == 401


class TestSendingAgain:
    @pytest.mark.both_databases
    def test_a_callback_that_arrived_is_sent_again(self, v3: Client, database: Database) -> None:
        listens(v3, database)
        create(v3)
        acknowledges(v3, database)
        [event] = feed(v3)
        assert event["delivery"]["state"] == "delivered"

        again = v3.post(f"/callbacks/{event['delivery']['callbackId']}/resend").data

        assert again["callbackId"] == event["delivery"]["callbackId"]
        assert again["state"] == "pending"
        assert states(v3) == ["pending"]

    def test_somebody_elses_callback_is_none(
        self, v3: Client, somebody_else: Client, database: Database
    ) -> None:
        listens(v3, database)
        listens(somebody_else, database)
        create(v3)
        acknowledges(v3, database)
        callback_id = feed(v3)[0]["delivery"]["callbackId"]

        theirs = somebody_else.post(f"/callbacks/{callback_id}/resend")
        unknown = somebody_else.post("/callbacks/999999/resend")

        assert theirs.status == unknown.status == 404
        assert theirs.error.replace(str(callback_id), "999999") == unknown.error
        assert states(v3) == ["delivered"]

    @pytest.mark.parametrize("number", ["0", "x", str(BEYOND), str(2**63), "-1"])
    def test_what_is_no_callback_is_not_found(
        self, v3: Client, database: Database, number: str
    ) -> None:
        listens(v3, database)

        assert v3.post(f"/callbacks/{number}/resend").status == 404

    def test_there_must_be_an_address(self, v3: Client) -> None:
        create(v3)
        callback_id = feed(v3)[0]["delivery"]["callbackId"]

        answer = v3.post(f"/callbacks/{callback_id}/resend")

        assert answer.status == 403
        assert "address" in answer.error

    def test_strangers_send_nothing(self, stranger: Client) -> None:
        assert stranger.post("/callbacks/1/resend").status == 401
        assert stranger.post("/callbacks/replay", {"after": 0}).status == 401


@pytest.mark.both_databases
class TestReplaying:
    @pytest.mark.parametrize(
        ("asked", "count"),
        [
            ({"after": 0}, 3),
            ({"after": 1}, 2),
            ({"after": "2"}, 1),
            ({"after": 3}, 0),
            ({"after": BEYOND}, 0),
            ({"since": "2026-11-15T12:00:00"}, 3),
            ({"since": "2026-11-15T12:00:00.001"}, 2),
            ({"since": "2026-11-15T14:01:00+02:00"}, 2),
            ({"since": "2026-11-15T12:02:00Z"}, 1),
            ({"Since": " 2026-11-16 "}, 0),
        ],
    )
    def test_whatever_followed_is_sent_again(
        self,
        v3: Client,
        database: Database,
        clock: MovableClock,
        asked: dict[str, Any],
        count: int,
    ) -> None:
        listens(v3, database)
        for _ in range(3):
            create(v3)
            clock.advance(minutes=1)
        acknowledges(v3, database)

        replayed = v3.post("/callbacks/replay", asked).data

        assert replayed == {"count": count, "after": None}
        assert states(v3) == ["delivered"] * (3 - count) + ["pending"] * count

    @pytest.mark.slow
    def test_it_is_bounded_and_says_where_to_go_on(self, v3: Client, database: Database) -> None:
        for _ in range(REPLAY_PAGE + 2):
            create(v3)
        listens(v3, database)

        first = v3.post("/callbacks/replay", {"after": 0}).data
        second = v3.post("/callbacks/replay", {"after": first["after"]}).data

        assert first == {"count": REPLAY_PAGE, "after": REPLAY_PAGE}
        assert second == {"count": 2, "after": None}

    def test_nobody_elses_callbacks_are_sent(
        self, v3: Client, somebody_else: Client, database: Database
    ) -> None:
        for client in (v3, somebody_else):
            listens(client, database)
            create(client)
            acknowledges(client, database)

        replayed = somebody_else.post("/callbacks/replay", {"after": 0}).data

        assert replayed["count"] == 1
        assert states(v3) == ["delivered"]

    @pytest.mark.parametrize(
        "asked",
        [
            {},
            {"since": None},
            {"since": "", "after": ""},
            {"since": "2026-11-15", "after": 1},
            {"since": "yesterday"},
            {"since": 5},
            {"since": "0001-01-01T00:00:00+14:00"},
            {"after": "x"},
            {"after": 0.5},
            [],
        ],
    )
    def test_what_is_unclear_is_refused(self, v3: Client, database: Database, asked: Any) -> None:
        listens(v3, database)

        answer = v3.post("/callbacks/replay", asked)

        assert answer.status == 400

    def test_there_must_be_an_address(self, v3: Client) -> None:
        assert v3.post("/callbacks/replay", {"after": 0}).status == 403

    def test_the_same_request_twice_happens_once(self, v3: Client, database: Database) -> None:
        listens(v3, database)
        create(v3)
        first = v3.post("/callbacks/replay", {"after": 0}, Idempotency_Key="again")
        acknowledges(v3, database)

        second = v3.post("/callbacks/replay", {"after": 0}, Idempotency_Key="again")

        assert second.body == first.body
        assert states(v3) == ["delivered"]

    def test_moments_are_the_merchants_own(self, v3: Client, database: Database) -> None:
        v3.post("/sandbox/clock", {"advance": "P5D"})
        listens(v3, database)
        create(v3)

        at = feed(v3)[0]["at"]

        assert at == "2026-11-20T12:00:00.000"
        assert v3.post("/callbacks/replay", {"since": at}).data["count"] == 1
