"""What recipients see of merchants."""

from datetime import datetime
from typing import Final, NamedTuple

import msgspec
from sqlalchemy import Connection, bindparam, select, union_all

from printworks.rules.shops import UTC_ZONE, ShopProfile
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import brand, merchants, shops


class Logo(NamedTuple):
    """The logo of a shop: the name of its file, and its size in pixels."""

    file: str
    width: int
    height: int

    @property
    def token(self) -> str:
        """What its address has in it, which changes with the picture."""
        return self.file.partition("/")[2].partition(".")[0]


class Shop(msgspec.Struct, frozen=True, kw_only=True):
    """What recipients see of a merchant."""

    merchant_id: int
    # What the merchant calls itself.
    merchant_name: str
    profile: ShopProfile = ShopProfile()
    logo: Logo | None = None

    @property
    def name(self) -> str:
        """The name that recipients know."""
        return self.profile.name or self.merchant_name


_COLUMNS: Final = columns_of(shops, ShopProfile)
_ONE: Final = PreparedStatement(
    select(merchants.c.name, shops.c.logo, shops.c.logo_width, shops.c.logo_height, *_COLUMNS)
    .join_from(merchants, shops, isouter=True)
    .where(merchants.c.id == bindparam("id"))
)
_ZONE: Final = PreparedStatement(
    select(shops.c.time_zone).where(shops.c.merchant_id == bindparam("id"))
)


def get_shop(db: Connection, merchant_id: int) -> Shop:
    """Return what recipients see of a merchant."""
    name, logo, width, height, *texts = _ONE.one(db, {"id": merchant_id})
    # A merchant who has said nothing has no row, and a row has no nulls here.
    names = (column.name for column in _COLUMNS)
    profile = ShopProfile(**dict(zip(names, texts, strict=True))) if texts[0] is not None else None
    return Shop(
        merchant_id=merchant_id,
        merchant_name=name,
        profile=profile or ShopProfile(),
        logo=None if logo is None else Logo(logo, width, height),
    )


def read_time_zone(db: Connection, merchant_id: int) -> str:
    """Return the time zone of a merchant's dashboard."""
    rows = _ZONE.all(db, {"id": merchant_id})
    return str(rows[0][0]) if rows else UTC_ZONE


def write_shop(db: Connection, shop: Shop, *, now: datetime) -> None:
    """Store what recipients see of a merchant."""
    logo = shop.logo
    values = {
        **msgspec.structs.asdict(shop.profile),
        "logo": logo and logo.file,
        "logo_width": logo and logo.width,
        "logo_height": logo and logo.height,
        "updated_at": now,
    }
    db.execute(insert_or_update(db, shops, {"merchant_id": shop.merchant_id}, values))


def is_logo(db: Connection, file: str) -> bool:
    """Whether a file is the logo of some shop, or of the service."""
    of_shop = select(shops.c.logo).where(shops.c.logo == file)
    of_service = select(brand.c.logo).where(brand.c.logo == file)
    return db.execute(union_all(of_shop, of_service)).first() is not None


def lock_shop(db: Connection, merchant_id: int) -> Shop:
    """Return what recipients see of a merchant, and let nobody else change it until the end."""
    # Rows that refer to the merchant, such as new orders, need not wait.
    mine = select(merchants.c.id).where(merchants.c.id == merchant_id)
    db.execute(mine.with_for_update(key_share=True)).one()
    return get_shop(db, merchant_id)
