"""The address and shipping of an order: a page of its own, which does not refresh."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from starlette.responses import Response

from printworks.actions.orders.orders import change_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.release import permissions_of
from printworks.dashboard.merchant.orders.recipient_fields import (
    list_methods,
    read_country,
    read_method,
)
from printworks.dashboard.shared.labels import COUNTRY_CHOICES, name_country
from printworks.dashboard.shared.order_actions import OrderAction, explain_refusal
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.rules.orders import OrderStatus
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy
from printworks.store.labs.shipments import get_whole_order
from printworks.store.orders.orders import Order, get_order_to_change


class AddressField(NamedTuple):
    """A line of the form."""

    name: str
    label: str
    autocomplete: str
    is_needed: bool = True
    is_half: bool = False


FIELDS: Final = (
    AddressField("recipient_name", "Recipient", "shipping name"),
    AddressField("address1", "Address", "shipping address-line1"),
    AddressField("address2", "Address, second line", "shipping address-line2", is_needed=False),
    AddressField("town_or_city", "Town or city", "shipping address-level2", is_half=True),
    AddressField("postal_code", "Postcode", "shipping postal-code", is_half=True),
    AddressField("state_or_county", "State or county", "shipping address-level1", is_needed=False),
)


@page_at("/orders/{id}/address")
def show_address(visit: MerchantVisit) -> Response:
    """Show where an order goes, to be changed while that is still possible."""
    order, _, shipments = get_whole_order(visit.db, visit.merchant.id, visit.number("id"))
    catalogue = visit.services.catalogue
    permissions = permissions_of(order, shipments, catalogue)
    return visit.render(
        "merchant/order_address.html",
        order=order,
        fields=FIELDS,
        longest={**NEEDED, **OPTIONAL},
        values=_values(visit, order),
        countries=COUNTRY_CHOICES if _is_open(order) else (),
        country=name_country(order.destination_country),
        methods=list_methods(catalogue, order.destination_country or ""),
        why_not=explain_refusal(
            OrderAction.CHANGE_SHIPPING, permissions, order, shipments, catalogue
        ),
    )


def _is_open(order: Order) -> bool:
    return order.status is OrderStatus.NOT_YET_SUBMITTED


def _values(visit: MerchantVisit, order: Order) -> Mapping[str, str]:
    names = [*(field.name for field in FIELDS), "shipping_method"]
    if visit.sent.fields:
        return {name: visit.sent.text(name) for name in [*names, "country"]}
    stored = {name: getattr(order, name) or "" for name in names}
    return {**stored, "country": order.destination_country or ""}


@show_address.action(OrderAction.CHANGE_SHIPPING, "The address and shipping were changed.")
def take_shipping(visit: MerchantVisit) -> str:
    """Change the address or shipping method of the order."""
    order = get_order_to_change(visit.db, visit.merchant.id, visit.number("id"))
    values: dict[str, object] = {**_read_fields(visit), "shipping_method": read_method(visit.sent)}
    if _is_open(order):
        values["destination_country"] = read_country(visit.sent)
        change_order(visit.work, order, values)
    else:
        change_shipping(visit.work, order, values)
    return f"/orders/{order.id}"


def _read_fields(visit: MerchantVisit) -> dict[str, object]:
    typed = {field.name: tidy(visit.sent.text(field.name)) for field in FIELDS}
    problems = find_problems([field.name for field in FIELDS if field.is_needed], typed)
    if problems:
        raise BadInput(" ".join(problems.values()))
    return {name: text or None for name, text in typed.items()}
