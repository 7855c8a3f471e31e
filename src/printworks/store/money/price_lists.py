"""Price lists and groups of merchants: rows that are changed, and every change kept."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, func, insert, or_, select, update

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.price_lists import PriceLine, PriceList
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.engine.rows import (
    columns_of,
    find_struct,
    get_struct,
    list_structs,
    newest_first,
    possible_id,
)
from printworks.store.engine.upsert import count_up
from printworks.store.tables import (
    merchant_groups,
    merchants,
    price_book,
    price_list_changes,
    price_lists,
)

_BOOK: Final = "prices"
_COLUMNS: Final = columns_of(price_lists, PriceList)
_REVISION: Final = PreparedStatement(
    select(price_book.c.revision).where(price_book.c.name == bindparam("name"))
)
# What has ended is not asked for any more; sandbox merchants are never behind the real time.
_USABLE: Final = or_(
    price_lists.c.valid_until.is_(None), price_lists.c.valid_until > bindparam("now")
)
_read_lines: Final = reader_of(list[PriceLine])


class MerchantGroup(msgspec.Struct, frozen=True):
    """Merchants that have price lists together."""

    id: int
    name: str
    created_at: datetime


class GroupMember(msgspec.Struct, frozen=True):
    """A merchant in a group."""

    id: int
    code: str
    name: str


class PriceListChange(msgspec.Struct, frozen=True):
    """What was done to a list, and how it was afterwards."""

    revision: int
    list_id: int
    change: str
    who: str
    content: Mapping[str, Any]
    created_at: datetime


_GROUPS: Final = columns_of(merchant_groups, MerchantGroup)
_MEMBERS: Final = columns_of(merchants, GroupMember)
_CHANGES: Final = columns_of(price_list_changes, PriceListChange)


def read_revision(db: Connection) -> int:
    """Return the number of the latest change; 0 before the first."""
    found = _REVISION.first(db, {"name": _BOOK})
    return 0 if found is None else int(found[0])


def take_revision(db: Connection) -> int:
    """Return the number of the change that is being made; others wait for it."""
    return count_up(db, price_book, {"name": _BOOK}, "revision")


def read_revisions(db: Connection, *, now: datetime) -> dict[int, int]:
    """Return the revisions of all lists that may be used now or later, by list."""
    wanted = select(price_lists.c.id, price_lists.c.revision).where(_USABLE)
    return {row.id: row.revision for row in db.execute(wanted, {"now": now})}


def read_lists(db: Connection, ids: Collection[int]) -> list[PriceList]:
    """Return these lists."""
    wanted = select(*_COLUMNS).where(is_one_of(price_lists.c.id, "ids"))
    return [_read(row) for row in db.execute(wanted, {"ids": write_list(ids)})]


def get_list(db: Connection, list_id: int) -> PriceList:
    return _get(db, list_id, select(*_COLUMNS))


def get_list_to_change(db: Connection, list_id: int) -> PriceList:
    """Lock a list and return it."""
    return _get(db, list_id, select(*_COLUMNS).with_for_update())


def _get(db: Connection, list_id: int, query: Any) -> PriceList:
    row = db.execute(query.where(price_lists.c.id == possible_id(list_id))).one_or_none()
    if row is None:
        raise NotFound(f"There is no price list {list_id}.")
    return _read(row)


def list_lists(db: Connection, *, before: int | None = None, limit: int) -> list[PriceList]:
    """Return price lists, newest first."""
    query = newest_first(select(*_COLUMNS), price_lists.c.id, before=before, limit=limit)
    return [_read(row) for row in db.execute(query)]


def list_lists_of(
    db: Connection, *, merchant_id: int | None = None, group_id: int | None = None, limit: int
) -> list[PriceList]:
    """Return the lists of a merchant or of a group, newest first."""
    of_merchant = price_lists.c.merchant_id == merchant_id
    of_group = price_lists.c.group_id == group_id
    query = select(*_COLUMNS).where(or_(of_merchant, of_group))
    page = newest_first(query, price_lists.c.id, before=None, limit=limit)
    return [_read(row) for row in db.execute(page)]


def insert_list(db: Connection, new: PriceList, *, now: datetime) -> PriceList:
    """Add a list; the database chooses its id."""
    values = {**_write(new), "created_at": now}
    added = insert(price_lists).values(**values).returning(price_lists.c.id)
    return msgspec.structs.replace(new, id=db.execute(added).scalar_one())


def update_list(db: Connection, changed: PriceList) -> None:
    """Write down what a list is now."""
    this = price_lists.c.id == changed.id
    db.execute(update(price_lists).where(this).values(**_write(changed)))


def insert_change(
    db: Connection, changed: PriceList, change: str, *, who: str, now: datetime
) -> None:
    """Keep what was done to a list, with the list as it is now."""
    content = msgspec.to_builtins(changed)
    db.execute(
        insert(price_list_changes).values(
            revision=changed.revision,
            list_id=changed.id,
            change=change,
            who=who,
            content=content,
            created_at=now,
        )
    )


def list_list_changes(
    db: Connection, list_id: int, *, before: int | None = None, limit: int
) -> list[PriceListChange]:
    """Return what was done to a list, the latest first."""
    query = select(*_CHANGES).where(price_list_changes.c.list_id == list_id)
    page = newest_first(query, price_list_changes.c.revision, before=before, limit=limit)
    return list_structs(db, PriceListChange, page)


def get_list_change(db: Connection, list_id: int, revision: int) -> PriceListChange:
    """Return one change of a list."""
    this = price_list_changes.c.revision == possible_id(revision)
    query = select(*_CHANGES).where(this, price_list_changes.c.list_id == list_id)
    missing = f"There is no change {revision} of this list."
    return get_struct(db, PriceListChange, query, missing=missing)


def _write(found: PriceList) -> dict[str, Any]:
    values = {name: getattr(found, name) for name in found.__struct_fields__}
    del values["id"]
    return {**values, "lines": msgspec.to_builtins(found.lines)}


def _read(row: Any) -> PriceList:
    values = dict(zip(PriceList.__struct_fields__, row, strict=True))
    return PriceList(**{**values, "lines": tuple(_read_lines(values["lines"]))})


def insert_group(db: Connection, name: str, *, now: datetime) -> MerchantGroup:
    added = insert(merchant_groups).values(name=name, created_at=now).returning(*_GROUPS)
    return MerchantGroup(*db.execute(added).one())


def find_group(db: Connection, name: str) -> MerchantGroup | None:
    """Return the group with this name."""
    return find_struct(db, MerchantGroup, select(*_GROUPS).where(merchant_groups.c.name == name))


def get_group(db: Connection, group_id: int) -> MerchantGroup:
    query = select(*_GROUPS).where(merchant_groups.c.id == possible_id(group_id))
    return get_struct(db, MerchantGroup, query, missing=f"There is no group {group_id}.")


def list_groups(db: Connection, *, before: int | None = None, limit: int) -> list[MerchantGroup]:
    """Return groups, newest first."""
    query = newest_first(select(*_GROUPS), merchant_groups.c.id, before=before, limit=limit)
    return list_structs(db, MerchantGroup, query)


def count_members(db: Connection, group_ids: Collection[int]) -> dict[int, int]:
    """Return how many merchants are in each of these groups."""
    wanted = (
        select(merchants.c.group_id, func.count())
        .where(is_one_of(merchants.c.group_id, "ids"))
        .group_by(merchants.c.group_id)
    )
    rows = db.execute(wanted, {"ids": write_list(group_ids)})
    return {group_id: int(members) for group_id, members in rows}


def list_members(
    db: Connection, group_id: int, *, before: int | None = None, limit: int
) -> list[GroupMember]:
    """Return the merchants of a group, newest first."""
    mine = select(*_MEMBERS).where(merchants.c.group_id == group_id)
    query = newest_first(mine, merchants.c.id, before=before, limit=limit)
    return list_structs(db, GroupMember, query)


def set_group(db: Connection, merchant_id: int, group_id: int | None) -> None:
    """Put a merchant into a group, out of the one that it was in; None is no group."""
    this = merchants.c.id == merchant_id
    db.execute(update(merchants).where(this).values(group_id=group_id))
