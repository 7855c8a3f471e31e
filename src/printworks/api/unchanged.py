"""Answers those who poll: for an order that has not changed, a look at its version is enough."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from printworks.api.authentication import Authenticator
from printworks.api.credentials import VerifiedKey
from printworks.api.endpoints import number_in
from printworks.api.kept_answers import MarkedAnswers
from printworks.api.links import LinkMaker
from printworks.api.messages import Response
from printworks.api.refusals import answer_error
from printworks.api.routing import MatchedRequest
from printworks.store.engine.database import Database
from printworks.store.engine.readers import HeldReader
from printworks.store.orders.marks import OrderOf, OrderStates, find_order_states
from printworks.wire.links import Links

Answers = list[Response | None]


class AskedOrders(NamedTuple):
    """Requests of a group, and the orders whose states decide what is answered."""

    group: Sequence[MatchedRequest]
    # By place in the group, as are the answers that do not depend on any state.
    wanted: dict[int, OrderOf]
    refused: dict[int, Response]


class UnchangedOrders:
    """Answers requests for what has not changed; safe to use from many threads.

    What has changed, or may have, is None in the place of an answer: the service answers it.
    """

    def __init__(
        self,
        database: Database,
        authenticator: Authenticator,
        marked: MarkedAnswers,
        links: LinkMaker,
    ) -> None:
        self._database = database
        self.is_sqlite = database.is_sqlite
        self._authenticator = authenticator
        self._marked = marked
        self._links = links

    def may_have(self, matched: MatchedRequest) -> bool:
        """Whether the answer may be one that was written before, or that the client has seen."""
        return self._marked.may_have(matched)

    def answer(self, group: Sequence[MatchedRequest]) -> Answers:
        """Answer what has not changed, for many with one statement."""
        asked = _ask(group, lambda matched: self._authenticator.authenticate(matched)[1])
        try:
            with self._database.reading() as db:
                states = find_order_states(db, asked.wanted.values()) if asked.wanted else {}
                return self._choose(asked, states, self._links.make(db))
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            failed = {place: answer_error(group[place], error) for place in asked.wanted}
            return _arrange(asked, failed)

    def hold_reader(self) -> HeldReader:
        """Return a connection on which PostgreSQL can be asked for states without waiting."""
        reader = self._database.hold_reader()
        try:
            # So that nothing has to be prepared, and no key to be read, when somebody asks.
            find_order_states(reader.db, ())
            self._links.make(reader.db)
        except BaseException:
            reader.close()
            raise
        return reader

    def ask(self, group: Sequence[MatchedRequest]) -> AskedOrders:
        """Say which orders have to be looked at, without asking the database for anything."""
        return _ask(group, self._authenticator.authenticate_cached)

    def choose(self, asked: AskedOrders, states: OrderStates) -> Answers:
        """Answer what has not changed, now that the states are known."""
        links = self._links.find_made()
        return _arrange(asked, {}) if links is None else self._choose(asked, states, links)

    def _choose(self, asked: AskedOrders, states: OrderStates, links: Links) -> Answers:
        found = {
            place: self._marked.find(asked.group[place], states.get(order), links)
            for place, order in asked.wanted.items()
        }
        return _arrange(asked, found)


def _ask(
    group: Sequence[MatchedRequest], find_caller: Callable[[MatchedRequest], VerifiedKey | None]
) -> AskedOrders:
    asked = AskedOrders(group, {}, {})
    for place, matched in enumerate(group):
        try:
            known = find_caller(matched)
            if known is not None:
                order_id = number_in(matched.path, "id")
                asked.wanted[place] = OrderOf(known.merchant.id, order_id)
        except Exception as error:  # noqa: BLE001  (nothing may get past this)
            asked.refused[place] = answer_error(matched, error)
    return asked


def _arrange(asked: AskedOrders, found: Mapping[int, Response | None]) -> Answers:
    return [found.get(place) or asked.refused.get(place) for place in range(len(asked.group))]
