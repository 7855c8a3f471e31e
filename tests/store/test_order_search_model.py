"""What is found is what fits, held against a few lines of plain Python."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from printworks.rules.orders import OrderStatus
from printworks.rules.search import make_recipient_key, simplify
from printworks.store.engine.database import Database
from printworks.store.orders.search import OrderSearch, search_orders
from tests.factories import NOON, a_merchant
from tests.scale import scaled
from tests.store.rows import add_orders

pytestmark = pytest.mark.slow

_S = OrderStatus
TODAY = NOON.date()

LETTERS = st.sampled_from("abFé %_\\1-")
WORDS = st.text(LETTERS, max_size=5)
ROWS = st.fixed_dictionaries(
    {
        "recipient_name": st.none() | WORDS,
        "merchant_order_id": st.none() | WORDS,
        "status": st.sampled_from(_S),
        # Hours since the one before, minus minutes of disorder.
        "hours": st.integers(0, 30),
        "late": st.integers(0, 9),
    }
)
DAYS = st.none() | st.integers(-1, 8).map(lambda days: TODAY + timedelta(days=days))
WANTED = st.builds(
    OrderSearch,
    text=WORDS,
    status=st.none() | st.sampled_from(_S),
    from_day=DAYS,
    to_day=DAYS,
)


def fits(row: dict[str, Any], wanted: OrderSearch) -> bool:
    """Say in plain Python whether an order is found, where there are few orders."""
    day = row["created_at"].date()
    if wanted.status not in (None, row["status"]):
        return False
    if not (wanted.from_day or date.min) <= day <= (wanted.to_day or date.max):
        return False
    asked = wanted.text.strip()
    name, words = make_recipient_key(row["recipient_name"]), simplify(asked).split()
    return (
        not asked
        or asked == str(row["id"])
        or (row["merchant_order_id"] or "").startswith(asked)
        or bool(words and all(word in name for word in words))
    )


@settings(max_examples=scaled(600), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(ROWS, max_size=12), wanted=WANTED, limit=st.integers(1, 5))
def test_what_is_found_is_what_fits_page_by_page(
    sqlite_database: Database, rows: list[dict[str, Any]], wanted: OrderSearch, limit: int
) -> None:
    with sqlite_database.writing() as db:
        merchant = a_merchant(db)
        timestamp = datetime.combine(TODAY, time(), UTC)
        for row in rows:
            timestamp += timedelta(hours=row.pop("hours"))
            row["created_at"] = timestamp - timedelta(minutes=row.pop("late"))
        if rows:
            add_orders(db, merchant, rows)
        ids = db.execute(
            text("SELECT id FROM orders WHERE merchant_id = :id ORDER BY ordinal"),
            {"id": merchant.id},
        ).scalars()
        known = [{**row, "id": row_id} for row, row_id in zip(rows, ids, strict=True)]
    expected = [place for place, row in enumerate(known, start=1) if fits(row, wanted)][::-1]

    found, before = [], None
    with sqlite_database.reading() as db:
        while True:
            page = search_orders(db, merchant.id, wanted, before=before, limit=limit)
            found.append([line.ordinal for line in page.orders])
            before = page.next
            if before is None:
                break

    assert [ordinal for page in found for ordinal in page] == expected
    assert all(len(page) == limit for page in found[:-1])
