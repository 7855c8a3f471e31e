"""What a recipient pays for an order."""

from printworks.rules.payments import CheckoutLine, CheckoutTotal, add_up, find_price_for_recipient
from printworks.store.images.images import Image, Images
from printworks.store.orders.orders import Order


def line_for_recipient(image: Image) -> CheckoutLine:
    """Return what a recipient pays for an image."""
    each = find_price_for_recipient(image.price_to_user, image.price)
    return CheckoutLine(image.copies, each)


def total_for_recipient(order: Order, images: Images) -> CheckoutTotal:
    """Return what a recipient pays for the whole order."""
    lines = [line_for_recipient(image) for image in images]
    # A tax in another currency is not collected here.
    is_ours = (order.invoice_currency or order.currency or "").upper() == (order.currency or "")
    if is_ours and order.invoice_tax:
        return add_up(lines, shipping=order.shipping_price, tax=order.invoice_tax)
    return add_up(
        lines,
        shipping=order.shipping_price,
        tax=order.recipient_tax,
        tax_included=order.tax_included,
    )
