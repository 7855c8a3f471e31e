"""Lists for whoever runs the business: merchants, jobs, money. A page at a time, newest first."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, literal_column, or_, select, tuple_

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.jobs import JobState
from printworks.rules.ledger import Entry, Line
from printworks.rules.payments import Billing
from printworks.rules.search import simplify
from printworks.store.jobs import JobRow
from printworks.store.orders import LARGEST_ID
from printworks.store.problems import count_given_up
from printworks.store.tables import jobs, ledger_entries, merchants

# So many merchants are looked at with one statement for a part of a name.
MERCHANTS_AT_ONCE: Final = 1000
# So many jobs are looked at for one page; the next page goes on from there.
JOBS_LOOKED_AT: Final = 5000


class MerchantLine(msgspec.Struct, frozen=True):
    """What a list shows of a merchant."""

    id: int
    code: str
    name: str
    billing: Billing
    currency: Currency
    # What the merchant owes, in minor units, and how much it may; None is without a limit.
    balance: int
    credit_limit: int | None
    order_count: int
    # How far its clock is ahead.
    clock_offset: timedelta
    created_at: datetime
    # Callbacks that were given up, counted up to a thousand.
    given_up: int


class MerchantPage(msgspec.Struct, frozen=True):
    """Some merchants."""

    merchants: list[MerchantLine]
    # Before which number the next page begins; None if this is the last.
    next: int | None


_SHOWN: Final = [merchants.c[name] for name in MerchantLine.__struct_fields__ if name != "given_up"]


def search_merchants(
    db: Connection, *, text: str = "", before: int | None = None, limit: int
) -> MerchantPage:
    """Return the merchants with this text in their name or code, newest first.

    `before` is what the page before this one named as its `next`.
    """
    wanted = simplify(text)
    ids: list[int] = []
    for merchant_id, code, name in _walk_merchants(db, before):
        if wanted in simplify(name) or wanted in simplify(code):
            ids.append(merchant_id)
        if len(ids) > limit:
            break
    shown = ids[:limit]
    return MerchantPage(_read_merchants(db, shown), shown[-1] if len(ids) > limit else None)


def get_merchant_line(db: Connection, merchant_id: int) -> MerchantLine:
    """Return what a list shows of one merchant."""
    found = _read_merchants(db, [merchant_id]) if 0 < merchant_id <= LARGEST_ID else []
    if not found:
        raise NotFound(f"There is no merchant {merchant_id}.")
    return found[0]


def _walk_merchants(db: Connection, before: int | None) -> Iterator[tuple[int, str, str]]:
    last = min(before or LARGEST_ID, LARGEST_ID)
    while True:
        rows = db.execute(
            select(merchants.c.id, merchants.c.code, merchants.c.name)
            .where(merchants.c.id < last)
            .order_by(merchants.c.id.desc())
            .limit(MERCHANTS_AT_ONCE)
        ).all()
        for row in rows:
            yield row.id, row.code, row.name
            last = row.id
        if len(rows) < MERCHANTS_AT_ONCE:
            return


def _read_merchants(db: Connection, ids: list[int]) -> list[MerchantLine]:
    given_up = count_given_up(db, ids)
    rows = db.execute(
        select(*_SHOWN).where(merchants.c.id.in_(ids)).order_by(merchants.c.id.desc())
    )
    return [MerchantLine(**row._mapping, given_up=given_up[row.id]) for row in rows]


class JobPage(msgspec.Struct, frozen=True):
    """Some jobs."""

    jobs: list[JobRow]
    # Before which number the next page begins; None if there are no older ones. A page can be
    # short, or empty, although there are.
    next: int | None


_JOBS: Final = select(jobs, merchants.c.code.label("merchant")).join_from(
    jobs, merchants, isouter=True
)
# Few compared with the others, among which somebody looks a part at a time.
_FEW: Final = frozenset({JobState.SCHEDULED, JobState.DUE, JobState.RUNNING, JobState.FAILED})


def search_jobs(
    db: Connection,
    *,
    state: JobState | None = None,
    kind: str | None = None,
    before: int | None = None,
    limit: int,
) -> JobPage:
    """Return jobs in this state and of this kind, newest first.

    `before` is what the page before this one named as its `next`.
    """
    last = min(before or LARGEST_ID, LARGEST_ID)
    fits: list[ColumnElement[bool]] = []
    if state is not None:
        # Spelled out, so that the small index of that state can be used.
        fits.append(jobs.c.state == literal_column(f"'{state}'"))
    if kind is not None:
        # A kind with a zero byte is nobody's, and an error to PostgreSQL.
        fits.append(jobs.c.kind == kind.replace("\0", ""))
    if state in _FEW:
        return _list_few_jobs(db, state, fits, last=last, limit=limit)
    return _look_through_jobs(db, fits, last=last, limit=limit)


def _list_few_jobs(
    db: Connection,
    state: JobState | None,
    fits: list[ColumnElement[bool]],
    *,
    last: int,
    limit: int,
) -> JobPage:
    number: ColumnElement[int] = jobs.c.id
    if state is not JobState.FAILED:
        # Not the bare column: it would tempt SQLite to walk through all jobs in their order,
        # although the state has an index of its own.
        number = jobs.c.id + literal_column("0")
    few = _JOBS.where(*fits, number < last).order_by(number.desc())
    rows = list(db.execute(few.limit(limit + 1)).all())
    return JobPage(rows[:limit], rows[limit - 1].id if len(rows) > limit else None)


def _look_through_jobs(
    db: Connection, fits: list[ColumnElement[bool]], *, last: int, limit: int
) -> JobPage:
    """Look for jobs that fit among the newest before one, and say where to go on."""
    looked_at = (
        select(jobs.c.id)
        .where(jobs.c.id < last)
        .order_by(jobs.c.id.desc())
        .limit(1)
        .offset(JOBS_LOOKED_AT)
    )
    end = db.execute(looked_at).scalar() or 0
    newest = _JOBS.where(jobs.c.id < last, jobs.c.id > end, *fits).order_by(jobs.c.id.desc())
    rows = list(db.execute(newest.limit(limit + 1)).all())
    if len(rows) > limit:
        return JobPage(rows[:limit], rows[limit - 1].id)
    return JobPage(rows, end + 1 if end else None)


class EntryLine(msgspec.Struct, frozen=True):
    """Money that moved, and whose it is."""

    entry: Entry
    merchant_code: str
    merchant: str


class EntryPlace(msgspec.Struct, frozen=True):
    """Where an entry is among those of all merchants."""

    created_at: datetime
    merchant_id: int
    number: int


class EntryPage(msgspec.Struct, frozen=True):
    """Some of what moved."""

    entries: list[EntryLine]
    # Before which place the next page begins; None if this is the last.
    next: EntryPlace | None


# Everything has a merchant; but an outer join is read from its left side, in the order of the
# page, and not merchant by merchant.
_ENTRIES: Final = select(
    merchants.c.code.label("merchant_code"),
    merchants.c.name.label("merchant"),
    *(ledger_entries.c[name] for name in Entry.__struct_fields__),
).join_from(ledger_entries, merchants, isouter=True)


def list_money(
    db: Connection, *, merchant_id: int | None = None, before: EntryPlace | None = None, limit: int
) -> EntryPage:
    """Return what moved, of one merchant or of all, newest first.

    `before` is what the page before this one named as its `next`.
    """
    table = ledger_entries.c
    if merchant_id is not None:
        last = before.number if before else LARGEST_ID
        wanted = _ENTRIES.where(table.merchant_id == merchant_id, table.number < last)
        wanted = wanted.order_by(table.number.desc())
    else:
        place = before or _END
        # The moments say no more than the place does, but an index can find them.
        moments = table.created_at.between(_find_end_of_page(db, place, limit), place.created_at)
        wanted = _ENTRIES.where(moments, _is_before(place)).order_by(
            table.created_at.desc(), table.merchant_id.desc(), table.number.desc()
        )
    rows = db.execute(wanted.limit(limit + 1)).all()
    lines = [_read_entry(dict(row._mapping)) for row in rows[:limit]]
    return EntryPage(lines, _place(lines[-1].entry) if len(rows) > limit else None)


# After everything, whatever clock a merchant has.
_END: Final = EntryPlace(datetime(9000, 1, 1, tzinfo=UTC), LARGEST_ID, LARGEST_ID)
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _find_end_of_page(db: Connection, place: EntryPlace, limit: int) -> datetime:
    """Return a moment since which there are enough entries for a page, and hardly more."""
    created_at = ledger_entries.c.created_at
    older = select(created_at).where(created_at < place.created_at).order_by(created_at.desc())
    return db.execute(older.limit(1).offset(limit)).scalar() or _BEGINNING


def _is_before(place: EntryPlace) -> ColumnElement[bool]:
    table = ledger_entries.c
    return or_(
        table.created_at < place.created_at,
        and_(
            table.created_at == place.created_at,
            tuple_(table.merchant_id, table.number) < (place.merchant_id, place.number),
        ),
    )


def _place(entry: Entry) -> EntryPlace:
    return EntryPlace(entry.created_at, entry.merchant_id, entry.number)


def _read_entry(values: dict[str, Any]) -> EntryLine:
    code, name = values.pop("merchant_code"), values.pop("merchant")
    values["lines"] = msgspec.convert(values["lines"], tuple[Line, ...])
    return EntryLine(Entry(**values), code, name)
