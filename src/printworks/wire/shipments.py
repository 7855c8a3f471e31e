"""Shipments, which look the same in every version."""

from typing import Self

import msgspec

from printworks.rules.production import SENT
from printworks.store.orders.shipments import Shipment
from printworks.wire.timestamps import show_timestamp


class ShipmentOut(msgspec.Struct, frozen=True):
    """A parcel, planned or on its way."""

    shipmentId: str | None
    isTracked: bool
    trackingNumber: str | None
    trackingUrl: str | None
    earliestEstimatedArrivalDate: str | None
    latestEstimatedArrivalDate: str | None
    shippedOn: str | None
    carrier: str | None
    photoIds: list[int]
    # An addition to the contract, whose `carrier` is set once the parcel is dispatched.
    plannedCarrier: str | None

    @classmethod
    def of(cls, shipment: Shipment) -> Self:
        """Show a shipment; one that is only planned has no id yet."""
        is_dispatched = shipment.state in SENT
        return cls(
            shipmentId=None if shipment.state is None else str(shipment.id),
            isTracked=shipment.is_tracked,
            trackingNumber=shipment.tracking_number,
            trackingUrl=shipment.tracking_url,
            earliestEstimatedArrivalDate=f"{shipment.earliest_arrival}T00:00:00",
            latestEstimatedArrivalDate=f"{shipment.latest_arrival}T23:59:59",
            shippedOn=None if shipment.shipped_at is None else show_timestamp(shipment.shipped_at),
            carrier=shipment.carrier if is_dispatched else None,
            photoIds=shipment.image_ids,
            plannedCarrier=None if is_dispatched else shipment.carrier,
        )


class ShippingInfoOut(msgspec.Struct, frozen=True):
    """What shipping costs, and in which parcels."""

    price: int
    shipments: list[ShipmentOut]
