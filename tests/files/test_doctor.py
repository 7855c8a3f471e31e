"""`printworks doctor` tries the store of files."""

from collections.abc import Mapping
from pathlib import Path

from printworks.files import open_files
from printworks.settings import Settings
from tests.cli.program import run
from tests.running import find_free_port


def test_the_doctor_writes_and_reads_a_file_and_leaves_none(
    environ: Mapping[str, str], data: Path
) -> None:
    files = open_files(Settings.load(data, environ))
    named = {name.removeprefix("PRINTWORKS_").lower(): value for name, value in environ.items()}

    ended = run("doctor", "--data", data, **named)

    assert "ok    files" in ended.said
    assert list(files.keys()) == []


def test_the_doctor_says_why_no_file_can_be_kept(data: Path) -> None:
    data.mkdir()
    endpoint = f"http://127.0.0.1:{find_free_port()}"

    ended = run(
        "doctor",
        "--data",
        data,
        files="s3://pictures",
        s3_endpoint=endpoint,
        s3_access_key_id="somebody",
        s3_secret_access_key="hush",
    )

    assert ended.code == 1
    assert "FAIL  files" in ended.said
    assert "it cannot be reached." in ended.said
    assert "hush" not in ended.said


def test_the_doctor_makes_no_folder_of_its_own(data: Path) -> None:
    ended = run("doctor", "--data", data)

    assert ended.code == 0
    assert "warn  files" in ended.said
    assert not data.exists()
