"""`backup`, `restore`, `verify`, `copy` and `quarantine`, as operators type them."""

import io
import json
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console
from rich.progress import Progress

from printworks.cli.backup import write_size
from printworks.cli.progress import ProgressBars, showing_progress
from printworks.vault import read_keys
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import KEY_FILE

pytestmark = pytest.mark.slow


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder of an installation with a merchant."""
    assert run("merchant", "add", "Alice", "--data", tmp_path).code == 0
    return tmp_path


@pytest.fixture
def there(tmp_path: Path) -> Path:
    """An empty data folder, with the key of the secrets."""
    folder = tmp_path / "there"
    folder.mkdir()
    shutil.copy(KEY_FILE, folder / "secret.key")
    return folder


def test_a_backup_is_taken_and_restored(data: Path, there: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"

    taken = run("backup", place, "--data", data)
    restored = run("restore", place, "--data", there)

    assert taken.code == 0, taken.complained
    assert "rows, 0 files with 0 bytes, of which 0 with 0 bytes are new." in taken.said
    assert "The key of the secrets is NOT in it" in taken.complained
    assert restored.code == 0, restored.complained
    assert "The service is in quarantine: it answers, but nothing leaves it." in restored.said
    assert "Alice" in run("merchant", "list", "--data", there).said
    again = run("restore", place, "--data", there)
    assert again.code == 1
    assert "This installation is not empty" in again.complained


def test_a_damaged_backup_is_named_by_the_next(data: Path, tmp_path: Path) -> None:
    place = tmp_path / "backups"
    assert run("backup", place, "--data", data).code == 0
    [manifest] = place.rglob("manifest.json")
    manifest.write_text("rust")

    taken = run("backup", place, "--keep", "2", "--data", data)
    said = f"manifest.json of the backup {manifest.parent.name} cannot be read."

    assert taken.code == 0
    assert taken.complained.count(said) == 1
    as_json = run("backup", place, "--keep", "3", "--data", data, "--json")
    assert json.loads(as_json.said)["unreadable"] == [said]


def test_the_key_is_part_of_it_if_it_was_asked_for(data: Path, tmp_path: Path) -> None:
    place, there = tmp_path / "backups", tmp_path / "bare"

    taken = run("backup", place, "--with-key", "--data", data)
    restored = run("restore", place, "--data", there)

    assert "NOT in it" not in taken.complained
    assert restored.code == 0, restored.complained
    assert read_keys(there / "secret.key") == read_keys(KEY_FILE)


def test_a_place_without_a_backup_is_refused(data: Path, there: Path, tmp_path: Path) -> None:
    nowhere = run("restore", tmp_path / "nowhere", "--data", there)
    (tmp_path / "empty").mkdir()
    empty = run("restore", tmp_path / "empty", "--data", there)
    strange = run("restore", tmp_path / "empty", "--backup", "../x", "--data", there)

    assert nowhere.code == empty.code == strange.code == 1
    assert "is not a folder; is its disk mounted?" in nowhere.complained
    assert "There is no whole backup in" in empty.complained
    assert "There is no whole backup '../x'" in strange.complained


@pytest.mark.both_databases
def test_missing_files_are_named_and_fail(keeper: Operator, tmp_path: Path) -> None:
    keeper.submits_an_order()

    verified = keeper.asks("verify", "--quick")
    taken = keeper.asks("backup", str(tmp_path / "backups"))
    as_json = keeper.asks("verify", "--json")

    assert (verified.code, taken.code, as_json.code) == (1, 1, 1)
    assert "proofs/1/preview.jpg is missing." in verified.said
    assert "NOT everything is whole" in verified.said
    assert "missing   proofs/1/preview.jpg" in taken.said
    assert "printworks verify" in taken.complained
    found = json.loads(as_json.said)
    assert not found["isWhole"]
    assert found["faults"][0] == {"key": "proofs/1/preview.jpg", "fault": "is missing"}


def test_what_nothing_refers_to_is_no_fault(data: Path) -> None:
    stray = data / "files" / "proofs" / "abc"
    stray.mkdir(parents=True)
    (stray / "7_preview.jpg").write_text("a picture")

    verified = run("verify", "--data", data)

    assert verified.code == 0
    assert "everything is whole" in verified.said
    assert "Nothing refers to 1 files, such as proofs/7/preview.jpg." in verified.complained


@pytest.mark.both_databases
def test_a_quarantine_is_begun_shown_and_ended(keeper: Operator) -> None:
    order, shipment = keeper.submits_an_order()
    off = keeper.asks("quarantine", "show")
    begun = keeper.asks("quarantine", "begin")

    shown = keeper.asks("quarantine", "show")
    as_json = keeper.reads("quarantine", "show")
    unsure = keeper.asks("quarantine", "end")
    without_yes = keeper.asks("quarantine", "end", "--json")
    ended = keeper.asks("quarantine", "end", "--yes")

    assert off.said == "The service is not in quarantine.\n"
    assert begun.code == 0
    assert "Lab jobs that may have been sent to their labs (1):" in shown.said
    assert f"order {order.id}" in shown.said
    assert as_json["doubts"][0]["rows"][0]["subject"] == str(shipment.id)
    assert (unsure.code, without_yes.code, ended.code) == (1, 1, 0)
    assert "--yes" in without_yes.complained
    assert keeper.reads("quarantine", "show") == {"isOn": False}
    assert keeper.asks("quarantine", "end", "--yes").code == 1


@pytest.mark.both_databases
def test_jobs_that_labs_have_and_nobody_knows_are_listed(keeper: Operator, tmp_path: Path) -> None:
    (tmp_path / "labs").mkdir()
    settings = {"environment": "sandbox", "lab_folder": str(tmp_path / "labs")}
    _, shipment = keeper.submits_an_order()
    for file in keeper.catalogue.glob("*.toml"):
        with_folders = re.sub(
            '(?m)^(code = "(?:hill|dale)")$', r'\1\nconnector = "folder"', file.read_text()
        )
        file.write_text(with_folders)
    lab = tmp_path / "labs" / shipment.lab
    for name in (shipment.job_name, f"{shipment.id}-aaaaaaaaaa", "0-x"):
        (lab / "done" / name).mkdir(parents=True)

    listed = keeper.asks("lab", "strays", **settings)
    keeper.asks("quarantine", "begin", **settings)
    shown = keeper.asks("quarantine", "show", **settings)

    assert f"{shipment.id}-aaaaaaaaaa" in listed.said
    assert shipment.job_name not in listed.said
    assert "Jobs at labs of which nothing is known here (1):" in shown.said


def test_everything_is_copied(data: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'other.db'}"

    nowhere = run("copy", "--data", data)
    copied = run("copy", "--to", url, "--files", tmp_path / "other", "--data", data)
    listed = run("merchant", "list", "--data", data, database_url=url)

    assert nowhere.code == 2
    assert "Say where to" in nowhere.complained
    assert copied.code == 0, copied.complained
    assert re.search(r"rows of \d\d tables are the same in both databases\.", copied.said)
    assert "0 files with 0 bytes are the same" in copied.said
    assert "Alice" in listed.said
    assert '"cause":"moved"' in run("quarantine", "show", "--json", "--data", data).said
    files = run("copy", "--files", tmp_path / "third", "--json", "--data", data)
    assert json.loads(files.said)["tables"] is None


@pytest.mark.parametrize("url", ["elsewhere", "mysql://u:hush@x/y", "postgresql://u:hush@x:port/y"])
def test_a_target_that_is_no_database_is_refused(data: Path, url: str) -> None:
    ended = run("copy", "--to", url, "--data", data)

    assert ended.code == 1
    assert ended.complained.startswith("printworks: The target must be an address such as")
    assert "hush" not in ended.complained


def test_the_target_of_a_copy_may_be_a_variable(data: Path, tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'other.db'}"

    copied = run("copy", "--data", data, copy_to=url)

    assert copied.code == 0, copied.complained
    assert "Alice" in run("merchant", "list", "--data", data, database_url=url).said


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1500, "1.5 kB"),
        (2_000_000, "2.0 MB"),
        (10**16, "10,000.0 TB"),
    ],
)
def test_sizes_are_written_as_people_do(size: int, text: str) -> None:
    assert write_size(size) == text


def test_a_bar_is_shown_to_people_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    with Progress(console=Console(file=shown, force_terminal=True)) as bars:
        progress = ProgressBars(bars)
        progress.advance()
        progress.begin("rows")
        progress.advance(5)
        progress.begin("files", 2)
        progress.advance()
    assert "rows" in shown.getvalue()
    assert "files" in shown.getvalue()

    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with showing_progress(is_json=True) as nothing:
        nothing.begin("rows", 5)
        nothing.advance()
    with showing_progress(is_json=False) as something:
        something.begin("rows", 5)
        assert isinstance(something, ProgressBars)


def test_the_doctor_says_that_nothing_goes_out(data: Path) -> None:
    well = run("doctor", "--data", data)
    run("quarantine", "begin", "--data", data)

    ended = run("doctor", "--data", data)

    assert "quarantine" not in well.said
    assert "warn  quarantine     Nothing has left the service since" in ended.said
