"""The health of the installation: checks, and what to do about problems."""

import os
import platform
import shutil
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from cryptography import x509
from starlette.responses import Response

from printworks import __version__
from printworks.dashboard.shared.ages import write_span
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.files.errors import FilesError
from printworks.files.probing import gives_back
from printworks.rules.heartbeats import Heartbeat, is_alive
from printworks.rules.people import Duty
from printworks.settings import Settings
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaFit, SchemaState
from printworks.store.views.console.health import (
    DatabaseFacts,
    QueueFacts,
    describe_database,
    describe_queue,
)

_MEGABYTE: Final = 1_000_000
_GIGABYTE: Final = 1000 * _MEGABYTE
# Jobs that have been due for longer are late.
_LATE: Final = timedelta(minutes=1)
_RENEW_BEFORE: Final = timedelta(days=14)


class Check(msgspec.Struct, frozen=True):
    """The result of one check, and what to do."""

    name: str
    tone: Tone
    text: str


@page_at("/console/health")
def show_health(visit: ConsoleVisit, tried: Check | None = None) -> Response:
    """Show the results of all checks."""
    queue = describe_queue(visit.db)
    checks = [
        *examine(visit.services, describe_database(visit.db), queue, now=visit.real_now),
        *([tried] if tried else []),
    ]
    return visit.render(
        "console/health.html",
        checks=checks,
        verdict=judge(checks),
        workers=[(beat, is_alive(beat, now=visit.real_now)) for beat in queue.workers],
        facts=_list_facts(visit.services, visit.real_now),
    )


@show_health.action("try-files", duty=Duty.ADMINISTER, alone=True, only_shows=True)
def try_files(visit: ConsoleVisit) -> Response:
    tried = check_files(visit.services)
    with visit.services.database.reading() as db:
        return show_health(visit.within(db), tried)


def judge(checks: list[Check]) -> Tone:
    """Return the worst result of all checks."""
    tones = {check.tone for check in checks}
    return "error" if "error" in tones else "warn" if "warn" in tones else "ok"


def examine(
    services: PageServices, database: DatabaseFacts, queue: QueueFacts, *, now: datetime
) -> Iterator[Check]:
    """Run all checks that need no network."""
    size = f"{database.bytes / _MEGABYTE:,.1f} MB"
    yield Check("Database", "ok", f"{database.name} {database.version}, {size}.")
    yield check_schema(schema.find_schema(services.database))
    yield check_queue(queue, now=now)
    yield check_workers(queue.workers, now=now)
    if services.quarantine.is_on():
        yield Check("Quarantine", "warn", "Nothing leaves the service; see /console/quarantine.")
    settings = services.settings
    yield check_folder("Data folder", settings.data)
    if not settings.files.startswith("s3://"):
        yield check_folder("Pictures", Path(settings.files))
    yield check_catalogue(services)
    yield check_certificate(settings, now=now)


def check_schema(found: SchemaState) -> Check:
    """Check whether this program works with the tables."""
    described = found.describe().capitalize()
    if found.fit is SchemaFit.CURRENT:
        return Check("Tables", "ok", f"Revision {found.revision}, as needed.")
    if found.fit is SchemaFit.AHEAD:
        return Check("Tables", "ok", f"{described}; this program is of {schema.LATEST}.")
    wanted = f"this program needs {schema.LATEST}; run `printworks migrate`."
    return Check("Tables", "error", f"{described}, and {wanted}")


def check_queue(queue: QueueFacts, *, now: datetime) -> Check:
    """Check that due jobs are run."""
    if queue.oldest_due_at is None:
        return Check("Queue", "ok", "Nothing is due.")
    since = now - queue.oldest_due_at
    waits = f"{queue.due:,} due, the oldest for {write_span(since)}."
    if since > _LATE:
        advice = "Check that a worker is running, or start another with `printworks work`."
        return Check("Queue", "warn", f"{waits} {advice}")
    return Check("Queue", "ok", waits)


def check_workers(workers: list[Heartbeat], *, now: datetime) -> Check:
    """Check that a worker is alive, and that none has stopped without a word."""
    silent = [beat for beat in workers if not is_alive(beat, now=now)]
    alive = len(workers) - len(silent)
    if not alive:
        lack = "No worker is running: no order is printed and no callback is sent."
        return Check("Workers", "error", f"{lack} Start `printworks serve` or `printworks work`.")
    number = "1 worker is" if alive == 1 else f"{alive} workers are"
    if silent:
        last = max(silent, key=lambda beat: beat.beat_at)
        gone = f"{last.worker} stopped without a word {write_span(now - last.beat_at)} ago."
        return Check("Workers", "warn", f"{number} running. {gone} Its log says why.")
    return Check("Workers", "ok", f"{number} running.")


def check_folder(name: str, folder: Path) -> Check:
    """Check that a folder is writable and has free space."""
    if not folder.is_dir():
        return Check(name, "warn", "The folder does not exist yet; the first file creates it.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check(
            name, "error", "The folder is not writable. Make the service's user its owner."
        )
    free = shutil.disk_usage(folder).free / _GIGABYTE
    left = f"{free:,.1f} GB free."
    if free < 0.2:
        return Check(name, "error", f"{left} The service will stop soon. Free some space.")
    return (
        Check(name, "warn", f"{left} Free some space soon.")
        if free < 2
        else Check(name, "ok", left)
    )


def check_files(services: PageServices) -> Check:
    """Store a file, read it and delete it again."""
    try:
        is_same = gives_back(services.files)
    except (FilesError, OSError) as error:
        return Check("File store", "error", str(error))
    if not is_same:
        return Check("File store", "error", "A file that was read differs from the one stored.")
    return Check("File store", "ok", "A file was stored, read and deleted.")


def check_catalogue(services: PageServices) -> Check:
    """Check that the catalogue has products and active labs."""
    catalogue = services.catalogue
    has = f"{len(catalogue.products):,} products, {len(catalogue.labs)} labs"
    paused = [lab.code for lab in catalogue.labs if lab.paused]
    if not catalogue.labs:
        return Check("Catalogue", "warn", f"{has}: nothing can be produced.")
    rest = f" Paused: {', '.join(paused)}." if paused else ""
    return Check("Catalogue", "warn" if paused else "ok", f"{has}.{rest}")


def check_certificate(settings: Settings, *, now: datetime) -> Check:
    """Check when the TLS certificate expires."""
    if settings.behind_proxy:
        return Check("Certificate", "ok", "The reverse proxy holds it.")
    path = settings.tls_cert or settings.data / "tls" / "server.pem"
    try:
        ends = x509.load_pem_x509_certificates(path.read_bytes())[0].not_valid_after_utc
    except (OSError, ValueError):
        return Check("Certificate", "warn", "It cannot be read.")
    left = f"It expires on {ends:%-d %B %Y}, in {(ends - now).days} days."
    if ends <= now:
        return Check("Certificate", "error", f"{left} Renew it.")
    what = "Renew it." if settings.tls_cert else "It is renewed at the next start."
    return (
        Check("Certificate", "warn", f"{left} {what}")
        if ends - now <= _RENEW_BEFORE
        else Check("Certificate", "ok", left)
    )


def _list_facts(services: PageServices, now: datetime) -> list[tuple[str, str]]:
    settings = services.settings
    return [
        ("Printworks", __version__),
        ("Environment", settings.environment),
        ("Python", platform.python_version()),
        ("Public address", settings.public_url),
        ("Files", "S3" if settings.files.startswith("s3://") else "Folder"),
        ("Payments", settings.payments),
        ("Catalogue", "Your own folder" if settings.catalogue else "Built in"),
        ("Time here", f"{now:%-d %b %Y, %H:%M:%S} UTC"),
    ]
