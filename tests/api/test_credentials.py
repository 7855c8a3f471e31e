"""Who may ask: two headers, right to the letter."""

from datetime import timedelta

import pytest

from printworks.actions.accounts.merchants import add_merchant, rotate_key
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock, an_order
from tests.factories import NOON, a_system_work, a_work_by_code

ID = "X-Service-MerchantId"
KEY = "X-Service-REST-API-Key"


@pytest.mark.parametrize(
    "credentials",
    [
        {},
        {ID: "{id}"},
        {KEY: "{key}"},
        {ID: "", KEY: ""},
        {ID: "{id}", KEY: ""},
        {ID: "", KEY: "{key}"},
        {ID: "{id}", KEY: "wrong"},
        {ID: "{id}", KEY: "{key}x"},
        {ID: "{id}", KEY: "{other_key}"},
        {ID: "{other_id}", KEY: "{key}"},
        {ID: "{key}", KEY: "{id}"},
        {ID: "\x00", KEY: "\x00"},
        {ID: "\xe9\xff", KEY: "\xe9\xff"},
        {ID: "' OR 1=1 --", KEY: "' OR 1=1 --"},
        {ID: "x" * 5000, KEY: "y" * 5000},
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_anything_but_the_right_pair_is_refused(
    v3: Client, somebody_else: Client, credentials: dict[str, str], method: str
) -> None:
    known = {
        "id": v3.credentials[ID],
        "key": v3.credentials[KEY],
        "other_id": somebody_else.credentials[ID],
        "other_key": somebody_else.credentials[KEY],
    }
    shown = {name: value.format(**known) for name, value in credentials.items()}
    intruder = Client(v3.server, "/v3.0", shown)

    answer = intruder.request(method, "/orders", b"{}", {"Content-Type": "application/json"})

    assert answer.status == 401
    message = answer.error
    assert answer.json() == {
        "data": None,
        "errorMessage": message,
        "message": message,
        "Message": message,
        "statusTxt": message,
        "statusCode": 401,
    }
    assert answer.headers["www-authenticate"] == 'ApiKey realm="Printworks"'


def test_a_stranger_learns_nothing_of_what_is_wrong_with_the_rest(stranger: Client) -> None:
    nonsense = stranger.request("POST", "/orders", b"{", {"Content-Type": "no/type"})

    assert nonsense.status == 401


@pytest.mark.both_databases
def test_an_old_key_works_beside_the_new_one_until_its_time_is_up(
    v3: Client, database: Database, clock: MovableClock
) -> None:
    with database.writing() as db:
        new_key = rotate_key(
            a_work_by_code(db, v3.credentials[ID], now=clock.now),
            old_key_valid_for=timedelta(hours=24),
        )
    renewed = Client(v3.server, "/v3.0", {**v3.credentials, KEY: new_key})

    assert v3.get("/orders").status == renewed.get("/orders").status == 200

    clock.advance(hours=24, seconds=1)
    assert v3.get("/orders").status == 401
    assert renewed.get("/orders").status == 200


@pytest.mark.both_databases
def test_a_revoked_key_writes_no_more_and_reads_for_two_seconds_at_most(
    v3: Client, database: Database, clock: MovableClock
) -> None:
    assert v3.get("/orders").status == 200
    with database.writing() as db:
        rotate_key(
            a_work_by_code(db, v3.credentials[ID], now=clock.now),
            old_key_valid_for=timedelta(0),
        )

    assert v3.post("/orders", an_order()).status == 401

    clock.advance(seconds=2)
    assert v3.get("/orders").status == 401


def test_a_key_of_the_other_environment_opens_nothing(v3: Client, database: Database) -> None:
    with database.writing() as db:
        live = add_merchant(a_system_work(db, now=NOON, environment="live"), "Alice in live")
    elsewhere = Client(v3.server, "/v3.0", {ID: live.merchant.code, KEY: live.api_key})

    assert elsewhere.get("/orders").status == 401
    assert elsewhere.post("/orders", an_order()).status == 401
