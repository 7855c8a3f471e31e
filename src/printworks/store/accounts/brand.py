"""What the operator calls the service, and how it looks."""

from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, select

from printworks.rules.brand import USUAL_NAME, Brand
from printworks.store.accounts.shops import Logo
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import brand as brands

_ONLY: Final = 1


class StoredBrand(msgspec.Struct, frozen=True, kw_only=True):
    """What the operator has said, and the logo."""

    brand: Brand = Brand()
    logo: Logo | None = None

    @property
    def name(self) -> str:
        """What the service is called on its pages."""
        return self.brand.name or USUAL_NAME


_COLUMNS: Final = columns_of(brands, Brand)
_FIND: Final = PreparedStatement(
    select(brands.c.logo, brands.c.logo_width, brands.c.logo_height, *_COLUMNS).where(
        brands.c.id == _ONLY
    )
)


def read_brand(db: Connection) -> StoredBrand:
    """Return what the operator has said; nothing in it if that was nothing."""
    found = _FIND.first(db, {})
    if found is None:
        return StoredBrand()
    logo, width, height, *values = found
    names = (column.name for column in _COLUMNS)
    return StoredBrand(
        brand=Brand(**dict(zip(names, values, strict=True))),
        logo=None if logo is None else Logo(logo, width, height),
    )


def lock_brand(db: Connection) -> StoredBrand:
    """Return what the operator has said, and let nobody else change it until the end."""
    db.execute(select(brands.c.id).where(brands.c.id == _ONLY).with_for_update())
    return read_brand(db)


def write_brand(db: Connection, stored: StoredBrand, *, now: datetime) -> None:
    """Store what the operator says."""
    logo = stored.logo
    values = {
        **msgspec.structs.asdict(stored.brand),
        "logo": logo and logo.file,
        "logo_width": logo and logo.width,
        "logo_height": logo and logo.height,
        "updated_at": now,
    }
    db.execute(insert_or_update(db, brands, {"id": _ONLY}, values))
