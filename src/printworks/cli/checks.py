"""What `printworks doctor` checks; each check says what it found and what to do."""

import os
import shutil
import ssl
from collections.abc import Iterator
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
from sqlalchemy import Connection, make_url, text
from sqlalchemy.exc import SQLAlchemyError

from printworks.actions.accounts.secrets import examine_secrets
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.files import open_files
from printworks.files.errors import FilesError
from printworks.files.probing import gives_back
from printworks.mail.smtp import open_mailer
from printworks.mail.transport import MailUnavailable
from printworks.rules.heartbeats import is_alive
from printworks.settings import Settings
from printworks.store.accounts.secrets import ENVIRONMENT, SEALING_KEY, find_secret
from printworks.store.callbacks.settings import count_unencrypted
from printworks.store.engine.database import Database, DatabaseUnusable
from printworks.store.engine.sqlite import OLDEST as OLDEST_SQLITE
from printworks.store.queue.quarantine import find_quarantine
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaFit, SchemaState
from printworks.store.views.console.health import describe_queue
from printworks.vault import SecretKeyUnusable, Vault, read_keys
from printworks.web.tls import RENEW_BEFORE, TlsFiles, TlsUnusable, ca_file, read_certificate

OLDEST_POSTGRESQL: Final = 15
OLDEST_TIMESTAMP: Final = datetime.fromisoformat("2026-01-01T00:00:00+00:00")
CLOCKS_APART: Final = timedelta(seconds=5)
GIGABYTE: Final = 1_000_000_000
# A job that has been due for longer should have been run.
LATE: Final = timedelta(minutes=1)


class DoctorVerdict(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


OK, WARN, FAIL = DoctorVerdict


class DoctorFinding(msgspec.Struct, frozen=True):
    """One line of the doctor's report."""

    check: str
    verdict: DoctorVerdict
    message: str


def examine(settings: Settings, *, now: datetime) -> Iterator[DoctorFinding]:
    """Check everything; change nothing."""
    yield DoctorFinding("settings", OK, f"read for {settings.data} ({settings.environment}).")
    yield check_data_folder(settings.data)
    yield check_disk(settings.data)
    yield check_files(settings)
    yield check_catalogue(settings)
    yield check_lab_folder(settings)
    yield from check_database(settings, now=now)
    yield check_mail(settings)
    yield check_tls(settings, now=now)
    yield check_clock(settings.data, now=now)


def check_data_folder(data: Path) -> DoctorFinding:
    """Check whether the service can write to the data folder, and no other user can read it."""
    find = partial(DoctorFinding, "data folder")
    if not data.exists():
        return find(WARN, f"{data} does not exist yet; the first start makes it.")
    if not (data.is_dir() and os.access(data, os.R_OK | os.W_OK | os.X_OK)):
        return find(FAIL, f"{data} cannot be written to; give it to this user.")
    if data.stat().st_mode & 0o007:
        return find(WARN, f"Others on this machine can read {data}; run `chmod 700 {data}`.")
    return find(OK, f"{data} is writable.")


def check_disk(data: Path) -> DoctorFinding:
    """Check whether there is enough free space."""
    while not data.exists():
        data = data.parent
    free = shutil.disk_usage(data).free / GIGABYTE
    left = f"{free:.1f} GB free."
    if free < 0.2:
        return DoctorFinding("disk", FAIL, f"{left} The service will soon stop; make room.")
    if free < 2:
        return DoctorFinding("disk", WARN, f"{left} Make room soon.")
    return DoctorFinding("disk", OK, left)


def check_files(settings: Settings) -> DoctorFinding:
    """Check whether a file can be stored, read and deleted where images are."""
    find = partial(DoctorFinding, "files")
    place = settings.data if settings.files.startswith("s3://") else Path(settings.files)
    if not place.exists():
        return find(WARN, f"{place} does not exist yet; the first start makes it.")
    try:
        is_same = gives_back(open_files(settings))
    except (FilesError, OSError) as error:
        return find(FAIL, str(error))
    if not is_same:
        return find(FAIL, f"{settings.files} returns something other than what was stored.")
    return find(OK, f"{settings.files} can be written and read.")


def check_catalogue(settings: Settings) -> DoctorFinding:
    """Check whether there is something to sell."""
    find = partial(DoctorFinding, "catalogue")
    try:
        catalogue = open_catalogue(settings.catalogue)
    except BadCatalogue as error:
        advice = "`printworks catalogue check` says all that is wrong."
        return find(FAIL, f"{str(error).splitlines()[0]} {advice}")
    if not catalogue.labs:
        return find(WARN, "No lab is in the catalogue, so nothing can be made.")
    products, labs = len(catalogue.products), len(catalogue.labs)
    return find(OK, f"{products} products, {labs} labs ({settings.catalogue or 'built in'}).")


def check_lab_folder(settings: Settings) -> DoctorFinding:
    """Check whether lab jobs can be written to `lab_folder`, if it is set."""
    folder = settings.lab_folder
    if folder is None:
        return DoctorFinding("labs", OK, "in the data folder.")
    if folder.is_dir() and os.access(folder, os.W_OK | os.X_OK):
        return DoctorFinding("labs", OK, f"{folder} can be written.")
    return DoctorFinding(
        "labs", FAIL, f"`lab_folder` {folder} is not a folder that can be written."
    )


def check_database(settings: Settings, *, now: datetime) -> Iterator[DoctorFinding]:
    """Check whether the database exists, is durable and has the tables of this program."""
    url = make_url(settings.database_url)
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        yield DoctorFinding("database", WARN, "There is none yet; the first start makes it.")
        return
    try:
        database = Database(settings.database_url, connections=1)
    except (DatabaseUnusable, SQLAlchemyError) as error:
        yield DoctorFinding("database", FAIL, str(error))
        return
    try:
        with database.reading() as db:
            yield from _check_sqlite(db) if database.is_sqlite else _check_postgresql(db, now=now)
        found = schema.find_schema(database)
        yield check_schema(found)
        if found.is_usable:
            yield _check_environment(database, settings.environment)
            yield check_secrets(database, settings.secret_keys)
            yield check_callbacks(database, settings)
            yield check_workers(database, now=now)
            yield from check_quarantine(database)
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", error)).strip().splitlines()[0]
        yield DoctorFinding("database", FAIL, f"It cannot be used: {reason}")
    finally:
        database.close()


def _check_environment(database: Database, environment: str) -> DoctorFinding:
    with database.reading() as db:
        begun = find_secret(db, ENVIRONMENT)
    if begun not in (None, environment):
        reason = f"The database was begun as {begun}; use another one."
        return DoctorFinding("environment", FAIL, reason)
    return DoctorFinding("environment", OK, f"{environment}.")


def check_secrets(database: Database, file: Path) -> DoctorFinding:
    """Check whether every secret in the database can be opened, and nobody else can read its key."""
    find = partial(DoctorFinding, "secrets")
    with database.reading() as db:
        if find_secret(db, SEALING_KEY) is None:
            return find(WARN, "There are none yet; the first start makes their key.")
        try:
            read_keys(file)
        except SecretKeyUnusable as error:
            return find(FAIL, str(error))
        report = examine_secrets(db, Vault(file))
    if report.unreadable:
        what = f"{len(report.unreadable)} cannot be opened, such as that of {report.unreadable[0]}"
        return find(FAIL, f"{what}; restore {file} from the backup of this deployment.")
    if file.stat().st_mode & 0o007:
        return find(WARN, f"Others on this machine can read {file}; run `chmod 600 {file}`.")
    if report.is_rotating:
        return find(WARN, "Some still have an older key; run `printworks secrets rotate`.")
    count = sum(report.by_key.values())
    return find(OK, f"all {count} can be opened with key {report.sealing_key} of {file}.")


def check_quarantine(database: Database) -> Iterator[DoctorFinding]:
    """Say that nothing leaves the service, if that is so."""
    with database.reading() as db:
        quarantine = find_quarantine(db)
    if quarantine is not None:
        since = f"{quarantine.since:%Y-%m-%d %H:%M}"
        advice = "`printworks quarantine show` says what may have happened, `end` ends it."
        yield DoctorFinding(
            "quarantine", WARN, f"Nothing has left the service since {since}; {advice}"
        )


def check_callbacks(database: Database, settings: Settings) -> DoctorFinding:
    """Check whether live callbacks are encrypted on their way."""
    if settings.environment == "sandbox" or settings.callbacks_allow_http:
        return DoctorFinding("callbacks", OK, "may go to http addresses.")
    with database.reading() as db:
        count = count_unencrypted(db)
    if count:
        advice = f"{count} http addresses are from before; ask their merchants for https."
        return DoctorFinding("callbacks", WARN, advice)
    return DoctorFinding("callbacks", OK, "go to https addresses.")


def check_workers(database: Database, *, now: datetime) -> DoctorFinding:
    """Check whether a worker is alive, and none has stopped without a word."""
    find = partial(DoctorFinding, "workers")
    with database.reading() as db:
        queue = describe_queue(db)
    silent = [beat for beat in queue.workers if not is_alive(beat, now=now)]
    alive = len(queue.workers) - len(silent)
    if not alive:
        is_late = queue.oldest_due_at is not None and now - queue.oldest_due_at > LATE
        due = f"; {queue.due} jobs are due" if queue.due else ""
        lack = f"None is running, so nothing is printed and no callback is sent{due}."
        advice = "Start `printworks serve` or `printworks work`."
        return find(FAIL if is_late else WARN, f"{lack} {advice}")
    if silent:
        names = ", ".join(beat.worker for beat in silent)
        return find(WARN, f"{alive} alive; stopped without a word: {names}. The log says why.")
    return find(OK, f"{alive} alive.")


def _check_sqlite(db: Connection) -> Iterator[DoctorFinding]:
    def ask(question: str) -> str:
        return str(db.execute(text(question)).scalar())

    version = ask("SELECT sqlite_version()")
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        advice = f"SQLite {version} can corrupt the database; run `make setup`."
        yield DoctorFinding("database", FAIL, advice)
    else:
        yield DoctorFinding("database", OK, f"SQLite {version}.")
    wanted = {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1"}
    found = {name: ask(f"PRAGMA {name}") for name in wanted}
    wrong = [f"{name}={value}" for name, value in found.items() if value != wanted[name]]
    if wrong:
        advice = f"{', '.join(wrong)}: move the file to a local disk that supports WAL."
        yield DoctorFinding("durability", FAIL, advice)
    else:
        how = "journal_mode=wal, synchronous=FULL, foreign_keys=ON."
        yield DoctorFinding("durability", OK, how)
    damage = ask("PRAGMA quick_check(1)")
    if damage == "ok":
        yield DoctorFinding("integrity", OK, "quick_check found nothing.")
    else:
        advice = f"{damage}. Stop the service and restore a backup."
        yield DoctorFinding("integrity", FAIL, advice)


def _check_postgresql(db: Connection, *, now: datetime) -> Iterator[DoctorFinding]:
    def ask(name: str) -> str:
        return str(db.execute(text(f"SHOW {name}")).scalar())

    version = ask("server_version").split()[0]
    if int(ask("server_version_num")) < OLDEST_POSTGRESQL * 10_000:
        advice = f"PostgreSQL {version} is too old; use {OLDEST_POSTGRESQL} or later."
        yield DoctorFinding("database", FAIL, advice)
    else:
        yield DoctorFinding("database", OK, f"PostgreSQL {version}.")
    found = {name: ask(name) for name in ("fsync", "synchronous_commit", "full_page_writes")}
    off = [f"{name}={value}" for name, value in found.items() if value == "off"]
    if off:
        advice = f"{', '.join(off)} loses orders in a power cut; switch it on."
        yield DoctorFinding("durability", FAIL, advice)
    else:
        how = ", ".join(f"{name}={value}" for name, value in found.items())
        yield DoctorFinding("durability", OK, f"{how}.")
    apart = abs(db.execute(text("SELECT clock_timestamp()")).scalar_one() - now)
    if apart > CLOCKS_APART:
        advice = f"{apart.total_seconds():.0f} s from this machine's; synchronise both (NTP)."
        yield DoctorFinding("database clock", WARN, advice)
    else:
        yield DoctorFinding("database clock", OK, "agrees with this machine's.")


def check_schema(found: SchemaState) -> DoctorFinding:
    """Check whether this program works with the tables."""
    find = partial(DoctorFinding, "schema")
    match found.fit:
        case SchemaFit.CURRENT:
            return find(OK, f"revision {found.revision}, as needed.")
        case SchemaFit.AHEAD:
            advice = "finish the upgrade, or stay: both work."
            return find(OK, f"{found.describe()}; this program is of {schema.LATEST}: {advice}")
        case SchemaFit.TOO_OLD:
            advice = f"this program needs {schema.LATEST}; run `printworks migrate`."
            return find(FAIL, f"revision {found.revision}, but {advice}")
        case SchemaFit.TOO_NEW:
            advice = f"this program is of {schema.LATEST}; install a newer one."
            return find(FAIL, f"{found.describe()}, but {advice}")


def check_mail(settings: Settings) -> DoctorFinding:
    """Check whether the mail server takes us."""
    mailer = open_mailer(settings)
    if mailer is None:
        is_live = settings.environment == "live"
        advice = "set `smtp_host` and `mail_from`." if is_live else "links are shown to operators."
        return DoctorFinding("mail", WARN if is_live else OK, f"No mail is sent; {advice}")
    place = f"{settings.smtp_host}:{settings.smtp_port}"
    try:
        mailer.check()
    except MailUnavailable as error:
        return DoctorFinding("mail", FAIL, f"{place} cannot be used. {error}")
    return DoctorFinding(
        "mail", OK, f"{place} accepts our connection; `printworks mail test` sends a test email."
    )


def check_tls(settings: Settings, *, now: datetime) -> DoctorFinding:
    """Check whether the certificate is usable, and for how long."""
    find = partial(DoctorFinding, "TLS")
    if settings.behind_proxy:
        return find(OK, f"done by the proxy in front of {settings.behind_proxy}.")
    own = settings.tls_cert is not None and settings.tls_key is not None
    server = settings.data / "tls" / "server.pem"
    files = TlsFiles(settings.tls_cert or server, settings.tls_key or server)
    if not own and not ca_file(settings.data).exists():
        return find(OK, "the first start makes a local CA and a certificate.")
    try:
        ends = read_certificate(files.cert).not_valid_after_utc
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(files.cert, files.key)
    except (TlsUnusable, OSError) as error:
        return find(FAIL, f"{error} (certificate {files.cert}, key {files.key}).")
    left = f"the certificate ends on {ends:%Y-%m-%d}, in {(ends - now).days} days"
    what = "renew it" if own else "the next start renews it"
    if ends - now <= RENEW_BEFORE:
        return find(FAIL if ends <= now else WARN, f"{left}; {what}.")
    return find(OK, f"{left}.")


def check_clock(data: Path, *, now: datetime) -> DoctorFinding:
    """Check whether the machine's clock can be right."""
    find = partial(DoctorFinding, "clock")
    if now < OLDEST_TIMESTAMP:
        return find(FAIL, f"{now:%Y-%m-%d %H:%M} UTC cannot be right; set the clock (NTP).")
    if data.exists() and data.stat().st_mtime > now.timestamp() + 60:
        advice = "synchronise the clock (NTP)."
        return find(WARN, f"The data folder was changed at a later time than now; {advice}")
    return find(OK, f"{now:%Y-%m-%d %H:%M:%S} UTC.")
