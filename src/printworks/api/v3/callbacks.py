"""The feed of events, and callbacks wanted again, through 3.0."""

from typing import Final

from printworks.actions.callbacks.callbacks import replay, send_again
from printworks.api.endpoints import Call
from printworks.rules.callbacks import choose_format
from printworks.store.accounts.secrets import ENVIRONMENT, find_secret
from printworks.store.callbacks.callbacks import count_events, get_callback, list_feed
from printworks.store.callbacks.deliveries import load_deliveries
from printworks.wire.reading import read, read_integer
from printworks.wire.v3.callbacks import (
    HIGHEST_NUMBER,
    DeliveryOut,
    EventListOut,
    EventOut,
    ReplayCallbacks,
    ReplayOut,
)
from printworks.wire.v3.envelope import Envelope

MOST_EVENTS: Final = 250
USUAL_EVENTS: Final = 100


def list_events(call: Call) -> Envelope[EventListOut]:
    """Show what happened after the event of a number, as callbacks tell it."""
    after = read_integer("after", call.query.get("after", 0), lowest=0, highest=HIGHEST_NUMBER)
    limit = read_integer(
        "limit", call.query.get("limit", USUAL_EVENTS), lowest=0, highest=MOST_EVENTS
    )
    found = list_feed(call.db, call.merchant.id, after=after, limit=limit)
    known = load_deliveries(call.db, [told.id for told in found]) if found else {}
    # Noted at the first start of a program.
    environment = find_secret(call.db, ENVIRONMENT) or "sandbox"
    events = [
        EventOut.of(
            told,
            environment=environment,
            format=choose_format(known[told.id].chosen_format, known[told.id].order_format),
        )
        for told in found
    ]
    return Envelope(EventListOut(events, count_events(call.db, call.merchant.id)))


def resend_callback(call: Call) -> Envelope[DeliveryOut]:
    """Send one callback again, now."""
    callback_id = call.number("id")
    send_again(call.db, call.merchant, callback_id, now=call.now)
    return Envelope(DeliveryOut.of(get_callback(call.db, call.merchant.id, callback_id)))


def replay_callbacks(call: Call) -> Envelope[ReplayOut]:
    """Send callbacks again from some moment or number on, a page of them."""
    first = read(ReplayCallbacks, call.body).to_first()
    done = replay(call.db, call.merchant, since=first, now=call.now)
    return Envelope(ReplayOut(done.sent, None if done.go_on_at is None else done.go_on_at - 1))
