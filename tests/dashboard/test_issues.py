"""A merchant's issues: opened with photos, discussed, cancelled, and what came of them."""

import html
import re
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from printworks.actions.issues.issues import refund_issue
from printworks.files import open_files
from printworks.rules.issues import IssueKind, IssueState
from printworks.rules.jobs import JobKind, JobState
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.issues.issues import Issue, get_any_issue
from printworks.store.issues.photos import list_photos, purge_photos
from printworks.store.tables import issues, jobs
from tests.actions.complaints import a_draft, complain, reprint, submitted
from tests.api.pngs import a_png, measure_jpeg
from tests.dashboard.scenes import complain_about
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.factories import NOON, a_system_work

HOSTILE = '<img src=x onerror="alert(1)">'
PHOTO = ("photos", "damage.png", a_png(400, 300))


def order_something(database: Database, window: Window, **values: Any) -> int:
    """Hand in an order with two images, and return its number."""
    with database.writing() as db:
        return submitted(db, merchant_of(db, window), **values).id


def open_one(window: Window, order: int, *files: tuple[str, str, bytes], **fields: str) -> Any:
    """Fill in the form about an order and send it."""
    filled = {"kind": "DamagedOrder", "action": "Reprint", "detail": "A corner is bent.", **fields}
    return window.upload(f"/issues/new?order={order}", "open-issue", list(files), **filled)


def only_issue(database: Database) -> Issue:
    """Return the issue that there is."""
    with database.reading() as db:
        return get_any_issue(db, db.execute(select(issues.c.id)).scalar_one())


def count_issues(database: Database) -> int:
    """Say how many there are."""
    with database.reading() as db:
        return len(db.execute(select(issues.c.id)).all())


class TestOpening:
    @pytest.mark.both_databases
    def test_it_is_opened_with_an_image_and_a_photograph(
        self, alice: Window, database: Database, settings: Settings
    ) -> None:
        order = order_something(database, alice)
        with database.reading() as db:
            _, image = list_images(db, order)

        answer = open_one(alice, order, PHOTO, images=str(image.id))
        said = alice.follow(answer)

        issue = only_issue(database)
        assert (issue.order_id, issue.image_ids) == (order, [image.id])
        assert (issue.kind, issue.detail) == (IssueKind.DAMAGED_ORDER, "A corner is bent.")
        for words in ("The issue was opened.", "A corner is bent.", f"Image {image.id}", "Open"):
            assert words in said
        with database.reading() as db:
            [photo] = list_photos(db, issue)
            [entry] = list_audit(db, limit=10)
            kinds = db.execute(select(jobs.c.kind)).scalars().all()
        assert JobKind.REMOVE_FILES not in kinds
        assert (photo.width, photo.height) == (400, 300)
        assert (entry.action, entry.subject) == ("open-issue", f"issue {issue.id}")
        seen = alice.open(f"/issues/{issue.id}/photos/{photo.id}")
        # Drawn anew: what came was a PNG.
        assert measure_jpeg(seen.body) == (400, 300)
        assert seen.body == open_files(settings).read(photo.file)
        assert seen.headers["content-type"] == "image/jpeg"
        assert seen.headers["cache-control"].startswith("private")
        assert seen.headers["content-security-policy"] == "default-src 'none'; sandbox"

    def test_a_large_photograph_is_kept_smaller(self, alice: Window, database: Database) -> None:
        order = order_something(database, alice)
        alice.follow(open_one(alice, order, ("photos", "large.png", a_png(4000, 3000))))

        page = alice.open(f"/issues/{only_issue(database).id}").body.decode()
        [address] = set(re.findall(r'src="(/issues/\d+/photos/\d+)"', page))

        assert measure_jpeg(alice.open(address).body) == (1800, 1350)

    def test_what_is_no_picture_is_refused_and_nothing_stays(
        self, alice: Window, database: Database, settings: Settings
    ) -> None:
        order = order_something(database, alice)
        script = ("photos", f"{HOSTILE}.jpg", b"<script>alert(1)</script>")

        answer = open_one(alice, order, PHOTO, script, detail=f"Bent. {HOSTILE}")

        assert answer.status == 400
        assert HOSTILE not in answer.body.decode()
        assert f"Bent. {HOSTILE}" in html.unescape(answer.body.decode())
        assert "cannot be used. The file is not a picture" in words_of(answer)
        assert count_issues(database) == 0
        # The one that was drawn before goes by a promise that was made before it.
        [kept] = open_files(settings).keys("photos")
        with database.reading() as db:
            [job] = db.execute(select(jobs).where(jobs.c.kind == JobKind.REMOVE_FILES)).all()
        assert kept in job.args["files"]
        assert job.state == JobState.SCHEDULED

    def test_six_photographs_are_too_many(self, alice: Window, database: Database) -> None:
        order = order_something(database, alice)
        answer = open_one(alice, order, *[PHOTO] * 6)
        assert answer.status == 400
        assert "Choose at most 5 photos; 6 came." in words_of(answer)
        assert count_issues(database) == 0

    def test_what_is_missing_or_wrong_is_said(self, alice: Window, database: Database) -> None:
        order = order_something(database, alice)
        wrong: list[tuple[dict[str, str], str]] = [
            ({"kind": ""}, "Choose what is wrong."),
            ({"action": "Revenge"}, "Choose what should be done about it."),
            ({"kind": "Unspecified", "detail": ""}, "Describe what happened."),
            ({"action": "Other"}, "Describe what should be done about it."),
            ({"detail": "x" * 2001}, "“Details” can have at most 2000 characters."),
            ({"action_detail": "x" * 2001}, "“More about your request” can have at most"),
            ({"images": "987654321"}, "no image of this order"),
            ({"more_images": "1, two"}, "Enter the numbers of images"),
        ]
        for fields, reason in wrong:
            answer = open_one(alice, order, **fields)
            assert answer.status == 400, fields
            assert reason in words_of(answer)
        assert count_issues(database) == 0

    def test_everything_may_be_wrong_with_a_draft(self, alice: Window, database: Database) -> None:
        with database.writing() as db:
            draft = a_draft(db, merchant_of(db, alice)).id

        page = alice.open(f"/issues/new?order={draft}").body.decode()
        open_one(alice, draft)

        assert re.findall(r'<option value="(\w+)"', page) == list(IssueKind)
        assert count_issues(database) == 1

    def test_the_order_is_asked_for_and_must_be_ones_own(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order = order_something(database, alice, recipient_name=HOSTILE)

        page = alice.open("/issues/new")
        theirs = bob.open(f"/issues/new?order={order}")

        assert f'href="/issues/new?order={order}"' in page.body.decode()
        assert HOSTILE not in page.body.decode()
        assert theirs.status == bob.open("/issues/new?order=99999").status == 404
        assert "You have no order with this number." in words_of(theirs)
        assert alice.open("/issues/new?order=no").status == 404

    def test_an_order_with_very_many_images_names_the_others(
        self, alice: Window, database: Database
    ) -> None:
        order = order_something(database, alice, images=40)
        with database.reading() as db:
            last = list_images(db, order)[-1].id

        page = alice.open(f"/issues/new?order={order}")
        alice.follow(open_one(alice, order, more_images=f"{last}, {last}"))

        assert page.body.decode().count('type="checkbox"') == 36
        assert "The order has 40 images" in words_of(page)
        assert only_issue(database).image_ids == [last]


class TestOneIssue:
    @pytest.mark.both_databases
    def test_more_is_said_and_shown(self, alice: Window, database: Database) -> None:
        issue = complain_about(database, alice)
        address = f"/issues/{issue.id}"

        said = alice.follow(alice.upload(address, "answer-issue", [], comment=f"Well? {HOSTILE}"))
        shown = alice.follow(alice.upload(address, "answer-issue", [PHOTO, PHOTO]))
        nothing = alice.upload(address, "answer-issue", [])
        refused = alice.upload(address, "answer-issue", [PHOTO] * 4)

        assert f"You said 15 Nov 2026, 12:00 Well? {HOSTILE}" in said
        assert HOSTILE not in alice.open(address).body.decode()
        assert "Here are 2 photos." in shown
        assert (nothing.status, refused.status) == (400, 400)
        assert "Write something, or choose a photo." in words_of(nothing)
        assert "has 2 photos already" in words_of(refused)
        with database.reading() as db:
            assert len(list_photos(db, issue)) == 2
            assert [entry.action for entry in list_audit(db, limit=10)] == ["answer-issue"] * 2

    @pytest.mark.both_databases
    def test_it_is_cancelled_once(self, alice: Window, database: Database) -> None:
        issue = complain_about(database, alice)
        address = f"/issues/{issue.id}"

        said = alice.follow(alice.do(address, "cancel-issue", reason="It came after all."))
        again = alice.do(address, "cancel-issue")

        assert "You cancelled the issue 15 Nov 2026, 12:00 It came after all." in said
        assert "Cancel it" not in said
        assert again.status == 400
        assert only_issue(database).state is IssueState.CANCELLED
        with database.reading() as db:
            [entry] = list_audit(db, limit=10)
        assert (entry.action, entry.subject) == ("cancel-issue", f"issue {issue.id}")

    def test_a_reprint_is_one_click_away(self, alice: Window, database: Database) -> None:
        issue = complain_about(database, alice)
        address = f"/issues/{issue.id}"
        [etag] = re.findall(r'hx-get="[^"]*seen=([^"&]+)"', alice.open(address).body.decode())
        look = f"{address}?seen={etag}"
        assert alice.open(look, HX_Request="true").status == 204

        with database.writing() as db:
            order = reprint(db, issue).reprint_order_id
        page = alice.open(look, HX_Request="true")

        assert page.status == 200
        assert f'<a href="/orders/{order}">order {order}</a>' in page.body.decode()
        assert "We resolved the issue" in words_of(page)
        assert "Sorry." in words_of(page)

    def test_a_refund_leads_to_the_statement(self, alice: Window, database: Database) -> None:
        issue = complain_about(database, alice)
        with database.writing() as db:
            refund_issue(a_system_work(db, now=NOON), issue.id, 150, comment="Sorry.")

        page = alice.open(f"/issues/{issue.id}")

        assert "£1.50 refunded to your balance" in words_of(page)
        assert 'href="/account?month=2026-11"' in page.body.decode()
        assert f"issue {issue.id} of order" in alice.words("/account?month=2026-11")

    def test_somebody_elses_is_not_there(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order = order_something(database, alice)
        alice.follow(open_one(alice, order, PHOTO))
        issue, of_bob = only_issue(database), complain_about(database, bob)
        with database.reading() as db:
            [photo] = list_photos(db, issue)
        token = bob.token("/settings")

        assert bob.open(f"/issues/{issue.id}").status == 404
        assert bob.open(f"/issues/{issue.id}/photos/{photo.id}").status == 404
        assert bob.open(f"/issues/{of_bob.id}/photos/{photo.id}").status == 404
        for form_action in ("answer-issue", "cancel-issue"):
            sent = {"form_token": token, "do": form_action, "comment": "Mine."}
            assert bob.send(f"/issues/{issue.id}", sent).status == 404
        sent = {"form_token": token, "do": "open-issue", "kind": "LostInPost", "action": "Refund"}
        assert bob.send(f"/issues/new?order={order}", sent).status == 404
        assert str(issue.id) not in re.findall(
            r'href="/issues/(\d+)"', bob.open("/issues").body.decode()
        )


@pytest.mark.both_databases
class TestList:
    def test_those_that_wait_come_first(self, alice: Window, database: Database) -> None:
        assert "No issues" in alice.words("/issues")
        old = complain_about(database, alice, kind=IssueKind.LOST_IN_POST)
        new = complain_about(database, alice, kind=IssueKind.SLOW_ARRIVAL)
        alice.do(f"/issues/{new.id}", "cancel-issue")

        said = alice.words("/issues")

        waiting, settled = said.split("Closed", 1)
        assert "Lost in transit" in waiting
        assert f"Issue {old.id}" in waiting
        assert "Arrived late" in settled
        assert "Cancelled" in settled

    def test_a_long_list_goes_on(self, alice: Window, database: Database) -> None:
        with database.writing() as db:
            merchant = merchant_of(db, alice)
            order = submitted(db, merchant)
            ids = [complain(db, merchant, order).id for _ in range(27)]

        page = alice.open("/issues").body.decode()
        [older] = re.findall(r'href="([^"]+)" rel="next"', page)
        rest = alice.open(older.replace("&amp;", "&")).body.decode()

        found = re.findall(r'href="/issues/(\d+)"', page + rest)
        assert [int(number) for number in found] == ids[::-1]


@pytest.mark.both_databases
def test_photographs_go_some_time_after_their_issue_was_settled(
    alice: Window, database: Database
) -> None:
    order = order_something(database, alice)
    alice.follow(open_one(alice, order, PHOTO))
    issue = only_issue(database)
    later = NOON + timedelta(days=1)

    with database.writing() as db:
        assert purge_photos(db, before=later, limit=10) == []
    alice.do(f"/issues/{issue.id}", "cancel-issue")
    with database.writing() as db:
        [photo] = list_photos(db, issue)
        assert purge_photos(db, before=NOON, limit=10) == []
        assert purge_photos(db, before=later, limit=10) == [photo.file]

    assert alice.open(f"/issues/{issue.id}/photos/{photo.id}").status == 404
    assert "No photos yet" in alice.words(f"/issues/{issue.id}")
