"""Each merchant has its share: who sends too much is refused, and nobody else."""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from printworks.actions.accounts.merchants import add_key, revoke_key
from printworks.actions.accounts.shares import change_share
from printworks.api.endpoints import ApiFamily, Call, Endpoint
from printworks.api.v3.endpoints import V3_0
from printworks.rules.shares import BYTES_OF_ANSWER, BYTES_OF_BODY, REFUSALS_AT_ONCE, ShareTerms
from printworks.settings import Settings
from printworks.store.accounts.merchants import list_keys
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from printworks.web.families import FAMILIES
from printworks.wire.v3.envelope import Envelope
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock, an_order, sign_up
from tests.factories import NOON, a_work_by_code
from tests.running import Answer
from tests.worker.hosts import wait_until

ID = "X-Service-MerchantId"
KEY = "X-Service-REST-API-Key"
# A list of strings with whole numbers as parameters (RFC 9651).
POLICY = re.compile(r'"requests";q=[1-9][0-9]*;w=[1-9][0-9]*')
LIMIT = re.compile(r'"requests";r=[0-9]+;t=[0-9]+')

Start = Callable[..., Server]


class Gate:
    """An endpoint that holds its thread until the test lets go."""

    def __init__(self) -> None:
        self.may_leave = threading.Event()
        self.inside = 0

    def write_much(self, _call: Call) -> Envelope[str]:
        """Answer with three parts of those that count."""
        return Envelope("a" * (2 * BYTES_OF_ANSWER + 1))

    def wait(self, _call: Call) -> Envelope[str]:
        """Wait."""
        self.inside += 1
        self.may_leave.wait(30)
        return Envelope("done")

    def family(self) -> ApiFamily:
        """Return it as a version."""
        handlers = {"/wait": self.wait, "/much": self.write_much}
        endpoints = [
            Endpoint(method="GET", path=path, handler=handler, shows=Envelope[str])
            for path, handler in handlers.items()
        ]
        return ApiFamily(version="test", endpoints=tuple(endpoints), refuse=V3_0.refuse)


@pytest.fixture
def gate() -> Iterator[Gate]:
    gate = Gate()
    yield gate
    gate.may_leave.set()


@pytest.fixture
def start(database: Database, tmp_path: Path, clock: MovableClock, gate: Gate) -> Iterator[Start]:
    """Start a service with small limits, or another process of it."""
    url = database.url.render_as_string(hide_password=False)
    with ExitStack() as running:

        def start_one(**settings: str) -> Server:
            small = {"merchant_rate": "5", "merchant_burst": "10", "stranger_rate": "1"}
            usual = {**small, "stranger_burst": "4", "web_processes": "1", **settings}
            given = {f"PRINTWORKS_{name.upper()}": text for name, text in usual.items()}
            loaded = msgspec.structs.replace(Settings.load(tmp_path, given), database_url=url)
            server = Server(build_app(loaded, clock, (*FAMILIES, gate.family())))
            running.callback(server.close)
            running.callback(gate.may_leave.set)
            return server

        yield start_one


def statuses(client: Client, count: int, path: str = "/orders/1") -> list[int]:
    """Ask so often."""
    return [client.get(path).status for _ in range(count)]


def from_address(server: Server, address: str, path: str, **headers: str) -> Answer:
    """Ask without credentials from an address."""
    scope = {**make_scope("GET", path, headers), "client": (address, 50_000)}
    return server.run(server.ask(scope, []))


class TestRate:
    @pytest.mark.both_databases
    def test_a_burst_is_granted_then_the_rate(
        self, start: Start, database: Database, clock: MovableClock
    ) -> None:
        alice = sign_up(start(), database, "Alice")

        assert statuses(alice, 12) == [404] * 10 + [429] * 2
        clock.advance(seconds=1)
        assert statuses(alice, 7) == [404] * 5 + [429] * 2

    @pytest.mark.slow
    def test_the_greedy_one_is_refused_and_nobody_else(
        self, start: Start, database: Database
    ) -> None:
        server = start()
        alice, bob = sign_up(server, database, "Alice"), sign_up(server, database, "Bob")

        assert 429 in statuses(alice, 30)
        assert statuses(bob, 10) == [404] * 10

    @pytest.mark.parametrize("prefix", ["/v3.0", "/v2.6", "/v2.5", "/v2.3"])
    def test_the_refusal_is_ours_and_says_when_to_come_back(
        self, start: Start, database: Database, prefix: str
    ) -> None:
        alice = replace(sign_up(start(), database, "Alice"), prefix=prefix)
        statuses(alice, 10)

        refused = alice.get("/orders/1")

        assert refused.status == 429
        assert refused.headers["retry-after"] == "1"
        assert refused.headers["x-request-id"]
        assert refused.headers["content-type"] == "application/json; charset=utf-8"
        assert refused.error == (
            "You may send 5 requests a second, 10 in a burst; try again in a second."
        )

    def test_a_refused_request_changes_nothing_and_its_key_stays_free(
        self, start: Start, database: Database, clock: MovableClock
    ) -> None:
        alice = sign_up(start(), database, "Alice")
        statuses(alice, 10)

        assert alice.post("/orders", an_order(), Idempotency_Key="k").status == 429
        clock.advance(seconds=1)
        assert alice.get("/orders").data["content"] == []
        assert alice.post("/orders", an_order(), Idempotency_Key="k").status == 200

    def test_the_body_of_a_refused_request_is_not_waited_for(
        self, start: Start, database: Database
    ) -> None:
        server = start()
        alice = sign_up(server, database, "Alice")
        statuses(alice, 10)
        headers = {**alice.credentials, "Content-Length": "100"}
        end = {"type": "http.disconnect"}

        refused = server.run(server.ask(make_scope("POST", "/v3.0/orders", headers), [end]))

        assert refused.status == 429

    def test_every_answer_says_what_there_is_and_what_is_left(
        self, start: Start, database: Database, stranger_paths: list[str]
    ) -> None:
        alice = sign_up(start(), database, "Alice")
        answers = [alice.get("/orders"), alice.get("/orders/1"), alice.get("/nothing")]
        answers += [alice.delete("/countries"), alice.post("/orders", {})]
        answers += [alice.get("/orders", If_None_Match=answers[0].headers["etag"])]
        nobody = replace(alice, credentials={})
        answers += [nobody.get(path) for path in stranger_paths]

        for answer in answers:
            assert POLICY.fullmatch(answer.headers["ratelimit-policy"])
            assert LIMIT.fullmatch(answer.headers["ratelimit"])
        left = [int(answer.headers["ratelimit"].split(";")[1][2:]) for answer in answers[:6]]
        assert left == [9, 8, 7, 6, 5, 4]
        assert answers[0].headers["ratelimit-policy"] == '"requests";q=10;w=2'

    def test_a_large_answer_counts_as_several_requests(
        self, start: Start, database: Database
    ) -> None:
        alice = sign_up(start(), database, "Alice")
        statuses(alice, 1)

        much = replace(alice, prefix="/vtest").get("/much")

        assert much.headers["ratelimit"] == '"requests";r=6;t=1'
        assert statuses(alice, 7) == [404] * 6 + [429]

    def test_a_large_body_counts_as_several_requests(
        self, start: Start, database: Database
    ) -> None:
        alice = sign_up(start(), database, "Alice")
        statuses(alice, 1)

        refused = alice.post("/orders/1/images/batch", ["a" * BYTES_OF_BODY] * 3)

        assert (refused.status, refused.headers["ratelimit"]) == (404, '"requests";r=5;t=1')
        assert statuses(alice, 6) == [404] * 5 + [429]

    def test_a_refusal_that_is_held_back_is_no_request_under_way(
        self, start: Start, database: Database, clock: MovableClock
    ) -> None:
        server = start(merchant_in_work="1", merchant_queue="1")
        alice = sign_up(server, database, "Alice")
        statuses(alice, 10 + REFUSALS_AT_ONCE)
        scope = make_scope("GET", "/v3.0/orders/1", alice.credentials)

        async def ask_again_meanwhile() -> tuple[int, list[int]]:
            refused = [asyncio.ensure_future(server.ask(scope, [])) for _ in range(4)]
            await asyncio.sleep(0)
            clock.advance(seconds=1)
            granted = await server.ask(scope, [])
            return granted.status, [(await each).status for each in refused]

        assert server.run(ask_again_meanwhile()) == (404, [429] * 4)

    def test_all_keys_of_a_merchant_share_its_share(self, start: Start, database: Database) -> None:
        alice = sign_up(start(), database, "Alice")
        with database.writing() as db:
            key = add_key(a_work_by_code(db, alice.credentials[ID], now=NOON))
        other = replace(alice, credentials={**alice.credentials, KEY: key})
        statuses(alice, 9)

        # One passes before it is known whose key it is; it is counted all the same.
        assert statuses(other, 3) == [404, 429, 429]

    def test_processes_of_a_machine_share_the_bucket(
        self, start: Start, database: Database
    ) -> None:
        first, second = start(web_processes="2"), start(web_processes="2")
        alice = sign_up(first, database, "Alice")
        there = replace(alice, server=second)
        assert statuses(alice, 1) + statuses(there, 1) == [404, 404]

        granted = [each.get("/orders/1").status for each in (alice, there) * 10]

        assert granted.count(404) == 8

    def test_each_machine_grants_its_part(self, start: Start, database: Database) -> None:
        alice = sign_up(start(web_machines="5"), database, "Alice")

        assert statuses(alice, 4) == [404, 404, 429, 429]


@pytest.fixture
def stranger_paths() -> list[str]:
    """Three that a stranger may ask for."""
    return ["/orders", "/nothing", "/orders/1"]


class TestOwnLimits:
    def test_a_merchants_own_limits_count_at_once(
        self, start: Start, database: Database, clock: MovableClock
    ) -> None:
        alice = sign_up(start(), database, "Alice")
        assert statuses(alice, 1) == [404]
        with database.writing() as db:
            work = a_work_by_code(db, alice.credentials[ID], now=NOON)
            change_share(work, ShareTerms(per_second=30, burst=60))
        # Reads rely on what was known two seconds ago.
        clock.advance(seconds=3)
        statuses(alice, 1)

        assert alice.get("/orders").headers["ratelimit-policy"] == '"requests";q=60;w=2'
        assert statuses(alice, 50) == [404] * 50

    def test_they_hold_from_the_first_request_on(self, start: Start, database: Database) -> None:
        alice = sign_up(start(), database, "Alice")
        with database.writing() as db:
            change_share(a_work_by_code(db, alice.credentials[ID], now=NOON), ShareTerms(burst=2))

        assert statuses(alice, 3) == [404, 404, 429]


class TestInWork:
    def test_what_is_over_the_cap_waits_and_what_cannot_wait_is_refused(
        self, start: Start, database: Database, gate: Gate
    ) -> None:
        settings = {"merchant_burst": "100000", "merchant_in_work": "2", "merchant_queue": "3"}
        server = start(**settings, web_threads="8")
        alice, bob = sign_up(server, database, "Alice"), sign_up(server, database, "Bob")
        assert statuses(alice, 1) + statuses(bob, 1) == [404, 404]
        slow = replace(alice, prefix="/vtest")
        with ThreadPoolExecutor(5) as callers:
            asked = [callers.submit(slow.get, "/wait") for _ in range(5)]
            wait_until(lambda: alice.get("/orders/1").status == 429)
            refused = alice.get("/orders/1")

            wait_until(lambda: gate.inside == 2)
            assert refused.headers["retry-after"] == "1"
            assert "waiting for an answer" in refused.error
            assert statuses(bob, 5) == [404] * 5
            gate.may_leave.set()
            assert [each.result().status for each in asked] == [200] * 5
        assert statuses(alice, 1) == [404]

    def test_one_merchant_cannot_hold_every_thread(
        self, start: Start, database: Database, gate: Gate
    ) -> None:
        settings = {"merchant_burst": "100", "merchant_in_work": "50", "web_threads": "3"}
        server = start(**settings)
        alice, bob = sign_up(server, database, "Alice"), sign_up(server, database, "Bob")
        assert statuses(alice, 1) + statuses(bob, 1) == [404, 404]
        slow = replace(alice, prefix="/vtest")
        with ThreadPoolExecutor(20) as callers:
            asked = [callers.submit(slow.get, "/wait") for _ in range(20)]
            wait_until(lambda: gate.inside == 2)

            assert statuses(bob, 5) == [404] * 5
            gate.may_leave.set()
            assert [each.result().status for each in asked] == [200] * 20

    def test_a_full_queue_of_the_process_refuses_whoever_has_most_in_it(
        self, start: Start, database: Database, gate: Gate
    ) -> None:
        settings = {"merchant_burst": "100", "merchant_in_work": "50", "web_threads": "2"}
        server = start(**settings, web_queue="5")
        alice, bob = sign_up(server, database, "Alice"), sign_up(server, database, "Bob")
        assert statuses(alice, 1) + statuses(bob, 1) == [404, 404]
        slow = replace(alice, prefix="/vtest")
        with ThreadPoolExecutor(10) as callers:
            asked = [callers.submit(slow.get, "/wait") for _ in range(10)]
            # Seven are taken, and three are refused.
            wait_until(lambda: sum(each.done() for each in asked) == 3)

            assert statuses(bob, 5) == [404] * 5
            gate.may_leave.set()
            found = sorted(each.result().status for each in asked)
        assert found == [200] * 6 + [503] * 4


class TestStrangers:
    def test_wrong_keys_are_slowed_by_address_and_right_ones_are_not(
        self, start: Start, database: Database, clock: MovableClock
    ) -> None:
        server = start()
        alice = sign_up(server, database, "Alice")
        assert statuses(alice, 2) == [404, 404]
        wrong = replace(alice, credentials={**alice.credentials, KEY: "pw_sandbox_wrong"})

        assert statuses(wrong, 6) == [401] * 4 + [429] * 2
        refused = wrong.get("/orders")
        assert "without valid credentials" in refused.error
        assert refused.headers["retry-after"] == "1"
        # It is known whose this is, and nothing of it was used up.
        assert statuses(alice, 8) == [404] * 8
        clock.advance(seconds=1)
        assert statuses(wrong, 2) == [401, 429]

    def test_so_are_addresses_where_there_is_nothing(self, start: Start) -> None:
        server = start()
        api = [from_address(server, "192.0.2.1", f"/v3.0/{n}").status for n in range(3)]
        pages = [from_address(server, "192.0.2.1", f"/{n}.php") for n in range(3)]

        assert api == [404] * 3
        assert [page.status for page in pages] == [404, 429, 429]
        assert pages[2].headers["retry-after"] == "1"
        assert b"Too many requests" in pages[2].body
        # What exists is shown, and others are not affected.
        assert from_address(server, "192.0.2.1", "/sign-in").status == 200
        assert from_address(server, "192.0.2.2", "/0.php").status == 404

    def test_a_network_of_64_bits_is_one_address(self, start: Start) -> None:
        server = start()
        one = [from_address(server, f"2001:db8:1:2::{n:x}", "/v3.0/x").status for n in range(6)]
        other = from_address(server, "2001:db8:1:3::1", "/v3.0/x").status

        assert one == [404] * 4 + [429] * 2
        assert other == 404

    def test_what_a_client_says_of_its_address_counts_only_behind_a_proxy(
        self, start: Start
    ) -> None:
        direct, proxied = start(), start(behind_proxy="127.0.0.1:8080")

        def ask(server: Server, count: int) -> list[int]:
            return [
                from_address(
                    server, "127.0.0.1", "/v3.0/x", **{"X-Forwarded-For": f"9.9.9.9, 192.0.2.{n}"}
                ).status
                for n in range(count)
            ]

        assert ask(direct, 6) == [404] * 4 + [429] * 2
        assert ask(proxied, 6) == [404] * 6

    def test_a_revoked_key_is_a_strangers(self, start: Start, database: Database) -> None:
        alice = sign_up(start(), database, "Alice")
        assert statuses(alice, 1) == [404]
        with database.writing() as db:
            work = a_work_by_code(db, alice.credentials[ID], now=NOON)
            revoke_key(work, list_keys(db, work.merchant.id, now=NOON)[0].id)

        # A write looks again whose key it is; then it counts as anybody's.
        answers = [alice.post("/orders", an_order()) for _ in range(7)]

        assert [answer.status for answer in answers] == [401] * 5 + [429] * 2
        assert "without valid credentials" in answers[-1].error
