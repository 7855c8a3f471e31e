"""The page of a new order: a product, pictures, and where they go.

With scripts, the order exists as a draft from the first picture on, so that each picture can be
uploaded on its own and nothing is lost when the page is closed.
"""

from collections.abc import Mapping
from typing import Any, Final

from sqlalchemy import Connection
from starlette.responses import Response

from printworks.actions.images.recipient_prices import set_prices_to_user
from printworks.actions.images.uploads import begin_upload
from printworks.actions.orders.orders import change_order, create_order
from printworks.catalogue.products import Currency
from printworks.dashboard.merchant.orders.drafts import (
    begin_draft,
    check_sold,
    describe_draft,
    find_draft,
    values_of,
)
from printworks.dashboard.merchant.orders.form_values import FormValues
from printworks.dashboard.merchant.orders.print_fields import (
    read_addresses,
    read_print,
    read_recipient_price,
)
from printworks.dashboard.merchant.orders.product_choice import (
    CHOICE,
    LOOKED_FOR,
    describe_choice,
    find_chosen,
)
from printworks.dashboard.merchant.orders.refused_files import say_refused
from printworks.dashboard.merchant.orders.running_price import describe_price
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
    list_promises,
    read_country,
    read_method,
    read_recipient,
    read_reference,
)
from printworks.dashboard.site.assets import address_of
from printworks.dashboard.site.forms import Sent, read_choice
from printworks.dashboard.site.rendering import send_on
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput, ServiceError
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.rules.people import Duty
from printworks.rules.sizing import Sizing
from printworks.store.orders.orders import NewOrder, Order, get_order_to_change

_USUAL: Final[Mapping[str, str]] = {
    "shipping_method": ShippingMethod.STANDARD,
    "copies": "1",
    "sizing": Sizing.CROP,
    "payment": Payment.INVOICE_ME,
}
# Where most orders of a merchant go, by its currency.
_COUNTRIES: Final[Mapping[Currency, str]] = {
    Currency.GBP: "GB",
    Currency.USD: "US",
    Currency.EUR: "DE",
    Currency.AUD: "AU",
}
# So that a first order in a sandbox needs no typing.
_SAMPLE_ADDRESS: Final[Mapping[str, str]] = {
    "recipient_name": "Sample Recipient",
    "address1": "12 Orchard Lane",
    "town_or_city": "York",
    "postal_code": "YO1 7HH",
    "country": "GB",
}
# What the address of this page may say already: what its script asks for prices with.
_FROM_ADDRESS: Final = frozenset(
    {"country", "sku", "shipping_method", "copies", "sizing", *LOOKED_FOR}
)


@page_at("/orders/new", duty=Duty.ORDER)
def show_new_order(visit: MerchantVisit, instead: Mapping[str, str] | None = None) -> Response:
    """Show the form, as it was sent if it was; `instead` are values that take precedence."""
    draft = find_draft(visit)
    if draft is not None and draft.status is not OrderStatus.NOT_YET_SUBMITTED:
        return send_on(f"/orders/{draft.id}")
    usual = {**_USUAL, "country": _COUNTRIES[visit.merchant.currency], **values_of(draft)}
    values = FormValues(visit, usual, _FROM_ADDRESS, beginning_with=CHOICE, instead=instead)
    country = values["country"]
    product = find_chosen(visit, values, country)
    return visit.render(
        "merchant/new_order.html",
        with_files=True,
        values=values,
        countries=COUNTRY_CHOICES,
        promises=list_promises(visit.services.catalogue, country),
        choice=describe_choice(visit, values, country, product),
        price=describe_price(visit, values, draft, product),
        **describe_draft(visit, draft),
        **_describe_sandbox(visit, draft),
    )


def _describe_sandbox(visit: MerchantVisit, draft: Order | None) -> dict[str, Any]:
    """Return what only a sandbox has: a sample picture and address, and simulated problems."""
    is_sandbox, is_sent = visit.services.is_sandbox, bool(visit.sent.fields)
    lost_pictures = len(visit.sent.files.get(PICTURES, ()))
    has_own = lost_pictures > 0 or (draft is not None and draft.image_count > 0)
    return {
        "is_sandbox": is_sandbox,
        "sample": address_of("sample.jpg"),
        "sample_address": _SAMPLE_ADDRESS,
        # The sample must not replace their pictures, which the browser does not send again.
        "wants_sample": (visit.sent.text(SAMPLE) != "" if is_sent else is_sandbox) and not has_own,
        "lost_pictures": lost_pictures,
        "lab_faults": LAB_FAULTS if is_sandbox else (),
        "bank_faults": BANK_FAULTS if is_sandbox else (),
        "chosen_faults": visit.sent.texts("fault") if is_sent else [visit.query.get("fault", "")],
    }


@show_new_order.action("create-order", "The order was created.", alone=True)
def create(visit: MerchantVisit) -> str | Response:
    """Create an order, or complete a draft, with its pictures; say which cannot be printed."""
    new = _read_order(visit)
    with visit.services.database.reading() as db:
        draft = find_draft(visit.within(db))
        check_sold(visit.within(db), draft, new.destination_country or "")
    if draft is not None and draft.image_count and not _has_more(visit.sent):
        return _complete(visit, new, draft)
    wanted = read_print(visit, country=new.destination_country, payment=new.payment)
    addressed = read_addresses(visit, wanted)
    with receive_pictures(visit, addressed) as received:
        alone = bool(received.pictures) and not addressed
        checked = check_pictures(visit, received, wanted, alone=alone)
        with visit.services.database.writing() as db:
            order = _store(visit, db, new, draft, wanted.price_to_user)
            uploads = [begin_upload(visit.work_in(db), order, wanted) for _ in checked.pictures]
            visit.remember(db, f"/orders/{order.id}")
        try:
            refused = add_pictures(visit, order.id, uploads, checked, addressed)
        except BadInput as refusal:
            refused = [refusal.message]
        except ServiceError:
            # The disk is full, or the file store is unavailable. The order exists, and its
            # pictures can be uploaded again.
            return send_on(f"/orders/{order.id}/images?lost=pictures")
    if refused:
        return say_refused(visit, f"/orders/{order.id}/images", refused)
    return f"/orders/{order.id}"


def _has_more(sent: Sent) -> bool:
    """Say whether the form itself brings pictures, beside those that the draft has."""
    return bool(sent.files.get(PICTURES)) or sent.text("addresses") != ""


def _complete(visit: MerchantVisit, new: NewOrder, draft: Order) -> str:
    """Complete a draft that has its pictures; which product the form shows does not matter."""
    price = read_recipient_price(visit, new.payment)
    with visit.services.database.writing() as db:
        _store(visit, db, new, draft, price)
    return f"/orders/{draft.id}"


def _store(
    visit: MerchantVisit, db: Connection, new: NewOrder, draft: Order | None, price: int | None
) -> Order:
    """Create the order; or give the draft what is known now, its pictures included."""
    work = visit.work_in(db)
    if draft is None:
        return create_order(work, new)
    order = get_order_to_change(db, visit.merchant.id, draft.id)
    wanted = {
        name: getattr(new, name)
        for name in ("destination_country", "shipping_method", "payment", "merchant_order_id")
    }
    order = change_order(work, order, {**wanted, **read_recipient(visit.sent)})
    return set_prices_to_user(work, order, price)


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


@show_new_order.action("begin-order")
def begin(visit: MerchantVisit) -> Response:
    """Make the draft that pictures are added to one by one; answer with its number."""
    return begin_draft(visit)


@show_new_order.action("use-sample-address", only_shows=True)
def use_sample_address(visit: MerchantVisit) -> Response:
    """Fill in an address, for whoever tries the sandbox."""
    instead = _SAMPLE_ADDRESS if visit.services.is_sandbox else {}
    return show_new_order(visit, instead)


# For browsers that do not ask for it by themselves.
show_new_order.action("show-product-for-new-order", only_shows=True)(show_new_order)
