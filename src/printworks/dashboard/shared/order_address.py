"""The form for the address and shipping of an order, for merchants and for operators."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from printworks.actions.orders.orders import change_order
from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.release import permissions_of
from printworks.actions.work import Work
from printworks.catalogue.country_names import name_country
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.shared.order_actions import OrderAction, explain_refusal
from printworks.dashboard.shared.order_routing import name_lab, show_lab
from printworks.dashboard.shared.recipient_fields import list_methods, read_country, read_method
from printworks.dashboard.site.forms import Sent
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.rules.orders import OrderStatus
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import WholeOrder


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


def describe_address(visit: Visit, whole: WholeOrder) -> dict[str, Any]:
    """Return what the form shows, and why it cannot be used, if it cannot."""
    order, _, shipments = whole
    catalogue = visit.services.catalogue
    permissions = permissions_of(order, shipments, catalogue)
    return {
        "fields": FIELDS,
        "longest": {**NEEDED, **OPTIONAL},
        "values": _values(visit, order),
        "countries": COUNTRY_CHOICES if _is_open(order) else (),
        "country": name_country(order.destination_country),
        "methods": list_methods(catalogue, order.destination_country or ""),
        "why_not": explain_refusal(
            OrderAction.CHANGE_SHIPPING,
            permissions,
            order,
            shipments,
            catalogue,
            name_lab if visit.person.merchant_id is None else show_lab,
        ),
    }


def take_address(work: Work, order: Order, sent: Sent) -> None:
    """Change the address or shipping method of an order as the form says."""
    values: dict[str, object] = {**_read_fields(sent), "shipping_method": read_method(sent)}
    if _is_open(order):
        values["destination_country"] = read_country(sent)
        change_order(work, order, values)
    else:
        change_shipping(work, order, values)


def _is_open(order: Order) -> bool:
    return order.status is OrderStatus.NOT_YET_SUBMITTED


def _values(visit: Visit, order: Order) -> Mapping[str, str]:
    names = [*(field.name for field in FIELDS), "shipping_method"]
    if visit.sent.fields:
        return {name: visit.sent.text(name) for name in [*names, "country"]}
    stored = {name: getattr(order, name) or "" for name in names}
    return {**stored, "country": order.destination_country or ""}


def _read_fields(sent: Sent) -> dict[str, object]:
    typed = {field.name: tidy(sent.text(field.name)) for field in FIELDS}
    problems = find_problems([field.name for field in FIELDS if field.is_needed], typed)
    if problems:
        raise BadInput(" ".join(problems.values()), fields=problems)
    return {name: text or None for name, text in typed.items()}
