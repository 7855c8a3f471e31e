"""Quotes: how long an open order keeps its price, and what happens after that."""

from datetime import datetime

from printworks.rules.orders import OrderStatus


def keeps_quote(
    status: OrderStatus, expires_at: datetime | None, payment_request_id: int | None
) -> bool:
    """Whether an order has a quote that can end: it is open, priced, and not being paid for."""
    is_open = status is OrderStatus.NOT_YET_SUBMITTED and payment_request_id is None
    return is_open and expires_at is not None


def explain_new_price(*, quoted: int, current: int, currency: str) -> str:
    """Say why an order cannot be submitted at the price that was shown last."""
    return (
        f"The quote of this order has ended: it was {quoted / 100:,.2f} {currency}, and is "
        f"{current / 100:,.2f} {currency} now. Look at the order again to accept the new price, "
        "then submit it."
    )
