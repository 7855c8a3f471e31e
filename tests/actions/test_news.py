"""What happens to a merchant is told to its people once, without what leads to a person."""

from datetime import timedelta

import pytest

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.accounts.people import accept_invitation, invite_colleague
from printworks.actions.mail.notices import notify
from printworks.actions.news import put_first_steps_away, see_news
from printworks.catalogue.products import Currency
from printworks.rules.mail import MailKind, NoticeFact
from printworks.rules.people import Role
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.people import get_person
from printworks.store.engine.database import Database
from printworks.store.views.home.news import list_feed, list_news, list_unseen, purge_news
from tests.actions.test_operators import add_person
from tests.factories import NOON, a_merchant, a_system_work, a_work, an_order


@pytest.fixture
def merchant(database: Database) -> Merchant:
    with database.writing() as db:
        return a_merchant(db)


def test_what_happened_at_once_is_one_piece_of_news(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        order = an_order(db, merchant, merchant_order_id="A-1")
        facts = [NoticeFact(order=order.id, subject=n, text="It is torn.") for n in (7, 8, 9)]
        notify(a_system_work(db), merchant.id, MailKind.IMAGES_FAILED, facts)

    with database.reading() as db:
        [item] = list_news(db, merchant.id, limit=10)
        assert list_unseen(db, merchant.id, after=item.id) == []
    assert (item.kind, item.order_id, item.subject, item.count) == (
        MailKind.IMAGES_FAILED,
        order.id,
        7,
        3,
    )
    assert (item.merchant_order_id, item.at) == ("A-1", NOON)


def test_parcels_and_what_concerns_operators_is_not_written_down(
    database: Database, merchant: Merchant
) -> None:
    with database.writing() as db:
        notify(a_system_work(db), merchant.id, MailKind.SHIPMENTS_SENT, [NoticeFact(order=1)])
        notify(a_system_work(db), None, MailKind.ISSUES_RAISED, [NoticeFact(order=1)])
        assert list_news(db, merchant.id, limit=10) == []


def test_news_has_the_time_of_the_merchants_clock(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        advance_clock(a_work(db, merchant), timedelta(days=3))
        ahead = get_merchant(db, merchant.id).clock_offset
        notify(a_system_work(db), merchant.id, MailKind.LOW_CREDIT, [NoticeFact(amount=5)])
        [item] = list_news(db, merchant.id, limit=10)

    assert ahead > timedelta(days=2)
    assert item.at == NOON + ahead
    assert item.order_id is None


def test_what_was_seen_does_not_become_unseen(database: Database, merchant: Merchant) -> None:
    person = add_person(database, Role.OWNER, "owner@shop.example", merchant.id)
    with database.writing() as db:
        work = a_work(db, merchant)
        see_news(work, person.id, news_id=5, event=9)
        see_news(work, person.id, news_id=4, event=8)
        put_first_steps_away(work, person.id, is_hidden=True)
        seen = get_person(db, person.id)

    assert (seen.news_seen, seen.events_seen, seen.hides_first_steps) == (5, 9, True)


def test_whoever_joins_begins_without_news(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        an_order(db, merchant)
        notify(a_system_work(db), merchant.id, MailKind.OVERDUE, [NoticeFact(amount=5)])
        token = invite_colleague(a_work(db, merchant), "tom@shop.example")
        tom = accept_invitation(
            a_system_work(db), token, shop="", password_hash="x", currency=Currency.GBP
        )
        tom = get_person(db, tom.id)

        assert list_unseen(db, merchant.id, after=tom.news_seen) == []
        assert list_feed(db, merchant.id, after=tom.events_seen, limit=5) == []
        assert list_feed(db, merchant.id, after=0, limit=5) != []


def test_old_news_is_deleted_and_new_news_is_not(database: Database, merchant: Merchant) -> None:
    with database.writing() as db:
        for now in (NOON - timedelta(days=9), NOON):
            notify(a_system_work(db, now=now), merchant.id, MailKind.OVERDUE, [NoticeFact()])

        assert purge_news(db, before=NOON - timedelta(days=1), limit=10) == 1
        assert [item.at for item in list_news(db, merchant.id, limit=10)] == [NOON]
