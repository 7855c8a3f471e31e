"""Where payment providers announce what became of payments."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from sqlalchemy import select

from printworks.payments.webhooks import KEY
from printworks.rules.jobs import JobKind
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.tables import jobs, payment_requests
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, sign_up
from tests.api.images import add, create
from tests.api.production import set_status
from tests.payments.test_webhooks import SECRET, sign
from tests.running import Answer

DUE = {"kind": JobKind.CHECK_PAYMENT, "state": "due"}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A service that knows what Stripe signs with."""
    return Settings.load(tmp_path, {"PRINTWORKS_STRIPE_WEBHOOK_SECRET": SECRET})


@pytest.fixture
def key(v3: Client, database: Database) -> str:
    """A payment that waits for its payer, by its key."""
    order_id = create(v3, countryCode="FR")
    add(v3, order_id)
    assert set_status(v3, order_id, "Submitted").status == 402
    with database.reading() as db:
        return str(db.execute(select(payment_requests.c.key)).scalar_one())


def announce(server: Server, key: str, *, event: str = "evt_1", **headers: str) -> Answer:
    """Tell the service that something became of a payment."""
    found = {"id": "pi_1", "object": "payment_intent", "metadata": {KEY: key}}
    notice = {"id": event, "type": "payment_intent.succeeded", "data": {"object": found}}
    body = json.dumps(notice).encode()
    signed = headers or sign(body)
    return Client(server, "", {}).request("POST", "/payments/stripe", body, signed)


def list_checks(database: Database) -> list[Any]:
    """Return the looks at a payment that are due now."""
    query = select(jobs.c.args).where(jobs.c.kind == DUE["kind"], jobs.c.state == DUE["state"])
    with database.reading() as db:
        return list(db.execute(query).scalars())


@pytest.mark.both_databases
def test_a_notification_makes_somebody_look(server: Server, key: str, database: Database) -> None:
    assert announce(server, key).status == 200

    assert list_checks(database) == [{"payment": 1}]


@pytest.mark.both_databases
def test_the_same_notification_counts_once(server: Server, key: str, database: Database) -> None:
    assert {announce(server, key).status for _ in range(3)} == {200}
    assert announce(server, key, event="evt_2").status == 200

    assert list_checks(database) == [{"payment": 1}] * 2


def test_one_about_somebody_elses_payment_is_let_be(
    server: Server, key: str, database: Database
) -> None:
    assert announce(server, "another").status == 200

    assert list_checks(database) == []


@pytest.mark.parametrize(
    "headers", [{"X-Nothing": "1"}, {"Stripe-Signature": "t=1,v1=00"}, {"Stripe-Signature": "é"}]
)
def test_one_that_is_not_signed_is_refused(
    server: Server, key: str, database: Database, headers: dict[str, str]
) -> None:
    answer = announce(server, key, **headers)

    assert answer.status == 400
    assert list_checks(database) == []


def test_it_cannot_be_looked_at(server: Server) -> None:
    assert Client(server, "", {}).get("/payments/stripe").status in {404, 405}


class TestWithoutASecret:
    @pytest.fixture
    def plain(self, database: Database, tmp_path: Path, clock: MovableClock) -> Iterator[Server]:
        """A service that hears from nobody."""
        settings = Settings.load(tmp_path, {})
        url = database.url.render_as_string(hide_password=False)
        server = Server(build_app(msgspec.structs.replace(settings, database_url=url), clock))
        sign_up(server, database, "Eve")
        yield server
        server.close()

    def test_every_notification_is_refused(self, plain: Server) -> None:
        assert announce(plain, "any").status == 400
