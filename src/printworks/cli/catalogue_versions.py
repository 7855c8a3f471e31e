"""`printworks catalogue import` and others: versions of the catalogue in the database."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, BinaryIO, Final

import typer

from printworks.actions import catalogue as actions
from printworks.actions.product_pictures import DrawnPicture, begin_pictures, draw_pictures
from printworks.catalogue.changes import list_changes
from printworks.catalogue.drafts.pictures import rename_pictures
from printworks.catalogue.pictures import PICTURES, list_pictures
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.cli.options import Limit
from printworks.cli.output import Columns, note, pick, write_count
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput, WrongState
from printworks.rules.product_pictures import find_hash
from printworks.store.catalogue.pictures import find_files
from printworks.store.catalogue.versions import (
    CatalogueVersion,
    find_before,
    find_current,
    get_version,
    list_versions,
    read_texts,
)

app = typer.Typer()

_COLUMNS: Final[Columns] = {
    "version": "id",
    "state": "state",
    "title": "title",
    "by": "madeBy",
    "created": "createdAt",
    "published": "publishAt",
}

Version = Annotated[int, typer.Argument(metavar="VERSION", help="The number of the version.")]


@command(app, "versions")
def show_versions(session: CommandSession, *, limit: Limit = 50) -> None:
    """List the versions of the catalogue, newest first."""
    with session.system_work() as system:
        found = list_versions(system.db, limit=limit)
        states = actions.list_states(system, found)
        rows = [
            {**_describe(version), "state": state}
            for version, state in zip(found, states, strict=True)
        ]
    session.show_list(rows, _COLUMNS, "There is no version yet: the catalogue is as installed.")


@command(app, "import")
def import_folder(
    session: CommandSession,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of TOML files.")],
    *,
    title: Annotated[str, typer.Option(help="What is new in it.")] = "",
) -> None:
    """Check a folder and add it as a draft, to be published later."""
    try:
        catalogue = Catalogue.load(folder)
    except BadCatalogue as error:
        listed = "\n".join(map(str, error.problems))
        raise BadInput(
            f"Nothing was imported, because the catalogue is wrong:\n{listed}"
        ) from error
    catalogue, pictures = _import_pictures(session, catalogue, folder / PICTURES)
    with session.system_work() as system:
        added = actions.add_version(
            system, catalogue, title or f"Imported from {folder.name}", pictures=pictures
        )
        warnings = list(actions.find_warnings(system, catalogue, added))
    _warn(warnings)
    session.done(
        f"Version {added.id} is a draft. `printworks catalogue diff {added.id}` shows what changes, "
        f"`printworks catalogue publish {added.id}` uses it.",
        version=added.id,
        warnings=warnings,
    )


def _import_pictures(
    session: CommandSession, catalogue: Catalogue, folder: Path
) -> tuple[Catalogue, list[DrawnPicture]]:
    """Store the pictures of a folder; return the catalogue with the names that they have now."""
    names, services = list_pictures(catalogue.products), session.services
    if not names:
        return catalogue, []
    with session.system_work() as system:
        uploads = begin_pictures(system, len(names))
    drawn = draw_pictures(services.processor, services.files, uploads, _open_files(folder, names))
    texts = rename_pictures(catalogue.texts, {name: one.name for name, one in drawn.items()})
    return Catalogue.load(texts), list(drawn.values())


def _open_files(folder: Path, names: list[str]) -> Iterator[tuple[str, BinaryIO]]:
    for name in names:
        with (folder / name).open("rb") as file:
            yield name, file


@command(app, "export")
def export_version(
    session: CommandSession,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet.")
    ],
    *,
    version: Annotated[
        int | None, typer.Option(help="Which version; by default the one in use.")
    ] = None,
) -> None:
    """Write the files of a version and its pictures into a folder, as they were imported."""
    catalogue = _load(session, version)
    texts, pictures = catalogue.texts, _find_pictures(session, catalogue)
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise BadInput(f"{folder} exists already; name another folder.") from None
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    for name, key in pictures.items():
        path = folder / PICTURES / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(session.services.files.read(key))
    shown = f" and {write_count(len(pictures), 'picture', 'pictures')}" if pictures else ""
    session.done(
        f"{folder} has {len(texts)} files{shown}.",
        folder=str(folder),
        files=sorted(texts),
        pictures=sorted(pictures),
    )


def _find_pictures(session: CommandSession, catalogue: Catalogue) -> dict[str, str]:
    """Return where the pictures of a catalogue are stored, by their names."""
    hashes = {name: find_hash(name) for name in list_pictures(catalogue.products)}
    with session.reading() as db:
        known = find_files(db, [one for one in hashes.values() if one])
    return {name: known[one] for name, one in hashes.items() if one in known}


@command(app, "diff")
def show_changes(
    session: CommandSession,
    version: Version,
    other: Annotated[
        int | None,
        typer.Argument(metavar="[OTHER]", help="Compared with it; by default the one in use."),
    ] = None,
) -> None:
    """Show what a version changes."""
    changes = list_changes(_load(session, other), _load(session, version))
    session.show(
        [change._asdict() for change in changes],
        *(map(str, changes) if changes else ["They sell, make and send the same."]),
    )


@command(app, "publish")
def publish(
    session: CommandSession,
    version: Version,
    *,
    at: Annotated[
        datetime | None,
        typer.Option(help="When, in UTC; by default now.", formats=["%Y-%m-%dT%H:%M", "%Y-%m-%d"]),
    ] = None,
) -> None:
    """Use a version from now on, or from a time on; running processes follow within seconds."""
    catalogue = _load(session, version)
    when = None if at is None else at.replace(tzinfo=UTC)
    with session.system_work() as system:
        draft = get_version(system.db, version)
        warnings = list(actions.find_warnings(system, catalogue, draft))
        published = actions.publish_version(system, version, catalogue, at=when)
    _warn(warnings)
    what = _describe(published)
    session.done(
        f"Version {version} is used from {published.publish_at:%Y-%m-%d %H:%M} UTC on.",
        **what,
        warnings=warnings,
    )


@command(app, "withdraw")
def withdraw(session: CommandSession, version: Version) -> None:
    """Do not publish a scheduled version; it is a draft again."""
    with session.system_work() as system:
        actions.withdraw_version(system, version)
    session.done(f"Version {version} is a draft again.", version=version)


@command(app, "rollback")
def roll_back(
    session: CommandSession,
    version: Annotated[
        int | None,
        typer.Argument(metavar="[VERSION]", help="Which; by default the one before."),
    ] = None,
) -> None:
    """Use a version that was in use before again."""
    wanted = _find_before(session) if version is None else version
    catalogue = _load(session, wanted)
    with session.system_work() as system:
        former = get_version(system.db, wanted)
        published = actions.roll_back(system, catalogue, former)
    session.done(
        f"Version {published.id} is in use; it is the same as version {former.id}.",
        version=published.id,
        sameAs=former.id,
    )


def _find_before(session: CommandSession) -> int:
    now = session.services.clock()
    with session.reading() as db:
        current = find_current(db, now=now)
        before = None if current is None else find_before(db, get_version(db, current))
    if before is None:
        raise WrongState("No other version was in use before.")
    return before.id


def _load(session: CommandSession, version: int | None) -> Catalogue:
    """Return a version, or the one in use."""
    if version is None:
        return session.services.catalogue
    with session.reading() as db:
        texts = read_texts(db, get_version(db, version).id)
    return Catalogue.load(texts)


def _warn(warnings: list[str]) -> None:
    for sentence in warnings:
        note(f"Warning: {sentence}")


def _describe(version: CatalogueVersion) -> dict[str, Any]:
    return pick(version, *version.__struct_fields__)
