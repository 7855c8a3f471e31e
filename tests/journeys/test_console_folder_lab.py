"""An operator works for a lab at the console, and what its hot folder says later does no harm."""

import base64
import hashlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import update

from printworks.imaging.processor import ImageProcessor
from printworks.rules.events import OrderMoved, ShipmentsChanged
from printworks.rules.production import read_job_number
from printworks.store.engine.database import Database
from printworks.store.tables import orders, shipments
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.journeys.test_folder_lab import Story, open_story, processor

__all__ = ["processor"]


@pytest.fixture
def story(database: Database, tmp_path: Path, processor: ImageProcessor) -> Iterator[Story]:
    """A live service with a worker."""
    with open_story(database, tmp_path, processor) as story:
        yield story


@pytest.fixture
def console(story: Story, database: Database) -> Window:
    """An operator at the console of that service."""
    return open_console(story.merchant.server, database, now=story.shop.clock())


def page_of(story: Story, order: int) -> str:
    """Return where the job of an order is."""
    return f"/console/shipments/{read_job_number(story.shipment(order)[1])}"


def test_an_operator_dispatches_a_job_and_the_order_is_complete(
    story: Story, console: Window
) -> None:
    order = story.submit()
    story.shop.drain()
    inbox = story.folder(order, "inbox")
    assert inbox.is_dir()
    page = page_of(story, order)
    assert "Print file" in console.words(page)

    answer = console.do(page, "lab-dispatch", carrier="DHL", tracking_number="JD0123456789")

    assert "The job was dispatched" in console.follow(answer)
    seen = story.see(order)
    assert seen["status"] == "Complete"
    (shipment,) = seen["shippingInfo"]["shipments"]
    assert (shipment["carrier"], shipment["trackingNumber"]) == ("DHL", "JD0123456789")
    # Nobody at the lab finds it among what is new, and makes it once more.
    story.shop.drain()
    assert not inbox.exists()


@pytest.mark.parametrize("folder", ["accepted", "printing", "done", "failed"])
def test_what_the_lab_says_after_the_operator_changes_nothing(
    story: Story, console: Window, folder: str
) -> None:
    order = story.submit()
    story.shop.drain()
    # The lab had it before it was dispatched by hand.
    story.carry(order, to="printing")
    story.look()
    console.do(page_of(story, order), "lab-dispatch", tracking_number="JD0123456789")
    story.shop.drain()
    before = story.see(order)
    events = len(story.events(order, ShipmentsChanged))
    assert (story.folder(order, "printing") / "CANCELLED.txt").exists()

    if folder != "printing":
        moved = story.carry(order, to=folder, frm="printing")
        (moved / "tracking.txt").write_text("ANOTHER999")
        (moved / "reason.txt").write_text("Rejected: no paper.")
    story.look(3)

    assert story.see(order) == before
    assert len(story.events(order, ShipmentsChanged)) == events
    assert [move.status for move in story.events(order, OrderMoved)] == ["Submitted", "Complete"]
    if folder in {"done", "failed"}:
        assert story.folder(order, "archive").is_dir()


def test_what_an_operator_rejects_leaves_the_first_lab_and_comes_to_another(
    story: Story, console: Window
) -> None:
    order = story.submit()
    story.shop.drain()
    first, inbox = story.shipment(order)[0], story.folder(order, "inbox")

    console.do(page_of(story, order), "lab-reject", reason="No stickers left.")
    story.shop.drain()

    assert story.shipment(order)[0] != first
    assert not inbox.exists()
    assert story.folder(order, "inbox").is_dir()


def test_the_sheet_and_the_print_file_are_those_of_the_lab(story: Story, console: Window) -> None:
    order = story.submit()
    page = page_of(story, order)
    assert console.open(f"{page}/sheet").status == 404
    story.shop.drain()
    inbox = story.folder(order, "inbox")
    (printed,) = inbox.glob("prints/*.jpg")

    sheet = console.open(f"{page}/sheet")
    image = printed.name.partition("-")[0]
    picture = console.open(f"{page}/prints/{image}")

    assert sheet.status == 200
    assert sheet.body.decode() == (inbox / "sheet.html").read_text()
    policy = sheet.headers["content-security-policy"]
    assert "style-src 'sha256-" in policy
    assert "unsafe" not in policy
    assert "Dispatch by" in words_of(sheet)
    assert picture.body == printed.read_bytes()
    assert picture.headers["content-type"] == "image/jpeg"
    assert "sandbox" in picture.headers["content-security-policy"]
    assert console.open(f"{page}/prints/987654").status == 404


def test_sheets_and_print_files_of_several_jobs_come_at_once(story: Story, console: Window) -> None:
    ready = story.submit()
    story.shop.drain()
    waiting = story.submit()
    chosen = [page_of(story, order).rpartition("/")[2] for order in (ready, waiting)]
    (printed,) = story.folder(ready, "inbox").glob("prints/*.jpg")
    page = "/console/production?choose=none"

    sheets = console.do(page, "report-many", bulk_action="sheets", chosen=chosen)
    packed = console.do(page, "report-many", bulk_action="prints", chosen=chosen)
    nothing = console.do(page, "report-many", bulk_action="prints", chosen=chosen[1:])

    said = words_of(sheets)
    assert "1 job sheets" in sheets.body.decode()
    assert f"Not printed here: lab jobs {chosen[1]} (print files not ready yet)." in said
    assert "Dispatch by" in said
    style = sheets.body.decode().partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src 'sha256-{digest}'" in sheets.headers["content-security-policy"]
    with zipfile.ZipFile(io.BytesIO(packed.body)) as archive:
        listed, file = archive.namelist()
        assert archive.read(file) == printed.read_bytes()
        table = archive.read(listed).decode("utf-8-sig")
    assert file.startswith(f"job-{chosen[0]}/")
    assert file in table
    assert f"{chosen[1]},,,,,print files not ready yet" in table
    assert nothing.status == 400
    assert (
        f"None of the chosen lab jobs can be printed now: {chosen[1]} (print files not ready yet)."
        in words_of(nothing)
    )


def test_what_is_on_hold_or_at_a_lab_that_has_left_is_not_printed_with_the_others(
    story: Story, console: Window, database: Database
) -> None:
    ready, held, left = (story.submit() for _ in range(3))
    story.shop.drain()
    numbers = [int(page_of(story, order).rpartition("/")[2]) for order in (ready, held, left)]
    with database.writing() as db:
        db.execute(update(orders).where(orders.c.id == held).values(held_at=story.shop.clock()))
        db.execute(update(shipments).where(shipments.c.id == numbers[2]).values(lab="gone"))
    page = "/console/production?choose=none"

    sheets = console.do(page, "report-many", bulk_action="sheets", chosen=list(map(str, numbers)))

    assert sheets.status == 200
    assert (
        f"Not printed here: lab jobs {numbers[1]} (order on hold), "
        f"{numbers[2]} (lab no longer in the catalogue)."
    ) in words_of(sheets)
    assert "Order on hold" in console.words("/console/production")
    assert console.open(f"/console/shipments/{numbers[1]}/sheet").status == 200
    assert console.open(f"/console/shipments/{numbers[2]}/sheet").status == 404
