"""No secret of the settings is ever written: into no log, no traceback and no message.

Each secret is a canary, and everything that can fail is made to fail.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import pytest

from printworks import redaction
from printworks.redaction import MASK, RedactedStream, hide_secrets, redact, redact_bytes
from printworks.settings import SETTINGS, Settings
from tests.cli.program import run
from tests.commands import make_environment
from tests.programs import start
from tests.running import find_free_port
from tests.worker.hosts import wait_until

# What a secret has to look like to be taken; whatever is not named here can be any text.
FORMS: Final[Mapping[str, str]] = {
    "database_url": "postgresql://somebody:{}%20with%2Fmore@127.0.0.1:{port}/none",
    "stripe_secret_key": "sk_test_{}",
    "stripe_webhook_secret": "whsec_{}",
    "watchdog_url": "https://watchdog.example/{}",
}
# What some need beside them.
BESIDE: Final = {
    "PRINTWORKS_FILES": "s3://bucket",
    "PRINTWORKS_S3_ACCESS_KEY_ID": "somebody",
    "PRINTWORKS_PAYMENTS": "stripe",
    "PRINTWORKS_SMTP_HOST": "127.0.0.1",
    "PRINTWORKS_SMTP_USER": "somebody",
    "PRINTWORKS_MAIL_FROM": "prints@print.example",
}
SECRETS: Final = [name for name, setting in SETTINGS.items() if setting.is_secret]
# What a service that runs has said.
AT_WORK: Final = ("Ctrl-C stops it.", "purge-requests")


def name_canary(setting: str) -> str:
    """Return what must not be found anywhere."""
    return f"canary-{setting.replace('_', '-')}"


def set_canaries() -> dict[str, str]:
    """Set every secret to one that would be noticed; nothing answers at any address."""
    port = find_free_port()
    nowhere = f"http://127.0.0.1:{port}"
    secrets = {
        f"PRINTWORKS_{name.upper()}": FORMS.get(name, "{}").format(name_canary(name), port=port)
        for name in SECRETS
    }
    return {
        **secrets,
        **BESIDE,
        "PRINTWORKS_S3_ENDPOINT": nowhere,
        "PRINTWORKS_STRIPE_URL": nowhere,
        "PRINTWORKS_SMTP_PORT": str(port),
    }


@pytest.fixture(autouse=True)
def _no_secrets_afterwards() -> Iterator[None]:
    """Hide nothing in the tests that follow."""
    stderr = sys.stderr
    yield
    hide_secrets([])
    sys.stderr = stderr


def test_every_secret_that_is_set_is_hidden(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, set_canaries())

    hide_secrets(settings.secret_texts)

    for name in SECRETS:
        value = str(getattr(settings, name))
        for written in (value, json.dumps(value), f"failed for {value!r}"):
            assert name_canary(name) not in redact(written)
            assert name_canary(name).encode() not in redact_bytes(written.encode())
    password = "canary-database-url with/more"
    assert redact(f"wrong password {password}") == f"wrong password {MASK}"
    assert redact('{"password": "canary-database-url%20with%2Fmore"}') == (
        f'{{"password": "{MASK}"}}'
    )


def test_the_path_of_a_database_file_is_no_secret(tmp_path: Path) -> None:
    settings = Settings.load(tmp_path, {})

    assert settings.secret_texts == ()


def test_a_short_password_is_hidden_where_it_stands_in_an_address(tmp_path: Path) -> None:
    given = {"PRINTWORKS_DATABASE_URL": "postgresql://me:pwd1@db.example/name"}
    hide_secrets(Settings.load(tmp_path, given).secret_texts)

    assert "pwd1" not in redact("cannot connect to postgresql+psycopg://me:pwd1@db.example/name")
    assert redact("pwd1") == "pwd1"


def test_what_looks_different_in_json_is_hidden_there_too() -> None:
    hide_secrets(['quoted "secret" \\ text'])

    assert redact(json.dumps({"said": 'quoted "secret" \\ text'})) == '{"said": "' + MASK + '"}'


def test_standard_error_is_wrapped_once_and_only_if_there_is_a_secret() -> None:
    before = sys.stderr
    hide_secrets([])
    assert sys.stderr is before
    hide_secrets(["a long secret"])
    hide_secrets(["another secret"])

    assert isinstance(sys.stderr, RedactedStream)
    assert sys.stderr._stream is before
    assert redaction._texts


# Errors with every secret in their text, raised in every place where Python itself, a library or
# the program may write them down.
FAIL_EVERYWHERE: Final = """
import asyncio, logging, multiprocessing, os, sys, threading, warnings
from pathlib import Path
import structlog
from printworks import log
from printworks.settings import SETTINGS, Settings

settings = Settings.load(Path(sys.argv[1]), os.environ)
log.configure(settings)
text = " ".join(str(getattr(settings, name)) for name in SETTINGS if SETTINGS[name].is_secret)

def fail():
    raise RuntimeError(text)

async def fail_later():
    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0)

try:
    fail()
except RuntimeError as error:
    structlog.get_logger().exception("failed", error=str(error), settings=settings)
    logging.getLogger("library").exception("failed %s", error)
thread = threading.Thread(target=fail)
thread.start()
# A child that is forked meanwhile may wait for what the thread holds, for ever.
thread.join()
child = multiprocessing.get_context("fork").Process(target=fail)
child.start()
child.join()
asyncio.run(fail_later())
warnings.warn(text)
fail()
"""


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_traceback_has_a_secret_wherever_something_fails(tmp_path: Path, form: str) -> None:
    environment = make_environment({**set_canaries(), "PRINTWORKS_LOG_FORMAT": form})
    ended = subprocess.run(
        [sys.executable, "-c", FAIL_EVERYWHERE, tmp_path],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )

    said = ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert said.count(MASK) >= 6 * len(SECRETS)
    assert [name for name in SECRETS if name_canary(name) in said] == []


@pytest.mark.parametrize("command", ["serve", "web", "work", "migrate"])
def test_no_process_that_cannot_start_says_a_secret(tmp_path: Path, command: str) -> None:
    settings = {**set_canaries(), "PRINTWORKS_LOG_LEVEL": "debug"}
    ended = run(command, "--data", tmp_path / "data", **_names(settings))

    assert ended.code == 1
    assert ended.complained.startswith("printworks: The database cannot be used")
    assert "canary" not in ended.said + ended.complained


def test_the_doctor_says_no_secret(tmp_path: Path) -> None:
    ended = run("doctor", "--data", tmp_path, **_names(set_canaries()))

    assert "FAIL  database" in ended.said
    assert "canary" not in ended.said + ended.complained


@pytest.mark.slow
def test_a_service_whose_files_and_bank_are_away_says_no_secret(tmp_path: Path) -> None:
    settings = {**set_canaries(), "PRINTWORKS_LOG_LEVEL": "debug"}
    del settings["PRINTWORKS_DATABASE_URL"]
    settings["PRINTWORKS_PORT"] = str(find_free_port())
    data = tmp_path / "data"
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = start("serve", "--data", data, env=make_environment(settings), output=output)
    try:
        # Its web process answers, and its worker has done what it does at first.
        wait_until(lambda: all(word in log.read_text() for word in AT_WORK))
    finally:
        process.terminate()
        process.wait(60)

    said = log.read_text()
    assert "canary" not in said
    assert said
    written = [
        path for path in data.rglob("*") if path.is_file() and b"canary" in path.read_bytes()
    ]
    assert written == []


def test_a_secret_that_is_refused_is_not_repeated(tmp_path: Path) -> None:
    for name in SECRETS:
        ended = run("doctor", "--data", tmp_path, **{name: f"not this: {name_canary(name)} \n"})

        assert name_canary(name) not in ended.said + ended.complained


def _names(settings: Mapping[str, str]) -> dict[str, str]:
    return {name.removeprefix("PRINTWORKS_").lower(): text for name, text in settings.items()}
