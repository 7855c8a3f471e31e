"""The sandbox clock, an addition to the 3.0 contract: an order's life of days in a second."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest

from printworks.actions.accounts.merchants import add_merchant
from printworks.settings import Settings
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.queue.advancing import begin_advancing, end_advancing
from printworks.web.app import build_app
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, an_order
from tests.api.images import add, create
from tests.api.production import all_rows, see, see_shipments, set_status
from tests.factories import NOON, a_system_work
from tests.worker.hosts import PictureHost, answers, holds
from tests.worker.shops import A_PICTURE

CLOCK = "/sandbox/clock"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A private sandbox, which may fetch pictures from this machine."""
    return Settings.load(tmp_path, {})


@pytest.fixture
def host() -> Iterator[PictureHost]:
    """Where merchants keep their pictures."""
    with PictureHost() as host:
        yield host


def advance(client: Client, by: str) -> Any:
    """Move the clock and return what it shows then."""
    return client.post(CLOCK, {"advance": by}).data


class TestReading:
    def test_a_new_merchants_clock_shows_the_real_time(self, v3: Client) -> None:
        answer = v3.get(CLOCK)

        assert answer.json() == {
            "data": {"now": "2026-11-15T12:00:00.000", "aheadBySeconds": 0},
            "statusTxt": "OK",
            "statusCode": 200,
        }

    def test_it_goes_on_with_the_real_time(self, v3: Client, clock: MovableClock) -> None:
        advance(v3, "PT1H")

        clock.advance(minutes=5)

        assert v3.get(CLOCK).data == {"now": "2026-11-15T13:05:00.000", "aheadBySeconds": 3600}

    def test_strangers_have_no_clock(self, stranger: Client) -> None:
        assert stranger.get(CLOCK).status == 401
        assert stranger.post(CLOCK, {"advance": "P1D"}).status == 401

    @pytest.mark.parametrize("path", ["/Sandbox/Clock", "/sandbox/clock/", "/SANDBOX/CLOCK/?"])
    def test_the_path_is_found_in_any_case(self, v3: Client, path: str) -> None:
        assert v3.get(path).status == 200


class TestMoving:
    @pytest.mark.parametrize(
        ("by", "seconds"),
        [
            ("PT30H", 30 * 3600),
            ("P5D", 5 * 86400),
            ("P1DT2H30M", 86400 + 2 * 3600 + 30 * 60),
            ("p1dt2h30m", 86400 + 2 * 3600 + 30 * 60),
            (" PT45S ", 45),
            ("P2W", 14 * 86400),
            ("PT90M", 90 * 60),
            ("PT0S", 0),
            ("P366D", 366 * 86400),
        ],
    )
    @pytest.mark.both_databases
    def test_it_moves_by_what_is_said(self, v3: Client, by: str, seconds: int) -> None:
        moved = advance(v3, by)

        shown = (NOON + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.000")
        assert moved == {"now": shown, "aheadBySeconds": seconds}
        assert v3.get(CLOCK).data == moved

    def test_moves_add_up(self, v3: Client) -> None:
        advance(v3, "P1D")
        advance(v3, "PT12H")

        assert v3.get(CLOCK).data == {"now": "2026-11-17T00:00:00.000", "aheadBySeconds": 129600}

    def test_a_form_will_do(self, v3: Client) -> None:
        assert v3.post_form(CLOCK, {"Advance": "PT1M"}).data["aheadBySeconds"] == 60

    @pytest.mark.parametrize(
        "by",
        [
            "", " ", "5 days", "5", "P", "PT", "P5", "5D", "P-5D", "-P5D", "-PT1S", "P1.5D", "PT1.5H",
            "P1Y", "P1M", "PD", "P1H", "PT1D", "P1D2H", "P1DT", "PT2M1H", "P1D P1D", "P\u0661D", "P99999D",
            "PT9999999999S", "2026-11-20T00:00:00", "P1D\x00", "P" + "1" * 60 + "D",
        ],
    )  # fmt: skip
    def test_what_is_no_duration_is_refused(self, v3: Client, by: str) -> None:
        answer = v3.post(CLOCK, {"advance": by})

        assert answer.status == 400
        assert "`advance`" in answer.error
        assert v3.get(CLOCK).data["aheadBySeconds"] == 0

    @pytest.mark.parametrize("body", [{}, {"advance": None}, {"by": "P1D"}, None])
    def test_how_far_must_be_said(self, v3: Client, body: Any) -> None:
        answer = v3.post(CLOCK, body)

        assert (answer.status, answer.error) == (400, "`advance` is required.")

    @pytest.mark.parametrize("value", [5.5, True, [], {}, ["P1D"]])
    def test_what_is_no_text_is_refused(self, v3: Client, value: Any) -> None:
        assert v3.post(CLOCK, {"advance": value}).status == 400

    @pytest.mark.parametrize("by", ["P367D", "P9999W", "P366DT1S", "PT99999H"])
    def test_more_than_a_year_is_too_much(self, v3: Client, by: str) -> None:
        answer = v3.post(CLOCK, {"advance": by})

        assert (answer.status, answer.error) == (400, "`advance` must be at most 366 days.")

    def test_later_orders_are_created_at_the_new_time(self, v3: Client) -> None:
        before = v3.post("/orders", an_order()).data["created"]

        advance(v3, "P3DT1H")

        after = v3.post("/orders", an_order()).data["created"]
        assert (before, after) == ("2026-11-15T12:00:00.000", "2026-11-18T13:00:00.000")

    @pytest.mark.both_databases
    def test_one_move_at_a_time(self, v3: Client, database: Database) -> None:
        code = v3.credentials["X-Service-MerchantId"]
        with database.writing() as db:
            merchant = get_merchant_by_code(db, code)
            begin_advancing(db, merchant.id, now=NOON, until=NOON + timedelta(minutes=3))

        refused = v3.post(CLOCK, {"advance": "P1D"})

        assert refused.status == 409
        assert refused.error == ("The clock is already being moved; wait until that has finished.")
        assert v3.get(CLOCK).data["aheadBySeconds"] == 0
        with database.writing() as db:
            end_advancing(db, merchant.id)
        assert advance(v3, "P1D")["aheadBySeconds"] == 86400

    @pytest.mark.both_databases
    def test_of_two_at_once_one_is_told_to_wait(self, v3: Client, host: PictureHost) -> None:
        gate = host.gate()
        order_id = create(v3)
        add(v3, order_id, url=host.at("/cat.jpg", gate.before(holds(A_PICTURE))))

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(v3.post, CLOCK, {"advance": "PT1H"})
            gate.wait()
            second = v3.post(CLOCK, {"advance": "PT1H"})
            gate.open()

        assert first.result().status == 200
        assert second.status == 409
        assert v3.get(CLOCK).data["aheadBySeconds"] == 3600

    @pytest.mark.both_databases
    def test_two_merchants_may_move_theirs_at_once(
        self, v3: Client, somebody_else: Client, host: PictureHost
    ) -> None:
        gate = host.gate()
        add(v3, create(v3), url=host.at("/cat.jpg", gate.before(holds(A_PICTURE))))

        with ThreadPoolExecutor(1) as pool:
            first = pool.submit(v3.post, CLOCK, {"advance": "PT1H"})
            gate.wait()
            second = somebody_else.post(CLOCK, {"advance": "PT2H"})
            gate.open()

        assert first.result().data["aheadBySeconds"] == 3600
        assert second.data["aheadBySeconds"] == 7200


class TestWhatHappens:
    @pytest.mark.both_databases
    def test_one_move_takes_an_order_from_submitted_to_complete(
        self, v3: Client, host: PictureHost
    ) -> None:
        order_id = create(v3, preferredShippingMethod="Express")
        add(v3, order_id, url=host.at("/cat.jpg", holds(A_PICTURE)))
        assert set_status(v3, order_id, "Submitted").status == 200

        advance(v3, "PT1H")

        order = see(v3, order_id)
        [shipment] = order["shippingInfo"]["shipments"]
        assert (order["status"], order["errorMessage"]) == ("Complete", None)
        assert [image["status"] for image in order["images"]] == ["Ok"]
        assert shipment["isTracked"] is True
        assert shipment["trackingNumber"].endswith("ZZ")
        assert shipment["trackingUrl"].endswith(shipment["trackingNumber"])
        # About twenty minutes after it was placed, as the timetable has it, and not at the end.
        assert "2026-11-15T12:18" <= shipment["shippedOn"] <= "2026-11-15T12:23"
        assert order["lastUpdated"] == shipment["shippedOn"]

    def test_a_short_move_goes_a_part_of_the_way(self, v3: Client, host: PictureHost) -> None:
        order_id = create(v3)
        add(v3, order_id, url=host.at("/cat.jpg", holds(A_PICTURE)))
        set_status(v3, order_id, "Submitted")

        seen = []
        for by in ("PT0S", "PT1M", "PT10M", "PT10M", "PT10M"):
            advance(v3, by)
            order = see(v3, order_id)
            seen.append((order["images"][0]["status"], order["status"], order["canCancel"]))

        assert seen[0] == ("Ok", "Submitted", True)
        assert seen[1] == ("Ok", "Submitted", False)
        assert seen[-1] == ("Ok", "Complete", False)

    def test_what_is_planned_arrives_as_if_it_were_submitted_at_the_new_time(
        self, v3: Client, host: PictureHost
    ) -> None:
        advance(v3, "PT18H")
        order_id = create(v3)
        add(v3, order_id, url=host.at("/cat.jpg", holds(A_PICTURE)))
        seen = []

        # Past the cut-off of the lab on the same day, then to the same day of the next week.
        for by in ("PT0S", "PT8H", "P7D"):
            advance(v3, by)
            [shipment] = see_shipments(v3, order_id)
            assert v3.get("/orders").data["content"][0]["shippingInfo"]["shipments"] == [shipment]
            seen.append(shipment["latestEstimatedArrivalDate"])

        assert seen == ["2026-11-23T23:59:59", "2026-11-24T23:59:59", "2026-12-01T23:59:59"]

    @pytest.mark.both_databases
    def test_what_is_cancelled_downloads_nothing_more(self, v3: Client, host: PictureHost) -> None:
        slip = host.at("/slip.png", holds(A_PICTURE))
        order_id = create(v3, packingSlipUrl=slip)
        add(v3, order_id, url=host.at("/cat.jpg", holds(A_PICTURE)))
        assert set_status(v3, order_id, "Cancelled").status == 200
        before = see(v3, order_id)

        advance(v3, "P1D")

        assert host.count("/slip.png") == host.count("/cat.jpg") == 0
        assert see(v3, order_id) == before
        assert before["images"][0]["status"] == "NotYetDownloaded"

    def test_a_picture_that_never_comes_is_given_up_on_the_way(
        self, v3: Client, host: PictureHost
    ) -> None:
        order_id = create(v3)
        add(v3, order_id, url=host.at("/never.jpg", answers("404 Not Found")))

        advance(v3, "PT1H")

        [image] = see(v3, order_id)["images"]
        assert image["status"] == "FileNotFoundAtUrl"
        assert host.count("/never.jpg") > 1

    @pytest.mark.parametrize(
        ("word", "status", "parcels"),
        [
            ("reject", "Complete", 1),
            ("reject-all", "Submitted", 1),
            ("fail", "Submitted", 1),
            ("late", "Submitted", 1),
            ("no-tracking", "Complete", 1),
            ("wrong-print", "Submitted", 1),
            ("twice", "Complete", 1),
            ("silent", "Submitted", 1),
        ],
    )
    def test_words_in_the_merchants_number_make_something_go_wrong(
        self, v3: Client, host: PictureHost, word: str, status: str, parcels: int
    ) -> None:
        order_id = create(
            v3, merchantOrderId=f"A-1001 sandbox:{word}", preferredShippingMethod="Express"
        )
        add(v3, order_id, url=host.at("/cat.jpg", holds(A_PICTURE)))
        set_status(v3, order_id, "Submitted")

        advance(v3, "P1D")

        order = see(v3, order_id)
        shipments = see_shipments(v3, order_id)
        assert (order["status"], len(shipments)) == (status, parcels)
        is_told = word in ("reject-all", "fail", "wrong-print")
        assert (order["errorMessage"] is not None) is is_told
        has_number = word in ("reject", "twice")
        assert [one["trackingNumber"] is not None for one in shipments] == [has_number]

    def test_somebody_elses_orders_and_clock_stay_as_they_are(
        self, v3: Client, somebody_else: Client, host: PictureHost, database: Database
    ) -> None:
        url = host.at("/cat.jpg", holds(A_PICTURE))
        theirs = create(somebody_else)
        add(somebody_else, theirs, url=url)
        set_status(somebody_else, theirs, "Submitted")
        before, rows = see(somebody_else, theirs), all_rows(database)

        advance(v3, "P30D")

        assert see(somebody_else, theirs) == before
        assert somebody_else.get(CLOCK).data["aheadBySeconds"] == 0
        assert all_rows(database) == rows
        assert host.asked == []


class TestLive:
    @pytest.fixture
    def live(self, database: Database, tmp_path: Path, clock: MovableClock) -> Iterator[Client]:
        """A merchant of a service where orders are printed and charged."""
        settings = Settings.load(
            tmp_path,
            {
                "PRINTWORKS_ENVIRONMENT": "live",
                "PRINTWORKS_PUBLIC_URL": "https://print.example",
                "PRINTWORKS_PAYMENTS": "account",
            },
        )
        url = database.url.render_as_string(hide_password=False)
        server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
        with database.writing() as db:
            added = add_merchant(a_system_work(db, now=NOON, environment="live"), "Alice")
        credentials = {
            "X-Service-MerchantId": added.merchant.code,
            "X-Service-REST-API-Key": added.api_key,
        }
        yield Client(server, "/v3.0", credentials)
        server.close()

    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_there_is_no_clock_to_move(self, live: Client, method: str) -> None:
        scope = make_scope(
            method, f"/v3.0{CLOCK}", {**live.credentials, "Content-Type": "application/json"}
        )
        message = {"type": "http.request", "body": b'{"advance": "P1D"}'}

        answer = live.server.run(live.server.ask(scope, [message]))

        assert answer.status == 404
        assert answer.json()["statusCode"] == 404
        assert live.get("/orders").status == 200

    def test_its_document_does_not_speak_of_one(self, live: Client) -> None:
        document = live.get("/openapi.json").json()

        assert CLOCK not in document["paths"]
        assert "/orders" in document["paths"]
