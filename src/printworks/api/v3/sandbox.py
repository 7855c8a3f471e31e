"""The sandbox clock through 3.0: an order's life of five days in a second."""

from printworks.api.endpoints import Call
from printworks.store.accounts.merchants import get_merchant
from printworks.wire.reading import read
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.sandbox import AdvanceClock, ClockOut


def get_clock(call: Call) -> Envelope[ClockOut]:
    """Show the merchant's time."""
    # What is known of the merchant may be two seconds old.
    ahead = get_merchant(call.db, call.merchant.id).clock_offset
    return Envelope(ClockOut.of(call.now - call.merchant.clock_offset + ahead, ahead))


def advance_clock(call: Call) -> Envelope[ClockOut]:
    """Move the merchant's clock; whatever falls due until then happens before this returns."""
    by = read(AdvanceClock, call.body).to_duration()
    now = call.advance_clock(call.merchant.id, by)
    real_now = call.now - call.merchant.clock_offset
    return Envelope(ClockOut.of(now, now - real_now))
