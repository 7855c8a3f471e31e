"""Gives each merchant its fair share of a web process, before anything is read or looked up.

Whose request it is, is known from earlier ones with the same credentials, which were verified;
they are verified again later. Anybody else is counted by address until the credentials turn out
to be right, so that nobody can use up the share of a merchant whose key they do not have.
"""

import asyncio
import math
from collections import deque
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from printworks.actions.accounts.shares import usual_share
from printworks.api.credentials import credential_headers
from printworks.api.messages import Caller, Identity, Request
from printworks.clock import Clock
from printworks.dashboard.site.limits import describe_wait, network_of
from printworks.rules.shares import (
    RequestShare,
    ShareTerms,
    Taken,
    charge,
    count_more,
    describe_share,
    give_back,
    hold_refusal,
    take,
)
from printworks.settings import Settings
from printworks.web.clients import find_client
from printworks.web.counters import Counters, identify, open_counters

# Credentials, merchants and addresses that are remembered at once.
_MOST_REMEMBERED: Final = 10_000
_WRONG_KEY: Final = 401
# Its multiples are spread evenly between whole numbers, however many there are.
_GOLDEN_RATIO: Final = 0.618
_USUAL_TERMS: Final = ShareTerms()
_TOO_MANY_AT_ONCE: Final = (
    "Too many of your requests are waiting for an answer; wait for some of them, and send it again."
)


class RefusalPace:
    """Spreads refusals over time, so that they cost less than answers."""

    __slots__ = ("_caught_up_at", "_count")

    def __init__(self) -> None:
        self._caught_up_at = 0.0
        self._count = 0

    async def hold(self) -> None:
        """Wait before one more refusal is sent, if there were many lately."""
        now = asyncio.get_running_loop().time()
        self._count += 1
        chance = self._count * _GOLDEN_RATIO % 1
        self._caught_up_at, seconds = hold_refusal(self._caught_up_at, now, chance)
        if seconds:
            await asyncio.sleep(seconds)


class Sharer:
    """A merchant or an address: its share, and its requests under way in this process."""

    __slots__ = (
        "_counters",
        "_in_work",
        "_owner",
        "_place",
        "_waiting",
        "accepted",
        "is_merchant",
        "policy",
        "refusals",
        "share",
        "terms",
    )

    def __init__(
        self, owner: int, counters: Counters, share: RequestShare, *, is_merchant: bool
    ) -> None:
        self._owner = owner
        self._counters = counters
        self._place = counters.find(owner)
        self.is_merchant = is_merchant
        # Requests that have no answer yet, and those of them that are worked on.
        self.accepted = 0
        self._in_work = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self.refusals = RefusalPace()
        self.change(_USUAL_TERMS, share)

    def change(self, terms: ShareTerms, share: RequestShare) -> None:
        """Have another share from now on."""
        self.terms, self.share = terms, share
        self.policy = (b"ratelimit-policy", share.policy)

    def take(self, now: float) -> Taken:
        """Take a request out of the bucket that all processes share, if there is one."""
        place = self._find_place()
        taken = take(self.share, self._counters.read(place), now)
        self._counters.write(place, taken.full_at)
        return taken

    def charge(self, now: float, requests: int) -> Taken:
        """Take requests more out of the bucket than the one that was granted."""
        place = self._find_place()
        taken = charge(self.share, self._counters.read(place), now, requests)
        self._counters.write(place, taken.full_at)
        return taken

    def give_back(self) -> None:
        """Put back what a request took that is counted elsewhere."""
        place = self._find_place()
        self._counters.write(place, give_back(self.share, self._counters.read(place)))

    def _find_place(self) -> int:
        if not self._counters.belongs_to(self._place, self._owner):
            self._place = self._counters.find(self._owner)
        return self._place

    async def begin(self) -> None:
        """Wait until one more request may be worked on; `end` must follow."""
        if self._in_work < self.share.in_work:
            self._in_work += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            # It may have had its turn in the same moment.
            if not turn.cancelled():
                self.end()
            raise

    def end(self) -> None:
        """Let the next request begin."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._in_work -= 1


class Ticket:
    """What became of a request at the entrance."""

    __slots__ = ("credentials", "refusal", "retry_after", "sharer", "taken")

    def __init__(self, sharer: Sharer, credentials: int, taken: Taken) -> None:
        self.sharer = sharer
        self.credentials = credentials
        self.taken = taken
        # A sentence if the request must not go on, and when to send it again.
        self.refusal = ""
        self.retry_after = 0

    @property
    def headers(self) -> tuple[tuple[bytes, bytes], tuple[bytes, bytes]]:
        """The headers that tell a client its share, and what is left of it."""
        return self.sharer.policy, (b"ratelimit", self.taken.limit)


class Shares:
    """Knows who is asking, and how much they may ask; use it from one event loop."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._clock = clock
        self._is_proxied = bool(settings.behind_proxy)
        self._id_header, self._key_header = credential_headers(settings)
        self._of_merchants, self._of_addresses = open_counters(settings.data)
        self._machines, self._processes = settings.web_machines, settings.web_processes
        self._usual = usual_share(settings)
        self._of_a_stranger = self._divide(
            self._usual._replace(per_second=settings.stranger_rate, burst=settings.stranger_burst)
        )
        # By a hash of the credentials: keys are not kept longer than their request.
        self._known: dict[int, Sharer] = {}
        self._merchants: dict[int, Sharer] = {}
        self._strangers: dict[int, Sharer] = {}

    def admit(self, request: Request, scope: Mapping[str, Any]) -> Ticket:
        """Count a request, and say in its ticket if it must not go on; `settle` it in the end."""
        headers = request.headers
        credentials = hash((headers.get(self._id_header, ""), headers.get(self._key_header, "")))
        sharer = self._known.get(credentials) or self.find_stranger(scope, headers)
        ticket = Ticket(sharer, credentials, sharer.take(self._clock().timestamp()))
        sharer.accepted += 1
        if ticket.taken.wait:
            _refuse_too_many(ticket)
        elif sharer.accepted > sharer.share.in_work + sharer.share.waiting:
            ticket.refusal = _TOO_MANY_AT_ONCE
            ticket.retry_after = 1
        return ticket

    def settle(self, ticket: Ticket, caller: Caller, status: int, size: int) -> None:
        """End a request, now that it is known whose it was and how large the answer is."""
        identity = caller.identity
        sharer = ticket.sharer
        sharer.accepted -= 1
        if identity is None:
            if status == _WRONG_KEY:
                # It may have been revoked.
                self._known.pop(ticket.credentials, None)
        elif not sharer.is_merchant:
            sharer.give_back()
            ticket.sharer = self._learn(ticket.credentials, identity)
            ticket.taken = ticket.sharer.take(self._clock().timestamp())
        elif sharer.terms != identity.terms:
            sharer.change(identity.terms, self._divide(identity.terms.apply_to(self._usual)))
        if more := count_more(size, len(caller.body)):
            ticket.taken = ticket.sharer.charge(self._clock().timestamp(), more)

    def take_of_stranger(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> float:
        """Count a request for what does not exist; return the seconds to wait if it is too many."""
        return self.find_stranger(scope, headers).take(self._clock().timestamp()).wait

    def _divide(self, share: RequestShare) -> RequestShare:
        return share.divided_by(self._machines, self._processes)

    def find_stranger(self, scope: Mapping[str, Any], headers: Mapping[str, str]) -> Sharer:
        """Return who is at the address that a request came from."""
        address = find_client(scope, headers, is_proxied=self._is_proxied) or ""
        owner = identify(network_of(address))
        found = self._strangers.get(owner)
        if found is None:
            _forget_idle(self._strangers)
            found = Sharer(owner, self._of_addresses, self._of_a_stranger, is_merchant=False)
            self._strangers[owner] = found
        return found

    def _learn(self, credentials: int, identity: Identity) -> Sharer:
        found = self._merchants.get(identity.merchant_id)
        if found is None:
            _forget_idle(self._merchants)
            share = self._divide(identity.terms.apply_to(self._usual))
            found = Sharer(identity.merchant_id, self._of_merchants, share, is_merchant=True)
            found.terms = identity.terms
            self._merchants[identity.merchant_id] = found
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[credentials] = found
        return found


def _refuse_too_many(ticket: Ticket) -> None:
    ticket.retry_after = max(1, math.ceil(ticket.taken.wait))
    wait = describe_wait(timedelta(seconds=ticket.retry_after))
    ticket.refusal = (
        f"You may send {describe_share(ticket.sharer.share)}; try again in {wait}."
        if ticket.sharer.is_merchant
        else f"Too many requests without valid credentials came from your address; "
        f"try again in {wait}."
    )


def _forget_idle(sharers: dict[int, Sharer]) -> None:
    """Make room if there are too many; what was counted is in the shared counters."""
    if len(sharers) >= _MOST_REMEMBERED:
        for owner in [owner for owner, sharer in sharers.items() if not sharer.accepted]:
            del sharers[owner]
