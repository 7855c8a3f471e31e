"""Authentication: the two headers that every request carries."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection

from printworks.actions.work import Actor
from printworks.errors import BadCredentials
from printworks.rules.keys import KeyLimits
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, find_key, hash_key
from printworks.store.engine.database import Database

UNLIMITED: Final = KeyLimits()
# The request log has the key.
API: Final = Actor(Realm.MERCHANT, "API", is_program=True, key=UNLIMITED)

# Reads may rely on credentials that were verified this long ago, which saves a query.
# So a revoked key can still read for up to two seconds, but change nothing.
TRUSTED_FOR: Final = timedelta(seconds=2)
_MOST_CACHED: Final = 10_000


class PresentedKey(NamedTuple):
    """The merchant code and API key of a request."""

    code: str
    key: str


class VerifiedKey(NamedTuple):
    """A merchant, the hash of its key, and who acts with it."""

    merchant: Merchant
    key_hash: str
    actor: Actor
    # When it is no longer trusted without asking.
    until: datetime


def credential_headers(settings: Settings) -> tuple[str, str]:
    """Return the names of the headers with the merchant's code and key, in lower case."""
    prefix = settings.header_prefix.lower()
    return f"{prefix}merchantid", f"{prefix}rest-api-key"


class Credentials:
    """Verifies credentials, and caches the result for a short time."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        header_prefix = settings.header_prefix
        # A key names its environment, and is not valid in another.
        self._key_begins = f"pw_{settings.environment}_"
        self._id_header, self._key_header = credential_headers(settings)
        self._refusal = (
            f"The headers {header_prefix}MerchantId and {header_prefix}REST-API-Key must hold "
            "the id and an API key of a merchant of this environment."
        )
        self._verified: dict[tuple[str, str], VerifiedKey] = {}

    def read(self, headers: Mapping[str, str]) -> PresentedKey:
        """Read the headers; refuse if one is missing or for another environment."""
        presented = PresentedKey(
            headers.get(self._id_header, "").strip(), headers.get(self._key_header, "").strip()
        )
        if not presented.code or not presented.key.startswith(self._key_begins):
            raise BadCredentials(self._refusal)
        return presented

    def hash_presented(self, headers: Mapping[str, str]) -> str:
        """Return the hash of the key of a request, valid or not; empty if it has none."""
        key = headers.get(self._key_header, "").strip()
        return hash_key(key) if key else ""

    def verify(self, db: Connection, presented: PresentedKey, *, now: datetime) -> VerifiedKey:
        """Return the merchant, as it is now."""
        key_hash = hash_key(presented.key)
        found = find_key(db, presented.code, key_hash, now=now)
        if found is None:
            raise BadCredentials(self._refusal)
        until = now + TRUSTED_FOR
        if found.expires_at is not None:
            until = min(until, found.expires_at)
        return VerifiedKey(found.merchant, key_hash, _name_actor(found.limits), until)

    def verify_cached(self, presented: PresentedKey, *, now: datetime) -> VerifiedKey:
        """Return the merchant, as of the last two seconds."""
        verified = self.find_cached(presented, now=now)
        if verified is not None:
            return verified
        with self._database.reading() as db:
            verified = self.verify(db, presented, now=now)
        if len(self._verified) >= _MOST_CACHED:
            self._verified.clear()
        self._verified[presented.code, verified.key_hash] = verified
        return verified

    def find_cached(self, presented: PresentedKey, *, now: datetime) -> VerifiedKey | None:
        """Return the merchant if the credentials were verified in the last two seconds."""
        # Cached by hash: keys are not kept longer than their request.
        cache_key = (presented.code, hash_key(presented.key))
        verified = self._verified.get(cache_key)
        if verified is not None and now < verified.until:
            return verified
        self._verified.pop(cache_key, None)
        return None


def _name_actor(limits: KeyLimits) -> Actor:
    if limits == UNLIMITED:
        return API
    return Actor(Realm.MERCHANT, limits.label, is_program=True, key=limits)
