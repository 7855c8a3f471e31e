"""A provider that fails in every way, and processes that are killed, charge for no order twice."""

import asyncio
import os
import random
import re
import signal
import time
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import urlsplit

import aiohttp
import pytest
from sqlalchemy import Connection, delete, func, select

from printworks.actions.accounts.clock import advance_clock
from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.images.images import add_images
from printworks.actions.orders.orders import create_order
from printworks.actions.payments.by_hand import PostingByHand, post_money
from printworks.catalogue.opening import open_catalogue
from printworks.payments.webhooks import KEY
from printworks.rules.jobs import JobKind
from printworks.rules.ledger import EntryKind
from printworks.store.accounts.merchants import Merchant as Shop
from printworks.store.accounts.merchants import list_merchants
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.money.payments import SavedCard, save_card
from printworks.store.orders.orders import get_order
from printworks.store.tables import jobs, ledger_days, merchants, orders, payment_requests
from tests.factories import a_new_order, a_system_work, a_work
from tests.payments.banks import CARDS, SECRET_KEY, StripeBank, StripeServer, run_stripe
from tests.payments.faulty_proxy import FAULTS, BadLine, run_bad_line
from tests.running import Merchant, Service, command, running
from tests.scale import scaled
from tests.worker.shops import ADDRESS, STICKER

ORDERS: Final = scaled(2000)
# Many, so that the list of a customer's payments stays short.
MERCHANTS: Final = scaled(80)
# What becomes of charges to the cards of ten merchants.
CARDS_OF_TEN: Final = ["paid"] * 7 + ["waiting"] * 2 + ["declined"]
# What they have in their favour, in prices of an order: nothing, a part of one, or several.
CREDITS: Final = [0.0, 0.4, 2.6, 0.0]
KILLS: Final = scaled(50)
# Requests under way at the same time.
CLIENTS: Final = 24
# Of the orders: how many are submitted twice at once, and how many are cancelled meanwhile.
DOUBLED: Final = 0.1
CANCELLED: Final = 0.1
SEED: Final = 20261115

WEBHOOK_SECRET: Final = "whsec_printworks"
SECONDS_FOR_AN_ANSWER: Final = 2
SECONDS_TO_RECONCILE: Final = 180
SECONDS_FOR_A_KILL: Final = 60
MONEY_JOBS: Final = (JobKind.CHECK_PAYMENT, JobKind.REFUND_PAYMENT)
TWO_DAYS: Final = timedelta(days=2)


@dataclass(frozen=True)
class Draft:
    """An order that lacks nothing but money."""

    id: int
    merchant: Merchant


class LostAnswer(Exception):
    """Nobody knows what the service did."""


@dataclass
class Crowd:
    """Merchants who submit, cancel and authorise, all at the same time."""

    service: Service
    bank: StripeBank
    session: aiohttp.ClientSession
    chance: random.Random
    # What was acknowledged, by order.
    submitted: set[int] = field(default_factory=set)
    cancelled: set[int] = field(default_factory=set)
    finished: int = 0

    def has_finished(self, enough: int) -> bool:
        """Say whether so many have got their answer."""
        return self.finished >= enough

    async def submit(self, draft: Draft) -> None:
        """Submit an order again and again, until there is an answer that is final."""
        for asked in range(100):
            status, answer = await self._insist(draft, "Submitted")
            if status == 200:
                self.submitted.add(draft.id)
                return
            if status == 403:
                return
            assert status == 402, f"Order {draft.id}: {status} {answer}"
            if asked or not await self._authorise(urlsplit(answer["data"]["url"]).path):
                return

    async def cancel(self, draft: Draft) -> None:
        """Cancel an order."""
        status, answer = await self._insist(draft, "Cancelled")
        assert status in {200, 403}, f"Order {draft.id}: {status} {answer}"
        self.cancelled.add(draft.id)

    async def _insist(self, draft: Draft, wanted: str) -> tuple[int, Any]:
        """Ask for a status until the service says something about it."""
        path = f"/v3.0/orders/{draft.id}/status"
        while True:
            with suppress(LostAnswer):
                status, answer = await self._post(path, {"status": wanted}, draft.merchant)
                if status != 503:
                    return status, answer
            await asyncio.sleep(0.05)

    async def _authorise(self, page: str) -> bool:
        """Be the payer: agree, refuse or do nothing; say whether the merchant goes on."""
        decision = self.chance.choices(["agree", "refuse", "forget"], [70, 15, 15])[0]
        if decision == "forget":
            return False
        found = re.search(r"pi_\w+", await self._visit(page) or "")
        if found is not None:
            agrees = decision == "agree"
            # The order may have been cancelled, or authorised by whoever submitted it as well.
            await asyncio.to_thread(self.bank.authorise, found.group(), agrees=agrees)
            await self._visit(page)
        return decision == "refuse"

    async def _visit(self, page: str) -> str | None:
        """Open a page, and return where it sends its reader."""
        url = f"https://127.0.0.1:{self.service.port}{page}"
        with suppress(aiohttp.ClientError, OSError):
            async with self.session.get(url, allow_redirects=False) as answer:
                return answer.headers.get("Location")
        return None

    async def _post(self, path: str, body: Any, merchant: Merchant) -> tuple[int, Any]:
        url = f"https://127.0.0.1:{self.service.port}{path}"
        try:
            async with self.session.post(url, json=body, headers=merchant.headers) as answer:
                return answer.status, await answer.json()
        except (aiohttp.ClientError, OSError) as error:
            raise LostAnswer from error


Visit = Callable[[], Awaitable[None]]


def plan_visits(crowd: Crowd, drafts: Sequence[Draft]) -> deque[Visit]:
    """Say who asks for what, and in which order."""
    chance = crowd.chance
    moments: list[tuple[float, Visit]] = []
    for place, draft in enumerate(chance.sample(drafts, len(drafts))):
        times = 2 if chance.random() < DOUBLED else 1
        moments += times * [(float(place), partial(crowd.submit, draft))]
        if chance.random() < CANCELLED:
            # A little earlier than it is submitted, meanwhile or afterwards.
            timestamp = place + chance.uniform(-CLIENTS / 4, 2 * CLIENTS)
            moments.append((timestamp, partial(crowd.cancel, draft)))
    moments.sort(key=lambda each: each[0])
    return deque(visit for _, visit in moments)


async def let_them_come(crowd: Crowd, visits: deque[Visit]) -> Sequence[int]:
    """Let everybody come while processes are killed; return which ones were."""
    total = len(visits)

    async def keep_asking() -> None:
        while visits:
            await visits.popleft()()
            crowd.finished += 1

    async with asyncio.TaskGroup() as group:
        for _ in range(CLIENTS):
            group.create_task(keep_asking())
        killed = []
        for kill in range(1, KILLS + 1):
            enough = kill * total // (KILLS + 2)
            await _wait_for(partial(crowd.has_finished, enough), crowd.service)
            killed.append(await kill_one(crowd.service, "worker" if kill % 2 else "web"))
    return killed


async def kill_one(service: Service, which: str) -> int:
    """Kill a process in the middle of whatever it does."""
    find = service.find_workers if which == "worker" else service.find_web_processes
    found: list[int] = []

    def look() -> bool:
        found[:] = find()
        return bool(found)

    await _wait_for(look, service)
    os.kill(found[0], signal.SIGKILL)
    return found[0]


async def _wait_for(is_so: Callable[[], bool], service: Service) -> None:
    deadline = time.monotonic() + SECONDS_FOR_A_KILL
    while not is_so():
        assert time.monotonic() < deadline, f"Nobody gets on:\n{service.explain()}"
        await asyncio.sleep(0.02)


def add_drafts(database: Database, stripe: StripeServer) -> list[Draft]:
    """Let merchants in who have cards, and add their orders; nothing will be downloaded."""
    catalogue = open_catalogue(None)
    image = NewImage(sku=STICKER, url="https://shop.example/a.jpg", copies=1)
    drafts = []
    now = datetime.now(UTC)
    for number in range(MERCHANTS):
        card = SavedCard(*stripe.save_card(CARDS[CARDS_OF_TEN[number % len(CARDS_OF_TEN)]]))
        with database.writing() as db:
            added = add_merchant(
                a_system_work(db, now=now, environment="sandbox"), f"Shop {number}"
            )
            save_card(db, added.merchant.id, card)
            whose = Merchant(added.merchant.code, added.api_key)
            for _ in range(ORDERS // MERCHANTS):
                order = create_order(a_work(db, added.merchant, now=now), a_new_order(**ADDRESS))
                work = a_work(db, added.merchant, now=now, catalogue=catalogue)
                add_images(work, order, [image])
                order = get_order(db, added.merchant.id, order.id)
                drafts.append(Draft(order.id, whose))
            give_credit(db, added.merchant, int(CREDITS[number % len(CREDITS)] * order.price))
            db.execute(delete(jobs).where(jobs.c.kind == JobKind.FETCH_IMAGE))
    return drafts


def give_credit(db: Connection, merchant: Shop, amount: int) -> None:
    """Let a merchant have something in its favour."""
    if amount:
        posting = PostingByHand(kind=EntryKind.CREDIT, amount=amount, memo="sorry")
        post_money(a_work(db, merchant, now=datetime.now(UTC)), posting)


def reconcile(database: Database, service: Service) -> None:
    """Let days pass until nobody has to look after a payment any more."""
    deadline = time.monotonic() + SECONDS_TO_RECONCILE
    while (open_jobs := count_open_jobs(database)).total():
        assert time.monotonic() < deadline, f"{open_jobs}\n{service.explain()}"
        if set(open_jobs) == {"scheduled"}:
            let_days_pass(database)
        time.sleep(0.1)


def count_open_jobs(database: Database) -> Counter[str]:
    """Count by state what is still to be done about money."""
    query = (
        select(jobs.c.state, func.count())
        .where(jobs.c.kind.in_(MONEY_JOBS), jobs.c.state.in_(["scheduled", "due", "running"]))
        .group_by(jobs.c.state)
    )
    with database.reading() as db:
        return Counter({str(state): count for state, count in db.execute(query)})


def let_days_pass(database: Database) -> None:
    """Move the clock of every merchant."""
    with database.writing() as db:
        for merchant in list_merchants(db):
            now = datetime.now(UTC) + merchant.clock_offset
            advance_clock(a_work(db, merchant, now=now), TWO_DAYS)


@dataclass(frozen=True)
class Books:
    """What we say of orders and payments, and what the provider says."""

    orders: Sequence[Any]
    requests: Mapping[str, Any]
    # By merchant: what it owes, and what was credited to it.
    owed: Mapping[int, int]
    credited: Mapping[int, int]
    # The provider's payments, by our keys.
    payments: Mapping[str, Sequence[Any]]

    @classmethod
    def read(cls, database: Database, stripe: StripeServer) -> Self:
        """Read both."""
        with database.reading() as db:
            ordered = db.execute(select(orders).order_by(orders.c.id)).all()
            asked = {row.key: row for row in db.execute(select(payment_requests))}
            owed = {row.id: row.balance for row in db.execute(select(merchants))}
            posted = select(ledger_days).where(ledger_days.c.kind == EntryKind.CREDIT)
            credited = {row.merchant_id: row.amount for row in db.execute(posted)}
        made: dict[str, list[Any]] = {}
        for customer in {request.customer for request in asked.values()}:
            for payment in stripe.list_intents(customer, limit=100_000):
                made.setdefault(payment["metadata"][KEY], []).append(payment)
        return cls(ordered, asked, owed, credited, made)

    def find_faults(self, crowd: Crowd) -> Iterator[str]:
        """Say what is wrong, a sentence each."""
        for key, payments in self.payments.items():
            if key not in self.requests:
                yield f"Nobody asked for the payment {payments[0]['id']}."
            if len(payments) > 1:
                yield f"The key {key} has {len(payments)} payments."
        of_order: dict[int, list[Any]] = {}
        for request in self.requests.values():
            of_order.setdefault(request.order_id, []).append(request)
        for order in self.orders:
            for fault in self._find_faults_of(order, of_order.get(order.id, []), crowd):
                known = [f"{each.key} {each.state}" for each in of_order.get(order.id, [])]
                yield f"Order {order.id}, {order.status}, payments {known}: {fault}"
        yield from self._find_faults_of_balances(of_order)

    def _find_faults_of_balances(self, of_order: Mapping[int, Sequence[Any]]) -> Iterator[str]:
        """Compare what each merchant owes with its orders and with what its card has paid."""
        spent = Counter[int]()
        for order in self.orders:
            if order.status == "Submitted":
                kept = [one for one in of_order.get(order.id, []) if self._is_kept(one)]
                spent[order.merchant_id] += order.price - sum(one.amount for one in kept)
        for merchant_id, owed in self.owed.items():
            if owed != spent[merchant_id] - self.credited.get(merchant_id, 0):
                yield f"Merchant {merchant_id} owes {owed}, and its orders and cards say otherwise."
            if owed > 0:
                yield f"Merchant {merchant_id} has used {owed} of its balance twice."

    def _find_faults_of(self, order: Any, requests: Sequence[Any], crowd: Crowd) -> Iterator[str]:
        kept = [request for request in requests if self._is_kept(request)]
        is_credited = order.merchant_id in self.credited
        if len(kept) != (order.status == "Submitted") and (kept or not is_credited):
            yield f"{len(kept)} charges are kept."
        if order.status not in {"Submitted", "Cancelled", "NotYetSubmitted"}:
            yield "It still waits for something."
        if order.payment_request_id is not None:
            yield "It is still being paid for."
        if order.id in crowd.cancelled and order.status != "Cancelled":
            yield "It was cancelled."
        if order.id in crowd.submitted - crowd.cancelled and order.status != "Submitted":
            yield "It was submitted."
        for request in requests:
            yield from self._find_faults_of_request(order, request)

    def _find_faults_of_request(self, order: Any, request: Any) -> Iterator[str]:
        if request.state not in {"paid", "declined", "refunded"}:
            yield f"Payment {request.id} has no end."
        if self._is_kept(request) != (request.state == "paid"):
            yield f"Payment {request.id} is {request.state}, and the provider says otherwise."
        if self._is_taken(request) != (request.state in {"paid", "refunded"}):
            yield f"Payment {request.id} is {request.state}, and the provider says otherwise."
        asked = order.price - request.from_balance
        if any(each["amount"] != asked for each in self.payments.get(request.key, ())):
            yield f"Payment {request.id} is not about the price of the order."

    def _is_taken(self, request: Any) -> bool:
        payments = self.payments.get(request.key, ())
        return any(payment["status"] == "succeeded" for payment in payments)

    def _is_kept(self, request: Any) -> bool:
        return any(
            payment["status"] == "succeeded" and not payment["latest_charge"]["refunded"]
            for payment in self.payments.get(request.key, ())
        )


async def besiege(
    service: Service, stripe: StripeServer, drafts: Sequence[Draft]
) -> tuple[Crowd, Sequence[int]]:
    """Submit all orders while processes are killed."""
    connector = aiohttp.TCPConnector(ssl=service.tls)
    async with aiohttp.ClientSession(connector=connector) as session:
        crowd = Crowd(service, StripeBank(stripe), session, random.Random(SEED))
        return crowd, await let_them_come(crowd, plan_visits(crowd, drafts))


@contextmanager
def paid_by_card(data: Path, database_url: str, line: BadLine) -> Iterator[Service]:
    """Run the service, which reaches its provider over a bad line."""
    with running(
        data,
        database_url=database_url,
        payments="stripe",
        stripe_secret_key=SECRET_KEY,
        stripe_webhook_secret=WEBHOOK_SECRET,
        stripe_url=line.base,
        payment_timeout=f"{SECONDS_FOR_AN_ANSWER}s",
        worker_lease="2s",
        log_level="warning",
    ) as service:
        line.pass_notices_to(f"https://127.0.0.1:{service.port}/payments/stripe")
        yield service


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_kills_and_a_failing_provider_charge_no_order_twice_and_lose_no_charge(
    database_url: str, tmp_path: Path
) -> None:
    database = Database(database_url)
    with (
        run_stripe() as stripe,
        run_bad_line(stripe.base, seed=SEED, patience=SECONDS_FOR_AN_ANSWER + 1) as line,
    ):
        stripe.listen(line.notices, WEBHOOK_SECRET)
        drafts = add_drafts(database, stripe)
        with paid_by_card(tmp_path / "data", database_url, line) as service:
            crowd, killed = asyncio.run(besiege(service, stripe, drafts))
            happened = line.calm_down()
            reconcile(database, service)
            books = Books.read(database, stripe)
        verified = command("ledger", "verify", data=service.data, settings=service.settings)
    database.close()

    assert len(set(killed)) == KILLS
    assert all(happened[kind] for kind in (*FAULTS, "notice heard", "notice overtaken")), happened
    assert "everything adds up" in verified
    faults = list(books.find_faults(crowd))
    assert not faults, "\n".join(faults[:20])
    outcomes = Counter(str(request.state) for request in books.requests.values())
    assert all(outcomes[state] for state in ("paid", "declined", "refunded")), outcomes
    assert any(request.from_balance for request in books.requests.values())
    paid_for = {request.order_id for request in books.requests.values() if request.state == "paid"}
    submitted = {order.id for order in books.orders if order.status == "Submitted"}
    # Some orders needed no card.
    assert submitted - paid_for
