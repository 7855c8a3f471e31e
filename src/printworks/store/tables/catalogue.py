"""Versions of the catalogue."""

from sqlalchemy import Column, ForeignKey, Integer, Table, Text, text

from printworks.store.engine.columns import RowId, Timestamp
from printworks.store.tables.base import metadata, partial_index

# While there is none, the catalogue is that of the settings.
catalogue_versions = Table(
    "catalogue_versions",
    metadata,
    Column("id", RowId, primary_key=True),
    Column("title", Text, nullable=False),
    Column("made_by", Text, nullable=False),
    # The version that it changes; null for the first.
    Column("based_on", ForeignKey("catalogue_versions.id")),
    # Of its texts: two versions with the same one are the same.
    Column("fingerprint", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    # From when on it is used, until a later one is; null for a draft.
    Column("publish_at", Timestamp),
    Column("published_by", Text, nullable=False, server_default=text("''")),
    sqlite_autoincrement=True,
)

# Which version is in use.
partial_index(
    "ix_catalogue_versions_publish_at",
    catalogue_versions.c.publish_at,
    where="publish_at IS NOT NULL",
)

# Its TOML files, as they were imported.
catalogue_files = Table(
    "catalogue_files",
    metadata,
    Column("version_id", ForeignKey("catalogue_versions.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

# Which pictures its files name, by their hashes; there may be none with that hash.
catalogue_pictures = Table(
    "catalogue_pictures",
    metadata,
    Column("version_id", ForeignKey("catalogue_versions.id"), primary_key=True),
    Column("hash", Text, primary_key=True, index=True),
)

# Photographs of products; one that no version names is removed.
product_pictures = Table(
    "product_pictures",
    metadata,
    Column("id", RowId, primary_key=True),
    # The first half of the SHA-256 of its content.
    Column("hash", Text, nullable=False, unique=True),
    # The name of its file, which nobody can guess, so that what is removed is never stored again.
    Column("file", Text, nullable=False),
    Column("size", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    sqlite_autoincrement=True,
)
