"""What `printworks doctor` checks; each check says what it found and what to do."""

import os
import shutil
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.files import open_files
from printworks.files.errors import FilesError
from printworks.files.probing import gives_back
from printworks.settings import Settings
from printworks.store.accounts.secrets import ENVIRONMENT, find_secret
from printworks.store.engine.database import Database, DatabaseUnusable
from printworks.store.engine.sqlite import OLDEST as OLDEST_SQLITE
from printworks.store.tables import schema
from printworks.web.tls import RENEW_BEFORE, TlsFiles, TlsUnusable, ca_file, read_certificate

OLDEST_POSTGRESQL: Final = 15
OLDEST_TIMESTAMP: Final = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
CLOCKS_APART: Final = timedelta(seconds=5)
GIGABYTE: Final = 1_000_000_000


class DoctorVerdict(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


class DoctorFinding(msgspec.Struct, frozen=True):
    """One line of the doctor's report."""

    check: str
    verdict: DoctorVerdict
    message: str


def examine(settings: Settings, *, now: datetime) -> Iterator[DoctorFinding]:
    """Check everything; change nothing."""
    yield _find("settings", f"read for {settings.data} ({settings.environment}).")
    yield check_data_folder(settings.data)
    yield check_disk(settings.data)
    yield check_files(settings)
    yield check_catalogue(settings)
    yield check_lab_folder(settings)
    yield from check_database(settings, now=now)
    yield check_tls(settings, now=now)
    yield check_clock(settings.data, now=now)


def _find(check: str, message: str = "", *, fail: str = "", warn: str = "") -> DoctorFinding:
    if fail:
        return DoctorFinding(check, DoctorVerdict.FAIL, fail)
    if warn:
        return DoctorFinding(check, DoctorVerdict.WARN, warn)
    return DoctorFinding(check, DoctorVerdict.OK, message)


def check_data_folder(data: Path) -> DoctorFinding:
    """Check whether the service can write to the data folder, and no other user can read it."""
    if not data.exists():
        return _find("data folder", warn=f"{data} does not exist yet; the first start makes it.")
    is_writable = data.is_dir() and os.access(data, os.R_OK | os.W_OK | os.X_OK)
    return _find(
        "data folder",
        f"{data} is writable.",
        fail="" if is_writable else f"{data} cannot be written to; give it to this user.",
        warn=f"Others on this machine can read {data}; run `chmod 700 {data}`."
        if data.stat().st_mode & 0o007
        else "",
    )


def check_disk(data: Path) -> DoctorFinding:
    """Check whether there is enough free space."""
    while not data.exists():
        data = data.parent
    free = shutil.disk_usage(data).free / GIGABYTE
    left = f"{free:.1f} GB free."
    return _find(
        "disk",
        left,
        fail=f"{left} The service will soon stop; make room." if free < 0.2 else "",
        warn=f"{left} Make room soon." if free < 2 else "",
    )


def check_files(settings: Settings) -> DoctorFinding:
    """Check whether a file can be stored, read and deleted where images are."""
    place = settings.data if settings.files.startswith("s3://") else Path(settings.files)
    if not place.exists():
        return _find("files", warn=f"{place} does not exist yet; the first start makes it.")
    try:
        is_same = gives_back(open_files(settings))
    except (FilesError, OSError) as error:
        return _find("files", fail=str(error))
    return _find(
        "files",
        f"{settings.files} can be written and read.",
        fail="" if is_same else f"{settings.files} returns something else than was stored.",
    )


def check_catalogue(settings: Settings) -> DoctorFinding:
    """Check whether there is something to sell."""
    try:
        catalogue = open_catalogue(settings.catalogue)
    except BadCatalogue as error:
        advice = "`printworks catalogue check` says all that is wrong."
        return _find("catalogue", fail=f"{str(error).splitlines()[0]} {advice}")
    where = settings.catalogue or "built in"
    return _find(
        "catalogue",
        f"{len(catalogue.products)} products, {len(catalogue.labs)} labs ({where}).",
        warn="" if catalogue.labs else "No lab is in the catalogue, so nothing can be made.",
    )


def check_lab_folder(settings: Settings) -> DoctorFinding:
    """Check whether lab jobs can be written to `lab_folder`, if it is set."""
    folder = settings.lab_folder
    is_usable = folder is None or (folder.is_dir() and os.access(folder, os.W_OK | os.X_OK))
    return _find(
        "labs",
        "in the data folder." if folder is None else f"{folder} can be written.",
        fail="" if is_usable else f"`lab_folder` {folder} is not a folder that can be written.",
    )


def check_database(settings: Settings, *, now: datetime) -> Iterator[DoctorFinding]:
    """Check whether the database exists, is durable and has the tables of this program."""
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        yield _find("database", warn="There is none yet; the first start makes it.")
        return
    try:
        database = Database(settings.database_url, connections=1)
    except (DatabaseUnusable, SQLAlchemyError) as error:
        yield _find("database", fail=str(error))
        return
    try:
        with database.reading() as db:
            yield from _check_sqlite(db) if database.is_sqlite else _check_postgresql(db, now=now)
        revision = schema.find_revision(database)
        yield check_schema(revision)
        if revision == schema.LATEST:
            yield _check_environment(database, settings.environment)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
        yield _find("database", fail=f"It cannot be used: {reason}")
    finally:
        database.close()


def _check_environment(database: Database, environment: str) -> DoctorFinding:
    with database.reading() as db:
        begun = find_secret(db, ENVIRONMENT)
    is_ours = begun in (None, environment)
    return _find(
        "environment",
        f"{environment}.",
        fail="" if is_ours else f"The database was begun as {begun}; use another one.",
    )


def _check_sqlite(db: Connection) -> Iterator[DoctorFinding]:
    def ask(question: str) -> str:
        return str(db.execute(text(question)).scalar())

    version = ask("SELECT sqlite_version()")
    is_old = tuple(map(int, version.split("."))) < OLDEST_SQLITE
    yield _find(
        "database",
        f"SQLite {version}.",
        fail=f"SQLite {version} can corrupt the database; run `make setup`." if is_old else "",
    )
    wanted = {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}
    found = {name: ask(f"PRAGMA {name}") for name in wanted}
    wrong = [f"{name}={value}" for name, value in found.items() if value != wanted[name]]
    yield _find(
        "durability",
        "journal_mode=wal, synchronous=FULL, foreign_keys=ON.",
        fail=f"{', '.join(wrong)}: move the file to a local disk that supports WAL."
        if wrong
        else "",
    )
    damage = ask("PRAGMA quick_check(1)")
    yield _find(
        "integrity",
        "quick_check found nothing.",
        fail="" if damage == "ok" else f"{damage}. Stop the service and restore a backup.",
    )


def _check_postgresql(db: Connection, *, now: datetime) -> Iterator[DoctorFinding]:
    def ask(name: str) -> str:
        return str(db.execute(text(f"SHOW {name}")).scalar())

    version = ask("server_version").split()[0]
    is_old = int(ask("server_version_num")) < OLDEST_POSTGRESQL * 10_000
    yield _find(
        "database",
        f"PostgreSQL {version}.",
        fail=f"PostgreSQL {version} is too old; use {OLDEST_POSTGRESQL} or later."
        if is_old
        else "",
    )
    found = {name: ask(name) for name in ("fsync", "synchronous_commit", "full_page_writes")}
    off = [f"{name}={value}" for name, value in found.items() if value == "off"]
    yield _find(
        "durability",
        ", ".join(f"{name}={value}" for name, value in found.items()) + ".",
        fail=f"{', '.join(off)} loses orders in a power cut; switch it on." if off else "",
    )
    apart = abs(db.execute(text("SELECT clock_timestamp()")).scalar_one() - now)
    yield _find(
        "database clock",
        "agrees with this machine's.",
        warn=f"{apart.total_seconds():.0f} s from this machine's; synchronise both (NTP)."
        if apart > CLOCKS_APART
        else "",
    )


def check_schema(found: str | None) -> DoctorFinding:
    """Check whether the tables are those of this program."""
    return _find(
        "schema",
        f"revision {found}, as needed.",
        fail=f"revision {found}, but this program needs {schema.LATEST}; run `printworks migrate`."
        if found != schema.LATEST
        else "",
    )


def check_tls(settings: Settings, *, now: datetime) -> DoctorFinding:
    """Check whether the certificate is usable, and for how long."""
    if settings.behind_proxy:
        return _find("TLS", f"done by the proxy in front of {settings.behind_proxy}.")
    own = settings.tls_cert is not None and settings.tls_key is not None
    server = settings.data / "tls" / "server.pem"
    files = TlsFiles(settings.tls_cert or server, settings.tls_key or server)
    if not own and not ca_file(settings.data).exists():
        return _find("TLS", "the first start makes a local CA and a certificate.")
    try:
        ends = read_certificate(files.cert).not_valid_after_utc
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.cert, files.key)
    except (TlsUnusable, OSError) as error:
        return _find("TLS", fail=f"{error} (certificate {files.cert}, key {files.key}).")
    left = f"the certificate ends on {ends:%Y-%m-%d}, in {(ends - now).days} days"
    what = "renew it" if own else "the next start renews it"
    return _find(
        "TLS",
        f"{left}.",
        fail=f"{left}; {what}." if ends <= now else "",
        warn=f"{left}; {what}." if ends - now <= RENEW_BEFORE else "",
    )


def check_clock(data: Path, *, now: datetime) -> DoctorFinding:
    """Check whether the machine's clock can be right."""
    newest = data.stat().st_mtime if data.exists() else 0
    return _find(
        "clock",
        f"{now:%Y-%m-%d %H:%M:%S} UTC.",
        fail=f"{now:%Y-%m-%d %H:%M} UTC cannot be right; set the clock (NTP)."
        if now < OLDEST_TIMESTAMP
        else "",
        warn="The data folder was changed at a later time than now; synchronise the clock (NTP)."
        if newest > now.timestamp() + 60
        else "",
    )
