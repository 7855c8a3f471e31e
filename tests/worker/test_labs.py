"""From a submitted order to its parcel: labs get it, and are believed as far as they can be."""

import base64
import fcntl
import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from structlog.typing import EventDict

from printworks.actions.accounts.shops import change_profile
from printworks.actions.brand import change_brand, change_brand_logo
from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.plans import get_planned_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.holds import hold_order, release_order
from printworks.actions.production.lab_documents import write_document
from printworks.actions.production.lab_reports import apply_lab_report, reoffer_shipment
from printworks.actions.production.release import permissions_of
from printworks.actions.submission.check import SubmissionStatus, check_submission
from printworks.actions.work import Work
from printworks.errors import WrongState
from printworks.labs.documents import LabReport
from printworks.labs.simulated import LATE, LOST_AFTER, make_tracking_number
from printworks.rules.brand import Brand
from printworks.rules.events import (
    OrderCharged,
    OrderHeld,
    OrderMoved,
    OrderRefunded,
    OrderReleased,
    ShipmentsChanged,
    ShipmentsDelivered,
)
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.production import LabState
from printworks.rules.reasons import write_reasons
from printworks.rules.shops import ShopProfile
from printworks.rules.submission import GeneralError, Obstacle
from printworks.store.accounts.shops import Logo
from printworks.store.images.images import list_images
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, get_shipment, list_decisions
from printworks.store.tables import images, order_events, shipments
from tests.factories import NOON, a_system_work, a_work, a_work_of
from tests.worker.catalogues import change_labs
from tests.worker.conftest import OpenShop
from tests.worker.hosts import answers, holds, wait_until
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, MAGNET, STICKER, Shop
from tests.worker.test_packing_slips import A_SLIP

# Nothing here waits for what a worker does every hour, but for what labs say.
SHOP_HOURLY = (JobKind.POLL_LABS,)

_S = LabState
FRAME = "FRA-CLA-8X10"
# Each with a tenth of spread to both sides.
WHEN_ACCEPTED, WHEN_PRINTED, WHEN_SENT = (timedelta(seconds=s) for s in (33, 330, 1320))


def submit(shop: Shop, *, skus: tuple[str, ...] = (STICKER,), **values: Any) -> Order:
    """Submit an order with an image for each sku."""
    order = shop.add_order(**values)
    url = shop.host.at("/cat.jpg", holds(A_PICTURE))
    for sku in skus:
        shop.add_images(order, url, sku=sku)
    shop.submit(order)
    return order


def list_all(shop: Shop, order: Order) -> list[Shipment]:
    """Return all shipments of an order, also those that others have replaced."""
    wanted = select(shipments.c.id).where(shipments.c.order_id == order.id).order_by("id")
    with shop.database.reading() as db:
        return [get_shipment(db, number) for number in db.execute(wanted).scalars()]


def only(shop: Shop, order: Order) -> Shipment:
    """Return the only shipment that there ever was."""
    (shipment,) = list_all(shop, order)
    return shipment


def look(shop: Shop, order: Order) -> None:
    """Look at an order, so that its shipments are planned."""
    with shop.database.reading() as db:
        work = a_work_of(db, order, catalogue=shop.resources.catalogue)
        get_planned_order(work, shop.database, order.id)


def check(shop: Shop, order: Order) -> SubmissionStatus:
    """Say whether an order can be submitted."""
    with shop.database.reading() as db:
        current = shop.order(order)
        work = a_work_of(db, current, catalogue=shop.resources.catalogue)
        return check_submission(work, current)


def states(shop: Shop, order: Order) -> list[tuple[str, LabState | None]]:
    """Return lab and state of all shipments."""
    return [(shipment.lab, shipment.state) for shipment in list_all(shop, order)]


def count_jobs(shop: Shop, kind: JobKind) -> int:
    """Say how many jobs of a kind were ever promised."""
    return len(shop.jobs(kind))


def of_kind(shop: Shop, order: Order, kind: type) -> list[Any]:
    """Return the events of one kind."""
    return [event for event in shop.events(order) if isinstance(event, kind)]


def list_times(shop: Shop, order: Order, kind: str) -> list[datetime]:
    """Return when events of a kind happened."""
    wanted = (
        select(order_events.c.created_at)
        .where(order_events.c.order_id == order.id, order_events.c.kind == kind)
        .order_by(order_events.c.id)
    )
    with shop.database.reading() as db:
        return list(db.execute(wanted).scalars())


def remember(shop: Shop, order: Order) -> tuple[Any, ...]:
    """Return all that could change about an order."""
    return shop.order(order), list_all(shop, order), shop.events(order)


def hear(shop: Shop, shipment: Shipment, state: LabState, **facts: Any) -> bool:
    """Let a lab say something; return whether it was news."""
    report = LabReport(job=shipment.id, state=state, **facts)
    with shop.database.writing() as db:
        return apply_lab_report(
            a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue), report
        )


def change(shop: Shop, order: Order, action: Callable[[Work, Order], object]) -> None:
    """Do something to the order as it is now."""
    with shop.database.writing() as db:
        work, current = shop.resources.services.system_work(db).lock_order(order.id)
        action(work, current)


def cancel(shop: Shop, order: Order) -> None:
    """Let the merchant cancel."""
    change(shop, order, cancel_order)


def hold(shop: Shop, order: Order) -> None:
    """Let the merchant hold it."""
    change(shop, order, hold_order)


def release(shop: Shop, order: Order) -> None:
    """Let it go on."""
    change(shop, order, release_order)


def print_again(shop: Shop, shipment: Shipment) -> None:
    """Let an operator offer it again."""
    with shop.database.writing() as db:
        reoffer_shipment(
            a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue), shipment.id
        )


def finish(shop: Shop) -> None:
    """Let as much time pass as a lab needs, report by report."""
    for wait in (WHEN_ACCEPTED, WHEN_PRINTED, WHEN_SENT):
        shop.pass_time(seconds=wait.total_seconds())


class TestHandingOver:
    """A shipment goes to its lab once all of it is there."""

    def test_what_is_not_submitted_is_sent_nowhere(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))

        shop.drain()

        look(shop, order)
        assert only(shop, order).state is None
        assert count_jobs(shop, JobKind.SEND_TO_LAB) == 0

    def test_the_last_print_file_sends_the_shipment_once(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(
            order,
            shop.host.at("/cat.jpg", holds(A_PICTURE)),
            shop.host.at("/dog.jpg", answers("404 Not Found"), holds(ANOTHER_PICTURE)),
        )
        shop.submit(order)

        shop.drain()
        before = only(shop, order)
        jobs_before = count_jobs(shop, JobKind.SEND_TO_LAB)
        shop.pass_time(seconds=10)

        assert (before.state, before.sent_at, jobs_before) == (_S.OFFERED, None, 0)
        assert count_jobs(shop, JobKind.SEND_TO_LAB) == 1
        assert only(shop, order).sent_at == NOON + timedelta(seconds=10)

    def test_a_shipment_does_not_wait_for_another(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        late = shop.host.at("/dog.jpg", answers("404 Not Found"), holds(ANOTHER_PICTURE))
        shop.add_images(order, late, sku=FRAME)
        shop.submit(order)

        shop.drain()

        ready, waiting = list_all(shop, order)
        assert (ready.sent_at, waiting.sent_at) == (NOON, None)
        assert count_jobs(shop, JobKind.SEND_TO_LAB) == 1

    def test_an_image_that_never_comes_keeps_the_order_from_its_lab(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/gone.jpg", answers("410 Gone")))
        shop.submit(order)

        for _ in range(30):
            shop.pass_time(minutes=2)

        seen = shop.order(order)
        assert seen.status is OrderStatus.SUBMITTED
        assert write_reasons(seen.reasons) is not None
        assert only(shop, order).sent_at is None

    def test_a_shipment_that_was_sent_is_left_alone(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()
        before = remember(shop, order)

        shop.enqueue_again(JobKind.SEND_TO_LAB, {"shipment": only(shop, order).id})
        shop.drain()

        assert remember(shop, order) == before
        assert count_jobs(shop, JobKind.APPLY_LAB_REPORT) == 3


def test_a_report_that_repeats_another_name_changes_nothing(shop: Shop) -> None:
    order = submit(shop)
    shop.drain()
    shipment = only(shop, order)
    report = LabReport(job=shipment.id, name=f"{shipment.id}-aaaaaaaaaa", state=_S.DISPATCHED)
    before = remember(shop, order)

    with shop.database.writing() as db:
        is_news = apply_lab_report(a_system_work(db, now=shop.clock()), report)

    assert not is_news
    assert remember(shop, order) == before


@pytest.fixture
def with_folders(a_shop: OpenShop, tmp_path: Path) -> Shop:
    """A shop whose labs have hot folders, in which a test can see what they were told."""
    return open_with_folders(a_shop, tmp_path)


def open_with_folders(a_shop: OpenShop, tmp_path: Path, *lines: str) -> Shop:
    """Open a shop whose labs have hot folders, and these lines in the catalogue."""
    catalogue = change_labs(tmp_path, every="\n".join(['connector = "folder"', *lines]))
    return a_shop(catalogue=str(catalogue), lab_folder=str(_make(tmp_path / "labs")))


def _make(folder: Path) -> Path:
    folder.mkdir()
    return folder


def read_job(shop: Shop, shipment: Shipment) -> dict[str, Any]:
    """Return what the lab was told."""
    assert shop.settings.lab_folder is not None
    told = shop.settings.lab_folder / shipment.lab / "inbox" / shipment.job_name / "job.json"
    read: dict[str, Any] = json.loads(told.read_text())
    return read


class TestWhatALabIsTold:
    """The document has all that a lab needs, and it is true."""

    def test_it_names_the_print_files_by_their_hashes(self, with_folders: Shop) -> None:
        shop = with_folders
        order = submit(shop, skus=(STICKER, MAGNET))

        shop.drain()

        shipment = only(shop, order)
        told = read_job(shop, shipment)
        folder = Path(str(shop.settings.lab_folder), shipment.lab, "inbox", shipment.job_name)
        for item in told["items"]:
            manifest = shop.image(item["image"]).manifest or {}
            assert item["print"]["sha256"] == manifest["output_sha256"]
            printed = folder / told["files"][item["print"]["name"]]
            assert hashlib.sha256(printed.read_bytes()).hexdigest() == item["print"]["sha256"]
        assert [item["sku"] for item in told["items"]] == [STICKER, MAGNET]

    def test_it_says_where_to_send_it_and_how(self, with_folders: Shop) -> None:
        shop = with_folders
        order = submit(
            shop,
            address2="Back door",
            telephone="0123",
            mobile_telephone="0777",
            email="mary@example.com",
            merchant_order_id="M-1",
            shipping_method=ShippingMethod.STANDARD,
        )

        shop.drain()

        shipment = only(shop, order)
        told = read_job(shop, shipment)
        assert told["address"] == {
            "name": "Mary Fox",
            "address1": "1 High Street",
            "address2": "Back door",
            "town_or_city": "York",
            "state_or_county": None,
            "postal_code": "YO1 1AA",
            "country": "GB",
            "telephone": "0777",
            "email": "mary@example.com",
        }
        assert (told["job"], told["order"], told["lab"]) == (shipment.id, order.id, shipment.lab)
        assert (told["environment"], told["merchant_order_id"]) == ("sandbox", "M-1")
        assert told["service"]["code"] == shipment.service
        assert told["service"]["carrier"] == shipment.carrier
        assert told["service"]["is_tracked"] is shipment.is_tracked
        assert told["service"]["method"] == "Standard"
        assert told["dispatch_by"] < shipment.earliest_arrival

    def test_it_says_what_customs_want_to_know(self, with_folders: Shop) -> None:
        shop = with_folders
        order = shop.add_order(invoice_amount_net=1200, invoice_tax=240, invoice_currency="EUR")
        (image,) = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)), copies=3)
        shop.submit(order)

        shop.drain()

        assert shop.image(image).price > 0
        assert read_job(shop, only(shop, order))["customs"] == {
            "currency": "GBP",
            # The parcel stays in the country.
            "value": None,
            "invoice_amount_net": 1200,
            "invoice_tax": 240,
            "invoice_currency": "EUR",
        }

    @pytest.mark.parametrize(("country", "is_declared"), [("GB", False), ("CH", True)])
    def test_nothing_tells_it_what_the_merchant_pays(
        self, with_folders: Shop, country: str, is_declared: bool
    ) -> None:
        shop = with_folders
        with shop.database.writing() as db:
            change_profile(a_work(db, shop.merchant), ShopProfile(packing_slip="{items}"))
        order = shop.add_order(destination_country=country)
        (image,) = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)), copies=3)
        shop.drain()
        with shop.database.writing() as db:
            # A price of its own, which no list has.
            db.execute(update(images).where(images.c.id == image).values(price=98_765))
        shop.submit(order)

        shop.drain()

        shipment = only(shop, order)
        assert shop.settings.lab_folder is not None
        folder = shop.settings.lab_folder / shipment.lab / "inbox" / shipment.job_name
        told = [file.read_bytes() for file in folder.rglob("*.[hj]*") if file.suffix != ".jpg"]
        assert len(told) >= 2
        assert not [text for text in told if b"98765" in text or b"987.65" in text]
        assert not [text for text in told if b"296295" in text or b"2962.95" in text]
        customs = read_job(shop, shipment)["customs"]
        assert (customs["value"] is not None) is is_declared

    def test_what_is_no_longer_sold_has_no_value_for_customs(self, with_folders: Shop) -> None:
        shop = with_folders
        order = shop.add_order(destination_country="CH")
        (image,) = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.submit(order)
        shop.drain()
        with shop.database.writing() as db:
            db.execute(update(images).where(images.c.id == image).values(sku="GONE"))

            job = write_document(
                a_work_of(db, order, catalogue=shop.resources.catalogue),
                shop.order(order),
                only(shop, order),
                list_images(db, order.id),
                None,
            )

        assert job.customs.value is None
        assert [item.description for item in job.items] == ["GONE"]

    def test_the_sheet_has_the_name_and_the_logo_of_the_operator(
        self, with_folders: Shop, tmp_path: Path
    ) -> None:
        shop, drawn = with_folders, tmp_path / "logo.jpg"
        drawn.write_bytes(b"a fox")
        shop.resources.files.put("logos/1.jpg", drawn)
        with shop.database.writing() as db:
            change_brand(a_system_work(db), Brand(name="Fox & Sons"))
            change_brand_logo(a_system_work(db), None, Logo("logos/1.jpg", 60, 40))
        order = submit(shop)

        shop.drain()

        shipment = only(shop, order)
        assert read_job(shop, shipment)["operator"] == "Fox & Sons"
        assert shop.settings.lab_folder is not None
        folder = shop.settings.lab_folder / shipment.lab / "inbox" / shipment.job_name
        sheet = next(folder.glob("*.html")).read_text()
        assert "Fox &amp; Sons" in sheet
        assert base64.b64encode(b"a fox").decode() in sheet

    @pytest.mark.parametrize(("country", "takes_slips"), [("GB", True), ("FR", False)])
    def test_a_packing_slip_goes_where_they_are_taken(
        self, with_folders: Shop, country: str, takes_slips: bool
    ) -> None:
        shop = with_folders
        slip = shop.host.at("/slip.png", holds(A_SLIP))
        order = shop.add_order(destination_country=country, packing_slip_url=slip)
        shop.drain()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.submit(order)

        shop.drain()

        shipment = only(shop, order)
        lab = shop.resources.catalogue.get_lab(shipment.lab)
        told = read_job(shop, shipment)["packing_slip"]
        assert lab.packing_slips is takes_slips
        assert (told and told["sha256"]) == (
            hashlib.sha256(A_SLIP).hexdigest() if takes_slips else None
        )

    @pytest.mark.parametrize(("country", "takes_slips"), [("GB", True), ("FR", False)])
    def test_the_slip_of_the_shop_goes_into_parcels_without_one(
        self, with_folders: Shop, country: str, takes_slips: bool
    ) -> None:
        shop = with_folders
        hostile = ShopProfile(
            name="Fox <b>",
            packing_slip="Dear {recipient},\n{order} of {date}: {items} <script> {contact}",
            email="hello@fox.example",
            return_address="1 High Street\nYork",
        )
        order = shop.add_order(
            destination_country=country,
            recipient_name="Mary {shop} \u202e<i>",
            merchant_order_id="M-1",
        )
        with shop.database.writing() as db:
            change_profile(a_work_of(db, order), hostile)
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.submit(order)

        shop.drain()

        shipment = only(shop, order)
        told = read_job(shop, shipment)["packing_slip"]
        folder = Path(str(shop.settings.lab_folder), shipment.lab, "inbox", shipment.job_name)
        if not takes_slips:
            assert told is None
            return
        [slip] = folder.rglob("packing-slip.html")
        written = slip.read_text()
        assert told == {
            "name": "packing-slip.html",
            "sha256": hashlib.sha256(slip.read_bytes()).hexdigest(),
        }
        assert "Dear Mary {shop}  &lt;i&gt;,\nM-1 of" in written
        assert "1 \N{MULTIPLICATION SIGN} " in written
        assert "&lt;script&gt; hello@fox.example" in written
        assert "Fox &lt;b&gt;" in written
        assert "1 High Street\nYork" in written
        assert "Packing slip: put it in" in (folder / "sheet.html").read_text()


class TestTheUsualCourse:
    """Accepted, printed, sent: the order is complete."""

    def test_a_lab_says_step_by_step_how_far_it_is(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()

        seen = [only(shop, order).state]
        for wait in (WHEN_ACCEPTED, WHEN_PRINTED, WHEN_SENT):
            assert shop.order(order).status is OrderStatus.SUBMITTED
            shop.pass_time(seconds=wait.total_seconds())
            seen.append(only(shop, order).state)

        assert seen == [_S.OFFERED, _S.ACCEPTED, _S.IN_PRODUCTION, _S.DISPATCHED]
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert only(shop, order).shipped_at == shop.clock()

    def test_every_step_is_an_event_with_its_time(self, shop: Shop) -> None:
        order = submit(shop, destination_country="US")
        shop.drain()

        finish(shop)

        changes = of_kind(shop, order, ShipmentsChanged)
        shipment = only(shop, order)
        number = make_tracking_number(shipment.id)
        assert [change.changed for change in changes] == [[shipment.id]] * 3
        assert [change.shipments[0].is_shipped for change in changes] == [False, False, True]
        assert changes[-1].shipments[0].tracking_number == number
        assert shipment.tracking_number == number
        assert shipment.tracking_url == f"https://tracking.example/{number}"
        moves = of_kind(shop, order, OrderMoved)
        assert [move.status for move in moves] == ["Submitted", "Complete"]
        assert [fact.is_shipped for fact in moves[-1].shipments] == [True]
        first, second, third = WHEN_ACCEPTED, WHEN_PRINTED, WHEN_SENT
        times = [NOON + first, NOON + first + second, NOON + first + second + third]
        assert list_times(shop, order, "shipments-changed") == times
        assert list_times(shop, order, "order-moved") == [NOON, times[-1]]

    def test_an_order_is_complete_with_its_last_parcel(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, FRAME))
        shop.drain()
        first, last = list_all(shop, order)

        hear(shop, first, _S.DISPATCHED)
        between = shop.order(order).status
        hear(shop, last, _S.DISPATCHED)

        assert between is OrderStatus.SUBMITTED
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert len(of_kind(shop, order, OrderCharged)) == 1

    def test_the_merchants_clock_counts(self, shop: Shop) -> None:
        from printworks.actions.accounts.clock import advance_clock

        with shop.database.writing() as db:
            advance_clock(a_work(db, shop.merchant, now=NOON), timedelta(days=2))
        order = submit(shop)
        shop.drain()

        finish(shop)

        assert only(shop, order).sent_at == NOON + timedelta(days=2)
        assert only(shop, order).shipped_at == shop.clock() + timedelta(days=2)

    def test_an_order_is_delivered_with_its_last_parcel_and_programs_are_told_nothing(
        self, shop: Shop
    ) -> None:
        order = submit(shop, skus=(STICKER, FRAME))
        shop.drain()
        first, last = list_all(shop, order)
        hear(shop, first, _S.DISPATCHED)
        hear(shop, last, _S.DISPATCHED)
        told = len(of_kind(shop, order, ShipmentsChanged))

        assert hear(shop, first, _S.DELIVERED)
        between = shop.order(order).delivered_at
        shop.pass_time(hours=1)
        assert hear(shop, last, _S.DELIVERED)
        assert not hear(shop, last, _S.DELIVERED)

        assert between is None
        assert shop.order(order).delivered_at == shop.clock()
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert [one.state for one in list_all(shop, order)] == [_S.DELIVERED] * 2
        delivered = of_kind(shop, order, ShipmentsDelivered)
        assert [one.shipments for one in delivered] == [[first.id], [last.id]]
        assert len(of_kind(shop, order, ShipmentsChanged)) == told

    def test_what_was_delivered_has_left_its_lab(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()

        hear(shop, only(shop, order), _S.DELIVERED, tracking_number="LX1")

        assert only(shop, order).state is _S.DELIVERED
        assert only(shop, order).tracking_number == "LX1"
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert len(of_kind(shop, order, ShipmentsChanged)) == 1

    def test_a_tracked_parcel_is_delivered_in_the_end(self, shop: Shop) -> None:
        order = submit(shop, destination_country="US")
        shop.drain()
        finish(shop)
        assert shop.order(order).delivered_at is None

        shop.pass_time(days=2, hours=5)

        assert only(shop, order).delivered_at == shop.order(order).delivered_at == shop.clock()

    @pytest.mark.parametrize("state", [_S.ACCEPTED, _S.IN_PRODUCTION, _S.DISPATCHED])
    def test_what_was_said_before_changes_nothing(self, shop: Shop, state: LabState) -> None:
        order = submit(shop)
        shop.drain()
        finish(shop)
        before = remember(shop, order)

        assert not hear(shop, only(shop, order), state)

        assert remember(shop, order) == before

    @pytest.mark.parametrize("late", [_S.REJECTED, _S.CANCELLED, _S.FAILED])
    def test_what_comes_too_late_changes_nothing(self, shop: Shop, late: LabState) -> None:
        order = submit(shop)
        shop.drain()
        finish(shop)
        before = remember(shop, order)

        assert not hear(shop, only(shop, order), late, reason="too late")

        assert remember(shop, order) == before

    def test_steps_may_be_left_out_and_made_up_for_in_vain(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, FRAME))
        shop.drain()
        shipment = list_all(shop, order)[0]

        heard = [hear(shop, shipment, state) for state in (_S.IN_PRODUCTION, _S.ACCEPTED)]

        assert heard == [True, False]
        assert list_all(shop, order)[0].state is _S.IN_PRODUCTION

    def test_a_carrier_that_nobody_knows_is_not_known(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()

        hear(shop, only(shop, order), _S.DISPATCHED, carrier="Pigeons", tracking_number="COO1")

        assert only(shop, order).carrier == "NotKnown"
        assert only(shop, order).tracking_number == "COO1"


class TestMagicWords:
    """What a merchant can try in the sandbox, from the word to what becomes of the order."""

    def test_reject_sends_it_to_another_lab(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:reject")
        charged = shop.order(order).price
        shop.drain()
        first = only(shop, order)

        finish(shop)
        shop.pass_time(hours=1)

        (gone, made) = list_all(shop, order)
        assert (gone.id, gone.state, made.state) == (first.id, _S.REJECTED, _S.DISPATCHED)
        assert gone.lab != made.lab
        assert gone.reason == f"The lab {gone.lab} cannot make this now."
        assert shop.order(order).status is OrderStatus.COMPLETE
        assert write_reasons(shop.order(order).reasons) is None
        assert shop.order(order).price == charged
        with shop.database.reading() as db:
            assert [one.without for one in list_decisions(db, order.id)] == [[], [gone.lab]]
        assert [fact.id for fact in of_kind(shop, order, OrderMoved)[-1].shipments] == [made.id]

    def test_reject_all_ends_in_a_hold(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:reject-all")
        shop.drain()

        for _ in range(12):
            shop.pass_time(minutes=1)

        *gone, held = list_all(shop, order)
        assert {shipment.state for shipment in gone} == {_S.REJECTED}
        assert len({shipment.lab for shipment in [*gone, held]}) == len(gone) + 1
        assert held.held_because == (
            f"The lab rejected it (The lab {held.lab} cannot make this now.), "
            "and no other can make it."
        )
        seen = shop.order(order)
        assert seen.status is OrderStatus.SUBMITTED
        assert write_reasons(seen.reasons) == f"Shipment {held.id} is held; we are looking into it."
        assert of_kind(shop, order, OrderHeld) == [
            OrderHeld(shipment=held.id, reason=held.held_because)
        ]

    def test_a_hold_is_told_once_however_often_it_is_rejected(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:reject-all sandbox:twice")
        shop.drain()

        for _ in range(12):
            shop.pass_time(minutes=1)

        assert len(of_kind(shop, order, OrderHeld)) == 1
        assert not hear(shop, list_all(shop, order)[-1], _S.REJECTED)

    def test_fail_is_told_on_the_order_until_it_is_printed_again(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:fail")
        shop.drain()

        finish(shop)

        failed = only(shop, order)
        seen = shop.order(order)
        assert (failed.state, failed.reason) == (
            _S.FAILED,
            "The paper jammed and the prints are spoiled.",
        )
        assert (seen.status, write_reasons(seen.reasons)) == (
            OrderStatus.SUBMITTED,
            f"A lab could not make shipment {failed.id}; we are looking into it.",
        )

        print_again(shop, failed)
        shop.drain()

        replaced, again = list_all(shop, order)
        assert (replaced.state, again.state, again.sent_at) == (
            _S.CANCELLED,
            _S.OFFERED,
            shop.clock(),
        )
        assert write_reasons(shop.order(order).reasons) is None
        hear(shop, again, _S.DISPATCHED)
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_late_is_three_days_late(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:late")
        shop.drain()

        finish(shop)
        before = only(shop, order).state
        shop.pass_time(seconds=LATE.total_seconds())

        assert before is _S.IN_PRODUCTION
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_lost_leaves_the_order_as_it_is(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:lost")
        shop.drain()
        finish(shop)
        before = remember(shop, order)

        shop.pass_time(seconds=LOST_AFTER.total_seconds())

        assert remember(shop, order) == before
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_no_tracking_has_no_number(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:no-tracking", destination_country="US")
        shop.drain()

        finish(shop)

        shipment = only(shop, order)
        assert shipment.is_tracked
        assert (shipment.tracking_number, shipment.tracking_url) == (None, None)
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_silent_says_nothing(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:silent")
        shop.drain()

        shop.pass_time(days=30)

        assert only(shop, order).state is _S.OFFERED
        assert only(shop, order).sent_at == NOON
        assert shop.order(order).status is OrderStatus.SUBMITTED

    def test_twice_is_like_once(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:twice")
        shop.drain()

        finish(shop)
        before = remember(shop, order)
        shop.pass_time(minutes=10)

        assert remember(shop, order) == before
        assert [event.status for event in of_kind(shop, order, OrderMoved)] == [
            "Submitted",
            "Complete",
        ]
        assert count_jobs(shop, JobKind.APPLY_LAB_REPORT) == 6

    def test_wrong_print_is_held_until_it_is_printed_again(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:wrong-print")
        shop.drain()

        finish(shop)

        held = only(shop, order)
        assert held.state is _S.IN_PRODUCTION
        assert held.held_because == "The lab printed another file than the one that it was sent."
        assert shop.order(order).status is OrderStatus.SUBMITTED
        message = f"Shipment {held.id} is held; we are looking into it."
        assert write_reasons(shop.order(order).reasons) == message

        # Whoever carries it cannot know.
        assert not hear(shop, held, _S.DELIVERED)
        assert only(shop, order) == held
        print_again(shop, held)

        replaced, again = list_all(shop, order)
        assert (replaced.state, replaced.held_because, again.state) == (
            _S.CANCELLED,
            None,
            _S.OFFERED,
        )
        assert write_reasons(shop.order(order).reasons) is None

    def test_a_wrong_print_is_not_believed_the_second_time_either(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:wrong-print sandbox:twice")
        shop.drain()
        finish(shop)
        before = remember(shop, order)

        shop.pass_time(minutes=10)

        assert remember(shop, order) == before
        assert only(shop, order).held_because is not None
        assert len(of_kind(shop, order, OrderHeld)) == 1

    def test_an_operator_may_say_that_a_held_print_is_right_after_all(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:wrong-print")
        shop.drain()
        finish(shop)

        assert hear(shop, only(shop, order), _S.DISPATCHED)

        assert shop.order(order).status is OrderStatus.COMPLETE
        assert write_reasons(shop.order(order).reasons) is None
        assert only(shop, order).held_because is None


class TestPrintingAgain:
    """Only what failed or is held, of an order that somebody still wants."""

    def test_what_goes_well_is_not_printed_again(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()

        with pytest.raises(WrongState, match="not held"):
            print_again(shop, only(shop, order))

    def test_what_was_replaced_is_not_replaced_again(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:fail")
        shop.drain()
        finish(shop)
        failed = only(shop, order)
        print_again(shop, failed)

        with pytest.raises(WrongState):
            print_again(shop, failed)

        assert len(list_all(shop, order)) == 2

    def test_a_cancelled_order_is_not_printed(self, shop: Shop) -> None:
        order = submit(shop, merchant_order_id="sandbox:reject-all")
        shop.drain()
        for _ in range(12):
            shop.pass_time(minutes=1)
        held = list_all(shop, order)[-1]
        cancel(shop, order)
        before = remember(shop, order)

        with pytest.raises(WrongState, match="Cancelled"):
            print_again(shop, held)

        assert remember(shop, order) == before


class TestCancelling:
    """Before, while and after a shipment is handed over."""

    def test_before_it_is_sent_no_lab_hears_of_it(self, shop: Shop) -> None:
        order = submit(shop)

        cancel(shop, order)
        shop.drain()

        assert shop.order(order).status is OrderStatus.CANCELLED
        assert (only(shop, order).state, only(shop, order).sent_at) == (_S.CANCELLED, None)
        assert count_jobs(shop, JobKind.SEND_TO_LAB) == 0
        assert count_jobs(shop, JobKind.CANCEL_AT_LAB) == 0
        assert len(of_kind(shop, order, OrderRefunded)) == 1

    def test_after_it_is_sent_the_lab_is_told(self, with_folders: Shop) -> None:
        shop = with_folders
        order = submit(shop)
        shop.drain()
        inbox = Path(str(shop.settings.lab_folder), only(shop, order).lab, "inbox")
        before = list(inbox.iterdir())

        cancel(shop, order)
        shop.drain()

        assert [path.name for path in before] == [only(shop, order).job_name]
        assert list(inbox.iterdir()) == []
        assert shop.job(JobKind.CANCEL_AT_LAB).state == "done"

    def test_what_a_lab_says_afterwards_is_no_news(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()
        cancel(shop, order)
        before = remember(shop, order)

        finish(shop)

        assert remember(shop, order) == before

    def test_once_it_is_accepted_it_is_too_late(self, shop: Shop) -> None:
        order = submit(shop)
        shop.drain()
        hear(shop, only(shop, order), _S.ACCEPTED)
        before = remember(shop, order)

        with pytest.raises(WrongState, match="Cancelled"):
            cancel(shop, order)

        assert remember(shop, order) == before

    def test_while_it_is_handed_over_the_lab_is_told_at_once(self, with_folders: Shop) -> None:
        shop = with_folders
        order = submit(shop)
        with busy_lab(shop, order) as let_go_on, shop.draining():
            wait_until(lambda: is_running(shop, JobKind.SEND_TO_LAB))
            cancel(shop, order)
            assert shop.jobs(JobKind.CANCEL_AT_LAB) == []
            let_go_on()

        assert (only(shop, order).state, only(shop, order).sent_at) == (_S.CANCELLED, None)
        assert shop.job(JobKind.CANCEL_AT_LAB).state == "done"
        folder = Path(str(shop.settings.lab_folder), only(shop, order).lab)
        assert list(folder.glob("*/[0-9]*")) == []

    def test_a_lab_that_is_quicker_than_our_note_is_not_told_to_stop(
        self, with_folders: Shop
    ) -> None:
        shop = with_folders
        order = submit(shop)
        with busy_lab(shop, order) as let_go_on, shop.draining():
            wait_until(lambda: is_running(shop, JobKind.SEND_TO_LAB))
            hear(shop, only(shop, order), _S.ACCEPTED)
            let_go_on()

        assert (only(shop, order).state, only(shop, order).sent_at) == (_S.ACCEPTED, NOON)
        assert shop.jobs(JobKind.CANCEL_AT_LAB) == []

    def test_what_a_dead_worker_handed_over_is_called_off_too(self, with_folders: Shop) -> None:
        shop = with_folders
        order = submit(shop)
        shop.drain()
        # As if it had died before it could say that the lab has got it.
        with shop.database.writing() as db:
            db.execute(shipments.update().values(sent_at=None))
        cancel(shop, order)

        shop.enqueue_again(JobKind.SEND_TO_LAB, {"shipment": only(shop, order).id})
        shop.drain()

        folder = Path(str(shop.settings.lab_folder), only(shop, order).lab)
        assert list(folder.glob("*/[0-9]*")) == []


def is_running(shop: Shop, kind: JobKind) -> bool:
    """Say whether a worker is at it."""
    return any(job.state == "running" for job in shop.jobs(kind))


@contextmanager
def busy_lab(shop: Shop, order: Order) -> Iterator[Callable[[], None]]:
    """Let the lab of an order take nothing until the block says so."""
    shipment = only(shop, order)
    drafts = Path(str(shop.settings.lab_folder), shipment.lab, ".tmp")
    drafts.mkdir(parents=True)
    with (drafts / f"lock-{shipment.id % 64}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(lock, fcntl.LOCK_UN)


class TestHolding:
    """A held order is not sent to a lab."""

    @pytest.fixture
    def shop(self, a_shop: OpenShop, tmp_path: Path) -> Shop:
        """A shop that has one lab which allows it after submission."""
        catalogue = change_labs(tmp_path, {"gb-bristol": 'can_hold_until = "submitted"'})
        return a_shop(catalogue=str(catalogue))

    def test_submitting_ends_a_hold(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        hold(shop, order)

        with pytest.raises(WrongState, match="cannot be held now"):
            hold(shop, order)
        shop.submit(order)
        shop.drain()

        assert shop.order(order).held_at is None
        assert only(shop, order).sent_at == NOON

    def test_where_the_lab_allows_it_a_submitted_order_waits(self, shop: Shop) -> None:
        order = submit(shop)
        assert only(shop, order).lab == "gb-bristol"
        hold(shop, order)

        shop.drain()
        waiting = only(shop, order)
        rendered = count_jobs(shop, JobKind.RENDER_IMAGE)
        shop.clock.advance(minutes=5)
        release(shop, order)
        shop.drain()

        assert (waiting.state, waiting.sent_at, rendered) == (_S.OFFERED, None, 1)
        assert only(shop, order).sent_at == NOON + timedelta(minutes=5)
        assert of_kind(shop, order, OrderHeld) == [OrderHeld(shipment=None, reason=None)]
        assert len(of_kind(shop, order, OrderReleased)) == 1

    def test_a_hold_overtakes_a_shipment_that_was_to_be_sent(self, shop: Shop) -> None:
        order = submit(shop)
        hold(shop, order)
        shop.drain()

        shop.enqueue_again(JobKind.SEND_TO_LAB, {"shipment": only(shop, order).id})
        shop.drain()

        assert only(shop, order).sent_at is None

    def test_holding_twice_and_releasing_sends_it_once(self, shop: Shop) -> None:
        order = submit(shop)
        hold(shop, order)
        shop.drain()
        for action in (release, hold, release):
            action(shop, order)

        shop.drain()
        finish(shop)

        assert count_jobs(shop, JobKind.APPLY_LAB_REPORT) == 3
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_where_a_lab_does_not_allow_it_nothing_waits(self, shop: Shop) -> None:
        order = submit(shop, destination_country="US")

        with pytest.raises(WrongState, match="An order that is Submitted cannot be held now"):
            hold(shop, order)

        assert shop.order(order).held_at is None

    def test_one_lab_that_does_not_allow_it_is_enough(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, FRAME))
        assert [shipment.lab for shipment in list_all(shop, order)] == ["gb-bristol", "gb-leeds"]

        with pytest.raises(WrongState):
            hold(shop, order)

    def test_an_order_that_is_not_held_cannot_be_released(self, shop: Shop) -> None:
        order = submit(shop)

        with pytest.raises(WrongState, match="not held"):
            release(shop, order)


class TestLabsThatAreAway:
    """Orders wait for them, or go elsewhere."""

    def test_a_lab_that_cannot_be_reached_costs_no_attempts(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        catalogue = change_labs(tmp_path, every='connector = "folder"')
        share = tmp_path / "share"
        shop = a_shop(catalogue=str(catalogue), lab_folder=str(share))
        order = submit(shop)
        shop.drain()

        for _ in range(40):
            shop.pass_time(minutes=1)
        waiting = shop.job(JobKind.SEND_TO_LAB)
        share.mkdir()
        shop.pass_time(minutes=1)

        assert (waiting.state, waiting.attempts) == ("scheduled", 0)
        assert str(share) in waiting.last_error
        assert only(shop, order).sent_at == NOON + timedelta(minutes=41)
        assert shop.job(JobKind.SEND_TO_LAB).attempts == 1

    def test_what_a_lab_that_has_left_did_not_get_goes_elsewhere(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        before = a_shop()
        order = submit(before)
        assert only(before, order).lab == "gb-bristol"
        catalogue = change_labs(tmp_path, without="gb-bristol")
        shop = a_shop(catalogue=str(catalogue))

        shop.drain()

        assert states(shop, order) == [
            ("gb-bristol", _S.REJECTED),
            ("gb-bristol-again", _S.OFFERED),
        ]
        assert list_all(shop, order)[0].reason == (
            "The lab gb-bristol is no longer in the catalogue."
        )
        assert list_all(shop, order)[1].sent_at == NOON
        assert {job.state for job in shop.jobs(JobKind.SEND_TO_LAB)} == {"done"}

    def test_what_a_lab_that_has_left_got_can_still_be_finished(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        before = a_shop()
        order = submit(before)
        before.drain()
        shop = a_shop(catalogue=str(change_labs(tmp_path, without="gb-bristol")))

        finish(shop)

        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_a_lab_that_has_much_to_do_gets_no_more_than_it_can_make(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        catalogue = change_labs(tmp_path, {"gb-bristol": "capacity = 1"})
        shop = a_shop(catalogue=str(catalogue))
        url = shop.host.at("/cat.jpg", holds(A_PICTURE))
        moved = shop.add_order()
        shop.add_images(moved, url)
        look(shop, moved)
        planned, quoted = only(shop, moved).lab, shop.order(moved).price
        large = shop.add_order()
        shop.add_images(large, url, copies=10)
        shop.submit(large)

        shop.submit(moved)

        assert (planned, only(shop, large).lab) == ("gb-bristol", "gb-bristol")
        assert only(shop, moved).lab != "gb-bristol"
        assert shop.order(moved).price == quoted
        assert [charge.amount for charge in of_kind(shop, moved, OrderCharged)] == [quoted]

    def test_what_a_lab_has_sent_leaves_room_for_more(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        catalogue = change_labs(tmp_path, {"gb-bristol": "capacity = 1"})
        shop = a_shop(catalogue=str(catalogue))
        url = shop.host.at("/cat.jpg", holds(A_PICTURE))
        large = shop.add_order()
        shop.add_images(large, url, copies=10)
        shop.submit(large)
        shop.drain()
        finish(shop)

        order = submit(shop)

        assert shop.order(large).status is OrderStatus.COMPLETE
        assert only(shop, order).lab == "gb-bristol"

    def test_an_order_that_nobody_can_make_is_refused(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        shop = a_shop(catalogue=str(change_labs(tmp_path, every="paused = true")))
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()

        with pytest.raises(WrongState, match="ItemsContainingErrors"):
            shop.submit(order)

        status = check(shop, order)
        assert not status.is_valid
        assert status.errors == [GeneralError.ITEMS_CONTAINING_ERRORS]
        assert [found.obstacle for found in status.findings] == [Obstacle.NO_LAB]
        assert shop.order(order).status is OrderStatus.NOT_YET_SUBMITTED
        assert of_kind(shop, order, OrderCharged) == []

    def test_labs_that_open_after_the_quote_count_at_once(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        closed = a_shop(catalogue=str(change_labs(tmp_path, every="paused = true")))
        order = closed.add_order()
        closed.add_images(order, closed.host.at("/cat.jpg", holds(A_PICTURE)))
        closed.drain()
        look(closed, order)
        seen = closed.order(order).version
        look(closed, order)
        assert (closed.order(order).version, list_all(closed, order)) == (seen, [])
        shop = a_shop()

        assert check(shop, order).is_valid
        look(shop, order)
        assert only(shop, order).lab == "gb-bristol"
        shop.submit(order)

    @pytest.mark.parametrize(
        "change",
        [
            {"every": "paused = true"},
            {"without": "gb-bristol"},
        ],
    )
    def test_labs_that_close_after_the_quote_are_chosen_again(
        self, a_shop: OpenShop, tmp_path: Path, change: dict[str, Any]
    ) -> None:
        before = a_shop()
        order = before.add_order()
        before.add_images(order, before.host.at("/cat.jpg", holds(A_PICTURE)))
        before.drain()
        look(before, order)
        assert only(before, order).lab == "gb-bristol"
        shop = a_shop(catalogue=str(change_labs(tmp_path, **change)))
        can_be_made = "without" in change

        assert check(shop, order).is_valid == can_be_made
        look(shop, order)

        assert [one.lab for one in list_all(shop, order)] == (
            ["gb-bristol-again"] if can_be_made else []
        )

    def test_a_service_that_has_ended_since_the_quote_is_chosen_again(self, shop: Shop) -> None:
        order = shop.add_order()
        shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        look(shop, order)
        planned = only(shop, order)
        with shop.database.writing() as db:
            db.execute(update(shipments).values(service="ended"))

        look(shop, order)

        assert only(shop, order).service == planned.service

    def test_labs_that_have_closed_refuse_another_method(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        before = a_shop()
        order = submit(before)
        shop = a_shop(catalogue=str(change_labs(tmp_path, every="paused = true")))
        changes = {"shipping_method": ShippingMethod.EXPRESS}

        with shop.database.writing() as db:
            current = shop.order(order)
            work = a_work_of(db, current, catalogue=shop.resources.catalogue)
            with pytest.raises(WrongState, match="No lab can make and send this order now"):
                change_shipping(work, current, changes)

    def test_labs_that_close_after_the_quote_refuse_the_submission(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        before = a_shop()
        order = before.add_order()
        before.add_images(order, before.host.at("/cat.jpg", holds(A_PICTURE)))
        before.drain()
        look(before, order)
        shop = a_shop(catalogue=str(change_labs(tmp_path, every="paused = true")))

        with pytest.raises(WrongState, match=r"ItemsContainingErrors.* cannot be made and sent"):
            shop.submit(order)

        status = check(shop, order)
        assert status.errors == [GeneralError.ITEMS_CONTAINING_ERRORS]
        assert [found.obstacle for found in status.findings] == [Obstacle.NO_LAB]
        assert shop.order(order).status is OrderStatus.NOT_YET_SUBMITTED
        assert only(shop, order).state is None


def test_permissions_follow_the_lab(shop: Shop) -> None:
    order = submit(shop)
    shop.drain()
    shipment = only(shop, order)

    def may() -> tuple[bool, bool, bool]:
        found = permissions_of(shop.order(order), list_all(shop, order), shop.resources.catalogue)
        return found.cancel, found.hold, found.update_shipping

    seen = [may()]
    for state in (_S.ACCEPTED, _S.IN_PRODUCTION, _S.DISPATCHED):
        hear(shop, shipment, state)
        seen.append(may())

    assert seen == [(True, False, True)] + [(False, False, False)] * 3


def test_a_lab_that_cannot_be_reached_is_warned_about_and_gets_its_job_later(
    with_folders: Shop, logged: list[EventDict]
) -> None:
    shop, folder = with_folders, Path(str(with_folders.settings.lab_folder))
    order = submit(shop)
    folder.rmdir()

    shop.drain()

    [warning] = [line for line in logged if line["event"] == "lab cannot be reached"]
    assert (warning["log_level"], warning["lab"]) == ("warning", only(shop, order).lab)
    assert str(folder) in warning["why"]
    folder.mkdir()
    shop.pass_time(minutes=2)
    assert read_job(shop, only(shop, order))


def test_polls_leave_no_rows_behind_unless_they_failed(with_folders: Shop) -> None:
    shop = with_folders
    shop.drain()

    for _ in range(6):
        shop.pass_time(seconds=10)

    # The one that waits, the one that was last, and its predecessor until the next.
    assert len(shop.jobs(JobKind.POLL_LABS)) <= 3
