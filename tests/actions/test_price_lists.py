"""Price lists are made, changed, given to merchants, suspended and ended."""

from datetime import timedelta

import msgspec
import pytest

from printworks.actions.images.editing import edit_image
from printworks.actions.images.images import add_images, remove_image
from printworks.actions.price_lists import (
    ListTerms,
    add_group,
    add_list,
    assign_to_group,
    change_list,
    end_list,
    import_lines,
    put_into_group,
    resume_list,
    set_lines,
    suspend_list,
    take_away,
)
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, NotFound, WrongState
from printworks.rules.price_lists import PriceBasis, PriceLine, read_terms
from printworks.rules.spreadsheets import read_table
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.money.price_lists import (
    count_members,
    get_list,
    get_list_change,
    list_groups,
    list_list_changes,
    list_lists,
    list_lists_of,
)
from printworks.store.money.price_watch import PriceWatch
from printworks.store.orders.orders import get_order, get_order_to_change
from tests.actions.price_lists import OWNER, a_list_of, an_owner, read_book
from tests.api.images import PHOTO
from tests.factories import NOON, a_merchant, a_system_work, a_work, an_order

DAY = timedelta(days=1)


def a_photo(copies: int = 1) -> NewImage:
    return NewImage(sku=PHOTO, url="https://shop.example/a.jpg", copies=copies)


def test_an_order_is_quoted_by_the_list_of_its_merchant(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db), a_merchant(db, "Bob")
        found = a_list_of(an_owner(db), alice, percent_off=5000)
        book = read_book(db)
        usual = an_order(db, bob)
        add_images(a_work(db, bob, price_book=book), usual, [a_photo()])
        own = an_order(db, alice)
        [image] = add_images(a_work(db, alice, price_book=book), own, [a_photo()])

        quoted, other = get_order(db, alice.id, own.id), get_order(db, bob.id, usual.id)
        terms = read_terms(quoted.price_terms)
    full = other.price - other.shipping_price
    assert image.price == quoted.price - quoted.shipping_price == (full + 1) // 2
    assert terms is not None
    assert (terms.list_id, terms.name, terms.revision) == (found.id, "Spring", found.revision)
    assert terms.items[PHOTO].basis is PriceBasis.PERCENTAGE
    assert (terms.items[PHOTO].catalogue_price, other.price_terms) == (full, None)
    assert quoted.quote_expires_at == NOON + 2 * DAY


def test_copies_of_all_images_of_an_order_count_together(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        lines = [PriceLine(PHOTO, 1, "GBP", 100), PriceLine(PHOTO, 10, "GBP", 40)]
        a_list_of(an_owner(db), alice, *lines)
        order = an_order(db, alice)

        work = a_work(db, alice, price_book=read_book(db))
        [first] = add_images(work, order, [a_photo(6)])
        open_order = get_order_to_change(db, alice.id, order.id)
        [second] = add_images(work, open_order, [a_photo(4)])
        whole = get_order_to_change(db, alice.id, order.id)
        assert [first.price, second.price] == [100, 40]
        assert whole.price - whole.shipping_price == 400

        edited = edit_image(work, whole, second.id, {"copies": 3})
        less = get_order_to_change(db, alice.id, order.id)
        assert (edited.price, less.price - less.shipping_price) == (100, 900)
        remove_image(work, less, first.id)
        left = get_order_to_change(db, alice.id, order.id)
        assert left.price - left.shipping_price == 300
        remove_image(work, left, second.id)
        empty = get_order(db, alice.id, order.id)
    assert (empty.price, empty.price_terms, empty.quote_expires_at) == (0, None, None)


def test_the_clock_of_the_merchant_decides_whether_a_list_is_valid(database: Database) -> None:
    with database.writing() as db:
        alice = a_merchant(db)
        a_list_of(
            an_owner(db),
            alice,
            percent_off=5000,
            valid_from=NOON + DAY,
            valid_until=NOON + 2 * DAY,
        )
        book = read_book(db)
        found = []
        for days in (0, 1, 2):
            ahead = msgspec.structs.replace(alice, clock_offset=days * DAY)
            work = a_system_work(db, price_book=book).for_merchant(ahead)
            assert work.prices is work.prices
            found.append(work.prices.rates is not None)
    assert found == [False, True, False]


def test_a_group_has_a_list_together_and_a_merchant_is_in_one_group(database: Database) -> None:
    with database.writing() as db:
        system = an_owner(db)
        alice = a_merchant(db)
        schools, clubs = add_group(system, "Schools"), add_group(system, " Clubs ")
        found = add_list(system, ListTerms(name="Schools 2027", percent_off=1000))
        assign_to_group(system, found.id, schools)
        put_into_group(system, alice, clubs)
        put_into_group(system, alice, schools)

        member = get_merchant(db, alice.id)
        rates = a_work(db, member, price_book=read_book(db)).prices.rates
        assert rates is not None
        assert rates.of.id == found.id
        assert count_members(db, [schools.id, clubs.id]) == {schools.id: 1}
        assert [group.name for group in list_groups(db, limit=5)] == ["Clubs", "Schools"]
        assert [one.id for one in list_lists_of(db, group_id=schools.id, limit=5)] == [found.id]
        assert list_lists_of(db, merchant_id=alice.id, limit=5) == []
        put_into_group(system, member, None)
        assert get_merchant(db, alice.id).group_id is None
        with pytest.raises(BadInput, match="There is a group Schools already"):
            add_group(system, "Schools")


def test_every_change_is_kept_and_audited(database: Database) -> None:
    with database.writing() as db:
        system, alice = an_owner(db), a_merchant(db)
        found = a_list_of(system, alice, PriceLine(PHOTO, 1, "GBP", 90), percent_off=100)
        terms = ListTerms(name="Summer", percent_off=250, valid_until=NOON + DAY)
        change_list(system, found.id, terms, seen=found.revision)
        # Nothing is another thing, so nothing is written down.
        same = change_list(system, found.id, terms)
        with pytest.raises(WrongState, match="Somebody else has changed"):
            set_lines(system, found.id, [], seen=found.revision)
        suspend_list(system, found.id)
        with pytest.raises(WrongState, match="suspended already"):
            suspend_list(system, found.id)
        resume_list(system, found.id)
        with pytest.raises(WrongState, match="not suspended"):
            resume_list(system, found.id)
        take_away(system, found.id)
        end_list(system, found.id)
        with pytest.raises(WrongState, match="has ended"):
            change_list(system, found.id, terms)

        changes = list_list_changes(db, found.id, limit=20)
        audited = [entry.action for entry in list_audit(db, limit=20) if "prices" in entry.action]
        last = get_list(db, found.id)
        before = get_list_change(db, found.id, same.revision)
        with pytest.raises(NotFound, match="no change 99"):
            get_list_change(db, found.id, 99)
        with pytest.raises(NotFound, match="no price list 99"):
            get_list(db, 99)
    assert [one.change for one in changes] == audited
    assert audited[::-1] == [
        *("add-prices", "import-prices", "assign-prices", "change-prices", "suspend-prices"),
        *("resume-prices", "assign-prices", "end-prices"),
    ]
    assert {one.who for one in changes} == {OWNER.who}
    assert (last.valid_until, last.percent_off, last.name) == (NOON, 250, "Summer")
    assert before.content["percent_off"] == 250


def test_a_list_that_has_not_begun_can_be_ended(database: Database) -> None:
    with database.writing() as db:
        system = an_owner(db)
        found = add_list(system, ListTerms(name="Spring", valid_from=NOON + DAY))
        ended = end_list(system, found.id)
        with pytest.raises(BadInput, match="after the beginning"):
            add_list(system, ListTerms(name="Spring", valid_until=NOON))
        with pytest.raises(BadInput, match="Enter a name"):
            add_list(system, ListTerms(name=" "))

        assert [one.id for one in list_lists(db, limit=5)] == [found.id]
    assert (ended.valid_from, ended.valid_until) == (NOON, NOON)


def test_lines_are_imported_from_a_table(database: Database) -> None:
    table = f"sku;from_copies;currency;price;percent_off\n{PHOTO.lower()};;gbp;0,90;\n;50;;;5%\n"
    with database.writing() as db:
        system = an_owner(db)
        found = add_list(system, ListTerms(name="Spring"))
        changed = import_lines(system, found.id, table.encode(), seen=found.revision)
        with pytest.raises(BadInput, match="Row 2: there is no product NOPE"):
            import_lines(
                system, found.id, b"sku,from_copies,currency,price,percent_off\nNOPE,,GBP,1,\n"
            )

        assert get_list(db, found.id) == changed
    assert read_table(table.encode(), most_rows=5)
    assert changed.lines == (PriceLine(PHOTO, 1, "GBP", 90), PriceLine("", 50, percent_off=500))


def test_a_process_reads_only_what_has_changed(database: Database) -> None:
    now = [NOON]
    watch = PriceWatch(database, lambda: now[0])
    assert watch.current.revision == 0
    with database.writing() as db:
        alice, bob = a_merchant(db), a_merchant(db, "Bob")
        a_list_of(an_owner(db), alice, percent_off=1000)
        changing = a_list_of(an_owner(db), bob, percent_off=1000)
    first = watch.look()
    assert watch.look() is first
    [kept] = first.list_candidates(alice.id, None)

    with database.writing() as db:
        change_list(an_owner(db), changing.id, ListTerms(name="Autumn", percent_off=2000))
    second = watch.look()

    assert second.list_candidates(alice.id, None) == [kept]
    [autumn] = second.list_candidates(bob.id, None)
    assert autumn.of.percent_off == 2000
    assert autumn.pick("MUG", Currency.GBP, 1000, 1).price == 800

    with database.writing() as db:
        end_list(an_owner(db), changing.id)
    assert watch.look().list_candidates(bob.id, None) == []
    watch.start()
    watch.close()
