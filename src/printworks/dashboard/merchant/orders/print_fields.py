"""Reads the fields of a form about prints: product, copies, sizing and choices."""

from typing import Final

import msgspec

from printworks.catalogue.products import Product
from printworks.dashboard.merchant.orders.product_choice import CHOICE, explain_not_sold, name_value
from printworks.dashboard.shared.labels import join, name_attribute, shorten
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.site.forms import Sent, at_field, read_choice, read_number
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.net.errors import BadAddress
from printworks.rules.images import MOST_COPIES, MOST_IN_BATCH
from printworks.rules.orders import Payment
from printworks.rules.sizing import Sizing
from printworks.store.images.images import NewImage

_NO_SIZING: Final = "Choose how the picture should fit the paper."


def read_print(visit: MerchantVisit, *, country: str | None, payment: Payment) -> NewImage:
    """Read how pictures should be printed; refuse a product that is not sold there."""
    sent = visit.sent
    product = visit.services.catalogue.find_product(sent.text("sku"))
    if product is None:
        raise BadInput("Choose a product.", field="sku")
    if country is not None and not product.is_sold_to(country):
        message = f"{explain_not_sold(product, country)} Choose another product."
        raise BadInput(message, field="sku")
    return NewImage(
        sku=product.sku,
        url=None,
        copies=_read_copies(sent.text("copies")),
        sizing=read_choice(Sizing, sent.text("sizing"), _NO_SIZING, field="sizing"),
        attributes=_read_choices(sent, product),
        price_to_user=read_recipient_price(visit, payment),
    )


def read_addresses(visit: MerchantVisit, wanted: NewImage) -> list[NewImage]:
    """Read the addresses of pictures, one in each line, to be printed as is wanted."""
    lines = [line.strip() for line in visit.sent.raw("addresses").splitlines() if line.strip()]
    if len(lines) > MOST_IN_BATCH:
        raise BadInput(f"Enter at most {MOST_IN_BATCH} addresses at once.", field="addresses")
    for line in lines:
        _check_address(visit, line)
    return [msgspec.structs.replace(wanted, url=line) for line in lines]


def _check_address(visit: MerchantVisit, line: str) -> None:
    try:
        visit.services.guard.check_url(line)
    except BadAddress as error:
        message = f"“{shorten(line)}” cannot be used. {error.message}"
        message = f"{message} It should look like https://shop.example/1.jpg."
        raise BadInput(message, field="addresses") from error


def _read_copies(typed: str) -> int:
    copies = read_number(typed)
    if copies is None or not 1 <= copies <= MOST_COPIES:
        raise BadInput(f"Copies must be a number from 1 to {MOST_COPIES:,}.", field="copies")
    return copies


def _read_choices(sent: Sent, product: Product) -> dict[str, str]:
    chosen = {}
    for attribute in product.attributes:
        # A browser may not have shown the choices of this product.
        field = f"{CHOICE}{attribute.name}"
        value = sent.text(field) or attribute.default
        if value is None or value not in attribute.valid_values:
            name = name_attribute(attribute.name)
            offered = join([name_value(each) for each in attribute.valid_values])
            message = f"Choose the {name.lower()} of the product: {offered}."
            raise BadInput(message, field=field)
        chosen[attribute.name] = value
    return chosen


def read_recipient_price(visit: MerchantVisit, payment: Payment) -> int | None:
    """Read what a recipient who pays should pay for a copy; None if that was left open."""
    typed, currency = visit.sent.text("price_to_user"), visit.merchant.currency
    if not typed:
        return None
    if payment is not Payment.INVOICE_RECIPIENT:
        raise BadInput(
            "Only a recipient who pays can be charged a price. Leave it empty, or let the recipient pay.",
            field="price_to_user",
        )
    with at_field("price_to_user"):
        return read_money(typed, currency, what="a price for the recipient", least=0)
