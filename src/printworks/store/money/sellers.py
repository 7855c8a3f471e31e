"""Who sells, and which companies buy."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, Select, bindparam, delete, insert, select, update

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.businesses import Business
from printworks.rules.sellers import Registration, Seller
from printworks.rules.taxes import TaxRounding
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, possible_id
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import businesses, sellers


class StoredSeller(NamedTuple):
    """A seller, and the number of its row."""

    id: int
    seller: Seller


class TaxParties(NamedTuple):
    """Who sells to a merchant, and the merchant's company; None if it has not named any."""

    seller_id: int
    seller: Seller
    buyer: Business | None


class _Terms(msgspec.Struct, frozen=True):
    """The columns of a seller besides its company."""

    email: str
    register_number: str
    bank: str
    iban: str
    bic: str
    registrations: Any
    has_one_stop: bool
    is_gross: bool
    rounding: TaxRounding


_SELLER: Final = [
    sellers.c.id,
    *columns_of(sellers, Business),
    *columns_of(sellers, _Terms),
]
_BUYER: Final = columns_of(businesses, Business)
_CURRENT: Final = sellers.c.ended_at.is_(None)
_WHO_SELLS: Final = select(*_SELLER).where(_CURRENT).order_by(sellers.c.id.desc()).limit(1)
_PARTIES: Final = PreparedStatement(
    select(*_SELLER, *(column.label(f"buyer_{column.name}") for column in _BUYER))
    .join_from(
        sellers, businesses, businesses.c.merchant_id == bindparam("merchant_id"), isouter=True
    )
    .where(_CURRENT)
    .order_by(sellers.c.id.desc())
    .limit(1)
)
_BUSINESS: Final = PreparedStatement(
    select(*_BUYER).where(businesses.c.merchant_id == bindparam("merchant_id"))
)
_read_registrations: Final = reader_of(dict[str, Registration])
_COMPANY: Final = len(Business.__struct_fields__)


def find_tax_parties(db: Connection, merchant_id: int) -> TaxParties | None:
    """Return who sells to a merchant, and as whom it buys; None if nobody collects tax."""
    row = _PARTIES.first(db, {"merchant_id": merchant_id})
    if row is None:
        return None
    stored, buyer = _read_seller(row[: len(_SELLER)]), row[len(_SELLER) :]
    return TaxParties(*stored, None if buyer[0] is None else _read_business(buyer))


def find_seller(db: Connection) -> StoredSeller | None:
    """Return who sells; None if nobody collects tax."""
    return _find_seller(db, _WHO_SELLS)


def find_seller_to_change(db: Connection) -> StoredSeller | None:
    """Lock who sells and return it; None if nobody collects tax."""
    return _find_seller(db, _WHO_SELLS.with_for_update())


def _find_seller(db: Connection, query: Select[Any]) -> StoredSeller | None:
    row = db.execute(query).first()
    return None if row is None else _read_seller(tuple(row))


def get_seller(db: Connection, seller_id: int) -> Seller:
    """Return a seller by its number, even if it has ended."""
    row = db.execute(select(*_SELLER).where(sellers.c.id == possible_id(seller_id))).first()
    if row is None:
        raise NotFound(f"There is no seller {seller_id}.")
    return _read_seller(tuple(row)).seller


def insert_seller(db: Connection, seller: Seller, *, now: datetime) -> int:
    """Add a seller, who sells from now on."""
    values = {**_write_seller(seller), "created_at": now, "updated_at": now}
    added = insert(sellers).values(values).returning(sellers.c.id)
    return int(db.execute(added).scalar_one())


def update_seller(db: Connection, seller_id: int, seller: Seller, *, now: datetime) -> None:
    """Change what a seller says about itself."""
    values = {**_write_seller(seller), "updated_at": now}
    db.execute(update(sellers).where(sellers.c.id == seller_id).values(values))


def end_seller(db: Connection, seller_id: int, *, now: datetime) -> None:
    """Note that somebody sells no more."""
    db.execute(update(sellers).where(sellers.c.id == seller_id).values(ended_at=now))


def find_business(db: Connection, merchant_id: int) -> Business | None:
    """Return a merchant's company; None if it has not named any."""
    row = _BUSINESS.first(db, {"merchant_id": merchant_id})
    return None if row is None else _read_business(row)


def write_business(db: Connection, merchant_id: int, business: Business, *, now: datetime) -> None:
    """Store a merchant's company."""
    values = {**msgspec.structs.asdict(business), "updated_at": now}
    db.execute(insert_or_update(db, businesses, {"merchant_id": merchant_id}, values))


def delete_business(db: Connection, merchant_id: int) -> None:
    """Forget a merchant's company."""
    db.execute(delete(businesses).where(businesses.c.merchant_id == merchant_id))


def _read_business(row: Sequence[Any]) -> Business:
    return Business(**dict(zip(Business.__struct_fields__, row, strict=True)))


def _read_seller(row: Sequence[Any]) -> StoredSeller:
    seller_id, *columns = row
    terms = msgspec.structs.asdict(_Terms(*columns[_COMPANY:]))
    terms["registrations"] = _read_registrations(terms["registrations"])
    return StoredSeller(seller_id, Seller(company=_read_business(columns[:_COMPANY]), **terms))


def _write_seller(seller: Seller) -> Mapping[str, Any]:
    return {
        **msgspec.structs.asdict(seller.company),
        **{name: getattr(seller, name) for name in _Terms.__struct_fields__},
        "registrations": msgspec.to_builtins(seller.registrations),
    }
