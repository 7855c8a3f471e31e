"""What a sandbox has from its first start: a demo merchant, and a link for the first operator."""

import os
from pathlib import Path

import msgspec

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.accounts.operators import invite_first_operator
from printworks.actions.services import Services
from printworks.store.accounts.merchants import find_key, hash_key
from printworks.store.accounts.people import has_operators


class DemoCredentials(msgspec.Struct, frozen=True, rename="camel"):
    """What a merchant sends with each request."""

    merchant_id: str
    api_key: str


def get_demo_credentials(services: Services) -> DemoCredentials:
    """Return credentials that work; make a demo merchant if there is none."""
    data = services.settings.data
    stored = _read(data)
    if stored is not None:
        with services.database.reading() as db:
            now = services.clock()
            if find_key(db, stored.merchant_id, hash_key(stored.api_key), now=now):
                return stored
    with services.database.writing() as db:
        new = add_merchant(services.system_work(db), "Demo merchant")
    credentials = DemoCredentials(new.merchant.code, new.api_key)
    _write(data, credentials)
    return credentials


def make_first_invitation(services: Services) -> str | None:
    """Return the token of a link for the first operator; None if there are operators."""
    with services.database.reading() as db:
        if has_operators(db):
            return None
    with services.database.writing() as db:
        return invite_first_operator(services.system_work(db))


def replace_demo_key(data: Path, merchant_id: str, api_key: str) -> None:
    """Store the new key if it is the demo merchant's."""
    stored = _read(data)
    if stored is not None and stored.merchant_id == merchant_id:
        _write(data, DemoCredentials(merchant_id, api_key))


def _file(data: Path) -> Path:
    return data / "demo-merchant.json"


def _read(data: Path) -> DemoCredentials | None:
    try:
        return msgspec.json.decode(_file(data).read_bytes(), type=DemoCredentials)
    except (OSError, msgspec.DecodeError):
        return None


def _write(data: Path, credentials: DemoCredentials) -> None:
    temporary = data / "demo-merchant.json.new"
    temporary.unlink(missing_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
        file.write(msgspec.json.encode(credentials) + b"\n")
    temporary.replace(_file(data))
