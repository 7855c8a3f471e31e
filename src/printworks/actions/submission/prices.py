"""Asks people once more if an order costs something else than they were shown.

Programs are not asked: they name no price.
"""

from printworks.errors import WrongState
from printworks.language.words import Words
from printworks.rules.languages import Language
from printworks.store.orders.orders import Order


def require_price(order: Order, shown: int | None) -> None:
    """Refuse an order that costs something else than somebody was shown, if they were shown it.

    One that is being paid for is left alone: its payment says how much.
    """
    if shown is None or shown == order.total or order.payment_request_id is not None:
        return
    words, currency = Words(Language.EN, "GB"), order.currency or ""
    before, now = (words.money(amount, currency) for amount in (shown, order.total))
    raise WrongState(
        f"The price was {before} when you looked, and is {now} now. Look at the order, and submit "
        "it again."
    )
