"""`printworks doctor --live`: each line of its table, well and ill."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import msgspec
import pytest
from sqlalchemy import Connection

from printworks.cli.live_checks import LIVE_CHECKS, MachineFacts, collect_facts
from printworks.imaging.messages import Confinement
from printworks.rules.people import Realm, Role
from printworks.settings import Settings
from printworks.store.accounts.people import NewPerson, Person, insert_person, set_totp
from printworks.store.engine.database import Database
from tests.cli.program import run
from tests.factories import NOON

WELL = {
    "environment": "live",
    "public_url": "https://print.example",
    "payments": "account",
    "behind_proxy": "unix:/run/printworks/web.sock",
    "database_url": "postgresql://printworks@/printworks",
    "security_contact": "mailto:security@print.example",
    "second_factor_for": "admin",
    "catalogue": "catalogue",
}
GOOD_FACTS = MachineFacts(
    user=1000,
    open_files=65536,
    is_clock_synchronised=True,
    confinement=Confinement(landlock=4, seccomp=True),
    admins=1,
    admins_with_second_factor=1,
)


@pytest.fixture(autouse=True)
def _secret_key(tmp_path: Path) -> None:
    (tmp_path / "secret.key").touch()
    (tmp_path / "secret.key").chmod(0o600)


def judge(
    data: Path,
    check: str,
    facts: MachineFacts = GOOD_FACTS,
    changed: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the verdict and the message of one line."""
    given = {f"PRINTWORKS_{name.upper()}": value for name, value in {**WELL, **changed}.items()}
    verdict, message = LIVE_CHECKS[check](Settings.load(data, given), facts)
    assert message.endswith((".", "?"))
    return f"{verdict}: {message}"


@pytest.mark.parametrize("check", LIVE_CHECKS)
def test_every_line_is_ok_when_all_is_well(check: str, tmp_path: Path) -> None:
    assert judge(tmp_path, check).startswith("ok: ")


STRIPE = {"payments": "stripe", "stripe_secret_key": "sk_live_1"}


@pytest.mark.parametrize(
    ("check", "changed", "said"),
    [
        ("live", {"environment": "sandbox"}, "FAIL: A sandbox prints nothing"),
        ("public address", {"public_url": "https://localhost"}, "FAIL: Only this machine"),
        ("public address", {"public_url": "https://[::1]:8443"}, "FAIL: Only this machine"),
        ("public address", {"public_url": "https://192.0.2.1"}, "warn: https://192.0.2.1 is a num"),
        ("certificate", {"behind_proxy": ""}, "FAIL: No program of a merchant trusts"),
        (
            "certificate",
            {"behind_proxy": "", "tls_cert": "/c.pem", "tls_key": "/k.pem"},
            "ok: /c.pem",
        ),
        ("payments", {"environment": "sandbox", "payments": "auto"}, "FAIL: Nobody is charged"),
        ("payments", STRIPE, "warn: Stripe cannot report"),
        ("payments", {**STRIPE, "stripe_webhook_secret": "whsec_1"}, "ok: Stripe, with a webhook"),
        ("live database", {"database_url": ""}, "warn: SQLite"),
        ("live database", {"database_url": "postgresql://p@db/p"}, "warn: The way to db may be"),
        (
            "live database",
            {"database_url": "postgresql://p@db/p?sslmode=verify-full"},
            "ok: PostgreSQL",
        ),
        ("live database", {"database_url": "postgresql://p@127.0.0.1/p"}, "ok: PostgreSQL"),
        ("secret key", {"secret_key_file": "other.key"}, "warn: "),
        ("operators", {"second_factor_for": ""}, "warn: An admin may sign in with a password"),
        ("callback rules", {"callbacks_allow_http": "true"}, "warn: Anyone on the way"),
        ("callback rules", {"callback_challenge": "never"}, "warn: New addresses are not"),
        ("outbound", {"outbound_allow_networks": "10.1.0.0/16"}, "warn: Merchants can make"),
        ("room for files", {"disk_floor": "0"}, "warn: Uploads may fill the disk"),
        ("room for files", {"disk_floor": "1000000000000000"}, "FAIL: "),
        ("room for files", {"files": "s3://pictures"}, "ok: far above"),
        ("contact", {"security_contact": ""}, "warn: Nobody can report a vulnerability"),
        ("own catalogue", {"catalogue": ""}, "warn: The built-in one is an example"),
    ],
)
def test_a_setting_that_a_live_shop_must_not_have_is_found(
    check: str, changed: dict[str, str], said: str, tmp_path: Path
) -> None:
    assert judge(tmp_path, check, changed=changed).startswith(said)


@pytest.mark.parametrize(
    ("check", "fact", "said"),
    [
        ("operators", {"admins": None}, "warn: The database cannot say"),
        ("operators", {"admins": 0}, "FAIL: Nobody can sign in"),
        ("operators", {"admins_with_second_factor": 0}, "FAIL: No admin signs in with a second"),
        ("time", {"is_clock_synchronised": False}, "warn: It follows no time server"),
        ("time", {"is_clock_synchronised": None}, "ok: this system does not say"),
        ("user", {"user": 0}, "warn: This is root"),
        ("open files", {"open_files": 1024}, "warn: At most 1024"),
        ("open files", {"open_files": -1}, "ok: enough"),
        (
            "jail",
            {"confinement": Confinement(landlock=0, seccomp=False)},
            "warn: Pictures are decoded without Landlock and seccomp",
        ),
    ],
)
def test_a_machine_that_is_not_ready_is_found(
    check: str, fact: dict[str, object], said: str, tmp_path: Path
) -> None:
    facts = msgspec.structs.replace(GOOD_FACTS, **fact)

    assert judge(tmp_path, check, facts).startswith(said)


def test_a_key_that_is_a_secret_of_kubernetes_is_safe(tmp_path: Path) -> None:
    (tmp_path / "secret.key").chmod(0o440)

    assert judge(tmp_path, "secret key").startswith("ok: ")


def test_files_that_others_can_read_are_found(tmp_path: Path) -> None:
    (tmp_path / "printworks.toml").touch()
    (tmp_path / "printworks.toml").chmod(0o644)
    (tmp_path / "secret.key").chmod(0o604)

    assert judge(tmp_path, "settings file").startswith("FAIL: Others on this machine can read")
    assert judge(tmp_path, "secret key").startswith("FAIL: Others can read")


@pytest.mark.both_databases
def test_admins_with_a_second_factor_are_counted(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        ann, _ = (_add_operator(db, name, Role.ADMIN) for name in ("ann", "bob"))
        _add_operator(db, "vic", Role.VIEWER)
        set_totp(db, ann.id, "sealed", step=0)
    url = database.url.render_as_string(hide_password=False)
    settings = Settings.load(tmp_path, {"PRINTWORKS_DATABASE_URL": url})

    facts = collect_facts(settings)

    assert (facts.admins, facts.admins_with_second_factor) == (2, 1)


def _add_operator(db: Connection, name: str, role: Role) -> Person:
    new = NewPerson(
        realm=Realm.OPERATOR,
        email=f"{name}@works.example",
        role=role,
        merchant_id=None,
        password_hash="",
    )
    return insert_person(db, new, now=NOON)


def test_without_a_database_nobody_is_counted(tmp_path: Path) -> None:
    assert collect_facts(Settings.load(tmp_path / "empty", {})).admins is None


def test_the_report_has_all_lines_and_the_exit_code_of_the_worst(tmp_path: Path) -> None:
    ended = run("doctor", "--live", "--json", "--data", tmp_path)

    lines = {line["check"]: line["verdict"] for line in json.loads(ended.said)}
    assert ended.code == 1
    assert lines.keys() > LIVE_CHECKS.keys()
    assert lines["live"] == "FAIL"
    assert run("doctor", "--data", tmp_path).code == 0
