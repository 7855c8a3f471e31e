"""What merchants read about callbacks is true, and its receiver works as it stands."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from printworks.actions.callbacks import set_callback
from printworks.rules.callbacks import WAITS
from printworks.rules.events import CallbackState
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.callbacks.callbacks import Attempt, list_feed
from printworks.store.callbacks.deliveries import DeliveryOutcome, load_deliveries, write_outcomes
from printworks.store.engine.database import Database
from printworks.wire.signatures import make_secret, sign
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.production import set_status
from tests.api.test_documents import DOCS, EXAMPLE, fits
from tests.factories import NOON, a_work

GUIDE: Final = (DOCS / "callbacks.md").read_text()
GOLDEN: Final = re.compile(r"<!-- from (\S+) -->\n```json\n(.*?)```", re.DOTALL)
ROOT: Final = Path(__file__).parents[2]


def test_the_bodies_are_those_of_the_golden_files_member_by_member() -> None:
    shown = GOLDEN.findall(GUIDE)

    assert len(shown) >= 2
    for path, body in shown:
        golden = json.loads((ROOT / path).read_text(), object_pairs_hook=list)
        assert json.loads(body, object_pairs_hook=list) == golden


def test_the_waits_are_those_of_the_schedule() -> None:
    [written] = re.findall(r"is sent again: after ([^.]*?), each", GUIDE.replace("\n", " "))
    units = {"s": "seconds", "m": "minutes", "h": "hours"}
    waits = re.findall(r"(\d+) ([smh])", written)

    assert [timedelta(**{units[unit]: int(count)}) for count, unit in waits] == list(WAITS)


def test_every_example_is_answered_as_it_says(v3: Client, database: Database) -> None:
    with database.writing() as db:
        merchant = get_merchant_by_code(db, v3.credentials["X-Service-MerchantId"])
        set_callback(a_work(db, merchant), "https://shop.example/callbacks")
    order = v3.post("/orders", an_order(merchantOrderId="invoice 42")).data
    set_status(v3, order["id"], "Cancelled")
    _acknowledge_all(database, merchant.id)
    examples = list(EXAMPLE.finditer(GUIDE))
    assert len(examples) == 3

    for example in examples:
        head, _, body = example["request"].partition("\n\n")
        first_line, *header_lines = head.strip().splitlines()
        method, target = first_line.split()
        headers = dict(line.split(": ") for line in header_lines)
        answer = v3.request(method, target.removeprefix("/v3.0"), body.strip().encode(), headers)

        assert fits(json.loads(example["answer"]), answer.json()), answer.body.decode()


def _acknowledge_all(database: Database, merchant_id: int) -> None:
    attempt = Attempt(number=1, at=NOON, url="", status=200, milliseconds=1, answer="", error=None)
    with database.writing() as db:
        told = [each.id for each in list_feed(db, merchant_id, after=0, limit=10)]
        heard = [
            DeliveryOutcome(delivery=delivery, state=CallbackState.DELIVERED, attempt=attempt)
            for delivery in load_deliveries(db, told).values()
        ]
        write_outcomes(db, heard, now=NOON)


class TestTheReceiver:
    @pytest.fixture
    def secret(self) -> str:
        return make_secret()

    @pytest.fixture
    def receiver(self, secret: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        """The receiver of the guide, run as it is written there."""
        [code] = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("CALLBACK_SECRET", secret)
        names: dict[str, Any] = {"__name__": "receiver"}
        exec(compile(code, "receiver.py", "exec"), names)
        yield names
        names["shop"].close()

    def _post(self, receiver: Any, body: bytes, headers: dict[str, str]) -> int:
        return int(
            receiver["app"].test_client().post("/callbacks", data=body, headers=headers).status_code
        )

    def _heard(self, receiver: Any) -> list[tuple[Any, ...]]:
        return list(receiver["shop"].execute("SELECT * FROM callbacks"))

    def test_writes_down_what_is_ours_once_however_often_it_comes(
        self, receiver: Any, secret: str
    ) -> None:
        body = (ROOT / "tests/wire/callbacks/3.0-submitted.json").read_bytes().strip()

        for _ in range(2):
            headers = sign(body, message_id="msg_7", at=datetime.now(UTC), secrets=[secret])
            assert self._post(receiver, body, headers) == 200

        assert self._heard(receiver) == [("msg_7", 42, "2020-06-05T17:19:43.367", "Submitted")]

    def test_refuses_what_is_not_ours(self, receiver: Any, secret: str) -> None:
        body, now = b'{"orderId":42,"timestamp":"","status":"Complete"}', datetime.now(UTC)
        forged = sign(body, message_id="msg_7", at=now, secrets=[make_secret()])
        old = sign(body, message_id="msg_7", at=now - timedelta(days=1), secrets=[secret])

        for headers in ({}, forged, old):
            assert self._post(receiver, body, headers) == 401

        assert self._heard(receiver) == []
