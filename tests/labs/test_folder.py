"""The hot folder: what appears in it, what the lab's moves mean, and what cannot be trusted."""

import os
import shutil
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from printworks.labs.connector import LabUnavailable
from printworks.labs.documents import JobDocument, LabReport
from printworks.labs.folder import POLLS_WITHOUT_NOTE, FolderLab
from printworks.rules.production import LabState
from tests.files.samples import no_file_larger_than
from tests.labs.samples import a_file, a_job, an_item, files_of, name_of, picture_of

NAME = name_of(7)

Place = Callable[..., Path]


@pytest.fixture
def placed(lab: FolderLab, root: Path, tmp_path: Path) -> Place:
    """Place a job and return its folder."""

    def place(document: JobDocument | None = None) -> Path:
        job = document or a_job()
        lab.place(job, files_of(job, tmp_path / "files"))
        return root / "inbox" / job.name

    return place


def move(folder: Path, to: str) -> Path:
    """Do as the lab does."""
    return folder.rename(folder.parents[1] / to / folder.name)


def look_twice(lab: FolderLab) -> list[LabReport]:
    """Return what is reported once it is believed."""
    list(lab.poll())
    return list(lab.poll())


class TestPlacing:
    def test_a_job_appears_with_all_that_belongs_to_it(self, placed: Place) -> None:
        job = a_job(items=[an_item(501), an_item(502, copies=1)], packing_slip=a_file("slip.pdf"))

        folder = placed(job)

        assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == {
            "job.json",
            "sheet.html",
            "packing-slip.pdf",
            "prints/501-2x.jpg",
            "prints/502-1x.jpg",
        }
        assert (folder / "prints" / "501-2x.jpg").read_bytes() == picture_of("501.jpg")

    def test_the_document_can_be_read_back_and_says_where_the_prints_lie(
        self, placed: Place
    ) -> None:
        job = a_job()

        content = (placed(job) / "job.json").read_bytes()

        assert msgspec.json.decode(content, type=JobDocument) == job
        assert msgspec.json.decode(content)["files"] == {"501.jpg": "prints/501-2x.jpg"}

    @pytest.mark.parametrize("to", ["accepted", "printing", "done", "failed", "archive"])
    def test_a_job_that_the_lab_has_moved_on_is_not_placed_again(
        self, placed: Place, to: str
    ) -> None:
        inbox = placed()
        moved = move(inbox, to)

        placed()

        assert not inbox.exists()
        assert moved.exists()

    def test_only_the_group_can_read_what_is_in_it(self, placed: Place) -> None:
        before = os.umask(0o077)
        try:
            folder = placed()
        finally:
            os.umask(before)

        for path in (folder, folder.parent, *folder.rglob("*")):
            expected = 0o770 if path.is_dir() else 0o660
            assert stat.S_IMODE(path.stat().st_mode) == expected, path

    def test_a_print_that_is_not_the_approved_one_is_kept_back(
        self, lab: FolderLab, root: Path, tmp_path: Path
    ) -> None:
        job = a_job()
        files = files_of(job, tmp_path / "files")
        files["501.jpg"].write_bytes(b"another picture")

        with pytest.raises(LabUnavailable, match="not the one that was approved"):
            lab.place(job, files)

        assert list((root / "inbox").iterdir()) == []
        assert not (root / ".tmp" / NAME).exists()

    def test_many_processes_place_the_same_job_once(self, root: Path, tmp_path: Path) -> None:
        job = a_job()
        files = files_of(job, tmp_path / "files")
        labs = [FolderLab(root, "{image}") for _ in range(8)]
        was_moved = []

        def place(lab: FolderLab) -> None:
            lab.place(job, files)
            # The lab is quick.
            try:
                was_moved.append(move(root / "inbox" / NAME, "done"))
            except FileNotFoundError:
                return

        with ThreadPoolExecutor(8) as pool:
            list(pool.map(place, labs))

        assert len(was_moved) == 1
        assert list((root / "inbox").iterdir()) == []

    def test_what_a_killed_process_left_is_replaced(self, placed: Place, root: Path) -> None:
        left = root / ".tmp" / NAME / "prints" / "501-2x.jpg"
        left.parent.mkdir(parents=True)
        left.write_bytes(b"half a pic")

        folder = placed()

        assert (folder / "prints" / "501-2x.jpg").read_bytes() == picture_of("501.jpg")

    def test_hostile_names_stay_in_the_folder_of_the_job(self, root: Path, tmp_path: Path) -> None:
        lab = FolderLab(root, "{attribute:finish}/{sku}/{image}")
        job = a_job(
            items=[
                an_item(
                    sku="../../..",
                    attributes={"finish": "/etc/../.."},
                    print=a_file("../../../evil.jpg/../x"),
                    thumbnail="/etc/passwd",
                )
            ],
            packing_slip=a_file("../../slip.pdf/"),
        )

        lab.place(job, files_of(job, tmp_path / "files"))

        folder = root / "inbox" / NAME
        assert {path.relative_to(folder).parts[0] for path in folder.rglob("*")} == {
            "etc",
            "job.json",
            "packing-slip.pdf",
            "sheet.html",
        }
        assert {path.name for path in tmp_path.iterdir()} == {"files", "secret.key", "york"}


class TestCancelling:
    def test_a_job_that_nobody_has_touched_disappears(self, lab: FolderLab, placed: Place) -> None:
        folder = placed()

        lab.cancel(NAME)

        assert not folder.exists()
        assert not list((folder.parents[1] / ".tmp").glob("7*"))

    @pytest.mark.parametrize("to", ["accepted", "printing"])
    def test_a_job_that_is_further_gets_a_note(
        self, lab: FolderLab, placed: Place, to: str
    ) -> None:
        folder = move(placed(), to)

        lab.cancel(NAME)
        lab.cancel(NAME)

        assert "do not print" in (folder / "CANCELLED.txt").read_text()

    def test_a_job_that_is_done_is_left_alone(self, lab: FolderLab, placed: Place) -> None:
        folder = move(placed(), "done")

        lab.cancel(NAME)

        assert not (folder / "CANCELLED.txt").exists()

    def test_a_note_is_never_written_through_a_link(
        self, lab: FolderLab, placed: Place, tmp_path: Path
    ) -> None:
        folder = move(placed(), "printing")
        victim = tmp_path / "victim"
        victim.write_text("precious")
        (folder / "CANCELLED.txt").symlink_to(victim)

        with pytest.raises(LabUnavailable):
            lab.cancel(NAME)

        assert victim.read_text() == "precious"


class TestLooking:
    @pytest.mark.parametrize(
        ("to", "state"),
        [("accepted", LabState.ACCEPTED), ("printing", LabState.IN_PRODUCTION)],
    )
    def test_a_move_is_reported_at_once_and_until_it_is_taken(
        self, lab: FolderLab, placed: Place, to: str, state: LabState
    ) -> None:
        move(placed(), to)

        first, second = list(lab.poll()), list(lab.poll())
        lab.acknowledge(first[0])

        assert first == second == [LabReport(job=7, name=NAME, state=state)]
        assert list(lab.poll()) == []

    def test_a_move_after_a_taken_one_is_reported(self, lab: FolderLab, placed: Place) -> None:
        folder = move(placed(), "accepted")
        lab.acknowledge(*lab.poll())

        move(folder, "printing")

        assert [report.state for report in lab.poll()] == [LabState.IN_PRODUCTION]

    def test_what_the_carrier_has_delivered_is_put_back_into_the_archive(
        self, lab: FolderLab, placed: Place, root: Path
    ) -> None:
        folder = placed()
        (folder / "tracking.txt").write_bytes(b"00340")
        move(folder, "done")
        lab.acknowledge(*look_twice(lab))

        move(root / "archive" / NAME, "delivered")
        (report,) = look_twice(lab)
        lab.acknowledge(report)

        assert (report.name, report.state) == (NAME, LabState.DELIVERED)
        assert (root / "archive" / NAME).is_dir()
        assert list(lab.poll()) == []

    @pytest.mark.parametrize(
        ("note", "carrier", "number", "url"),
        [
            (b"LX123456785GB", None, "LX123456785GB", None),
            (b"tracking: LX1 234\n", None, "LX1 234", None),
            (
                b"Carrier: DHL\r\nTracking : 00340\r\nURL: https://dhl.example/?id=00340\r\n",
                "DHL",
                "00340",
                "https://dhl.example/?id=00340",
            ),
            (b"00340\nhttps://dhl.example/00340\n", None, "00340", "https://dhl.example/00340"),
            (b"\xef\xbb\xbf00340", None, "00340", None),
            ("tracking: 00340".encode("utf-16"), None, "00340", None),
            (b"carrier: D\xe9p\xeache\ntracking: 00340", "Dépêche", "00340", None),
            (b"00340\0\x1b[2J", None, None, None),
            (b"sent by post, no number", None, None, None),
            (b"tracking: <script>1</script>", None, None, None),
            (b"url: javascript:alert(1)\ntracking: 00340", None, "00340", None),
            (b"tracking: 1234" + b"5" * 5_000_000, None, None, None),
            (bytes(range(256)), None, None, None),
        ],
    )
    def test_a_note_says_how_the_parcel_travels(
        self,
        lab: FolderLab,
        placed: Place,
        note: bytes,
        carrier: str | None,
        number: str | None,
        url: str | None,
    ) -> None:
        folder = placed()
        (folder / "tracking.txt").write_bytes(note)
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.state is LabState.DISPATCHED
        assert (report.carrier, report.tracking_number, report.tracking_url) == (
            carrier,
            number,
            url,
        )

    def test_a_note_that_is_being_written_is_waited_for(
        self, lab: FolderLab, placed: Place
    ) -> None:
        folder = move(placed(), "done")
        reports = []
        for part in ("", "LX12", "LX123456785GB"):
            (folder / "tracking.txt").write_text(part)
            reports += list(lab.poll())

        reports += list(lab.poll())

        assert [report.tracking_number for report in reports] == ["LX123456785GB"]

    def test_a_folder_that_is_being_copied_is_waited_for(
        self, lab: FolderLab, placed: Place
    ) -> None:
        folder = placed()
        (folder / "tracking.txt").write_text("LX123456785GB")
        copy = folder.parents[1] / "done" / NAME
        shutil.copytree(folder, copy)
        picture = copy / "prints" / "501-2x.jpg"
        whole = picture.read_bytes()
        picture.write_bytes(whole[:10])
        assert list(lab.poll()) == []

        picture.write_bytes(whole)

        assert list(lab.poll()) == []
        (report,) = lab.poll()
        assert report.printed == {"501.jpg": a_file("501.jpg").sha256}

    def test_a_tracked_parcel_without_a_note_is_waited_for_but_not_for_ever(
        self, lab: FolderLab, placed: Place
    ) -> None:
        move(placed(), "done")

        looks = [list(lab.poll()) for _ in range(POLLS_WITHOUT_NOTE)]

        assert [len(reports) for reports in looks] == [0] * (POLLS_WITHOUT_NOTE - 1) + [1]
        assert looks[-1][0].tracking_number is None

    def test_a_parcel_that_is_not_tracked_needs_no_note(
        self, lab: FolderLab, placed: Place
    ) -> None:
        move(placed(a_job(is_tracked=False)), "done")

        assert [report.state for report in look_twice(lab)] == [LabState.DISPATCHED]

    @pytest.mark.parametrize(
        ("note", "state"),
        [
            ("The paper jammed.\n", LabState.FAILED),
            ("Reject: no such paper here", LabState.REJECTED),
            ("rejected\nno paper", LabState.REJECTED),
            ("We do not reject this", LabState.FAILED),
        ],
    )
    def test_a_failed_job_has_a_reason(
        self, lab: FolderLab, placed: Place, note: str, state: LabState
    ) -> None:
        folder = move(placed(), "failed")
        (folder / "reason.txt").write_text(note)

        (report,) = look_twice(lab)

        assert report == LabReport(job=7, name=NAME, state=state, reason=" ".join(note.split()))

    def test_a_failed_job_without_a_reason_is_reported_after_a_while(
        self, lab: FolderLab, placed: Place
    ) -> None:
        move(placed(), "failed")

        looks = [list(lab.poll()) for _ in range(POLLS_WITHOUT_NOTE)]

        assert looks[-1] == [
            LabReport(job=7, name=NAME, state=LabState.FAILED, reason="The lab gave no reason.")
        ]

    def test_a_long_reason_is_cut(self, lab: FolderLab, placed: Place) -> None:
        folder = move(placed(), "failed")
        (folder / "reason.txt").write_text("jam " * 100_000)

        (report,) = look_twice(lab)

        assert len(report.reason or "") == 500

    @pytest.mark.parametrize(
        "name", ["07", "7 - Copy", "7.zip", "-7", "\u0667", "9" * 20, "Thumbs.db"]
    )
    def test_other_names_are_not_jobs(self, lab: FolderLab, placed: Place, name: str) -> None:
        folder = placed()
        folder.rename(folder.parents[1] / "printing" / name)

        assert list(lab.poll()) == []

    def test_a_folder_that_cannot_be_read_hides_no_other(
        self, lab: FolderLab, placed: Place
    ) -> None:
        broken = move(placed(a_job(1, is_tracked=False)), "done")
        move(placed(a_job(2, is_tracked=False)), "done")
        for name in ("job.json", "tracking.txt"):
            (broken / name).unlink(missing_ok=True)
            (broken / name).mkdir()

        assert {report.job for report in look_twice(lab)} == {1, 2}


class TestWhatWasPrinted:
    def test_what_lies_there_is_hashed(self, lab: FolderLab, placed: Place) -> None:
        folder = placed(a_job(is_tracked=False, items=[an_item(501), an_item(502)]))
        (folder / "prints" / "501-2x.jpg").write_bytes(picture_of("another"))
        (folder / "prints" / "502-2x.jpg").unlink()
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.printed == {"501.jpg": a_file("another").sha256}

    @pytest.mark.parametrize("key", ["501.jpg", "prints/501-2x.jpg"])
    def test_what_the_lab_says_comes_first(self, lab: FolderLab, placed: Place, key: str) -> None:
        folder = placed(a_job(is_tracked=False))
        (folder / "printed.json").write_bytes(msgspec.json.encode({key: "AB" * 32, "x": "y"}))
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.printed == {"501.jpg": "ab" * 32}

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"{",
            b"[]",
            b'{"a": 1}',
            b"\xff",
            b'{"a": "\xff"}',
            b'{"a": "\\ud800x"}',
            b'{"a":' + b"[" * 99_999,
        ],
    )
    def test_what_cannot_be_understood_was_not_said(
        self, lab: FolderLab, placed: Place, content: bytes
    ) -> None:
        folder = placed(a_job(is_tracked=False))
        (folder / "printed.json").write_bytes(content)
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.printed == {"501.jpg": a_file("501.jpg").sha256}

    @pytest.mark.parametrize(
        "place",
        ["../../../secret", "/etc/passwd", "prints/../../../../secret", "", ".", "a\0b", "x" * 300],
    )
    def test_a_changed_job_file_leads_nowhere_else(
        self, lab: FolderLab, placed: Place, root: Path, place: str
    ) -> None:
        (root.parent / "secret").write_text("secret")
        folder = placed(a_job(is_tracked=False))
        (folder / "job.json").write_bytes(msgspec.json.encode({"files": {"501.jpg": place}}))
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.printed == {}


class TestLinks:
    """A lab can write into its folder, and must not read the rest of our disk through us."""

    def test_a_job_that_is_a_link_is_no_job(
        self, lab: FolderLab, placed: Place, tmp_path: Path
    ) -> None:
        folder = placed(a_job(is_tracked=False))
        elsewhere = folder.rename(tmp_path / "elsewhere")
        (folder.parents[1] / "done" / NAME).symlink_to(elsewhere)

        assert look_twice(lab) == []

    @pytest.mark.parametrize("name", ["tracking.txt", "prints/501-2x.jpg", "prints", "job.json"])
    def test_a_file_that_is_a_link_is_not_there(
        self, lab: FolderLab, placed: Place, tmp_path: Path, name: str
    ) -> None:
        folder = placed(a_job(is_tracked=False))
        (folder / "tracking.txt").write_text("00340")
        moved = (folder / name).rename(tmp_path / "moved")
        (folder / name).symlink_to(moved)
        move(folder, "done")

        (report,) = look_twice(lab)

        assert (report.tracking_number is None) == (name == "tracking.txt")
        assert (report.printed == {}) == (name != "tracking.txt")

    def test_a_pipe_holds_nobody_up(self, lab: FolderLab, placed: Place) -> None:
        folder = placed(a_job(is_tracked=False))
        os.mkfifo(folder / "tracking.txt")
        move(folder, "done")

        (report,) = look_twice(lab)

        assert report.tracking_number is None

    @pytest.mark.parametrize("name", ["inbox", "done", ".tmp"])
    def test_one_of_our_folders_that_became_a_link_is_refused(
        self, lab: FolderLab, placed: Place, root: Path, tmp_path: Path, name: str
    ) -> None:
        placed()
        (root / name).rename(tmp_path / "moved")
        (root / name).symlink_to(tmp_path / "moved")

        with pytest.raises(LabUnavailable, match="is not a folder; is its disk mounted"):
            list(lab.poll())


class TestTaking:
    @pytest.mark.parametrize("to", ["done", "failed"])
    def test_a_finished_job_is_archived(self, lab: FolderLab, placed: Place, to: str) -> None:
        folder = placed(a_job(is_tracked=False))
        (folder / "reason.txt").write_text("jam")
        finished = move(folder, to)
        (report,) = look_twice(lab)

        lab.acknowledge(report)
        lab.acknowledge(report)

        assert not finished.exists()
        assert (folder.parents[1] / "archive" / NAME / "job.json").exists()
        assert look_twice(lab) == []

    def test_a_job_that_came_twice_is_archived_twice(
        self, lab: FolderLab, placed: Place, root: Path
    ) -> None:
        folder = placed(a_job(is_tracked=False))
        shutil.copytree(folder, root / "archive" / NAME)
        move(folder, "done")

        lab.acknowledge(*look_twice(lab))

        assert {path.name for path in (root / "archive").iterdir()} == {NAME, f"{NAME}-2"}

    def test_a_report_that_was_not_taken_is_repeated_by_the_next_process(
        self, lab: FolderLab, placed: Place, root: Path
    ) -> None:
        move(placed(a_job(is_tracked=False)), "done")

        reports = look_twice(lab), look_twice(FolderLab(root, "{image}"))

        assert reports[0] == reports[1]
        assert len(reports[0]) == 1

    def test_what_is_not_of_a_folder_is_nothing_to_take(self, lab: FolderLab) -> None:
        lab.acknowledge(LabReport(job=7, name=NAME, state=LabState.CANCELLED))
        lab.acknowledge(LabReport(job=404, name=name_of(404), state=LabState.DISPATCHED))


class TestTheDisk:
    def test_a_job_for_which_there_is_no_room_leaves_nothing(
        self, lab: FolderLab, root: Path, tmp_path: Path
    ) -> None:
        job = a_job()
        files = files_of(job, tmp_path / "files")

        with no_file_larger_than(1_000), pytest.raises(LabUnavailable, match="too large"):
            lab.place(job, files)

        assert list((root / "inbox").iterdir()) == []
        assert not (root / ".tmp" / NAME).exists()
        lab.place(job, files)
        assert (root / "inbox" / NAME).exists()

    def test_a_share_that_is_not_there_is_not_made(self, tmp_path: Path) -> None:
        lab = FolderLab(tmp_path / "share" / "york", "{image}")

        with pytest.raises(LabUnavailable, match=r"cannot be used: .*No such file"):
            list(lab.poll())

        assert not (tmp_path / "share").exists()

    def test_a_disk_that_goes_away_is_no_silence(
        self, lab: FolderLab, placed: Place, root: Path
    ) -> None:
        placed()
        root.rename(root.with_name("away"))
        root.mkdir()

        with pytest.raises(LabUnavailable, match="is its disk mounted"):
            list(lab.poll())
        with pytest.raises(LabUnavailable):
            lab.cancel(NAME)
        assert list(root.iterdir()) == []

    def test_the_repr_says_where_it_is(self, lab: FolderLab, root: Path) -> None:
        assert repr(lab) == f"FolderLab({str(root)!r})"
