"""The feed of events, and sending callbacks again, through 3.0."""

from typing import Final

from printworks.actions.callbacks import replay, send_again
from printworks.api.endpoints import Call
from printworks.rules.callbacks import choose_format
from printworks.store.callbacks.callbacks import count_events, get_callback, list_feed
from printworks.store.callbacks.deliveries import load_deliveries
from printworks.wire.reading import read, read_parameter
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
    """List events, oldest first, whether or not their callbacks arrived."""
    after = read_parameter("after", call.query.get("after", 0), lowest=0, highest=HIGHEST_NUMBER)
    limit = read_parameter(
        "limit", call.query.get("limit", USUAL_EVENTS), lowest=0, highest=MOST_EVENTS
    )
    found = list_feed(call.db, call.merchant.id, after=after, limit=limit)
    known = load_deliveries(call.db, [event.id for event in found]) if found else {}
    events = [
        EventOut.of(
            event,
            known[event.id].event_before,
            environment=call.work.environment,
            format=choose_format(known[event.id].chosen_format, known[event.id].order_format),
        )
        for event in found
    ]
    return Envelope(EventListOut(events, count_events(call.db, call.merchant.id)))


def resend_callback(call: Call) -> Envelope[DeliveryOut]:
    """Send a callback again, now."""
    callback_id = call.number("id")
    send_again(call.work, callback_id)
    return Envelope(DeliveryOut.of(get_callback(call.db, call.merchant.id, callback_id)))


def replay_callbacks(call: Call) -> Envelope[ReplayOut]:
    """Send callbacks again from a given time or event onwards."""
    done = replay(call.work, since=read(ReplayCallbacks, call.body).to_first())
    last = None if done.next_number is None else done.next_number - 1
    return Envelope(ReplayOut(done.sent, last))
