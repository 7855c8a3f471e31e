"""Orders as the 2.x family shows and takes them.

Here `countryCode` is where the order is printed, and `destinationCountryCode` where the parcel
goes; to 3.0 `countryCode` is the latter.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from printworks.catalogue.products import QualityLevel
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput
from printworks.rules.orders import OrderStatus, Payment
from printworks.store.orders.orders import NewOrder, Order
from printworks.wire.links import Links
from printworks.wire.orders import SHARED_NAMES, ShownOrder, show_shared_members
from printworks.wire.reading import Amount, CountryCode, CurrencyCode, Reader, text
from printworks.wire.shipments import ShippingInfoOut
from printworks.wire.v2.photos import PhotoOut, show_photos
from printworks.wire.v2.shipping import (
    METHOD_MEANT,
    METHOD_SHOWN,
    USUAL_METHOD,
    PreferredMethod,
    choose_method,
)
from printworks.wire.v2.versions import V2_5, V2_6, since
from printworks.wire.v2.words import say_in_words

_YES_OR_NO: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}


def _read_flag(name: str, value: object) -> bool:
    flag = _YES_OR_NO.get(str(value).strip().lower())
    if flag is None:
        raise BadInput(f"`{name}` must be true or false.")
    return flag


Line = Annotated[str, Meta(max_length=255), text(255)]
Telephone = Annotated[str, Meta(max_length=50), text(50)]
Flag = Annotated[bool, Reader(_read_flag)]
# Null keeps what is stored, empty text clears it.
Change = UnsetType | None


class CreateOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What makes an order, to be printed in `countryCode`; what is required may be empty at first."""

    recipientName: Line | Change
    destinationCountryCode: CountryCode | Change
    countryCode: CountryCode | Change
    payment: Payment | Change
    qualityLevel: QualityLevel | Change
    address1: Line | None = None
    address2: Line | None = None
    addressTownOrCity: Line | None = None
    stateOrCounty: Line | None = None
    postalOrZipCode: Line | None = None
    useTrackedShipping: Flag | None = None
    mobileTelephone: Telephone | None = None
    merchantOrderId: Annotated[Line | None, since(V2_5)] = None
    preferredShippingMethod: Annotated[PreferredMethod | None, since(V2_5)] = None
    invoiceAmountNet: Annotated[Amount | None, since(V2_5)] = None
    invoiceTax: Annotated[Amount | None, since(V2_5)] = None
    invoiceCurrency: Annotated[CurrencyCode | None, since(V2_5)] = None

    def to_new_order(self, version: str) -> NewOrder:
        return NewOrder(callback_format=version, **_say_in_core(self))


class _Changes(msgspec.Struct, frozen=True):
    def to_changes(self, order: Order) -> dict[str, Any]:
        """Say it in the words of the core, without what is to be kept."""
        changes: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value, core = getattr(self, name), CORE_NAMES[name]
            if value is UNSET:
                continue
            if isinstance(value, PreferredMethod):
                value = choose_method(value, order.shipping_method)
            changes[core] = WHEN_EMPTY.get(core) if value is None else value
        return changes


class UpdateOrder(_Changes, frozen=True, kw_only=True):
    """What changes an order: null or nothing keeps what is stored, empty text clears it.

    A change that would leave a photo unsold is refused.
    """

    recipientName: Line | Change = UNSET
    address1: Line | Change = UNSET
    address2: Line | Change = UNSET
    addressTownOrCity: Line | Change = UNSET
    stateOrCounty: Line | Change = UNSET
    postalOrZipCode: Line | Change = UNSET
    destinationCountryCode: CountryCode | Change = UNSET
    countryCode: CountryCode | Change = UNSET
    # What is never without a value goes back to the one that it had before it was given.
    payment: Payment | Change = UNSET
    qualityLevel: QualityLevel | Change = UNSET
    useTrackedShipping: Flag | Change = UNSET
    mobileTelephone: Telephone | Change = UNSET
    merchantOrderId: Annotated[Line | Change, since(V2_5)] = UNSET
    preferredShippingMethod: Annotated[PreferredMethod | Change, since(V2_5)] = UNSET
    invoiceAmountNet: Annotated[Amount | Change, since(V2_5)] = UNSET
    invoiceTax: Annotated[Amount | Change, since(V2_5)] = UNSET
    invoiceCurrency: Annotated[CurrencyCode | Change, since(V2_5)] = UNSET


class ChangeShipping(_Changes, frozen=True, kw_only=True):
    """Where an order goes and how fast; nothing keeps what is stored."""

    # Empty text, too: what is on its way must not lose its address.
    recipientName: Line | UnsetType = UNSET
    address1: Line | UnsetType = UNSET
    address2: Line | Change = UNSET
    addressTownOrCity: Line | UnsetType = UNSET
    stateOrCounty: Line | Change = UNSET
    postalOrZipCode: Line | UnsetType = UNSET
    preferredShippingMethod: PreferredMethod | UnsetType = UNSET


# How the core calls what is called otherwise here.
CORE_NAMES: Final[Mapping[str, str]] = {
    **SHARED_NAMES,
    "destinationCountryCode": "destination_country",
    "countryCode": "print_country",
    "qualityLevel": "quality_level",
    "useTrackedShipping": "is_tracked",
    "preferredShippingMethod": "shipping_method",
}

# What is never without a value has this one until it is given.
WHEN_EMPTY: Final[Mapping[str, object]] = {
    "payment": Payment.INVOICE_ME,
    "is_tracked": False,
    "shipping_method": USUAL_METHOD,
    "invoice_amount_net": 0,
    "invoice_tax": 0,
}


def _say_in_core(given: CreateOrder) -> dict[str, Any]:
    said: dict[str, Any] = {}
    for name, core in CORE_NAMES.items():
        value = getattr(given, name)
        if value is None or value is UNSET:
            value = WHEN_EMPTY.get(core)
        said[core] = METHOD_MEANT[value] if isinstance(value, PreferredMethod) else value
    return said


class OrderOut(msgspec.Struct, frozen=True, kw_only=True):
    """An order with every member that the contract names."""

    id: int
    recipientName: str | None
    address1: str | None
    address2: str | None
    addressTownOrCity: str | None
    stateOrCounty: str | None
    postalOrZipCode: str | None
    destinationCountryCode: str | None
    countryCode: str | None
    mobileTelephone: Annotated[str | None, since(V2_5)]
    price: int
    shippingInfo: ShippingInfoOut
    status: OrderStatus
    payment: Payment
    paymentUrl: str | None
    qualityLevel: QualityLevel | None
    photos: list[PhotoOut]
    preferredShippingMethod: Annotated[PreferredMethod, since(V2_5)]
    merchantOrderId: Annotated[str | None, since(V2_5)]
    created: Annotated[str, since(V2_5)]
    lastUpdated: Annotated[str, since(V2_5)]
    invoiceAmountNet: Annotated[int, since(V2_5)]
    invoiceTax: Annotated[int, since(V2_5)]
    invoiceCurrency: Annotated[str | None, since(V2_5)]
    canCancel: Annotated[bool, since(V2_6)]
    canHold: Annotated[bool, since(V2_6)]
    canUpdateShipping: Annotated[bool, since(V2_6)]
    canUpdateImages: Annotated[bool, since(V2_6)]
    errorMessage: str | None

    @classmethod
    def of(cls, shown: ShownOrder, catalogue: Catalogue, links: Links) -> Self:
        order, shared = shown.order, show_shared_members(shown, links)
        # Members that came after these versions, in which the price is what is charged in all.
        shared.pop("tax", None)
        shared["price"] = shared.pop("total", shared["price"])
        shared["errorMessage"] = say_in_words(shared["errorMessage"] or "") or None
        return cls(
            **shared,
            destinationCountryCode=order.destination_country,
            countryCode=order.print_country,
            qualityLevel=order.quality_level,
            photos=show_photos(shown.images, catalogue, links),
            preferredShippingMethod=METHOD_SHOWN[order.shipping_method],
            canUpdateImages=shown.permissions.remove_images,
        )
