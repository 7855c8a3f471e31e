"""Who is asking: the two headers that every request carries."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from sqlalchemy import Connection

from printworks.errors import BadCredentials
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, find_merchant_by_key, hash_key
from printworks.store.engine.database import Database

# A read may rely on credentials that were right this long ago, which spares it a query.
# A key that is revoked therefore still reads for up to two seconds; it changes nothing.
TRUSTED_FOR: Final = timedelta(seconds=2)
_MOST_REMEMBERED: Final = 10_000


class Shown(NamedTuple):
    """What a request shows to say whose it is."""

    code: str
    key: str


class VerifiedKey(NamedTuple):
    """A merchant, and the hash of the key that it showed."""

    merchant: Merchant
    key_hash: str


class Credentials:
    """Verifies merchants, and remembers for a moment whom it has verified."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        header_prefix = settings.header_prefix
        # A key says for which environment it was made, and opens no other.
        self._key_begins = f"pw_{settings.environment}_"
        self._id_header = f"{header_prefix}MerchantId".lower()
        self._key_header = f"{header_prefix}REST-API-Key".lower()
        self._refusal = (
            f"The headers {header_prefix}MerchantId and {header_prefix}REST-API-Key must hold "
            "the id and an API key of a merchant of this environment."
        )
        self._verified: dict[tuple[str, str], tuple[datetime, Merchant]] = {}

    def read(self, headers: Mapping[str, str]) -> Shown:
        """Return what the headers show; refuse if anything is missing or for elsewhere."""
        shown = Shown(
            headers.get(self._id_header, "").strip(), headers.get(self._key_header, "").strip()
        )
        if not shown.code or not shown.key.startswith(self._key_begins):
            raise BadCredentials(self._refusal)
        return shown

    def verify(self, db: Connection, shown: Shown, *, now: datetime) -> Merchant:
        """Return the merchant, as it is now."""
        merchant = find_merchant_by_key(db, shown.code, shown.key, now=now)
        if merchant is None:
            raise BadCredentials(self._refusal)
        return merchant

    def verify_quickly(self, shown: Shown, *, now: datetime) -> VerifiedKey:
        """Return the merchant, perhaps as it was a moment ago."""
        # Remembered by the hash: keys themselves live no longer than their request.
        key_hash = hash_key(shown.key)
        remembered_as = (shown.code, key_hash)
        until, merchant = self._verified.get(remembered_as, (now, None))
        if merchant is not None and now < until:
            return VerifiedKey(merchant, key_hash)
        self._verified.pop(remembered_as, None)
        with self._database.reading() as db:
            merchant = self.verify(db, shown, now=now)
        if len(self._verified) >= _MOST_REMEMBERED:
            self._verified.clear()
        self._verified[remembered_as] = (now + TRUSTED_FOR, merchant)
        return VerifiedKey(merchant, key_hash)
