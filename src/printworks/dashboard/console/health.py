"""Whether the installation is well: what can be seen from a page, and what to do about it."""

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
from printworks.dashboard.console.words import tell_span
from printworks.dashboard.site.rendering import Tone
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.files.errors import FilesError
from printworks.files.probing import gives_back
from printworks.rules.people import Duty
from printworks.settings import Settings
from printworks.store.console.health import (
    DatabaseFacts,
    QueueFacts,
    describe_database,
    describe_queue,
)
from printworks.store.tables import schema

_MEGABYTE: Final = 1_000_000
_GIGABYTE: Final = 1000 * _MEGABYTE
# What has been due for longer should have begun.
_LATE: Final = timedelta(minutes=1)
# Every hour there is something to do, if only to tidy up.
_IDLE: Final = timedelta(hours=2)
_RENEW_BEFORE: Final = timedelta(days=14)


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at, how it is, and what to do."""

    name: str
    tone: Tone
    text: str


def show_health(visit: ConsoleVisit, tried: Check | None = None) -> Response:
    """Show how everything is that can be seen from here."""
    queue = describe_queue(visit.db)
    checks = [
        *examine(visit.services, describe_database(visit.db), queue, now=visit.real_now),
        *([tried] if tried else []),
    ]
    return visit.render(
        "console/health.html",
        checks=checks,
        verdict=judge(checks),
        queue=queue,
        facts=_list_facts(visit.services, visit.real_now),
    )


def try_files(visit: ConsoleVisit) -> Response:
    """Keep a file, read it and delete it again, where pictures are."""
    tried = check_files(visit.services)
    with visit.services.database.reading() as db:
        return show_health(visit.within(db), tried)


def judge(checks: list[Check]) -> Tone:
    """Return how it is as a whole: as bad as the worst of it."""
    tones = {check.tone for check in checks}
    return "error" if "error" in tones else "warn" if "warn" in tones else "ok"


def examine(
    services: PageServices, database: DatabaseFacts, queue: QueueFacts, *, now: datetime
) -> Iterator[Check]:
    """Look at everything that needs no network."""
    size = f"{database.bytes / _MEGABYTE:,.1f} MB"
    yield Check("Database", "ok", f"{database.name} {database.version}, {size}.")
    yield check_schema(schema.find_revision(services.database))
    yield check_queue(queue, now=now)
    yield check_workers(queue, now=now)
    settings = services.settings
    yield check_folder("Data folder", settings.data)
    if not settings.files.startswith("s3://"):
        yield check_folder("Pictures", Path(settings.files))
    yield check_catalogue(services)
    yield check_certificate(settings, now=now)


def check_schema(found: str | None) -> Check:
    """Look whether the tables are those of this program."""
    if found == schema.LATEST:
        return Check("Tables", "ok", f"Revision {found}, as needed.")
    wanted = f"this program needs {schema.LATEST}; run `printworks migrate`."
    return Check("Tables", "error", f"Revision {found}, and {wanted}")


def check_queue(queue: QueueFacts, *, now: datetime) -> Check:
    """Look whether what is due is done."""
    if queue.oldest_due_at is None:
        return Check("Queue", "ok", "Nothing waits.")
    since = now - queue.oldest_due_at
    waits = f"{queue.due:,} due, the oldest for {tell_span(since)}."
    if since > _LATE:
        advice = "Look whether a worker runs, or start another one with `printworks work`."
        return Check("Queue", "warn", f"{waits} {advice}")
    return Check("Queue", "ok", waits)


def check_workers(queue: QueueFacts, *, now: datetime) -> Check:
    """Look whether anybody has worked lately."""
    holding = [worker for worker in queue.workers if worker.lease_until > now]
    if holding:
        number = "1 worker is" if len(holding) == 1 else f"{len(holding)} workers are"
        return Check("Workers", "ok", f"{number} at work.")
    last = queue.last_finished_at
    if last is None:
        return Check("Workers", "warn", "No job has ever been finished. Is a worker running?")
    if now - last > _IDLE:
        said = f"The last job was finished {tell_span(now - last)} ago. Is a worker running?"
        return Check("Workers", "warn", said)
    return Check(
        "Workers", "ok", f"At rest; the last job was finished {tell_span(now - last)} ago."
    )


def check_folder(name: str, folder: Path) -> Check:
    """Look whether something can be written to a folder, and for how long yet."""
    if not folder.is_dir():
        return Check(name, "warn", "The folder does not exist yet; the first file makes it.")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        return Check(name, "error", "It cannot be written to; give it to the service's user.")
    free = shutil.disk_usage(folder).free / _GIGABYTE
    left = f"{free:,.1f} GB free."
    if free < 0.2:
        return Check(name, "error", f"{left} The service will soon stop; make room.")
    return Check(name, "warn", f"{left} Make room soon.") if free < 2 else Check(name, "ok", left)


def check_files(services: PageServices) -> Check:
    """Keep a file, read it and delete it again, where pictures are."""
    try:
        is_same = gives_back(services.files)
    except (FilesError, OSError) as error:
        return Check("File store", "error", str(error))
    if not is_same:
        return Check("File store", "error", "It gives back what nobody put there.")
    return Check("File store", "ok", "A file was kept, read and deleted just now.")


def check_catalogue(services: PageServices) -> Check:
    """Look whether there is something to sell, and somebody to make it."""
    catalogue = services.catalogue
    has = f"{len(catalogue.products):,} products, {len(catalogue.labs)} labs"
    paused = [lab.code for lab in catalogue.labs if lab.paused]
    if not catalogue.labs:
        return Check("Catalogue", "warn", f"{has}: nothing can be made.")
    rest = f" Paused: {', '.join(paused)}." if paused else ""
    return Check("Catalogue", "warn" if paused else "ok", f"{has}.{rest}")


def check_certificate(settings: Settings, *, now: datetime) -> Check:
    """Look how long browsers and programs will trust us."""
    if settings.behind_proxy:
        return Check("Certificate", "ok", "The proxy before this service has it.")
    path = settings.tls_cert or settings.data / "tls" / "server.pem"
    try:
        ends = x509.load_pem_x509_certificates(path.read_bytes())[0].not_valid_after_utc
    except (OSError, ValueError):
        return Check("Certificate", "warn", "It cannot be read from here.")
    left = f"It ends on {ends:%-d %B %Y}, in {(ends - now).days} days."
    if ends <= now:
        return Check("Certificate", "error", f"{left} Renew it.")
    what = "Renew it." if settings.tls_cert else "The next start renews it."
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


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(
        path="/console/health",
        show=show_health,
        form_actions=(
            FormAction(name="try-files", take=try_files, duty=Duty.ADMINISTER, alone=True),
        ),
    ),
)
