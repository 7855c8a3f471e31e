"""The sandbox clock through 3.0."""

from printworks.api.endpoints import Call
from printworks.wire.reading import read
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.sandbox import AdvanceClock, ClockOut


def get_clock(call: Call) -> Envelope[ClockOut]:
    """Read the sandbox clock."""
    now = call.work.now
    return Envelope(ClockOut.of(now, now - call.work.real_now))


def advance_clock(call: Call) -> Envelope[ClockOut]:
    """Move the sandbox clock; whatever falls due until then happens."""
    by = read(AdvanceClock, call.body).to_duration()
    now = call.services.advance_clock(call.merchant.id, by)
    return Envelope(ClockOut.of(now, now - call.work.real_now))
