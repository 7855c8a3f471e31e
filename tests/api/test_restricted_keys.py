"""Keys that may not do everything: refused with 403 and a sentence, in every version."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select

from printworks.actions.accounts.merchants import add_key, revoke_key
from printworks.api.credentials import TRUSTED_FOR, Credentials, PresentedKey
from printworks.api.endpoints import Endpoint
from printworks.errors import BadCredentials
from printworks.rules.keys import KeyAccess, KeyLimits
from printworks.settings import Settings
from printworks.store.accounts.merchants import list_keys
from printworks.store.engine.database import Database
from printworks.store.tables import audit_log, shipments
from printworks.web.families import FAMILIES
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import set_status, submit
from tests.factories import NOON, a_work_by_code

ID = "X-Service-MerchantId"
KEY = "X-Service-REST-API-Key"
READ_ONLY = KeyLimits("Reports", KeyAccess.READ_ONLY)
NO_MONEY = KeyLimits("Importer", KeyAccess.NO_MONEY)

EVERY_CHANGE = [
    (family.version, endpoint)
    for family in FAMILIES
    for endpoint in family.endpoints
    if not endpoint.only_reads
]


def with_key(client: Client, database: Database, limits: KeyLimits, **given: Any) -> Client:
    """Return a program of the same merchant that has another key."""
    with database.writing() as db:
        key = add_key(a_work_by_code(db, client.credentials[ID]), limits, **given)
    return replace(client, credentials={**client.credentials, KEY: key})


@pytest.mark.parametrize(
    ("version", "endpoint"),
    EVERY_CHANGE,
    ids=lambda one: f"{one.method} {one.path}" if isinstance(one, Endpoint) else one,
)
def test_a_key_that_is_read_only_changes_nothing_through_any_endpoint(
    v3: Client, database: Database, version: str, endpoint: Endpoint
) -> None:
    reader = replace(with_key(v3, database, READ_ONLY), prefix=f"/v{version}")
    path = endpoint.path.replace("{", "").replace("}", "").replace("id", "1")
    for word in ("orderId", "photoId", "imageId", "issueId", "order1", "photo1"):
        path = path.replace(word, "1")

    answer = reader.request(endpoint.method, path, b"{}", {"Content-Type": "application/json"})

    assert answer.status == 403
    message = (
        "This API key “Reports” is read-only: it cannot create or change anything. Use another "
        "key, or create one on the API keys page of the dashboard."
    )
    assert message in answer.body.decode()


@pytest.mark.both_databases
def test_a_key_that_is_read_only_reads_everything(v3: Client, database: Database) -> None:
    order_id = submit(v3)
    reader = with_key(v3, database, READ_ONLY)

    assert reader.get(f"/orders/{order_id}").json() == v3.get(f"/orders/{order_id}").json()
    for path in ("/orders", f"/orders/{order_id}/SubmissionStatus", "/countries", "/events"):
        assert reader.get(path).status == 200
    prices = "/catalogue/service%20direct/destination/GB/prices"
    assert reader.post(prices, {"skus": ["GLOBAL-PHO-4X6-PRO"]}).status == 200
    for prefix in ("/v2.3", "/v2.5", "/v2.6"):
        assert replace(reader, prefix=prefix).get(f"/Orders/{order_id}").status == 200


@pytest.mark.both_databases
def test_a_key_without_money_prepares_orders_and_submits_none(
    v3: Client, database: Database
) -> None:
    importer = with_key(v3, database, NO_MONEY)
    order_id = create(importer)
    add(importer, order_id)

    refused = set_status(importer, order_id, "Submitted")

    assert refused.status == 403
    assert refused.error.startswith("This API key “Importer” cannot spend money: it cannot submit")
    assert importer.get(f"/orders/{order_id}").data["status"] == "NotYetSubmitted"
    assert set_status(v3, order_id, "Submitted").status == 200
    # It costs nothing.
    assert set_status(importer, order_id, "Cancelled").status == 200


def test_a_key_without_money_lets_no_recipient_pay(v3: Client, database: Database) -> None:
    importer = with_key(v3, database, NO_MONEY)
    order_id = create(importer, payment="InvoiceRecipient")
    add(importer, order_id, priceToUser=500)

    refused = set_status(importer, order_id, "AwaitingPayment")

    assert (refused.status, "cannot spend money" in refused.error) == (403, True)


def test_a_key_without_money_changes_an_address_and_not_what_was_charged(
    v3: Client, database: Database
) -> None:
    order_id = submit(v3)
    importer = replace(with_key(v3, database, NO_MONEY), prefix="/v2.6")
    path = f"/Orders/{order_id}/Shipping"

    moved = importer.post(path, {"address1": "2 Low Street"})
    refused = importer.post(path, {"preferredShippingMethod": "PRIORITY"})

    assert (moved.status, moved.json()["address1"]) == (200, "2 Low Street")
    assert refused.status == 403
    assert "cannot spend money" in refused.json()["errorMessage"]
    assert v3.get(f"/orders/{order_id}").data["preferredShippingMethod"] == "Standard"


class TestOneLab:
    def lab_of(self, database: Database, order_id: int) -> str:
        """Return the lab that makes an order."""
        with database.reading() as db:
            wanted = select(shipments.c.lab).where(shipments.c.order_id == order_id)
            return str(db.execute(wanted).scalars().first())

    def other_than(self, lab: str, database: Database, client: Client) -> str:
        """Return another lab of the catalogue."""
        with database.reading() as db:
            labs = a_work_by_code(db, client.credentials[ID]).catalogue.labs
        return next(one.code for one in labs if one.code != lab)

    @pytest.mark.both_databases
    def test_it_submits_what_that_lab_makes_and_nothing_else(
        self, v3: Client, database: Database
    ) -> None:
        lab = self.lab_of(database, submit(v3))
        other = self.other_than(lab, database, v3)
        right = with_key(v3, database, KeyLimits("Right", lab=lab))
        wrong = with_key(v3, database, KeyLimits("Wrong", lab=other))
        order_id = create(wrong)
        add(wrong, order_id)

        refused = set_status(wrong, order_id, "Submitted")

        assert refused.status == 403
        assert refused.error.startswith(
            "This API key “Wrong” is restricted to one lab, and others make part of this order."
        )
        assert set_status(right, order_id, "Submitted").status == 200

    def test_it_leaves_orders_of_other_labs_alone(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)
        lab = self.lab_of(database, order_id)
        other = self.other_than(lab, database, v3)
        wrong = with_key(v3, database, KeyLimits(lab=other))
        older = replace(wrong, prefix="/v2.6")

        answers = [
            set_status(wrong, order_id, "Cancelled"),
            older.post(f"/Orders/{order_id}/Cancel"),
            older.post(f"/Orders/{order_id}/Hold"),
            older.post(f"/Orders/{order_id}/Shipping", {"address1": "2 Low Street"}),
        ]

        assert [answer.status for answer in answers] == [403] * 4
        assert all("restricted to one lab" in a.body.decode() for a in answers)
        right = with_key(v3, database, KeyLimits(lab=lab))
        assert set_status(right, order_id, "Cancelled").status == 200

    def test_an_order_that_no_lab_makes_is_refused_as_usual(
        self, v3: Client, database: Database
    ) -> None:
        key = with_key(v3, database, KeyLimits(lab=self.other_than("", database, v3)))
        order_id = create(key)

        refused = set_status(key, order_id, "Submitted")

        assert (refused.status, "NoItemsInOrder" in refused.error) == (403, True)


class TestEnds:
    @pytest.mark.both_databases
    def test_an_expired_key_is_refused_like_a_wrong_one_to_the_second(
        self, v3: Client, database: Database, clock: MovableClock
    ) -> None:
        brief = with_key(v3, database, KeyLimits(), valid_for=timedelta(hours=1))
        wrong = replace(v3, credentials={**v3.credentials, KEY: "pw_sandbox_wrong"})
        clock.advance(seconds=3599)
        assert brief.get("/orders").status == 200

        # Within the two seconds for which a read relies on what was verified.
        clock.advance(seconds=1)

        assert brief.get("/orders").status == brief.post("/orders").status == 401
        assert brief.get("/orders").body == wrong.get("/orders").body

    @pytest.mark.both_databases
    def test_a_revoked_key_changes_nothing_at_once_and_reads_nothing_after_two_seconds(
        self, v3: Client, database: Database, clock: MovableClock, settings: Settings
    ) -> None:
        program = with_key(v3, database, KeyLimits("Lost"))
        presented = PresentedKey(program.credentials[ID], program.credentials[KEY])
        # Another process that has just seen the key.
        elsewhere = Credentials(database, settings)
        elsewhere.verify_cached(presented, now=clock.now)
        assert program.get("/orders").status == 200

        with database.writing() as db:
            work = a_work_by_code(db, program.credentials[ID])
            revoke_key(work, list_keys(db, work.merchant.id, now=NOON)[0].id)

        assert program.post("/orders").status == 401
        clock.now += TRUSTED_FOR
        assert program.get("/orders").status == 401
        with pytest.raises(BadCredentials):
            elsewhere.verify_cached(presented, now=clock.now)
        assert v3.get("/orders").status == 200


@pytest.mark.both_databases
def test_the_audit_log_names_the_key(v3: Client, database: Database) -> None:
    named = with_key(v3, database, KeyLimits("Shop"))
    for program in (v3, named):
        assert set_status(program, create(program), "Cancelled").status == 200

    with database.reading() as db:
        rows = db.execute(
            select(audit_log.c.who).where(audit_log.c.action == "cancel-order").order_by("id")
        )
        assert list(rows.scalars()) == ["API", "API key “Shop”"]
