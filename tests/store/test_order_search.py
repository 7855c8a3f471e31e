"""Finding orders: what fits is found, newest first, and nothing else is read."""

from datetime import UTC, date, datetime, time, timedelta
from typing import Any

import pytest

from printworks.catalogue.products import Currency
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.orders.search import (
    MOST_ALIKE,
    NEWEST,
    FoundOrders,
    OrderSearch,
    search_orders,
)
from tests.factories import NOON, a_merchant
from tests.store.rows import add_orders

_S = OrderStatus
TODAY = NOON.date()


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def add(database: Database, merchant: Merchant, *rows: dict[str, Any]) -> None:
    with database.writing() as db:
        add_orders(db, merchant, rows)


def look(
    database: Database,
    merchant: Merchant,
    *,
    before: int | None = None,
    limit: int = 100,
    **wanted: Any,
) -> FoundOrders:
    with database.reading() as db:
        return search_orders(db, merchant.id, OrderSearch(**wanted), before=before, limit=limit)


def ordinals(database: Database, merchant: Merchant, **wanted: Any) -> list[int]:
    """Search, and return the ordinals of what was found."""
    return [line.ordinal for line in look(database, merchant, **wanted).orders]


def named(*names: str | None) -> list[dict[str, Any]]:
    return [{"recipient_name": name} for name in names]


def referred_to(*references: str | None) -> list[dict[str, Any]]:
    return [{"merchant_order_id": each, "recipient_name": None} for each in references]


class TestLines:
    def test_a_line_says_what_a_list_shows(self, database: Database, merchant: Merchant) -> None:
        said = {
            "status": _S.SUBMITTED,
            "merchant_order_id": "A-1",
            "recipient_name": "Zoë Fox",
            "destination_country": "FR",
            "image_count": 3,
            "currency": Currency.EUR,
            "price": 1250,
            "held_at": NOON,
            "reasons": [{"code": "image-failed", "subject": 7}],
            "created_at": NOON - timedelta(hours=1),
        }
        add(database, merchant, said)

        [line] = look(database, merchant).orders

        assert {name: getattr(line, name) for name in said} == said
        assert line.is_held
        assert (line.ordinal, line.created_at.tzinfo) == (1, UTC)

    def test_the_newest_come_first(self, database: Database, merchant: Merchant) -> None:
        add(database, merchant, {}, {}, {})

        assert ordinals(database, merchant) == [3, 2, 1]
        assert not look(database, merchant).orders[0].is_held

    def test_somebody_elses_orders_are_not_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        with database.writing() as db:
            bob = a_merchant(db, "Bob")
        add(database, bob, {"merchant_order_id": "A-1"})
        [theirs] = look(database, bob).orders

        for wanted in ({}, {"text": str(theirs.id)}, {"text": "A-1"}, {"text": "fox"}):
            assert ordinals(database, bob, **wanted) == [1]
            assert ordinals(database, merchant, **wanted) == []


class TestPages:
    @pytest.mark.parametrize("wanted", [{}, {"text": "fox"}, {"status": _S.NOT_YET_SUBMITTED}])
    def test_pages_follow_each_other_until_the_last(
        self, database: Database, merchant: Merchant, wanted: dict[str, Any]
    ) -> None:
        add(database, merchant, *[{}] * 5)

        first = look(database, merchant, limit=2, **wanted)
        second = look(database, merchant, limit=2, before=first.next, **wanted)
        third = look(database, merchant, limit=2, before=second.next, **wanted)

        pages = [[line.ordinal for line in page.orders] for page in (first, second, third)]
        assert pages == [[5, 4], [3, 2], [1]]
        assert (first.next, second.next, third.next) == (4, 2, None)

    def test_a_page_that_is_just_full_is_the_last(
        self, database: Database, merchant: Merchant
    ) -> None:
        add(database, merchant, {}, {})

        assert look(database, merchant, limit=2).next is None

    @pytest.mark.parametrize("before", [-(2**70), -1, 0, 1])
    def test_before_the_first_there_is_nothing(
        self, database: Database, merchant: Merchant, before: int
    ) -> None:
        add(database, merchant, {})

        assert look(database, merchant, before=before) == FoundOrders([], None)

    def test_an_end_that_no_order_can_have_is_the_beginning(
        self, database: Database, merchant: Merchant
    ) -> None:
        add(database, merchant, {})

        assert ordinals(database, merchant, before=2**70) == [1]


class TestDays:
    def test_both_days_are_included(self, database: Database, merchant: Merchant) -> None:
        midnight = datetime.combine(TODAY, time(), UTC)
        moments = [
            midnight - timedelta(microseconds=1),
            midnight,
            midnight + timedelta(days=1, microseconds=-1),
            midnight + timedelta(days=1),
        ]
        add(database, merchant, *[{"created_at": timestamp} for timestamp in moments])

        assert ordinals(database, merchant, from_day=TODAY, to_day=TODAY) == [3, 2]
        assert ordinals(database, merchant, from_day=TODAY) == [4, 3, 2]
        assert ordinals(database, merchant, to_day=TODAY) == [3, 2, 1]
        assert ordinals(database, merchant, from_day=TODAY + timedelta(days=2)) == []

    def test_orders_that_were_numbered_a_little_late_are_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        midnight = datetime.combine(TODAY, time(), UTC)
        late = [{"created_at": midnight + timedelta(minutes=shift)} for shift in (4, -4, 3, -3)]
        add(database, merchant, *late)

        assert ordinals(database, merchant, from_day=TODAY) == [3, 1]
        assert ordinals(database, merchant, to_day=TODAY - timedelta(days=1)) == [4, 2]

    @pytest.mark.parametrize(
        ("first", "last", "found"),
        [(date.min, date.max, [1]), (date.max, date.min, []), (None, date.min, [])],
    )
    def test_no_day_is_too_far_away(
        self,
        database: Database,
        merchant: Merchant,
        first: date | None,
        last: date,
        found: list[int],
    ) -> None:
        add(database, merchant, {})

        assert ordinals(database, merchant, from_day=first, to_day=last) == found


class TestText:
    def test_an_order_is_found_by_its_id(self, database: Database, merchant: Merchant) -> None:
        add(database, merchant, {}, {})
        wanted = look(database, merchant).orders[1]

        assert ordinals(database, merchant, text=f" {wanted.id} ") == [wanted.ordinal]
        assert ordinals(database, merchant, text=str(wanted.id + 100)) == []

    def test_a_reference_is_found_by_its_beginning(
        self, database: Database, merchant: Merchant
    ) -> None:
        add(database, merchant, *referred_to("A-1", "A-10", "a-1", None, "B-1"))

        assert ordinals(database, merchant, text="A-1") == [2, 1]
        assert ordinals(database, merchant, text="A-10") == [2]
        assert ordinals(database, merchant, text="-1") == []

    @pytest.mark.parametrize(
        "asked", ["fo", "FOX", "Fox Mary", "mary fox", "Mâry FÖX", "ary", "ma fo", "x m"]
    )
    def test_a_recipient_is_found_by_any_part_of_the_name(
        self, database: Database, merchant: Merchant, asked: str
    ) -> None:
        add(database, merchant, *named("Mary Fox", "John Smith", None))

        assert ordinals(database, merchant, text=asked) == [1]

    def test_all_words_must_fit(self, database: Database, merchant: Merchant) -> None:
        add(database, merchant, *named("Mary Fox", "John Fox"))

        assert ordinals(database, merchant, text="fox john") == [2]

    def test_everything_that_is_asked_must_fit(
        self, database: Database, merchant: Merchant
    ) -> None:
        long_ago = NOON - timedelta(days=30)
        add(
            database,
            merchant,
            {"status": _S.COMPLETE, "created_at": long_ago},
            {"status": _S.CANCELLED, "created_at": long_ago},
            {"status": _S.COMPLETE},
        )

        wanted = {"text": "fox", "to_day": TODAY - timedelta(days=1)}
        assert ordinals(database, merchant, **wanted) == [2, 1]
        assert ordinals(database, merchant, **wanted, status=_S.COMPLETE) == [1]
        assert ordinals(database, merchant, **wanted, status=_S.SUBMITTED) == []

    @pytest.mark.parametrize(
        "hostile",
        [
            "%",
            "_",
            "\\",
            "%%",
            "f_x",
            "fo%",
            "\0",
            "A\0B",
            "'; DROP TABLE orders; --",
            "\N{PILE OF POO}",
            "\N{COMBINING ACUTE ACCENT}",
            "\ud800",
            "\U0010ffff",
            "\ud7ff",
            "9" * 19,
            "9" * 5000,
            "x" * 10_000,
            "q " * 5_000,
            "%" * 10_000,
            "\ufdfa" * 10_000,
        ],
    )
    def test_a_hostile_text_is_only_text(
        self, database: Database, merchant: Merchant, hostile: str
    ) -> None:
        add(database, merchant, {"merchant_order_id": "ABC"})

        assert ordinals(database, merchant, text=hostile) == (
            # Without what cannot be in a text, nothing is asked, or what the others say.
            [1] if hostile in {"\0", "\ud800", "A\0B"} else []
        )

    @pytest.mark.parametrize(
        "odd", ["%", "a_b", "\\", "\\%", "\N{PILE OF POO}", "\U0010ffff", "\ud7ff", "x" * 200]
    )
    def test_an_odd_name_or_reference_is_found(
        self, database: Database, merchant: Merchant, odd: str
    ) -> None:
        rows = [*referred_to(odd, odd + "more"), *named(odd, f"Mary {odd}", "axb")]
        add(database, merchant, *rows)

        assert ordinals(database, merchant, text=odd) == [4, 3, 2, 1]


class TestManyAlike:
    def test_of_a_common_beginning_the_newest_are_found_and_it_is_said(
        self, database: Database, merchant: Merchant
    ) -> None:
        count = NEWEST + 5
        add(database, merchant, *[{"recipient_name": f"Mary Fox{n}"} for n in range(count)])

        found = look(database, merchant, text="fox", limit=3)
        last = look(database, merchant, text="fox", limit=3, before=count - NEWEST + 2)

        assert [line.ordinal for line in found.orders] == [count, count - 1, count - 2]
        assert (found.next, found.is_too_common) == (count - 2, True)
        # The five oldest are too far back for this beginning, but not for the whole name.
        assert [line.ordinal for line in last.orders] == [6]
        assert (last.next, last.is_too_common) == (None, True)
        assert ordinals(database, merchant, text="mary fox0") == [1]

    def test_of_a_common_reference_the_newest_are_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        references = [f"A-{n}" for n in range(MOST_ALIKE + 1)]
        add(database, merchant, *referred_to("A-", *references))

        found = look(database, merchant, text="A-", limit=2)

        assert [line.ordinal for line in found.orders] == [MOST_ALIKE + 2, MOST_ALIKE + 1]
        assert found.is_too_common
        assert ordinals(database, merchant, text="A-", before=2) == [1]

    def test_as_many_as_are_looked_at_are_all_found(
        self, database: Database, merchant: Merchant
    ) -> None:
        others = named(*["John Smith"] * NEWEST)
        add(database, merchant, *named(*["Mary Fox"] * MOST_ALIKE), *others)

        found = look(database, merchant, text="fo", limit=MOST_ALIKE)

        assert [line.ordinal for line in found.orders] == list(range(MOST_ALIKE, 0, -1))
        assert not found.is_too_common

    def test_the_same_name_is_found_however_often_and_long_ago(
        self, database: Database, merchant: Merchant
    ) -> None:
        foxes = MOST_ALIKE + 10
        add(database, merchant, *named(*["Mary Fox"] * foxes, *["John Smith"] * NEWEST))

        assert ordinals(database, merchant, text="mary fox", limit=3) == [
            foxes,
            foxes - 1,
            foxes - 2,
        ]
        assert ordinals(database, merchant, text="mary fox", before=3) == [2, 1]

    def test_a_part_of_a_name_is_found_among_the_newest_of_the_days(
        self, database: Database, merchant: Merchant
    ) -> None:
        long_ago = NOON - timedelta(days=30)
        old = [{**row, "created_at": long_ago} for row in named("Mary Fox")]
        add(database, merchant, *old, *named(*["John Smith"] * NEWEST))

        assert ordinals(database, merchant, text="ary") == []
        assert ordinals(database, merchant, text="ary", to_day=long_ago.date()) == [1]
