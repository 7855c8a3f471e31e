"""Finds out whose request it is, and whether its key may make it."""

from datetime import datetime

from printworks.api.credentials import Credentials, PresentedKey, VerifiedKey
from printworks.api.messages import Identity
from printworks.api.routing import MatchedRequest
from printworks.clock import Clock
from printworks.rules.keys import check_may_change


class Authenticator:
    """Authenticates callers, and stores their identity in the request."""

    def __init__(self, credentials: Credentials, clock: Clock) -> None:
        self._credentials = credentials
        self._clock = clock

    def authenticate(self, matched: MatchedRequest) -> tuple[PresentedKey, VerifiedKey]:
        """Return whose request it is; ask the database if that was not verified just before."""
        presented, now = self._credentials.read(matched.request.headers), self._clock()
        known = self._credentials.verify_cached(presented, now=now)
        _identify(matched, known, now)
        return presented, known

    def authenticate_cached(self, matched: MatchedRequest) -> VerifiedKey | None:
        """Return whose request it is; None if the database would have to be asked."""
        presented, now = self._credentials.read(matched.request.headers), self._clock()
        known = self._credentials.find_cached(presented, now=now)
        if known is not None:
            _identify(matched, known, now)
        return known


def _identify(matched: MatchedRequest, known: VerifiedKey, now: datetime) -> None:
    matched.request.caller.identity = Identity(
        known.merchant.id, known.key_hash, now, known.merchant.share_terms
    )
    limits = known.actor.key
    if limits is not None and not matched.endpoint.only_reads:
        check_may_change(limits)
