"""What all commands have in common, `migrate` and `doctor`."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import text
from typer.main import get_command
from typer.testing import CliRunner

from printworks.cli.app import PLACES, app, load
from printworks.cli.failures import explain
from printworks.store.engine.database import Database
from printworks.store.queue.heartbeats import write_heartbeat
from printworks.store.tables.schema import LATEST
from tests.cli.program import run
from tests.factories import a_heartbeat
from tests.running import find_free_port
from tests.worker.queues import enqueue_one


def _walk(command: Any, words: str = "") -> Iterator[tuple[str, Any]]:
    """Find all commands and groups of commands."""
    yield words, command
    # Only a group has any; what a group is, Typer does not tell.
    for name, part in getattr(command, "commands", {}).items():
        yield from _walk(part, f"{words} {name}".strip())


EVERYTHING: Final = {
    "": get_command(app),
    **{words: found for name in PLACES for words, found in _walk(load(name), name)},
}
COMMANDS: Final = [
    words for words, command in EVERYTHING.items() if not hasattr(command, "commands")
]
# They run until they are stopped, and say what they do in the log, which may be JSON.
WITHOUT_JSON: Final = {"serve", "web", "work"}


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_has_help(words: str) -> None:
    ended = CliRunner().invoke(app, [*words.split(), "--help"])

    assert ended.exit_code == 0
    assert "--data" in ended.output


@pytest.mark.parametrize("words", COMMANDS)
def test_every_command_can_answer_in_json(words: str) -> None:
    options = {option for one in EVERYTHING[words].params for option in one.opts}

    assert ("--json" in options) is (words not in WITHOUT_JSON)


@pytest.mark.parametrize("words", EVERYTHING)
def test_every_word_of_a_command_is_explained(words: str) -> None:
    command = EVERYTHING[words]

    silent = [one.name for one in (command, *command.params) if not getattr(one, "help", None)]

    assert silent == []


def test_help_is_there_without_a_data_folder() -> None:
    ended = run("lab", "dispatch", "--help")

    assert (ended.code, ended.complained) == (0, "")
    assert "Report that a shipment is on its way." in ended.said


@pytest.mark.parametrize("command", ["serve", "web", "work", "migrate"])
def test_a_wrong_setting_stops_the_start_with_one_sentence(command: str, tmp_path: Path) -> None:
    ended = run(command, "--data", tmp_path, port="many")

    assert ended.code == 1
    assert ended.complained == (
        "printworks: PRINTWORKS_PORT must be a whole number from 1 to 65535, not 'many'.\n"
    )


@pytest.mark.parametrize("backend", ["postgresql"])
@pytest.mark.parametrize("command", ["serve", "web", "work"])
def test_an_out_of_date_postgresql_is_refused(
    command: str, blank_database_url: str, tmp_path: Path
) -> None:
    port = str(find_free_port())

    ended = run(command, "--data", tmp_path, database_url=blank_database_url, port=port)

    assert ended.code == 1
    assert "run `printworks migrate`" in ended.complained


@pytest.mark.both_databases
def test_migrate_brings_an_empty_database_up_to_date(
    blank_database_url: str, tmp_path: Path
) -> None:
    first = run("migrate", "--data", tmp_path, database_url=blank_database_url)
    second = run("migrate", "--data", tmp_path, database_url=blank_database_url)
    merchants = run("merchant", "list", "--data", tmp_path, database_url=blank_database_url)

    assert "The database is now at revision" in first.said
    assert "The database was up to date" in second.said
    assert merchants.said == "There is no merchant yet.\n"


# Of a program that has removed what this one needs.
TOO_NEW = "UPDATE alembic_version SET version_num = '9999', serves_from = '9999'"
AS_IT_WAS = f"UPDATE alembic_version SET version_num = '{LATEST}', serves_from = '{LATEST}'"


@pytest.mark.both_databases
def test_a_database_of_a_newer_program_is_refused(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        db.execute(text(TOO_NEW))
    url = database.url.render_as_string(hide_password=False)

    ended = run("merchant", "list", "--data", tmp_path, database_url=url)

    with database.writing() as db:
        db.execute(text(AS_IT_WAS))
    assert ended.code == 1
    assert "install a newer program" in ended.complained


@pytest.mark.both_databases
def test_migrate_does_not_touch_a_database_of_a_newer_program(
    blank_database_url: str, tmp_path: Path
) -> None:
    run("migrate", "--data", tmp_path, database_url=blank_database_url)
    database = Database(blank_database_url)
    with database.writing() as db:
        db.execute(text(TOO_NEW))
    database.close()

    ended = run("migrate", "--data", tmp_path, database_url=blank_database_url)

    assert ended.code == 1
    assert ended.complained == (
        f"printworks: The database is at revision 9999, and this program is of revision {LATEST}; "
        "install a newer program, or restore the backup that was made before the upgrade.\n"
    )


@pytest.mark.parametrize("command", ["merchant list", "migrate", "doctor", "doctor --live"])
@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("postgresql://u:hush@x:port/y", "PRINTWORKS_DATABASE_URL must be an address such as"),
        ("postgresql:///y?host=x&port=some", "The address of the database is wrong: "),
    ],
)
def test_a_mistake_in_the_address_of_the_database_is_one_sentence(
    command: str, url: str, complaint: str, tmp_path: Path
) -> None:
    ended = run(*command.split(), "--data", tmp_path, database_url=url)

    assert ended.code == 1
    assert complaint in ended.said + ended.complained
    assert "Traceback" not in ended.complained
    assert "hush" not in ended.complained


def test_an_outage_that_only_the_driver_knows_is_one_sentence() -> None:
    for error in (psycopg.OperationalError("The server is gone."), psycopg.OperationalError()):
        assert str(explain(error)).startswith("The database cannot be used: ")


def test_a_database_that_nobody_answers_for_is_one_sentence(tmp_path: Path) -> None:
    url = "postgresql://somebody:hush@127.0.0.1:9/printworks"

    ended = run("merchant", "list", "--data", tmp_path, database_url=url)

    assert ended.code == 1
    assert ended.complained.startswith("printworks: The database cannot be used: connection failed")
    assert ended.complained.count("\n") == 1
    assert "hush" not in ended.complained


@pytest.mark.both_databases
def test_the_doctor_finds_a_good_installation_well(database_url: str, tmp_path: Path) -> None:
    ended = run("doctor", "--json", "--data", tmp_path, database_url=database_url)

    verdicts = {finding["check"]: finding["verdict"] for finding in json.loads(ended.said)}
    assert verdicts["database"] == verdicts["schema"] == verdicts["TLS"] == "ok"
    # The PostgreSQL of the tests is quick because it does not wait for the disk.
    assert verdicts["durability"] == ("ok" if database_url.startswith("sqlite") else "FAIL")
    assert ended.code == ("FAIL" in verdicts.values())


@pytest.mark.both_databases
def test_the_doctor_says_when_no_worker_is_alive(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)

    def ask() -> tuple[str, str]:
        ended = run("doctor", "--json", "--data", tmp_path, database_url=database_url)
        (found,) = [each for each in json.loads(ended.said) if each["check"] == "workers"]
        return found["verdict"], found["message"]

    def beat(worker: str, at: datetime) -> None:
        with database.writing() as db:
            write_heartbeat(db, a_heartbeat(worker, at))

    now = datetime.now(UTC)
    assert ask()[0] == "warn"
    enqueue_one(database, now=now - timedelta(hours=1))
    verdict, message = ask()
    assert verdict == "FAIL"
    assert "None is running" in message
    assert "1 jobs are due" in message
    beat("alive", now)
    assert ask() == ("ok", "1 alive.")
    beat("killed", now - timedelta(minutes=2))
    assert ask() == ("warn", "1 alive; stopped without a word: killed. The log says why.")
    database.close()


def test_the_doctor_changes_nothing(tmp_path: Path) -> None:
    data = tmp_path / "nothing"

    ended = run("doctor", "--data", data)

    assert ended.code == 0
    assert "the first start makes it" in ended.said
    assert not data.exists()


@pytest.mark.both_databases
def test_the_doctor_says_what_to_do_about_old_tables(
    blank_database_url: str, tmp_path: Path
) -> None:
    if blank_database_url.startswith("sqlite"):
        Path(blank_database_url.removeprefix("sqlite:///")).touch()

    ended = run("doctor", "--data", tmp_path, database_url=blank_database_url)

    assert ended.code == 1
    assert "FAIL  schema" in ended.said
    assert "run `printworks migrate`" in ended.said


def test_the_doctor_finds_a_certificate_without_its_key(tmp_path: Path) -> None:
    run("merchant", "add", "A shop", "--data", tmp_path)

    ended = run("doctor", "--data", tmp_path, tls_cert="/nowhere.pem", tls_key="/nowhere.key")

    assert ended.code == 1
    assert "FAIL  TLS" in ended.said


def test_the_doctor_reports_a_wrong_setting(tmp_path: Path) -> None:
    ended = run("doctor", "--data", tmp_path, environment="test")

    assert ended.code == 1
    assert ended.said.startswith("FAIL  settings       PRINTWORKS_ENVIRONMENT must be")


@pytest.mark.parametrize(
    ("settings", "check"),
    [
        ({"catalogue": "nowhere"}, "catalogue"),
        ({"lab_folder": "nowhere"}, "labs"),
        (
            {
                "environment": "live",
                "public_url": "https://print.example",
                "payments": "account",
            },
            "environment",
        ),
    ],
)
def test_the_doctor_finds_what_the_service_could_not_work_with(
    tmp_path: Path, settings: dict[str, str], check: str
) -> None:
    assert run("merchant", "add", "Alice", "--data", tmp_path).code == 0

    ended = run("doctor", "--json", "--data", tmp_path, **settings)

    assert ended.code == 1
    failed = [line["check"] for line in json.loads(ended.said) if line["verdict"] == "FAIL"]
    assert failed == [check]
