"""Those who poll on PostgreSQL: its answers arrive in the event loop, and no thread is needed."""

import asyncio
from collections.abc import Collection, Iterator
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, text

from printworks.api.messages import Response
from printworks.api.pending import Pending
from printworks.api.routing import MatchedRequest
from printworks.api.service import ApiService
from printworks.api.unchanged import UnchangedOrders
from printworks.store.engine.database import Database
from printworks.store.engine.readers import HeldReader
from printworks.store.orders.marks import OrderOf, ask_for_order_states
from printworks.web import unchanged
from printworks.web.unchanged import UnchangedInLoop
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, an_order
from tests.api.images import create
from tests.running import Answer
from tests.worker.hosts import wait_until


@pytest.fixture
def database(postgresql_database: Database) -> Database:
    return postgresql_database


class Threads:
    """Counts what threads had to answer."""

    def __init__(self) -> None:
        self.answered = 0


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> Threads:
    threads, answer = Threads(), ApiService.answer

    def count(self: ApiService, matched: MatchedRequest) -> Response | Pending:
        threads.answered += 1
        return answer(self, matched)

    monkeypatch.setattr(ApiService, "answer", count)
    # Whatever is lost is opened again with the next request.
    monkeypatch.setattr(unchanged, "SECONDS_BETWEEN_ATTEMPTS", 0.0)
    return threads


@pytest.fixture
def order_id(v3: Client, server: Server, threads: Threads) -> int:
    """An order that was read before, on a service that has its connection."""
    order_id = int(create(v3))
    for _ in range(2):
        v3.get(f"/orders/{order_id}")
    wait_until(lambda: of(server)._reader)
    threads.answered = 0
    return order_id


def of(server: Server) -> UnchangedInLoop:
    edge = server.app._edge
    assert edge is not None
    assert isinstance(edge._unchanged, UnchangedInLoop)
    return edge._unchanged


def reader_of(server: Server) -> HeldReader:
    reader = of(server)._reader
    assert reader is not None
    return reader


def end_connection_of(server: Server, database: Database) -> None:
    driver: Any = reader_of(server).db.connection.dbapi_connection
    end = text("SELECT pg_terminate_backend(:number)")
    with database.reading() as db:
        assert db.execute(end, {"number": driver.info.backend_pid}).scalar()


async def ask(client: Client, order_id: int) -> Answer:
    scope = make_scope("GET", f"/v3.0/orders/{order_id}", client.credentials)
    return await client.server.ask(scope, [])


@pytest.fixture
def locked(database: Database) -> Iterator[psycopg.Connection]:
    """A connection that lets nobody read orders until it is closed."""
    url = database.engine.url.set(drivername="postgresql")
    # Not one of the database's: those that read may be keeping all of them.
    with psycopg.connect(url.render_as_string(hide_password=False)) as locked:
        locked.execute("LOCK TABLE orders IN ACCESS EXCLUSIVE MODE")
        yield locked


async def let_two_wait(client: Client, order_id: int) -> list[asyncio.Future[Answer]]:
    """Ask while nobody reads orders: one waits for the database, and one for the first."""
    first = asyncio.ensure_future(ask(client, order_id))
    while of(client.server)._flight is None:
        await asyncio.sleep(0)
    second = asyncio.ensure_future(ask(client, order_id))
    while not of(client.server)._waiting:
        await asyncio.sleep(0)
    return [first, second]


def test_what_was_read_before_needs_no_thread(v3: Client, order_id: int, threads: Threads) -> None:
    answer = v3.get(f"/orders/{order_id}")

    assert answer.data["id"] == order_id
    assert v3.get(f"/orders/{order_id}", **{"If-None-Match": answer.headers["etag"]}).status == 304
    assert threads.answered == 0


def test_all_who_wait_are_answered_with_one_look(
    v3: Client,
    somebody_else: Client,
    order_id: int,
    threads: Threads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    looks: list[Collection[OrderOf]] = []

    def note(db: Connection, wanted: Collection[OrderOf]) -> None:
        looks.append(wanted)
        ask_for_order_states(db, wanted)

    monkeypatch.setattr(unchanged, "ask_for_order_states", note)
    somebody_else.get("/orders")
    threads.answered = 0

    async def ask_at_once() -> list[Answer]:
        return await asyncio.gather(*(ask(c, order_id) for c in (v3, somebody_else, v3, v3)))

    answers = v3.server.run(ask_at_once())

    # Another one's order is looked for in the same statement, and not found.
    assert [answer.status for answer in answers] == [200, 404, 200, 200]
    assert [len(wanted) for wanted in looks] == [4]
    assert threads.answered == 1


def test_whoever_comes_while_others_wait_is_next(
    v3: Client, order_id: int, threads: Threads, locked: psycopg.Connection
) -> None:
    async def ask_in_turn() -> list[Answer]:
        waiting = await let_two_wait(v3, order_id)
        locked.close()
        return await asyncio.gather(*waiting)

    answers = v3.server.run(ask_in_turn())

    assert [answer.status for answer in answers] == [200, 200]
    assert threads.answered == 0


def test_what_has_changed_is_read_by_a_thread(v3: Client, order_id: int, threads: Threads) -> None:
    v3.put(f"/orders/{order_id}", an_order(recipientName="Somebody New"))
    threads.answered = 0

    assert v3.get(f"/orders/{order_id}").data["recipientName"] == "Somebody New"
    assert threads.answered == 1


def test_credentials_are_verified_again_by_a_thread(
    v3: Client, order_id: int, threads: Threads, clock: MovableClock
) -> None:
    clock.advance(seconds=3)

    assert [v3.get(f"/orders/{order_id}").status for _ in range(2)] == [200, 200]
    assert threads.answered == 1


def test_wrong_credentials_are_refused(v3: Client, stranger: Client, order_id: int) -> None:
    wrong = {**v3.credentials, "X-Service-REST-API-Key": "pw_sandbox_wrong"}

    assert stranger.get(f"/orders/{order_id}", **{"If-None-Match": "*"}).status == 401
    assert Client(v3.server, "/v3.0", wrong).get(f"/orders/{order_id}").status == 401


def test_a_connection_that_ends_is_replaced(
    v3: Client, server: Server, order_id: int, threads: Threads, database: Database
) -> None:
    lost = reader_of(server)
    end_connection_of(server, database)
    wait_until(lambda: of(server)._reader is None)

    assert v3.get(f"/orders/{order_id}").status == 200
    assert threads.answered == 1
    wait_until(lambda: of(server)._reader)
    assert reader_of(server) is not lost
    assert v3.get(f"/orders/{order_id}").status == 200
    assert threads.answered == 1


def test_whoever_waited_when_it_ended_is_answered_by_a_thread(
    v3: Client, order_id: int, threads: Threads, database: Database, locked: psycopg.Connection
) -> None:
    async def ask_and_lose() -> list[Answer]:
        waiting = await let_two_wait(v3, order_id)
        await asyncio.to_thread(end_connection_of, v3.server, database)
        while of(v3.server)._reader is not None:
            await asyncio.sleep(0)
        locked.close()
        return await asyncio.gather(*waiting)

    answers = v3.server.run(ask_and_lose())

    assert [answer.status for answer in answers] == [200, 200]
    assert threads.answered == 2


def test_a_client_that_hangs_up_takes_nothing_from_others(
    v3: Client, server: Server, order_id: int, threads: Threads
) -> None:
    async def hang_up() -> Answer:
        gone, stays = (asyncio.ensure_future(ask(v3, order_id)) for _ in range(2))
        while len(of(server)._waiting) < 2:
            await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert server.run(hang_up()).status == 200
    assert threads.answered == 0


def test_when_too_many_wait_threads_answer(
    v3: Client, server: Server, order_id: int, threads: Threads
) -> None:
    of(server)._most = 0

    assert v3.get(f"/orders/{order_id}").status == 200
    assert threads.answered == 1


def test_without_a_connection_threads_answer_and_it_is_tried_again(
    v3: Client,
    server: Server,
    threads: Threads,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tried = 0

    def fail(_: UnchangedOrders) -> HeldReader:
        nonlocal tried
        tried += 1
        raise psycopg.OperationalError("The server is starting.")

    with monkeypatch.context() as broken:
        broken.setattr(UnchangedOrders, "hold_reader", fail)
        order_id = create(v3)
        for _ in range(3):
            assert v3.get(f"/orders/{order_id}").status == 200
            wait_until(lambda: of(server)._opening is None)
    assert tried == 2
    assert of(server)._reader is None

    v3.get(f"/orders/{order_id}")
    wait_until(lambda: of(server)._reader)


def test_a_connection_on_which_nothing_can_be_prepared_is_closed(
    server: Server, monkeypatch: pytest.MonkeyPatch, order_id: int
) -> None:
    del order_id
    held: list[HeldReader] = []
    close = HeldReader.close

    def note(self: HeldReader) -> None:
        held.append(self)
        close(self)

    def fail(*_: object) -> None:
        raise psycopg.OperationalError("The server is stopping.")

    monkeypatch.setattr(HeldReader, "close", note)
    monkeypatch.setattr("printworks.api.unchanged.find_order_states", fail)
    with pytest.raises(psycopg.OperationalError):
        of(server)._unchanged.hold_reader()

    assert len(held) == 1
    assert held[0].db.closed


def test_an_answer_that_cannot_be_chosen_is_left_to_a_thread(
    v3: Client, order_id: int, threads: Threads, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError("The source of the program cannot be read.")

    monkeypatch.setattr(UnchangedOrders, "choose", fail)

    assert v3.get(f"/orders/{order_id}").status == 200
    assert threads.answered == 1


def test_links_that_are_made_anew_are_read_by_a_thread(
    v3: Client, server: Server, order_id: int, threads: Threads
) -> None:
    server.app._links._links = None

    assert [v3.get(f"/orders/{order_id}").status for _ in range(2)] == [200, 200]
    assert threads.answered == 1
