"""Secrets that the processes of one deployment share, and where every sealed secret is."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, String, cast, select, update

from printworks.conversion import reader_of
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import mails, merchants, people, secrets
from printworks.vault import Vault

# Signs the URLs of proofs, and forms.
LINKS: Final = "links"
# Not secret, but shared: whether this is a sandbox or live.
ENVIRONMENT: Final = "environment"
# Likewise: the id of the key that seals secrets from now on.
SEALING_KEY: Final = "sealing-key"


class SealedSecret(msgspec.Struct, frozen=True):
    """A secret as it is stored, what it belongs to, and where that is."""

    sealed: str
    about: str


class SecretPlace(NamedTuple):
    """One row with sealed secrets, by its kind and key."""

    kind: str
    key: Any
    secrets: Sequence[SealedSecret]


def about_totp(person_id: int) -> str:
    """Name a person's second factor, for the seal."""
    return f"person {person_id}"


def about_callbacks(merchant_id: int) -> str:
    """Name a merchant's signing secrets, for the seal."""
    return f"merchant {merchant_id}"


def about_mail(message_id: str) -> str:
    """Name the link of a mail, for the seal."""
    return f"mail {message_id}"


def about_shared(name: str) -> str:
    """Name a secret of the deployment, for the seal."""
    return f"deployment {name}"


def claim_environment(db: Connection, environment: str) -> str:
    """Set the environment of the database, unless it is set; return the one that is set."""
    return _claim(db, ENVIRONMENT, environment)


def claim_sealing_key(db: Connection, key_id: str) -> str:
    """Set the key that seals secrets, unless one is set; return the one that is set."""
    return _claim(db, SEALING_KEY, key_id)


def _claim(db: Connection, name: str, value: str) -> str:
    # Several processes may start at once and find none.
    if find_secret(db, name) is None:
        insert_unless_there(db, secrets, name=name, value=value)
    return str(db.execute(_value_of(name)).scalar_one())


def find_secret(db: Connection, name: str) -> str | None:
    """Return what is stored under a name, sealed if it is secret."""
    return db.execute(_value_of(name)).scalar()


def seal(db: Connection, vault: Vault, text: str, *, about: str) -> str:
    """Seal a secret with the present key, which stays the present one until the transaction ends."""
    # Locked, so that a rotation finds everything that was sealed with the key before.
    locked = _value_of(SEALING_KEY).with_for_update(read=True)
    return vault.seal(text, key_id=str(db.execute(locked).scalar_one()), about=about)


def set_sealing_key(db: Connection, key_id: str) -> None:
    """Seal secrets with another key from now on; wait for those who are sealing one."""
    db.execute(update(secrets).where(secrets.c.name == SEALING_KEY).values(value=key_id))


def get_link_key(db: Connection, vault: Vault) -> str:
    """Return the key that signs links and forms."""
    sealed = str(db.execute(_value_of(LINKS)).scalar_one())
    return vault.open(sealed, about=about_shared(LINKS))


def claim_link_key(db: Connection, vault: Vault, text: str) -> None:
    """Set the key that signs links and forms, unless there is one."""
    _claim(db, LINKS, seal(db, vault, text, about=about_shared(LINKS)))


def _value_of(name: str) -> Any:
    return select(secrets.c.value).where(secrets.c.name == name)


class _Stored(msgspec.Struct, frozen=True):
    """A signing secret as it is stored, whatever else it has."""

    sealed: str


_read_stored: Final = reader_of(list[_Stored])


def list_places(db: Connection, kind: str, *, after: Any, limit: int) -> list[SecretPlace]:
    """Return the next rows of a kind that have sealed secrets, in the order of their keys."""
    key, value = _COLUMNS[kind]
    rows = db.execute(
        select(key, value)
        .where(_FILTERS[kind], *([] if after is None else [key > after]))
        .order_by(key)
        .limit(limit)
    )
    return [SecretPlace(kind, row[0], _list_secrets(kind, row[0], row[1])) for row in rows]


def lock_place(db: Connection, place: SecretPlace) -> Any:
    """Return the value of a row as it is now, which stays so until the transaction ends."""
    key, value = _COLUMNS[place.kind]
    return db.execute(select(value).where(key == place.key).with_for_update()).scalar()


def replace_secrets(db: Connection, place: SecretPlace, new: Mapping[str, str]) -> None:
    """Store secrets that were sealed again, by how they were sealed before."""
    key, value = _COLUMNS[place.kind]
    stored = lock_place(db, place)
    if isinstance(stored, list):
        changed: Any = [{**one, "sealed": new.get(one["sealed"], one["sealed"])} for one in stored]
    else:
        changed = new.get(stored, stored)
    if changed != stored:
        db.execute(update(key.table).where(key == place.key).values({value: changed}))


def _list_secrets(kind: str, key: Any, value: Any) -> list[SealedSecret]:
    about = _ABOUT[kind](key)
    stored = [one.sealed for one in _read_stored(value)] if isinstance(value, list) else [value]
    return [SealedSecret(sealed, about) for sealed in stored]


# Every kind of row that has sealed secrets: a rotation and the doctor look at all of them.
_COLUMNS: Final[Mapping[str, tuple[Any, Any]]] = {
    "merchants": (merchants.c.id, merchants.c.callback_secrets),
    "people": (people.c.id, people.c.totp_secret),
    "mails": (mails.c.message_id, mails.c.secret),
    "deployment": (secrets.c.name, secrets.c.value),
}
_FILTERS: Final[Mapping[str, Any]] = {
    "merchants": cast(merchants.c.callback_secrets, String) != "[]",
    "people": people.c.totp_secret.is_not(None),
    "mails": mails.c.secret.is_not(None),
    "deployment": secrets.c.name == LINKS,
}
_ABOUT: Final[Mapping[str, Any]] = {
    "merchants": about_callbacks,
    "people": about_totp,
    "mails": about_mail,
    "deployment": about_shared,
}
KINDS: Final = tuple(_COLUMNS)
