"""Databases with merchants, workers that send their callbacks, and checks of what arrived."""

import json
import os
import shutil
import subprocess
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from sqlalchemy import func, select
from standardwebhooks import Webhook

from bench.receiver import ReceivedCallback, Receiver
from bench.servers import stop
from bench.tools import PROGRAM, ROOT
from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.accounts.secrets import prepare_secrets
from printworks.actions.callbacks import set_callback
from printworks.actions.orders.orders import create_order
from printworks.clock import system_clock
from printworks.rules.events import CallbackState
from printworks.rules.orders import ShippingMethod
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.orders.orders import NewOrder
from printworks.store.tables import callbacks, schema
from printworks.wire.callbacks import message_id
from tests.factories import KEY_FILE, VAULT, a_system_work, a_work

NEW: Final = NewOrder(
    recipient_name="Mary Fox",
    destination_country="GB",
    shipping_method=ShippingMethod.STANDARD,
    merchant_order_id="bench-1",
)
SECONDS_TO_ACKNOWLEDGE: Final = 30
SECONDS_BETWEEN_POLLS: Final = 0.02


class UnexpectedCallbacks(Exception):
    """The received callbacks are not the expected ones."""


class Shop:
    """A database with merchants, whose callbacks go to the receiver."""

    def __init__(self, url: str, folder: Path, receiver: Receiver) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        self.receiver = receiver
        self.url = url
        self.database = Database(url)
        schema.migrate(self.database)
        # Where the workers look for it.
        shutil.copy(KEY_FILE, folder)
        prepare_secrets(self.database, VAULT)
        self._secrets: dict[int, str] = {}
        self._last_checked = 0

    def add_merchants(self, count: int, *, is_late: bool = False) -> list[Merchant]:
        """Add merchants with a fast receiver, or one that answers after 20 ms."""
        return [self.add_merchant(None, is_late=is_late) for _ in range(count)]

    def add_merchant(self, url: str | None, *, is_late: bool = False) -> Merchant:
        """Add a merchant with a receiver at this address, by default one of ours."""
        now = system_clock()
        with self.database.writing() as db:
            merchant = add_merchant(
                a_system_work(db, now=now, environment="sandbox"), "Bench"
            ).merchant
            find_url = self.receiver.late_url if is_late else self.receiver.url
            where = url or find_url(str(merchant.id))
            _, secret = set_callback(a_work(db, merchant), where)
        if url is None and secret is not None:
            self._secrets[merchant.id] = secret
        return merchant

    def create_orders(self, merchants: Sequence[Merchant], count: int) -> float:
        """Create orders in one transaction, and return when its commit began."""
        with self.database.writing() as db:
            for number in range(count):
                create_order(
                    a_work(db, merchants[number % len(merchants)], now=system_clock()), NEW
                )
            return time.monotonic()

    def check(self, received: Sequence[ReceivedCallback]) -> None:
        """Check that all callbacks since the last check arrived, signed, and are marked as delivered."""
        self.wait_until_acknowledged()
        told = self._list_told(self._last_checked)
        self._last_checked = max((row.id for row in told.values()), default=self._last_checked)
        self._compare(received, told)

    def check_again(
        self, received: Sequence[ReceivedCallback], once: Sequence[ReceivedCallback]
    ) -> None:
        """Check that the same callbacks arrived again, from any sender."""
        ids = {one.id for one in once}
        oldest = min(int(one.removeprefix("msg_")) for one in ids)
        told = self._list_told(oldest - 1)
        self._compare(received, {one: told[one] for one in ids})

    def _compare(self, received: Sequence[ReceivedCallback], told: Mapping[str, Any]) -> None:
        """Check that a receiver received each of these at least once, and nothing else."""
        count = Counter(one.id for one in received)
        if count.keys() != told.keys():
            missing, strange = told.keys() - count.keys(), count.keys() - told.keys()
            message = f"{len(missing)} callbacks did not come, and {len(strange)} unknown ones did."
            raise UnexpectedCallbacks(message)
        for one in received:
            row = told[one.id]
            said = Webhook(self._secrets[row.merchant_id]).verify(one.body, one.headers)
            if said["orderId"] != row.order_id or one.path != f"/{row.merchant_id}":
                message = f"{one.id} says {one.body} at {one.path}."
                raise UnexpectedCallbacks(message)

    def _list_told(self, after: int) -> dict[str, Any]:
        wanted = select(callbacks.c.id, callbacks.c.order_id, callbacks.c.merchant_id).where(
            callbacks.c.id > after, callbacks.c.merchant_id.in_(self._secrets)
        )
        with self.database.reading() as db:
            return {message_id(row.id): row for row in db.execute(wanted)}

    def wait_until_acknowledged(self) -> None:
        """Wait until the worker has marked all as delivered."""
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
                raise UnexpectedCallbacks(message)
            time.sleep(SECONDS_BETWEEN_POLLS)

    @contextmanager
    def working(self, **settings: str) -> Iterator[int]:
        """Run a worker as an operator would, until the block ends; yield its process ID."""
        environment = {
            "PRINTWORKS_DATABASE_URL": self.url,
            "PRINTWORKS_STOP_TIMEOUT": "1s",
            **settings,
        }
        command = (PROGRAM, "work", "--data", self.folder)
        with running(command, self.folder / "log", environment) as number:
            yield number


@contextmanager
def running(
    command: Sequence[str | Path], log: Path, environment: Mapping[str, str]
) -> Iterator[int]:
    """Run a program until the block ends, and yield its process ID; its log stays."""
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
    """Return the CPU seconds of a process."""
    # The name before the last parenthesis may contain anything.
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def to_lines(received: Sequence[ReceivedCallback], receiver: Receiver) -> bytes:
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
        for one in received
    ]
    return "\n".join(lines).encode()
