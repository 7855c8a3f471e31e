"""Versions of the catalogue: drafts that are changed, and what was published, which never is."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, and_, bindparam, delete, insert, or_, select, text, update

from printworks.catalogue.products import Currency
from printworks.catalogue.sources import fingerprint
from printworks.errors import NotFound
from printworks.rules.merchants import MerchantState
from printworks.rules.product_pictures import list_hashes
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import (
    columns_of,
    find_struct,
    list_structs,
    newest_first,
    possible_id,
)
from printworks.store.orders.shipments import IS_OPEN
from printworks.store.tables import (
    catalogue_files,
    catalogue_pictures,
    catalogue_versions,
    merchants,
    shipments,
)


class CatalogueVersion(msgspec.Struct, frozen=True):
    """A version, apart from its files."""

    id: int
    title: str
    made_by: str
    based_on: int | None
    fingerprint: str
    created_at: datetime
    publish_at: datetime | None
    published_by: str


_COLUMNS: Final = columns_of(catalogue_versions, CatalogueVersion)
_CURRENT: Final = PreparedStatement(
    select(catalogue_versions.c.id)
    .where(catalogue_versions.c.publish_at <= bindparam("now"))
    .order_by(catalogue_versions.c.publish_at.desc(), catalogue_versions.c.id.desc())
    .limit(1)
)
_TAKE_TURN: Final = PreparedStatement(
    text("SELECT pg_advisory_xact_lock(hashtext('printworks.catalogue'))")
)


def lock_versions(db: Connection) -> None:
    """Let nobody else change versions until the transaction ends.

    Whoever writes to SQLite is alone anyway.
    """
    if db.dialect.name == "postgresql":
        _TAKE_TURN.one(db, {})


def find_current(db: Connection, *, now: datetime) -> int | None:
    """Return the number of the version that is in use; None if it is that of the settings."""
    found = _CURRENT.first(db, {"now": now})
    return None if found is None else int(found[0])


def get_version(db: Connection, version_id: int) -> CatalogueVersion:
    query = select(*_COLUMNS).where(catalogue_versions.c.id == possible_id(version_id))
    found = find_struct(db, CatalogueVersion, query)
    if found is None:
        raise NotFound(f"There is no version {version_id} of the catalogue.")
    return found


def list_versions(
    db: Connection, *, before: int | None = None, limit: int
) -> list[CatalogueVersion]:
    """Return versions, newest first."""
    query = newest_first(select(*_COLUMNS), catalogue_versions.c.id, before=before, limit=limit)
    return list_structs(db, CatalogueVersion, query)


def find_version_like(db: Connection, fingerprint: str) -> CatalogueVersion | None:
    """Return the newest version with these texts."""
    query = select(*_COLUMNS).where(catalogue_versions.c.fingerprint == fingerprint)
    return find_struct(
        db, CatalogueVersion, query.order_by(catalogue_versions.c.id.desc()).limit(1)
    )


def find_before(db: Connection, version: CatalogueVersion) -> CatalogueVersion | None:
    """Return the version that was in use before one that was published."""
    at, number = catalogue_versions.c.publish_at, catalogue_versions.c.id
    is_earlier = or_(at < version.publish_at, and_(at == version.publish_at, number < version.id))
    query = select(*_COLUMNS).where(is_earlier).order_by(at.desc(), number.desc()).limit(1)
    return find_struct(db, CatalogueVersion, query)


def read_texts(db: Connection, version_id: int) -> dict[str, str]:
    """Return the files of a version, by their names."""
    files = catalogue_files.c
    rows = db.execute(select(files.name, files.content).where(files.version_id == version_id))
    return {row.name: row.content for row in rows}


def insert_version(
    db: Connection, texts: Mapping[str, str], values: Mapping[str, object]
) -> CatalogueVersion:
    """Add a version with its files."""
    given = {"fingerprint": fingerprint(texts), **values}
    row = db.execute(insert(catalogue_versions).values(**given).returning(*_COLUMNS)).one()
    version = CatalogueVersion(*row)
    _insert_files(db, version.id, texts)
    return version


def replace_texts(db: Connection, version_id: int, texts: Mapping[str, str], *, seen: str) -> bool:
    """Give a draft other files; return False if it has others already than those that were seen."""
    versions = catalogue_versions.c
    changed = (
        update(catalogue_versions)
        .where(versions.id == version_id, versions.fingerprint == seen)
        .where(versions.publish_at.is_(None))
        .values(fingerprint=fingerprint(texts))
    )
    if db.execute(changed).rowcount == 0:
        return False
    _delete_files(db, version_id)
    _insert_files(db, version_id, texts)
    return True


def _insert_files(db: Connection, version_id: int, texts: Mapping[str, str]) -> None:
    files = [
        {"version_id": version_id, "name": name, "content": text} for name, text in texts.items()
    ]
    db.execute(insert(catalogue_files), files)
    named = [{"version_id": version_id, "hash": one} for one in list_hashes(texts.values())]
    if named:
        db.execute(insert(catalogue_pictures), named)


def _delete_files(db: Connection, version_id: int) -> None:
    for table in (catalogue_files, catalogue_pictures):
        db.execute(delete(table).where(table.c.version_id == version_id))


def set_publishing(
    db: Connection, version_id: int, at: datetime | None, *, by: str
) -> CatalogueVersion:
    """Publish a version at a time; None takes that back."""
    changed = (
        update(catalogue_versions)
        .where(catalogue_versions.c.id == version_id)
        .values(publish_at=at, published_by=by)
        .returning(*_COLUMNS)
    )
    return CatalogueVersion(*db.execute(changed).one())


def delete_version(db: Connection, version: CatalogueVersion) -> None:
    """Delete a version; its copies then change what it changed."""
    copies = update(catalogue_versions).where(catalogue_versions.c.based_on == version.id)
    db.execute(copies.values(based_on=version.based_on))
    _delete_files(db, version.id)
    db.execute(delete(catalogue_versions).where(catalogue_versions.c.id == version.id))


def list_used_currencies(db: Connection) -> set[Currency]:
    """Return the currencies in which merchants are charged, except for closed ones."""
    is_open = merchants.c.state != MerchantState.CLOSED
    return set(db.execute(select(merchants.c.currency).where(is_open).distinct()).scalars())


def list_busy_labs(db: Connection) -> set[str]:
    """Return the labs that have something to print or to send."""
    return set(db.execute(select(shipments.c.lab).where(IS_OPEN).distinct()).scalars())
