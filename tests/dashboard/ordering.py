"""Orders for the tests of pages: made by hand, or by a program."""

from typing import Any, Final

from tests.api.images import add, create
from tests.dashboard.windows import Window
from tests.running import Answer

PHOTO: Final = "GLOBAL-PHO-4X6-PRO"
# What a browser sends of the form for a new order, but for its picture.
FORM: Final = {
    "recipient_name": "Mary Fox",
    "address1": "12 Orchard Lane",
    "address2": "",
    "town_or_city": "York",
    "postal_code": "YO1 7HH",
    "state_or_county": "",
    "country": "GB",
    "telephone": "",
    "email": "",
    "shipping_method": "Standard",
    "payment": "InvoiceMe",
    "price_to_user": "",
    "reference": "A-1001",
    "sku": PHOTO,
    "copies": "1",
    "sizing": "Crop",
    "addresses": "",
}
# The same for the form that adds images.
IMAGE_FORM: Final = {name: FORM[name] for name in ("sku", "copies", "sizing", "addresses")}
NEW: Final = "/orders/new"


def make_order(window: Window, **fields: Any) -> Answer:
    """Send the form for a new order; without anything else, with the sample picture."""
    return window.do(NEW, "create-order", **{**FORM, "sample": "yes", **fields})


def an_order(window: Window, **members: Any) -> tuple[int, str]:
    """Make an order with an image; return its number and where it is shown."""
    order = create(window.api, **members)
    add(window.api, order)
    return order, f"/orders/{order}"


def number_of(answer: Answer) -> int:
    """Return the number of the order to whose page an answer leads."""
    assert answer.status == 303, answer.body.decode()
    return int(answer.headers["location"].partition("?")[0].rpartition("/")[2])


def count_orders(window: Window) -> int:
    """Return how many orders a merchant has."""
    return int(window.api.get("/orders?limit=0").data["count"])
