"""Jobs find out what became of a page for a card, and let providers forget former cards."""

from datetime import timedelta

from sqlalchemy import delete, select, update

from printworks.actions.payments.cards import begin_card, describe_request, settle_card
from printworks.rules.cards import CardState
from printworks.rules.jobs import JobKind, JobState
from printworks.rules.payments import Cards
from printworks.store.money.cards import CardSetup, find_setup_by_key, find_shown_card
from printworks.store.tables import card_setups, jobs
from tests.factories import a_work
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop

CARDS = Cards("simulated", timedelta(days=1), timedelta(days=30))


def begin(shop: Shop, *, is_known: bool = True) -> CardSetup:
    """Ask for a page, and maybe die before it is known."""
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), cards=CARDS)
        setup = begin_card(work)
        request = describe_request(work.merchant, setup)
    if is_known:
        page = shop.resources.gateway.bank.ask_for_card(request)
        with shop.database.writing() as db:
            setup = settle_card(a_work(db, shop.merchant, cards=CARDS), setup.id, page)
    return setup


def see(shop: Shop, setup: CardSetup) -> CardState:
    """Return what became of it."""
    with shop.database.reading() as db:
        found = find_setup_by_key(db, setup.key)
    assert found is not None
    return found.state


def test_a_card_is_saved_even_if_nobody_comes_back(a_shop: OpenShop) -> None:
    shop = a_shop()
    for card in ("4242", "4444"):
        setup = begin(shop)
        shop.resources.gateway.bank.save_card(setup.reference, card)
        shop.clock.advance(minutes=3)
        shop.drain()

        assert see(shop, setup) is CardState.SAVED
    with shop.database.reading() as db:
        shown = find_shown_card(db, shop.merchant.id)
        query = select(jobs.c.state).where(jobs.c.kind == JobKind.FORGET_CARD)
        assert db.scalars(query).all() == [JobState.DONE]
    assert shown is not None
    assert shown.last_four == "4444"


def test_a_page_that_was_swept_is_not_looked_for(a_shop: OpenShop) -> None:
    shop = a_shop()
    begin(shop)
    with shop.database.writing() as db:
        db.execute(delete(card_setups))
    shop.clock.advance(minutes=3)
    shop.drain()

    with shop.database.reading() as db:
        query = select(jobs.c.state).where(jobs.c.kind == JobKind.CHECK_CARD)
        assert db.scalars(query).all() == [JobState.DONE]


def test_a_page_that_nobody_uses_ends(a_shop: OpenShop) -> None:
    shop = a_shop()
    lost, unused = begin(shop, is_known=False), begin(shop)
    shop.clock.advance(minutes=3)
    shop.drain()
    assert see(shop, lost) is CardState.REPLACED
    assert see(shop, unused) is CardState.WAITING

    with shop.database.writing() as db:
        db.execute(update(card_setups).values(expires_at=shop.clock()))
    shop.clock.advance(days=2)
    shop.drain()

    assert see(shop, unused) is CardState.REFUSED
