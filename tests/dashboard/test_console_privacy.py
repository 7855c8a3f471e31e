"""Privacy at the console: find a person, export, erase, and how long things are kept."""

import json
import zipfile
from io import BytesIO
from typing import Any

import pytest

from printworks.actions.orders.orders import cancel_order
from printworks.rules.jobs import JobKind
from printworks.rules.people import Role
from printworks.settings import Settings
from printworks.store.accounts.privacy.erasures import list_erasures
from printworks.store.accounts.privacy.sweeps import record_sweep
from printworks.store.engine.database import Database
from printworks.store.orders.orders import Order
from tests.api.client import Server
from tests.dashboard.scenes import hand_in, last_entry, see_order
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, merchant_of, open_console
from tests.factories import NOON, a_work_of, an_order

PRIVACY = "/console/privacy"
SURE = {"asked_by": "the recipient, by letter", "is_sure": "yes", "current_password": PASSWORD}


def ended_order(database: Database, window: Window, **values: Any) -> Order:
    """Add an order that was cancelled."""
    given = {"recipient_name": "Mary Canary", "postal_code": "YO1 1AA", "email": "m@canary.example"}
    with database.writing() as db:
        order = an_order(db, merchant_of(db, window), **{**given, **values})
        return cancel_order(a_work_of(db, order), order)


@pytest.mark.both_databases
def test_a_person_is_found_erased_and_receipted(
    operator: Window, alice: Window, bob: Window, database: Database
) -> None:
    one, other = ended_order(database, alice), ended_order(database, bob)
    stranger = ended_order(database, bob, email="t@bear.example", recipient_name="Tom Bear")

    page = operator.do(PRIVACY, "find-person", email="M@canary.example")
    assert page.status == 200
    assert f'value="{one.id}"' in page.body.decode()
    assert f'value="{stranger.id}"' not in page.body.decode()
    named = operator.do(PRIVACY, "find-person", name="mary canary", postcode="yo11aa")
    assert f'value="{other.id}"' in named.body.decode()
    only = operator.do(PRIVACY, "find-person", email="m@canary.example", merchant=bob.code)
    assert f'value="{one.id}"' not in only.body.decode()

    done = operator.do(PRIVACY, "erase-recipients", chosen=[one.id, other.id, 99], **SURE)

    said = words_of(done)
    assert "Done: 2" in said
    assert "Refused: 1 Order 99: There is no order 99." in said
    assert see_order(database, one).recipient_name is None
    assert see_order(database, stranger).recipient_name == "Tom Bear"
    with database.reading() as db:
        second, first = list_erasures(db, limit=9)
    assert (first.order_id, first.done_by) == (one.id, "admin@works.example")
    receipt = operator.words(f"{PRIVACY}/{first.id}")
    assert "the recipient, by letter" in receipt
    assert "Ledger entries" in receipt
    entry = last_entry(database)
    assert (entry.action, entry.subject) == ("erase-recipient", f"order {other.id}")
    assert entry.details == {"receipt": second.id}
    assert f"receipt {first.id}" in operator.words(f"/console/orders/{one.id}")


@pytest.mark.parametrize(
    ("instead", "reason"),
    [
        ({"chosen": []}, "Choose at least one line"),
        ({"chosen": list(range(1, 60))}, "Choose at most 50"),
        ({"asked_by": " "}, "Say who asked for it"),
        ({"is_sure": ""}, "cannot be restored"),
        ({"current_password": "wrong"}, "Wrong password."),
        ({"current_password": ""}, "Enter your password"),
    ],
)
def test_an_erasure_that_is_not_meant_is_refused_and_what_was_chosen_stays(
    operator: Window, alice: Window, database: Database, instead: dict[str, Any], reason: str
) -> None:
    order = ended_order(database, alice)

    refused = operator.do(PRIVACY, "erase-recipients", **{"chosen": [order.id], **SURE, **instead})

    assert refused.status in {400, 403}
    assert reason in words_of(refused)
    assert see_order(database, order).recipient_name == "Mary Canary"
    if "chosen" not in instead:
        assert f'value="{order.id}"' in refused.body.decode()


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, "Enter an email address"),
        ({"name": "Mary"}, "Enter an email address"),
        ({"email": "a@b", "merchant": "nobody"}, "no merchant with this code"),
    ],
)
def test_whoever_looks_for_nobody_is_told(
    operator: Window, fields: dict[str, str], reason: str
) -> None:
    refused = operator.do(PRIVACY, "find-person", **fields)

    assert refused.status == 400
    assert reason in words_of(refused)


def test_nobody_is_found(operator: Window) -> None:
    assert "No orders found" in words_of(operator.do(PRIVACY, "find-person", email="a@b.example"))


def test_what_is_in_production_waits(operator: Window, alice: Window, database: Database) -> None:
    order, _ = hand_in(database, alice)
    assert f'value="{order.id}"' in operator.open(f"{PRIVACY}?order={order.id}").body.decode()

    refused = operator.do(PRIVACY, "erase-recipients", chosen=[order.id], **SURE)
    assert "its recipient is needed until it is Complete" in words_of(refused)
    waits = operator.do(PRIVACY, "erase-recipients", chosen=[order.id], when_ended="yes", **SURE)

    assert "waiting" in words_of(waits)
    with database.reading() as db:
        [erasure] = list_erasures(db, limit=9)
    assert "the order has not ended" in operator.words(f"{PRIVACY}/{erasure.id}")
    assert see_order(database, order).recipient_name is not None


@pytest.mark.both_databases
def test_a_person_is_exported_as_a_zip(operator: Window, alice: Window, database: Database) -> None:
    order = ended_order(database, alice)

    answer = operator.do(PRIVACY, "export-recipients", chosen=[order.id], current_password=PASSWORD)

    assert answer.status == 200
    assert answer.headers["content-type"] == "application/zip"
    with zipfile.ZipFile(BytesIO(answer.body)) as archive:
        assert archive.testzip() is None
        person = json.loads(archive.read("person.json"))
    [told] = person["orders"]
    assert (told["order"], told["recipient"]["recipient_name"]) == (order.id, "Mary Canary")
    assert last_entry(database).action == "export-recipient"


@pytest.mark.parametrize("role", [Role.VIEWER, Role.PRODUCTION, Role.SUPPORT])
def test_only_administrators_erase_and_export(
    server: Server, alice: Window, database: Database, role: Role
) -> None:
    order = ended_order(database, alice)
    window = open_console(server, database, role=role)
    if role is not Role.SUPPORT:
        assert window.open(PRIVACY).status == 403
        return
    assert "Only admins" in words_of(window.open(f"{PRIVACY}?order={order.id}"))

    for name in ("erase-recipients", "export-recipients"):
        assert window.do(PRIVACY, name, chosen=[order.id], **SURE).status == 403

    assert see_order(database, order).recipient_name is not None


def test_it_says_how_long_everything_is_kept(
    operator: Window, database: Database, settings: Settings
) -> None:
    assert settings.keep_recipients is None
    with database.writing() as db:
        for removed in (40, 2):
            record_sweep(db, JobKind.PURGE_PICTURES, removed, now=NOON)

    said = operator.words(PRIVACY)

    assert "Names, addresses and contact data Not removed keep_recipients Never" in said
    assert "keep_originals 15 Nov 2026, 12:00 2 42" in said
    assert "Next sweep: 15 Nov 2026, 13:00" in said
