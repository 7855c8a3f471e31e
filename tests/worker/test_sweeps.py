"""Sweeps forget what is old enough, and nothing else."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

from sqlalchemy import Connection, insert, select

from printworks.actions.orders.orders import create_order
from printworks.rules.cards import CardState
from printworks.rules.events import OrderMoved
from printworks.rules.jobs import HOURLY, POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.people import Realm, Role
from printworks.rules.reasons import write_reasons
from printworks.settings import Settings
from printworks.store.accounts.forms import (
    KEEP_ANSWERS,
    FormClaim,
    KeptForm,
    claim_form,
    finish_form,
    keep_form,
)
from printworks.store.accounts.passkeys import use_challenge
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.accounts.requests import NewRequest, list_requests, write_requests
from printworks.store.callbacks.callbacks import list_attempts, list_feed
from printworks.store.engine.database import Database
from printworks.store.money.cards import NewCardSetup, insert_setup, update_setup
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order, get_order, update_order
from printworks.store.orders.pages import list_orders
from printworks.store.tables import (
    callback_attempts,
    card_setups,
    idempotency_keys,
    invitations,
    jobs,
    kept_forms,
    people,
    sent_forms,
    sessions,
    sign_in_tries,
    used_challenges,
)
from printworks.worker import HANDLERS
from printworks.worker.loop import Context, Worker
from printworks.worker.sweeps import DRAFTS_AT_ONCE, ROWS_AT_ONCE
from tests.factories import NOON, a_merchant, a_new_order, a_work, an_order, some_services
from tests.worker.queues import KIND, add_merchant, enqueue_one
from tests.worker.running import noon

SECOND = timedelta(seconds=1)


def test_every_kind_has_a_handler_and_nothing_else_does() -> None:
    assert set(HANDLERS) == set(JobKind)


def test_jobs_that_ended_long_ago_are_forgotten(database: Database) -> None:
    keep = Settings(data=Path()).keep_finished_jobs
    add_ended_jobs(database, ROWS_AT_ONCE + 1, finished_at=NOON - keep - SECOND)
    add_ended_jobs(database, 1, finished_at=NOON - keep)
    enqueue_one(database, now=NOON - 2 * keep, kind="never-run")

    sweep(database)

    with database.reading() as db:
        left = db.execute(select(jobs.c.kind).where(jobs.c.kind.not_in(HOURLY))).scalars().all()
    assert sorted(left) == ["never-run", KIND]


def test_old_idempotency_keys_are_forgotten(database: Database) -> None:
    keep = Settings(data=Path()).keep_idempotency_keys
    merchant_id = add_merchant(database).id
    add_key(database, merchant_id, "old", NOON - keep - SECOND)
    add_key(database, merchant_id, "young", NOON - keep)

    sweep(database)

    with database.reading() as db:
        assert db.execute(select(idempotency_keys.c.key)).scalars().all() == ["young"]


def test_forms_are_forgotten_with_the_keys_and_what_they_showed_much_sooner(
    database: Database,
) -> None:
    keep = Settings(data=Path()).keep_idempotency_keys
    with database.writing() as db:
        new = NewPerson(
            realm=Realm.OPERATOR,
            email="a@works.example",
            role=Role.ADMIN,
            merchant_id=None,
            password_hash="",
        )
        person = insert_person(db, new, now=NOON)
        ages = {
            "old": keep + SECOND,
            "shown long ago": KEEP_ANSWERS + SECOND,
            "shown": KEEP_ANSWERS - SECOND,
        }
        for token, age in ages.items():
            claim = FormClaim(person.id, token, "")
            assert claim_form(db, claim, now=NOON - age, until=NOON)
            finish_form(db, claim, location="", answer="a page", now=NOON - age)
        for page, expires_at in {"/late": NOON, "/in-time": NOON + SECOND}.items():
            kept = KeptForm(
                hash="", page=page, person_id=person.id, content="", expires_at=expires_at
            )
            keep_form(db, kept)

    sweep(database)

    with database.reading() as db:
        left = db.execute(select(sent_forms.c.token, sent_forms.c.answer)).all()
        assert sorted(left) == [("shown", "a page"), ("shown long ago", None)]
        assert db.execute(select(kept_forms.c.page)).scalars().all() == ["/in-time"]


def test_how_old_callbacks_went_is_forgotten_and_the_feed_stays(database: Database) -> None:
    keep = Settings(data=Path()).keep_callbacks
    with database.writing() as db:
        merchant = a_merchant(db)
        an_order(db, merchant)
        (callback,) = list_feed(db, merchant.id, after=0, limit=9)
        add_attempts(db, callback.id, ROWS_AT_ONCE + 1, at=NOON - keep - SECOND)
        add_attempts(db, callback.id, 1, at=NOON - keep, first=ROWS_AT_ONCE + 2)

    sweep(database)

    with database.reading() as db:
        left = list_attempts(db, callback.id)
        assert [attempt.number for attempt in left] == [ROWS_AT_ONCE + 2]
        assert list_feed(db, merchant.id, after=0, limit=9) == [callback]


def test_what_programs_asked_long_ago_is_forgotten(database: Database) -> None:
    keep = Settings(data=Path()).keep_requests
    with database.writing() as db:
        merchant = a_merchant(db)
        old = a_request(merchant.id, "/old", NOON - keep - SECOND)
        write_requests(db, [old] * (ROWS_AT_ONCE + 1))
        write_requests(db, [a_request(merchant.id, "/young", NOON - keep)])

    sweep(database)

    with database.reading() as db:
        left = list_requests(db, merchant.id, limit=9).requests
    assert [request.path for request in left] == ["/young"]


def test_sessions_and_invitations_that_have_ended_are_forgotten(database: Database) -> None:
    month, day = timedelta(days=30), timedelta(days=1)
    with database.writing() as db:
        person = add_person(db)
        add_sessions(db, person, "old", ROWS_AT_ONCE + 1, expires_at=NOON)
        add_sessions(db, person, "young", 1, expires_at=NOON + SECOND)
        add_invitations(db, "old", ROWS_AT_ONCE + 1, expires_at=NOON - month - SECOND)
        add_invitations(db, "young", 1, expires_at=NOON - month)
        for key, at in (("old", NOON - day - SECOND), ("young", NOON - day)):
            db.execute(insert(sign_in_tries).values(key=key, tries=1, at=at))
        for challenge, at in (("old", NOON), ("young", NOON + SECOND)):
            use_challenge(db, challenge, expires_at=at)

    sweep(database)

    with database.reading() as db:
        assert db.execute(select(sign_in_tries.c.key)).scalars().all() == ["young"]
        assert len(db.execute(select(used_challenges)).all()) == 1
        assert db.execute(select(sessions.c.hash)).scalars().all() == ["young-0"]
        assert db.execute(select(invitations.c.hash)).scalars().all() == ["young-0"]


def test_pages_for_cards_are_forgotten_a_month_after_their_end(database: Database) -> None:
    month = timedelta(days=30)
    with database.writing() as db:
        merchant = a_merchant(db)
        for key, state, expires_at in (
            ("old", CardState.REFUSED, NOON - month - SECOND),
            ("young", CardState.SAVED, NOON - month),
            ("nobody knows", CardState.WAITING, NOON - 2 * month),
        ):
            new = NewCardSetup(
                merchant_id=merchant.id,
                key=key,
                provider="simulated",
                customer="",
                expires_at=expires_at,
            )
            update_setup(db, insert_setup(db, new, now=NOON - 3 * month), {"state": state})

    sweep(database)

    with database.reading() as db:
        left = db.execute(select(card_setups.c.key)).scalars().all()
    assert sorted(left) == ["nobody knows", "young"]


def test_drafts_that_nobody_touches_are_cancelled_and_say_why(database: Database) -> None:
    keep = Settings(data=Path()).keep_drafts
    with database.writing() as db:
        merchant = a_merchant(db)

        def draft(at: datetime) -> Order:
            return create_order(a_work(db, merchant, now=at), a_new_order())

        made = {
            "old": draft(NOON - keep - SECOND),
            "young": draft(NOON - keep),
            "touched": draft(NOON - 2 * keep),
            "being paid": draft(NOON - 2 * keep),
            "held": draft(NOON - 2 * keep),
            "complete": draft(NOON - 2 * keep),
        }
        update_order(db, made["touched"], {"updated_at": NOON - keep})
        update_order(db, made["being paid"], {"payment_request_id": 1})
        update_order(db, made["held"], {"held_at": NOON - 2 * keep})
        update_order(db, made["complete"], {"status": OrderStatus.COMPLETE})
        for _ in range(DRAFTS_AT_ONCE):
            draft(NOON - 3 * keep)

    sweep(database)

    with database.reading() as db:
        after = {name: get_order(db, merchant.id, order.id) for name, order in made.items()}
        left = list_orders(db, merchant.id, limit=250, start=0).orders
        events = list_events(db, made["old"].id)
    cancelled = {name for name, order in after.items() if order.status is OrderStatus.CANCELLED}
    assert cancelled == {"old", "held"}
    assert sum(order.status is OrderStatus.CANCELLED for order in left) == DRAFTS_AT_ONCE + 2
    assert write_reasons(after["old"].reasons) == (
        "The order was cancelled because it was not submitted for a long time; create it again."
    )
    assert after["old"].updated_at == NOON
    assert isinstance(events[-1], OrderMoved)


def a_request(merchant_id: int, path: str, at: datetime) -> NewRequest:
    """Say what was asked then."""
    return NewRequest(
        merchant_id=merchant_id,
        at=at,
        method="GET",
        path=path,
        status=200,
        milliseconds=1,
        request_id="r",
    )


def add_person(db: Connection) -> int:
    """Add somebody who can sign in, and return their number."""
    added = insert(people).values(
        realm=Realm.OPERATOR,
        email="otto@example.com",
        role=Role.ADMIN,
        password_hash="",
        created_at=NOON,
    )
    return int(db.execute(added.returning(people.c.id)).scalar_one())


def add_sessions(
    db: Connection, person_id: int, name: str, count: int, *, expires_at: datetime
) -> None:
    """Add sessions that end then."""
    moments = {"created_at": NOON, "seen_at": NOON, "proved_at": NOON, "expires_at": expires_at}
    usual = {"person_id": person_id, "address": "", "user_agent": "", **moments}
    db.execute(insert(sessions), [{**usual, "hash": f"{name}-{n}"} for n in range(count)])


def add_invitations(db: Connection, name: str, count: int, *, expires_at: datetime) -> None:
    """Add invitations that end then."""
    who = {"realm": Realm.OPERATOR, "role": Role.ADMIN, "email": "otto@example.com"}
    usual = {**who, "created_at": NOON, "expires_at": expires_at}
    db.execute(insert(invitations), [{**usual, "hash": f"{name}-{n}"} for n in range(count)])


def add_attempts(
    db: Connection, callback_id: int, count: int, *, at: datetime, first: int = 1
) -> None:
    """Add tries of a callback."""
    usual = {"at": at, "url": "http://x/", "milliseconds": 1, "answer": ""}
    rows = [
        {**usual, "callback_id": callback_id, "number": number}
        for number in range(first, first + count)
    ]
    db.execute(insert(callback_attempts), rows)


def sweep(database: Database) -> None:
    """Run this hour's sweeps."""

    async def run() -> None:
        with ThreadPoolExecutor(2) as threads:
            worker = Worker(
                Context(some_services(database, clock=noon), threads),
                handlers=HANDLERS,
                policies=POLICIES,
                slots=4,
                lease=timedelta(seconds=30),
                stop_timeout=SECOND,
                hourly=HOURLY,
            )
            assert await worker.drain() == len(HOURLY)

    asyncio.run(run())


def add_ended_jobs(database: Database, count: int, *, finished_at: datetime) -> None:
    """Add jobs that ended then."""
    row = {
        "kind": KIND,
        "lane": f"{KIND}:",
        "args": {},
        "state": "done",
        "due_at": finished_at,
        "created_at": finished_at,
        "finished_at": finished_at,
    }
    with database.writing() as db:
        db.execute(insert(jobs), [row] * count)


def add_key(database: Database, merchant_id: int, key: str, created_at: datetime) -> None:
    """Add an idempotency key that was used then."""
    with database.writing() as db:
        db.execute(
            insert(idempotency_keys).values(
                merchant_id=merchant_id,
                key=key,
                fingerprint="f",
                claimed_until=created_at,
                claim="c",
                created_at=created_at,
            )
        )
