"""Photographs of products, found by the hash of their content."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, insert, select

from printworks.store.engine.prepared import PreparedStatement
from printworks.store.tables import catalogue_pictures, product_pictures

_FIND: Final = PreparedStatement(
    select(product_pictures.c.file).where(product_pictures.c.hash == bindparam("hash"))
)


def find_file(db: Connection, picture: str) -> str | None:
    """Return where the picture with a hash is stored."""
    found = _FIND.first(db, {"hash": picture})
    return None if found is None else str(found[0])


def find_files(db: Connection, pictures: Collection[str]) -> dict[str, str]:
    """Return where pictures are stored, by their hashes."""
    rows = select(product_pictures.c.hash, product_pictures.c.file)
    found = db.execute(rows.where(product_pictures.c.hash.in_(list(pictures))))
    return {row.hash: row.file for row in found}


def insert_picture(
    db: Connection, picture: str, file: str, *, size: int, created_at: datetime
) -> None:
    """Remember a picture that was stored."""
    values = {"hash": picture, "file": file, "size": size, "created_at": created_at}
    db.execute(insert(product_pictures).values(**values))


def delete_unnamed(db: Connection) -> list[str]:
    """Forget the pictures that no version names; return their files."""
    named = select(catalogue_pictures.c.version_id).where(
        catalogue_pictures.c.hash == product_pictures.c.hash
    )
    forgotten = delete(product_pictures).where(~named.exists()).returning(product_pictures.c.file)
    return list(db.execute(forgotten).scalars())
