"""Databases with merchants that want callbacks, workers that send them, and the proof that they came."""

import json
import os
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, select
from standardwebhooks import Webhook

from bench.receiver import Heard, Receiver
from bench.servers import stop
from bench.tools import PROGRAM, ROOT
from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.callbacks.callbacks import set_callback
from printworks.actions.orders.orders import create_order
from printworks.clock import system_clock
from printworks.rules.events import CallbackState
from printworks.rules.orders import ShippingMethod
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.orders.orders import NewOrder
from printworks.store.tables import callbacks, schema
from printworks.wire.callbacks import message_id

NEW: Final = NewOrder(
    recipient_name="Mary Fox",
    destination_country="GB",
    shipping_method=ShippingMethod.STANDARD,
    merchant_order_id="bench-1",
)
SECONDS_TO_ACKNOWLEDGE: Final = 30
SECONDS_BETWEEN_LOOKS: Final = 0.02


class NotAllCame(Exception):
    """What the receiver heard is not what it should have heard."""


class Shop:
    """A database with merchants, of whom the receiver hears."""

    def __init__(self, url: str, folder: Path, receiver: Receiver) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.receiver = receiver
        self.url = url
        self.database = Database(url)
        schema.migrate(self.database)
        self._secrets: dict[int, str] = {}
        self._last_checked = 0

    def add_merchants(self, count: int) -> list[Merchant]:
        """Add merchants whose receiver is quick."""
        return [self.add_merchant(None) for _ in range(count)]

    def add_merchant(self, url: str | None) -> Merchant:
        """Add a merchant whose receiver is at an address; without one it is the quick one."""
        now = system_clock()
        with self.database.writing() as db:
            merchant = add_merchant(db, "Bench", environment="sandbox", now=now).merchant
            where = url or self.receiver.url(str(merchant.id))
            settings = set_callback(db, merchant, where)
        if url is None:
            self._secrets[merchant.id] = settings.secrets[0].text
        return merchant

    def create_orders(self, merchants: Sequence[Merchant], count: int) -> float:
        """Create orders in one transaction, and return when that began to commit."""
        with self.database.writing() as db:
            for number in range(count):
                create_order(db, merchants[number % len(merchants)], NEW, now=system_clock())
            return time.monotonic()

    def check(self, heard: Sequence[Heard]) -> None:
        """Make sure that all since the last check has come, is signed, and is marked as delivered."""
        self.wait_until_acknowledged()
        told = self._list_told(self._last_checked)
        self._last_checked = max((row.id for row in told.values()), default=self._last_checked)
        self._compare(heard, told)

    def check_again(self, heard: Sequence[Heard], once: Sequence[Heard]) -> None:
        """Make sure that what has come before has come again, whoever sent it."""
        ids = {one.id for one in once}
        oldest = min(int(one.removeprefix("msg_")) for one in ids)
        told = self._list_told(oldest - 1)
        self._compare(heard, {one: told[one] for one in ids})

    def _compare(self, heard: Sequence[Heard], told: Mapping[str, Any]) -> None:
        """Make sure that a receiver has heard all of this at least once, and nothing else."""
        count = Counter(one.id for one in heard)
        if count.keys() != told.keys():
            missing, strange = told.keys() - count.keys(), count.keys() - told.keys()
            message = f"{len(missing)} callbacks did not come, and {len(strange)} unknown ones did."
            raise NotAllCame(message)
        for one in heard:
            row = told[one.id]
            said = Webhook(self._secrets[row.merchant_id]).verify(one.body, one.headers)
            if said["orderId"] != row.order_id or one.path != f"/{row.merchant_id}":
                message = f"{one.id} says {one.body} at {one.path}."
                raise NotAllCame(message)

    def _list_told(self, after: int) -> dict[str, Any]:
        wanted = select(callbacks.c.id, callbacks.c.order_id, callbacks.c.merchant_id).where(
            callbacks.c.id > after, callbacks.c.merchant_id.in_(self._secrets)
        )
        with self.database.reading() as db:
            return {message_id(row.id): row for row in db.execute(wanted)}

    def wait_until_acknowledged(self) -> None:
        """Wait until the worker has written down that all is delivered."""
        pending = (
            select(func.count())
            .where(callbacks.c.state == CallbackState.PENDING)
            .where(callbacks.c.merchant_id.in_(self._secrets))
        )
        deadline = time.monotonic() + SECONDS_TO_ACKNOWLEDGE
        while True:
            with self.database.reading() as db:
                left = db.execute(pending).scalar_one()
            if not left:
                return
            if time.monotonic() > deadline:
                message = f"{left} callbacks are still pending."
                raise NotAllCame(message)
            time.sleep(SECONDS_BETWEEN_LOOKS)

    @contextmanager
    def working(self) -> Iterator[int]:
        """Run a worker as an operator would, until the block ends; give its number."""
        environment = {"PRINTWORKS_DATABASE_URL": self.url, "PRINTWORKS_STOP_TIMEOUT": "1s"}
        command = (PROGRAM, "work", "--data", self.folder)
        with running(command, self.folder / "log", environment) as number:
            yield number


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
) -> Iterator[int]:
    """Run a program until the block ends, and give its number; its log stays."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield process.pid
    finally:
        stop(process)


def read_cpu(number: int) -> float:
    """Return how many seconds a process has spent on the processor."""
    # The name before the last parenthesis may contain anything.
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def to_lines(heard: Sequence[Heard], receiver: Receiver) -> bytes:
    """Return the same requests as one line of JSON each, for another sender."""
    kept = ("content-type", "webhook-id", "webhook-timestamp", "webhook-signature")
    lines = [
        json.dumps(
            {
                "url": receiver.url(one.path[1:]),
                "headers": {name: one.headers[name] for name in kept},
                "body": one.body,
            }
        )
        for one in heard
    ]
    return "\n".join(lines).encode()
