"""Versions of the catalogue are added, published, withdrawn, deleted and returned to."""

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from printworks.actions.catalogue import (
    add_draft,
    add_version,
    delete_version,
    find_warnings,
    publish_version,
    roll_back,
    save_draft,
    state_of,
    withdraw_version,
)
from printworks.actions.images.images import add_images
from printworks.actions.work import Actor
from printworks.catalogue.drafts.beginning import begin_catalogue
from printworks.catalogue.opening import read_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import NotFound, WrongState
from printworks.rules.catalogue_versions import VersionState
from printworks.rules.merchants import MerchantState
from printworks.rules.people import Realm
from printworks.store.accounts.audit import list_audit, list_audit_of
from printworks.store.accounts.lifecycle import set_state
from printworks.store.catalogue.versions import (
    CatalogueVersion,
    find_before,
    find_current,
    get_version,
    list_versions,
    read_texts,
)
from printworks.store.catalogue.watch import CatalogueWatch
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage
from printworks.store.orders.orders import get_order
from tests.actions.complaints import submitted
from tests.actions.test_ledger import CATALOGUE
from tests.catalogue.folders import a_product, a_whole_folder
from tests.factories import NOON, a_merchant, a_system_work, a_work, an_order

OPERATOR = Actor(Realm.OPERATOR, "owner@works.example")
HOUR = timedelta(hours=1)
# Made from what was installed.
A_DRAFT = CatalogueVersion(9, "Cheaper", "", None, "", NOON, None, "")
PRICES = {"first": "{ GBP = 20, EUR = 25 }", "second": "{ GBP = 30, EUR = 35 }"}


@pytest.fixture
def catalogues(tmp_path: Path) -> dict[str, Catalogue]:
    """Two catalogues that differ in a price."""
    for name in PRICES:
        (tmp_path / name).mkdir()
    return {
        name: Catalogue.load(a_whole_folder(tmp_path / name, a_product(price=price)))
        for name, price in PRICES.items()
    }


def test_what_was_installed_is_the_first_version_and_stays_in_use(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_version(system, second, "Dearer")

        one = get_version(db, find_current(db, now=NOON) or 0)
        assert (one.title, one.based_on, draft.based_on) == ("As installed", None, one.id)
        assert read_texts(db, one.id) == first.texts
        assert Catalogue.load(read_texts(db, draft.id)).fingerprint == second.fingerprint
        assert state_of(system, one) is VersionState.PUBLISHED
        assert state_of(system, draft) is VersionState.DRAFT
        with pytest.raises(WrongState, match=f"the same as version {draft.id}, “Dearer”"):
            add_version(system, second, "Again")
        with pytest.raises(NotFound, match="There is no version 99"):
            publish_version(system, 99, catalogues["second"])


def test_a_version_is_used_from_its_time_on(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_version(system, second, "Dearer")
        publish_version(system, draft.id, second, at=NOON + HOUR)

        one = find_current(db, now=NOON)
        assert one != draft.id
        assert find_current(db, now=NOON + HOUR) == draft.id
        assert state_of(system, get_version(db, draft.id)) is VersionState.SCHEDULED
        withdraw_version(system, draft.id)
        assert find_current(db, now=NOON + HOUR) == one
        # A time that is over means now.
        published = publish_version(system, draft.id, second, at=NOON - HOUR)
        assert published.publish_at == NOON
        assert find_current(db, now=NOON) == draft.id
        done = [entry.action for entry in list_audit(db, limit=10)]
    assert done[:4] == [
        *("publish-catalogue", "withdraw-catalogue", "publish-catalogue", "add-catalogue")
    ]


def test_a_draft_is_a_copy_that_is_changed_until_it_is_published(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_draft(system, first.texts, "Spring")
        copied = add_draft(system, first.texts, "A copy", copy_of=draft.id)

        assert draft.based_on == find_current(db, now=NOON)
        assert copied.based_on == draft.id
        assert save_draft(system, draft, second.texts, what="product A: price")
        # Somebody who has not seen that changes nothing.
        assert not save_draft(system, draft, first.texts, what="product B: price")
        assert read_texts(db, draft.id) == second.texts
        [entry] = list_audit_of(db, f"version {draft.id}", limit=1)
        assert (entry.who, entry.details) == (OPERATOR.who, {"what": "product A: price"})
        with pytest.raises(WrongState, match="has just changed this draft"):
            publish_version(system, draft.id, first)
        published = publish_version(system, draft.id, second)
        with pytest.raises(WrongState, match="What was published stays as it is"):
            save_draft(system, published, first.texts, what="")


def test_a_catalogue_without_products_or_labs_is_warned_of(database: Database) -> None:
    empty = Catalogue.load(begin_catalogue([Currency.GBP]))
    with database.reading() as db:
        warnings = list(find_warnings(a_system_work(db), empty, A_DRAFT))

    assert "Nothing is sold in it." in warnings
    assert any(line.startswith("It has no lab") for line in warnings)


def test_going_back_makes_a_new_version_with_the_same_files(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        dearer = publish_version(system, add_version(system, second, "Dearer").id, second)
        later = a_system_work(db, now=NOON + HOUR, catalogue=second, actor=OPERATOR)
        former = find_before(db, dearer)
        assert former is not None

        back = roll_back(later, first, former)

        assert find_current(db, now=NOON + HOUR) == back.id
        assert read_texts(db, back.id) == read_texts(db, former.id)
        assert back.title == f"Back to version {former.id}"
        assert state_of(later, dearer) is VersionState.SUPERSEDED
        with pytest.raises(WrongState, match="this one is published"):
            roll_back(later, first, back)
        assert [one.id for one in list_versions(db, limit=2)] == [back.id, dearer.id]


def test_only_a_draft_is_deleted(database: Database, catalogues: dict[str, Catalogue]) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_version(system, second, "Dearer")
        delete_version(system, draft.id)

        [one] = list_versions(db, limit=5)
        assert read_texts(db, draft.id) == {}
        with pytest.raises(WrongState, match="Only a draft"):
            delete_version(system, one.id)


def test_a_draft_whose_copies_go_on_is_deleted(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_version(system, second, "Dearer")
        copied = add_draft(system, second.texts, "A copy", copy_of=draft.id)

        delete_version(system, draft.id)

        assert get_version(db, copied.id).based_on == draft.based_on
        with pytest.raises(NotFound, match=f"There is no version {draft.id}"):
            add_draft(system, second.texts, "Another copy", copy_of=draft.id)


def test_what_publishing_would_break_is_said_before(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    usual = catalogues["first"]
    [product] = usual.products
    cheap = msgspec.structs.replace(product, base_prices={Currency.GBP: 1})
    catalogue = msgspec.structs.replace(usual, products=(cheap,), labs=usual.labs)
    with database.writing() as db:
        system = a_system_work(db, catalogue=catalogue)
        a_merchant(db, currency=Currency.USD)
        closed = a_merchant(db, currency=Currency.AUD)
        set_state(db, closed.id, MerchantState.CLOSED, "Moved away")

        said = list(find_warnings(system, catalogue, A_DRAFT))

    assert any("Merchants are charged in USD" in line for line in said)
    assert not any("AUD" in line for line in said)
    assert any("PHOTO-4X6 is sold for 0.01 GBP and costs at least 0.08" in line for line in said)


def test_a_lab_with_unfinished_work_is_missed(database: Database) -> None:
    with database.writing() as db:
        submitted(db, a_merchant(db))
        system = a_system_work(db, catalogue=CATALOGUE)
        without_labs = msgspec.structs.replace(CATALOGUE, labs=())

        before = list(find_warnings(system, CATALOGUE, A_DRAFT))
        after = list(find_warnings(system, without_labs, A_DRAFT))

    assert not any("has work that is not finished" in line for line in before)
    assert any("has work that is not finished" in line for line in after)


def test_every_process_follows_and_work_that_has_begun_does_not(
    database: Database, catalogues: dict[str, Catalogue], tmp_path: Path
) -> None:
    first, second = catalogues.values()
    now = [NOON]

    def clock() -> datetime:
        return now[0]

    watch = CatalogueWatch(database, tmp_path / "first" / "catalogue", clock)
    assert watch.current.fingerprint == first.fingerprint
    with database.writing() as db:
        system = a_system_work(db, catalogue=first)
        draft = add_version(system, second, "Dearer")
        publish_version(system, draft.id, second, at=NOON + HOUR)
    assert watch.look() is watch.current
    assert watch.current.fingerprint == first.fingerprint

    now[0] = NOON + HOUR
    watch.look()

    assert watch.current.fingerprint == second.fingerprint


def test_a_version_made_from_an_older_one_says_that_it_takes_something_back(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        dearer = add_version(system, second, "Dearer")
        stale = add_draft(system, first.texts, "Stale")
        assert not any("is taken back" in line for line in find_warnings(system, first, stale))
        publish_version(system, dearer.id, second)

        said = list(find_warnings(system, first, stale))

    assert f"version {dearer.id} is in use by now" in said[0]
    assert "is taken back" in said[0]


def test_two_first_drafts_at_once_keep_what_was_installed_once(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    together = threading.Barrier(2)

    def add(title: str) -> None:
        together.wait(10)
        with database.writing() as db:
            add_draft(a_system_work(db, catalogue=first, actor=OPERATOR), second.texts, title)

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(add, ("One", "Another")))

    with database.reading() as db:
        titles = [version.title for version in list_versions(db, limit=9)]
    assert sorted(titles) == ["Another", "As installed", "One"]


def test_a_draft_is_deleted_or_published_and_never_half_of_each(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        drafts = [add_draft(system, second.texts, f"Draft {number}") for number in range(10)]

    def publish(draft: CatalogueVersion) -> None:
        with database.writing() as db:
            publish_version(a_system_work(db, catalogue=first, actor=OPERATOR), draft.id, second)

    def delete(draft: CatalogueVersion) -> None:
        with database.writing() as db:
            delete_version(a_system_work(db, catalogue=first, actor=OPERATOR), draft.id)

    with ThreadPoolExecutor(2) as threads:
        for draft in drafts:
            both = [threads.submit(act, draft) for act in (publish, delete)]
            [refusal] = [error for one in both if (error := one.exception()) is not None]
            assert isinstance(refusal, NotFound | WrongState)
    with database.reading() as db:
        for version in list_versions(db, limit=20):
            assert read_catalogue(read_texts(db, version.id)).products


def test_a_version_that_cannot_be_read_is_read_once_and_leaves_the_other_in_use(
    database: Database, catalogues: dict[str, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = catalogues.values()
    with database.writing() as db:
        add_version(a_system_work(db, catalogue=first, actor=OPERATOR), second, "Dearer")
    watch = CatalogueWatch(database, None, lambda: NOON)
    assert watch.look().fingerprint == first.fingerprint
    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        draft = add_draft(system, {"a.toml": "?"}, "Broken")
        checked = msgspec.structs.replace(second, fingerprint=draft.fingerprint)
        publish_version(system, draft.id, checked)
    reads = []
    here = threading.get_ident()

    def count_reads(texts: Mapping[str, str]) -> Catalogue:
        # Services of other tests may still follow the same database.
        if threading.get_ident() == here:
            reads.append(texts)
        return read_catalogue(texts)

    monkeypatch.setattr("printworks.store.catalogue.watch.read_catalogue", count_reads)
    for _ in range(3):
        with pytest.raises(BadCatalogue):
            watch.look()
    assert len(reads) == 1
    assert watch.current.fingerprint == first.fingerprint

    with database.writing() as db:
        system = a_system_work(db, catalogue=first, actor=OPERATOR)
        publish_version(system, add_draft(system, second.texts, "Mended").id, second)
    assert watch.look().fingerprint == second.fingerprint


def test_a_thread_follows_until_it_is_closed(
    database: Database, catalogues: dict[str, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = catalogues.values()
    monkeypatch.setattr("printworks.store.engine.following.SECONDS_BETWEEN_LOOKS", 0.01)
    watch = CatalogueWatch(database, None, lambda: NOON)
    looked = threading.Event()
    load = watch.look

    def look() -> Catalogue:
        found = load()
        if found.fingerprint == second.fingerprint:
            looked.set()
        return found

    monkeypatch.setattr(watch, "look", look)
    watch.start()
    with database.writing() as db:
        system = a_system_work(db, catalogue=first)
        publish_version(system, add_version(system, second, "Dearer").id, second)

    assert looked.wait(10)
    watch.close()
    assert watch.current.fingerprint == second.fingerprint


def test_an_order_keeps_the_price_that_it_was_quoted(
    database: Database, catalogues: dict[str, Catalogue]
) -> None:
    first, second = catalogues.values()
    image = NewImage(sku="PHOTO-4X6", url="https://shop.example/a.jpg", copies=1)
    with database.writing() as db:
        alice = a_merchant(db)
        early, late = an_order(db, alice), an_order(db, alice)
        add_images(a_work(db, alice, catalogue=first), early, [image])
        add_images(a_work(db, alice, catalogue=second), late, [image])

        quoted = [get_order(db, alice.id, order.id).price for order in (early, late)]
    assert quoted[1] - quoted[0] == 10
