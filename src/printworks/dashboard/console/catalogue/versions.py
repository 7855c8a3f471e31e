"""Versions of the catalogue: what each changes, publishing one now or later, and going back."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec
from sqlalchemy import Connection
from starlette.datastructures import UploadFile
from starlette.responses import Response

from printworks.actions import catalogue as actions
from printworks.catalogue.changes import CatalogueChange, list_changes
from printworks.catalogue.drafts.beginning import begin_catalogue
from printworks.catalogue.opening import read_catalogue
from printworks.catalogue.problems import BadCatalogue, CatalogueProblem
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.console.drafts.pictures import import_pictures, is_picture
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import at_field
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, WrongState
from printworks.rules.catalogue_versions import VersionState
from printworks.rules.people import Duty
from printworks.store.accounts.audit import list_audit_of
from printworks.store.catalogue.versions import (
    CatalogueVersion,
    find_before,
    get_version,
    list_versions,
    read_texts,
)

_ROWS: Final = 20
# What one page can list.
_MOST_CHANGES: Final = 300
_MOST_PROBLEMS: Final = 50
_MOST_ENTRIES: Final = 30
_WAITING: Final = frozenset({VersionState.DRAFT, VersionState.SCHEDULED})
# The name of a file is part of a sentence, and of a path when it is exported.
_LONGEST_FILE_NAME: Final = 80


class VersionLine(msgspec.Struct, frozen=True):
    """A version, and what it is now."""

    version: CatalogueVersion
    state: VersionState


@page_at("/console/versions")
def show_versions(visit: ConsoleVisit, problems: Sequence[CatalogueProblem] = ()) -> Response:
    """Show the versions of the catalogue, newest first."""
    found, last = cut(list_versions(visit.db, before=visit.cursor(), limit=_ROWS + 1), _ROWS)
    states = actions.list_states(visit.system_work, found)
    return visit.render(
        "console/versions.html",
        lines=[VersionLine(one, state) for one, state in zip(found, states, strict=True)],
        problems=problems[:_MOST_PROBLEMS],
        problem_count=len(problems),
        pages=visit.pages(last.id if last else None),
        is_mine=visit.may(Duty.ADMINISTER),
        currencies=list(Currency),
    )


@show_versions.action("import-catalogue", duty=Duty.ADMINISTER, needs_password=True, alone=True)
def import_files(visit: ConsoleVisit) -> Response | str:
    """Check TOML files and add them as a draft; show what is wrong with them instead."""
    files = visit.sent.files.get("files", ())
    texts = _read_files([file for file in files if not is_picture(file)])
    try:
        catalogue = read_catalogue(texts)
    except BadCatalogue as error:
        with visit.services.database.reading() as db:
            return show_versions(visit.within(db), error.problems)
    catalogue, pictures = import_pictures(visit, catalogue, list(filter(is_picture, files)))
    title = visit.sent.text("title")
    with visit.services.database.writing() as db, at_field("title"):
        added = actions.add_version(visit.system_work_in(db), catalogue, title, pictures=pictures)
    return f"/console/versions/{added.id}"


@show_versions.action("new-catalogue", duty=Duty.ADMINISTER, alone=True)
def add_draft(visit: ConsoleVisit) -> str:
    """Make a draft of what is in use, or of nothing."""
    catalogue = visit.services.catalogue
    is_empty = visit.sent.text("from") == "nothing"
    texts = begin_catalogue(_read_currencies(visit)) if is_empty else catalogue.texts
    return _add_draft(visit, texts, visit.sent.text("title"))


def _read_currencies(visit: ConsoleVisit) -> list[Currency]:
    chosen = [one for one in Currency if one in visit.sent.texts("currencies")]
    if not chosen:
        raise BadInput("Choose a currency to sell in.", field="currencies")
    return chosen


def _read_files(files: Sequence[UploadFile]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for file in files:
        name = file.filename or ""
        if not name.endswith(".toml") or "/" in name or len(name) > _LONGEST_FILE_NAME:
            raise BadInput("Choose TOML files, such as products.toml.", field="files")
        try:
            texts[name] = file.file.read().decode()
        except UnicodeDecodeError:
            raise BadInput(f"{name} must be written in UTF-8.", field="files") from None
    if not texts:
        raise BadInput("Choose the TOML files of a catalogue.", field="files")
    return texts


@page_at("/console/versions/{id}")
def show_version(visit: ConsoleVisit) -> Response:
    """Show what a version changes, and what should be known before it is published."""
    version = get_version(visit.db, visit.number("id"))
    state = actions.state_of(visit.system_work, version)
    try:
        catalogue = _load(visit.db, version)
    except BadCatalogue as error:
        return _show_unfinished(visit, version, state, error)
    changes, against = _compare(visit, version, catalogue, state)
    warnings = actions.find_warnings(visit.system_work, catalogue, version)
    return visit.render(
        "console/version.html",
        version=version,
        state=state,
        catalogue=catalogue,
        changes=changes[:_MOST_CHANGES],
        change_count=len(changes),
        against=against,
        problem_count=0,
        warnings=list(warnings) if state in _WAITING else [],
        is_mine=visit.may(Duty.ADMINISTER),
        history=list_audit_of(visit.db, f"version {version.id}", limit=_MOST_ENTRIES),
    )


def _show_unfinished(
    visit: ConsoleVisit, version: CatalogueVersion, state: VersionState, error: BadCatalogue
) -> Response:
    """Show a version with which something is wrong, so that it cannot be compared or published."""
    return visit.render(
        "console/version.html",
        version=version,
        state=state,
        catalogue=None,
        changes=[],
        change_count=0,
        against="",
        warnings=[],
        problem_count=len(error.problems),
        is_mine=visit.may(Duty.ADMINISTER),
        history=list_audit_of(visit.db, f"version {version.id}", limit=_MOST_ENTRIES),
    )


def _compare(
    visit: ConsoleVisit, version: CatalogueVersion, catalogue: Catalogue, state: VersionState
) -> tuple[Sequence[CatalogueChange], str]:
    """Compare with what is in use; one that was in use already with the one before it."""
    if state in _WAITING:
        return list_changes(visit.services.catalogue, catalogue), "the version in use"
    before = find_before(visit.db, version)
    if before is None:
        return (), ""
    try:
        former = _load(visit.db, before)
    except BadCatalogue:
        # An older release could read it, and this one cannot.
        return (), ""
    return list_changes(former, catalogue), f"version {before.id}"


@show_version.action(
    "publish-catalogue",
    "The version was published.",
    duty=Duty.ADMINISTER,
    needs_password=True,
    alone=True,
)
def publish(visit: ConsoleVisit) -> None:
    """Use the version from now on, or from a time on, if nothing is wrong with it."""
    at = _read_time(visit.sent.text("at"))
    version, checked = _read_version(visit, "This draft cannot be published yet.")
    with visit.services.database.writing() as db, at_field("at"):
        actions.publish_version(visit.system_work_in(db), version.id, checked, at=at)
        visit.remember(db)


def _read_version(visit: ConsoleVisit, refusal: str) -> tuple[CatalogueVersion, Catalogue]:
    """Return the version of this page; refuse one with which something is wrong."""
    with visit.services.database.reading() as db:
        version = get_version(db, visit.number("id"))
        texts = read_texts(db, version.id)
    try:
        return version, read_catalogue(texts)
    except BadCatalogue as error:
        more = len(error.problems) - 1
        rest = f" There are {more} more problems." if more else ""
        raise WrongState(f"{refusal} {error.problems[0].sentence}{rest}") from error


@show_version.action("copy-version", duty=Duty.ADMINISTER, alone=True)
def copy_version(visit: ConsoleVisit) -> str:
    """Make a draft of a version, to change it."""
    with visit.services.database.reading() as db:
        version = get_version(db, visit.number("id"))
        texts = read_texts(db, version.id)
    return _add_draft(visit, texts, visit.sent.text("title"), copy_of=version.id)


def _add_draft(
    visit: ConsoleVisit, texts: Mapping[str, str], title: str, *, copy_of: int | None = None
) -> str:
    with visit.services.database.writing() as db, at_field("title"):
        system = visit.system_work_in(db)
        added = actions.add_draft(system, texts, title, copy_of=copy_of)
        where = f"/console/versions/{added.id}/edit"
        visit.remember(db, where)
    return where


@show_version.action(
    "withdraw-catalogue",
    "The version is a draft again.",
    duty=Duty.ADMINISTER,
    needs_password=True,
)
def withdraw(visit: ConsoleVisit) -> None:
    actions.withdraw_version(visit.system_work, visit.number("id"))


@show_version.action(
    "delete-catalogue", "The draft was deleted.", duty=Duty.ADMINISTER, needs_password=True
)
def delete(visit: ConsoleVisit) -> str:
    actions.delete_version(visit.system_work, visit.number("id"))
    return "/console/versions"


@show_version.action(
    "roll-back-catalogue",
    "The catalogue is what it was then.",
    duty=Duty.ADMINISTER,
    needs_password=True,
    alone=True,
)
def roll_back(visit: ConsoleVisit) -> str:
    """Use the version again, as a new one."""
    version, catalogue = _read_version(visit, "This release cannot use this version.")
    with visit.services.database.writing() as db:
        published = actions.roll_back(visit.system_work_in(db), catalogue, version)
    return f"/console/versions/{published.id}"


def _load(db: Connection, version: CatalogueVersion) -> Catalogue:
    return read_catalogue(read_texts(db, version.id))


def _read_time(text: str) -> datetime | None:
    """Read what a field for a date and a time sends, in UTC; an empty one means now."""
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC)
    except ValueError:
        message = "Enter a date and a time, such as 2027-01-31T08:00."
        raise BadInput(message, field="at") from None
