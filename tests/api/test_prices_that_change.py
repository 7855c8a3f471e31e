"""Orders go on while prices are changed: each is charged exactly what it was quoted."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import pytest
from sqlalchemy import select

from printworks.actions.catalogue import add_draft, publish_version, roll_back
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.ledger import EntryKind
from printworks.settings import Settings
from printworks.store.catalogue.versions import find_before, read_texts
from printworks.store.engine.database import Database
from printworks.store.tables import ledger_entries
from tests.api.client import Client
from tests.api.images import an_addressed_order, an_image
from tests.catalogue.folders import a_product, a_whole_folder
from tests.factories import NO_LIMITS, a_system_work

pytestmark = [pytest.mark.both_databases, pytest.mark.slow]

ORDERS: Final = 24
PRICES: Final = (20, 31, 47)


@pytest.fixture
def catalogues(tmp_path: Path) -> list[Catalogue]:
    """Catalogues that differ in a price."""
    for pence in PRICES:
        (tmp_path / str(pence)).mkdir()
    return [
        Catalogue.load(
            a_whole_folder(
                tmp_path / str(pence), a_product(price=f"{{ GBP = {pence}, EUR = {pence + 5} }}")
            )
        )
        for pence in PRICES
    ]


@pytest.fixture
def settings(
    tmp_path: Path, catalogues: list[Catalogue], monkeypatch: pytest.MonkeyPatch
) -> Settings:
    """A service that begins with the first of them, and looks all the time for another."""
    assert catalogues
    monkeypatch.setattr("printworks.store.engine.following.SECONDS_BETWEEN_LOOKS", 0.005)
    folder = tmp_path / str(PRICES[0]) / "catalogue"
    return Settings.load(tmp_path, {"PRINTWORKS_CATALOGUE": str(folder), **NO_LIMITS})


def change_prices(
    database: Database, catalogues: list[Catalogue], done: threading.Event
) -> Iterator[int]:
    """Publish other prices and take them back, again and again; yield each version."""
    turn = 0
    while not done.wait(0.01):
        turn += 1
        wanted = catalogues[turn % len(catalogues)]
        with database.writing() as db:
            system = a_system_work(db, catalogue=catalogues[0])
            draft = add_draft(system, wanted.texts, f"Turn {turn}")
            published = publish_version(system, draft.id, wanted)
        yield published.id
        with database.writing() as db:
            system = a_system_work(db, catalogue=catalogues[0])
            former = find_before(db, published)
            assert former is not None
            texts = Catalogue.load(read_texts(db, former.id))
            yield roll_back(system, texts, former).id


def test_each_order_is_charged_what_it_was_quoted_while_prices_change(
    v3: Client, database: Database, catalogues: list[Catalogue]
) -> None:
    done = threading.Event()

    def order(_: int) -> tuple[int, int]:
        """Create, quote and submit an order; return its id and the price that was shown."""
        created = v3.post("/orders", an_addressed_order())
        path = f"/orders/{created.data['id']}"
        added = [v3.post(f"{path}/images", an_image(sku="PHOTO-4X6", copies=2)) for _ in range(2)]
        quoted = v3.get(path)
        submitted = v3.post(f"{path}/status", {"status": "Submitted"})
        answers = [created, *added, quoted, submitted]
        assert [answer.status for answer in answers] == [200] * len(answers), answers
        return int(created.data["id"]), int(quoted.data["price"])

    with ThreadPoolExecutor(5) as threads:
        versions = threads.submit(lambda: list(change_prices(database, catalogues, done)))
        try:
            quoted = dict(threads.map(order, range(ORDERS)))
        finally:
            done.set()
        published = versions.result()

    with database.reading() as db:
        entry = ledger_entries.c
        known = select(entry.order_id, entry.kind, entry.balance).order_by(entry.number)
        rows = db.execute(known).all()
    before = [0, *(row.balance for row in rows)]
    charged = [
        (row.order_id, row.balance - was)
        for row, was in zip(rows, before, strict=False)
        if row.kind is EntryKind.CHARGE
    ]
    assert len(published) > 1
    assert len(charged) == ORDERS
    assert dict(charged) == quoted
    assert {v3.get(f"/orders/{number}").data["price"] for number in quoted} == {*quoted.values()}
