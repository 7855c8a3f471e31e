"""The secrets at rest: preparing their key, checking that they can be read, changing the key."""

import secrets as randomness
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import msgspec
from sqlalchemy import Connection

from printworks.actions.work import SystemWork
from printworks.store.accounts import secrets as store
from printworks.store.engine.database import Database
from printworks.vault import (
    SecretKeyUnusable,
    SecretUnreadable,
    Vault,
    create_key_file,
    key_of,
)

# Rows that one transaction seals again: others wait for it on SQLite.
PAGE: Final = 100
_LINK_KEY_BYTES: Final = 32


def prepare_secrets(database: Database, vault: Vault) -> None:
    """Make sure that the secrets of a database can be sealed and opened here.

    A database that has none yet is given a key, in a file that is made if there is none. Raise
    `SecretKeyUnusable` if the file is missing, or not that of this database.
    """
    with database.reading() as db:
        key_id = store.find_secret(db, store.SEALING_KEY)
        has_links = store.find_secret(db, store.LINKS) is not None
    if key_id is None or not has_links:
        create_key_file(vault.file)
        with database.writing() as db:
            key_id = store.claim_sealing_key(db, vault.key_ids[-1])
            _require_key(vault, key_id)
            link_key = randomness.token_hex(_LINK_KEY_BYTES)
            store.claim_link_key(db, vault, link_key)
    _require_key(vault, key_id)
    with database.reading() as db:
        try:
            store.get_link_key(db, vault)
        except SecretUnreadable as error:
            raise SecretKeyUnusable(error.detail) from error


def _require_key(vault: Vault, key_id: str) -> None:
    if key_id not in vault.key_ids:
        raise SecretKeyUnusable(
            f"The secrets of this database are encrypted with the key {key_id}, which is not in "
            f"`secret_key_file` {vault.file}; copy that file from another machine of this "
            "deployment, or from its backup."
        )


class SecretsReport(msgspec.Struct, frozen=True):
    """How many secrets there are by the key that sealed them, and which cannot be opened."""

    sealing_key: str
    by_key: dict[str, int]
    unreadable: list[str]

    @property
    def is_rotating(self) -> bool:
        """Whether some are still sealed with an older key."""
        return any(key_id != self.sealing_key for key_id in self.by_key)


def examine_secrets(db: Connection, vault: Vault) -> SecretsReport:
    """Open every secret; change nothing."""
    by_key, unreadable = Counter[str](), []
    for place in _list_all(db):
        for secret in place.secrets:
            if vault.can_open(secret.sealed, about=secret.about):
                by_key[key_of(secret.sealed)] += 1
            else:
                unreadable.append(secret.about)
    sealing_key = store.find_secret(db, store.SEALING_KEY) or ""
    return SecretsReport(sealing_key, dict(by_key), unreadable)


def choose_sealing_key(work: SystemWork, key_id: str) -> None:
    """Seal secrets with another key from now on; those that there are stay readable."""
    before = store.find_secret(work.db, store.SEALING_KEY)
    store.set_sealing_key(work.db, key_id)
    work.audit("rotate-secret-key", f"key {key_id}", before=before)


def reseal_page(work: SystemWork, kind: str, after: Any) -> tuple[int, Any]:
    """Seal the next secrets of a kind with the present key.

    Return how many were sealed again, and where to go on; None at the end. Idempotent: what has
    the present key already stays as it is.
    """
    vault, resealed = work.backing.vault, 0
    present = store.find_secret(work.db, store.SEALING_KEY)
    places = store.list_places(work.db, kind, after=after, limit=PAGE)
    for place in places:
        old = [secret for secret in place.secrets if key_of(secret.sealed) != present]
        new = {}
        for secret in old:
            text = vault.open(secret.sealed, about=secret.about)
            new[secret.sealed] = store.seal(work.db, vault, text, about=secret.about)
        if new:
            store.replace_secrets(work.db, place, new)
            resealed += len(new)
    return resealed, places[-1].key if len(places) == PAGE else None


def _list_all(db: Connection) -> Iterator[store.SecretPlace]:
    for kind in store.KINDS:
        after: Any = None
        while True:
            page = store.list_places(db, kind, after=after, limit=PAGE)
            yield from page
            if len(page) < PAGE:
                break
            after = page[-1].key
