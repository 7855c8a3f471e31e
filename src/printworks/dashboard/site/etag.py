"""How a page that looks again by itself knows that there is nothing new."""

import hashlib

import msgspec


def make_etag(*shown: object) -> str:
    """Return a short text that is another one as soon as any of this is."""
    return hashlib.blake2s(msgspec.json.encode(shown), digest_size=8).hexdigest()
