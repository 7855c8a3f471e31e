"""The form of a new order."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from printworks.actions.images.uploads import begin_upload
from printworks.actions.orders.orders import create_order
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.merchant.orders.print_fields import (
    CHOICE,
    describe_prints,
    read_addresses,
    read_print,
)
from printworks.dashboard.merchant.orders.uploads import (
    PICTURES,
    SAMPLE,
    add_pictures,
    check_pictures,
    receive_pictures,
)
from printworks.dashboard.merchant.sandbox.faults import BANK_FAULTS, LAB_FAULTS, add_words
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.shared.recipient_fields import (
    list_methods,
    read_country,
    read_method,
    read_recipient,
    read_reference,
)
from printworks.dashboard.site.assets import address_of
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import ServiceError
from printworks.rules.orders import Payment, ShippingMethod
from printworks.rules.people import Duty
from printworks.rules.sizing import Sizing
from printworks.store.orders.orders import NewOrder

_USUAL: Final[Mapping[str, str]] = {
    "country": "GB",
    "shipping_method": ShippingMethod.STANDARD,
    "copies": "1",
    "sizing": Sizing.CROP,
    "payment": Payment.INVOICE_ME,
}
# So that a first order needs no typing.
_EXAMPLE: Final[Mapping[str, str]] = {
    **_USUAL,
    "recipient_name": "Mary Fox",
    "address1": "12 Orchard Lane",
    "town_or_city": "York",
    "postal_code": "YO1 7HH",
    "reference": "My first order",
}
# What the address of this page may say already: what a list that depends on it asks with.
_FROM_ADDRESS: Final = frozenset({"country", "sku", "shipping_method", "copies", "sizing"})


@page_at("/orders/new", duty=Duty.ORDER)
def show_new_order(visit: MerchantVisit) -> Response:
    """Show the form, as it was sent if it was."""
    services, is_sandbox = visit.services, visit.services.is_sandbox
    usual = _EXAMPLE if is_sandbox else _USUAL
    values = FormValues(visit, usual, _FROM_ADDRESS, beginning_with=CHOICE)
    is_sent = bool(visit.sent.fields)
    lost_pictures = len(visit.sent.files.get(PICTURES, ()))
    return visit.render(
        "merchant/new_order.html",
        values=values,
        countries=COUNTRY_CHOICES,
        methods=list_methods(services.catalogue, values["country"]),
        prints=describe_prints(visit, values["sku"], values["country"]),
        is_sandbox=is_sandbox,
        sample=address_of("sample.jpg"),
        # The sample must not replace their pictures, which the browser does not send again.
        wants_sample=visit.sent.text(SAMPLE) != "" and not lost_pictures if is_sent else is_sandbox,
        lost_pictures=lost_pictures,
        lab_faults=LAB_FAULTS if is_sandbox else (),
        bank_faults=BANK_FAULTS if is_sandbox else (),
        chosen_faults=visit.sent.texts("fault") if is_sent else [visit.query.get("fault", "")],
    )


@show_new_order.action(
    "create-order", "The order was created. Check it, then submit it.", alone=True
)
def create(visit: MerchantVisit) -> str | Response:
    """Create an order with its pictures; refuse it if one cannot be printed."""
    new = _read_order(visit)
    wanted = read_print(visit, country=new.destination_country, payment=new.payment)
    addressed = read_addresses(visit, wanted)
    with receive_pictures(visit, addressed) as pictures:
        check_pictures(visit, pictures, wanted)
        with visit.services.database.writing() as db:
            order = create_order(visit.work_in(db), new)
            uploads = [begin_upload(visit.work_in(db), order, wanted) for _ in pictures]
            visit.remember(db, f"/orders/{order.id}")
        try:
            add_pictures(visit, order.id, uploads, pictures, addressed)
        except ServiceError:
            # The disk is full, or the file store is unavailable. The order exists, and its
            # pictures can be uploaded again.
            return send_on(f"/orders/{order.id}/images?lost=pictures")
    return f"/orders/{order.id}"


def _read_order(visit: MerchantVisit) -> NewOrder:
    sent = visit.sent
    chosen = sent.texts("fault") if visit.services.is_sandbox else ()
    reference = add_words(sent.text("reference"), chosen)
    return NewOrder(
        **read_recipient(sent),
        destination_country=read_country(sent),
        shipping_method=read_method(sent),
        payment=read_choice(Payment, sent.text("payment"), "Choose who pays.", field="payment"),
        merchant_order_id=read_reference(reference),
    )


# For browsers that do not ask for it by themselves.
show_new_order.action("show-product-for-new-order", only_shows=True)(show_new_order)
