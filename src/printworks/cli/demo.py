"""Who is there from the first start of a sandbox: the demo merchant, and a link for an operator."""

import os
from pathlib import Path

import msgspec

from printworks.actions.accounts.merchants import add_merchant
from printworks.actions.accounts.operators import invite_first_operator
from printworks.clock import system_clock
from printworks.settings import Settings
from printworks.store.accounts.merchants import find_merchant_by_key
from printworks.store.accounts.operators import has_operators
from printworks.store.engine.database import Database


class DemoCredentials(msgspec.Struct, frozen=True, rename="camel"):
    """What a merchant sends with each request."""

    merchant_id: str
    api_key: str


def get_demo_credentials(database: Database, settings: Settings) -> DemoCredentials:
    """Return credentials that work; make a demo merchant if there is none."""
    kept = _read(settings.data)
    now = system_clock()
    if kept is not None:
        with database.reading() as db:
            if find_merchant_by_key(db, kept.merchant_id, kept.api_key, now=now):
                return kept
    with database.writing() as db:
        new = add_merchant(db, "Demo merchant", environment=settings.environment, now=now)
    credentials = DemoCredentials(new.merchant.code, new.api_key)
    _write(settings.data, credentials)
    return credentials


def invite_somebody(database: Database) -> str | None:
    """Return what a link for the first operator must hold; None once somebody has used one."""
    with database.reading() as db:
        if has_operators(db):
            return None
    with database.writing() as db:
        return invite_first_operator(db, now=system_clock())


def replace_demo_key(data: Path, merchant_id: str, api_key: str) -> None:
    """Remember the new key if it is the demo merchant's."""
    kept = _read(data)
    if kept is not None and kept.merchant_id == merchant_id:
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
