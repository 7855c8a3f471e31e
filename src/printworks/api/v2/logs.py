"""The log of an order, through the 2.x family."""

from printworks.actions.orders.logs import list_log
from printworks.api.endpoints import Call
from printworks.store.orders.orders import get_order
from printworks.wire.v2.logs import LogLineOut, LogsOut


def list_logs(call: Call) -> LogsOut:
    """List what happened to an order."""
    order = get_order(call.db, call.merchant.id, call.number("orderId"))
    lines = list_log(call.db, order.id)
    return LogsOut([LogLineOut.of(line.title, line.message, line.created_at) for line in lines])
