"""What the recipient pays for the images of an order."""

from printworks.actions.taxes import tax_again
from printworks.actions.work import Work
from printworks.rules.orders import check_change, check_not_being_paid
from printworks.store.images.images import list_images, update_image
from printworks.store.orders.orders import Order, get_order_to_change


def set_prices_to_user(work: Work, order: Order, price: int | None) -> Order:
    """Set what the recipient pays for one copy of each image of an open order."""
    check_change(order.status)
    check_not_being_paid(order.payment_request_id)
    others = [image for image in list_images(work.db, order.id) if image.price_to_user != price]
    for image in others:
        update_image(work.db, image, {"price_to_user": price, "updated_at": work.now})
    if not others:
        return order
    return tax_again(work, get_order_to_change(work.db, work.merchant.id, order.id))
