"""Secrets at rest: a database without its key tells none of them, and its key can be changed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec
import pytest

from printworks.actions.accounts import secrets as actions
from printworks.actions.accounts.secrets import (
    choose_sealing_key,
    examine_secrets,
    prepare_secrets,
    reseal_page,
)
from printworks.actions.accounts.security import begin_totp
from printworks.actions.callbacks import open_secrets, rotate_secret, set_callback
from printworks.rules.people import Realm, Role
from printworks.store.accounts.people import NewPerson, get_person, insert_person
from printworks.store.accounts.secrets import (
    KINDS,
    SEALING_KEY,
    SecretPlace,
    about_totp,
    find_secret,
    get_link_key,
    replace_secrets,
)
from printworks.store.callbacks.settings import read_callback_settings
from printworks.store.engine.database import Database
from printworks.store.tables import secrets as secrets_table
from printworks.vault import SecretKeyUnusable, Vault, add_key, create_key_file
from tests.factories import NOON, FixedServices, a_merchant, a_system_work

TOTP = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"


@pytest.fixture
def vault(tmp_path: Path) -> Vault:
    """The keys of a deployment of its own."""
    return Vault(tmp_path / "own.key")


@pytest.fixture
def own(database_url: str, vault: Vault) -> Any:
    """A new database, with its own key."""
    database = without_secrets(database_url)
    prepare_secrets(database, vault)
    yield database
    database.close()


def without_secrets(url: str) -> Database:
    """Open a database as it is when it has just been migrated."""
    database = Database(url)
    with database.writing() as db:
        db.execute(secrets_table.delete())
    return database


def work_in(db: Any, vault: Vault) -> Any:
    """Begin work with these keys."""
    work = a_system_work(db)
    backing = FixedServices(work.catalogue, vault=vault)
    return msgspec.structs.replace(work, backing=backing)


def keep_secrets(database: Database, vault: Vault) -> list[str]:
    """Store a secret of every kind; return them."""
    with database.writing() as db:
        merchant = a_merchant(db)
        work = work_in(db, vault).for_merchant(merchant)
        first = set_callback(work, "https://shop.example/")
        second = rotate_secret(work)
        new = NewPerson(
            realm=Realm.MERCHANT,
            email="alice@shop.example",
            role=Role.OWNER,
            merchant_id=merchant.id,
            password_hash="",
        )
        person = insert_person(db, new, now=NOON)
        begin_totp(work, person.id, TOTP, step=1, session="")
    return [first.new_secret or "", second.new_secret or "", TOTP]


def read_all(database: Database, vault: Vault) -> list[str]:
    """Open every secret."""
    with database.reading() as db:
        stored = read_callback_settings(db, 1).secrets
        new, old = open_secrets(vault, 1, stored, NOON)
        sealed = get_person(db, 1).totp_secret or ""
        return [old, new, vault.open(sealed, about=about_totp(1))]


def dump(database: Database) -> bytes:
    """Return all that somebody has who took the database."""
    if not database.is_sqlite:
        with database.reading() as db:
            tables = db.exec_driver_sql(
                "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"
            ).scalars()
            rows = [db.exec_driver_sql(f"SELECT * FROM {name}").all() for name in list(tables)]
        return repr(rows).encode()
    path = Path(str(database.url.database))
    return b"".join(each.read_bytes() for each in path.parent.glob(f"{path.name}*"))


def rotate(database: Database, vault: Vault) -> int:
    """Give every secret the newest key, as the command does; return how many were sealed again."""
    with database.writing() as db:
        choose_sealing_key(work_in(db, vault), vault.key_ids[-1])
    return reseal(database, vault)


def reseal(database: Database, vault: Vault) -> int:
    """Seal again what has an older key."""
    total = 0
    for kind in KINDS:
        after: Any = None
        while True:
            with database.writing() as db:
                count, after = reseal_page(work_in(db, vault), kind, after)
            total += count
            if after is None:
                break
    return total


class TestAtRest:
    def test_the_database_alone_tells_no_secret(self, own: Database, vault: Vault) -> None:
        secrets = keep_secrets(own, vault)
        with own.reading() as db:
            secrets.append(get_link_key(db, vault))

        taken = dump(own)

        assert b"https://shop.example/" in taken
        for secret in secrets:
            assert secret.encode() not in taken
            assert secret.removeprefix("whsec_").encode() not in taken

    def test_whoever_has_the_key_can_use_them(self, own: Database, vault: Vault) -> None:
        assert keep_secrets(own, vault) == read_all(own, vault)


class TestPreparing:
    def test_a_key_that_is_there_is_used(self, own: Database, vault: Vault) -> None:
        before = vault.key_ids

        prepare_secrets(own, vault)

        assert vault.key_ids == before
        with own.reading() as db:
            assert find_secret(db, SEALING_KEY) == before[0]

    def test_without_the_file_it_is_said_which_is_missing(
        self, own: Database, tmp_path: Path
    ) -> None:
        with pytest.raises(SecretKeyUnusable, match="does not exist; copy it from another machine"):
            prepare_secrets(own, Vault(tmp_path / "none.key"))

    def test_the_key_of_another_deployment_is_refused_by_name(
        self, own: Database, vault: Vault, tmp_path: Path
    ) -> None:
        other = Vault(tmp_path / "other.key")
        create_key_file(other.file)

        with pytest.raises(SecretKeyUnusable, match=f"encrypted with the key {vault.key_ids[0]}"):
            prepare_secrets(own, other)

    def test_a_key_with_the_right_name_and_another_content_is_refused(
        self, own: Database, vault: Vault
    ) -> None:
        vault.file.write_text(f"{vault.key_ids[0]} {'A' * 43}=\n")

        with pytest.raises(SecretKeyUnusable, match="was not encrypted with key"):
            prepare_secrets(own, Vault(vault.file))

    def test_machines_that_start_at_once_agree_on_one_key(
        self, database_url: str, tmp_path: Path
    ) -> None:
        database = without_secrets(database_url)
        vaults = [Vault(tmp_path / f"{number}.key") for number in range(4)]

        def prepare(vault: Vault) -> bool:
            try:
                prepare_secrets(database, vault)
            except SecretKeyUnusable:
                return False
            return True

        with ThreadPoolExecutor(4) as pool:
            agreed = list(pool.map(prepare, vaults))

        assert agreed.count(True) == 1
        database.close()


class TestRotation:
    def test_afterwards_the_new_key_is_enough(self, own: Database, vault: Vault) -> None:
        secrets = keep_secrets(own, vault)
        [old] = vault.key_ids
        new = add_key(vault.file)

        # Two of the merchant, one of the person, and the key of the links.
        assert rotate(own, vault) == 4
        assert reseal(own, vault) == 0

        vault.file.write_text("".join(_lines_without(vault.file, old)))
        fresh = Vault(vault.file)
        assert fresh.key_ids == [new]
        assert read_all(own, fresh) == secrets
        with own.reading() as db:
            assert examine_secrets(db, fresh).by_key == {new: 4}
        prepare_secrets(own, fresh)

    def test_one_that_was_stopped_leaves_all_readable_and_can_go_on(
        self, own: Database, vault: Vault
    ) -> None:
        secrets = keep_secrets(own, vault)
        add_key(vault.file)
        with own.writing() as db:
            choose_sealing_key(work_in(db, vault), vault.key_ids[-1])
            reseal_page(work_in(db, vault), "people", None)

        assert read_all(own, vault) == secrets
        with own.reading() as db:
            report = examine_secrets(db, vault)
        assert report.is_rotating
        assert sorted(report.by_key.values()) == [1, 3]

        assert reseal(own, vault) == 3
        assert read_all(own, vault) == secrets

    def test_a_secret_that_changes_meanwhile_stays_what_it_became(
        self, own: Database, vault: Vault
    ) -> None:
        keep_secrets(own, vault)
        with own.writing() as db:
            gone = SecretPlace("people", 1, ())
            replace_secrets(db, gone, {"another": "v1.00000000.AAAA"})

        assert read_all(own, vault)[2] == TOTP

    def test_many_are_sealed_page_by_page(
        self, own: Database, vault: Vault, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(actions, "PAGE", 2)
        with own.writing() as db:
            for _ in range(4):
                work = work_in(db, vault).for_merchant(a_merchant(db))
                set_callback(work, "https://shop.example/")
        add_key(vault.file)

        assert rotate(own, vault) == 5

        with own.reading() as db:
            report = examine_secrets(db, vault)
        assert report.by_key == {vault.key_ids[-1]: 5}
        assert not report.is_rotating


def test_what_cannot_be_opened_is_found(own: Database, vault: Vault, tmp_path: Path) -> None:
    keep_secrets(own, vault)
    stranger = Vault(tmp_path / "stranger.key")
    create_key_file(stranger.file)

    with own.reading() as db:
        report = examine_secrets(db, stranger)

    assert sorted(set(report.unreadable)) == ["deployment links", "merchant 1", "person 1"]


def _lines_without(file: Path, key_id: str) -> list[str]:
    lines = file.read_text().splitlines(keepends=True)
    return [line for line in lines if not line.startswith(key_id)]
