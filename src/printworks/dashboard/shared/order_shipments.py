"""The shipments of an order as the merchant sees them."""

from datetime import date, datetime

import msgspec

from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.dates import write_days
from printworks.dashboard.shared.labels import begin_sentence, count, name_carrier
from printworks.dashboard.shared.order_routing import show_lab
from printworks.rules.production import LabState
from printworks.store.orders.shipments import Shipment


class ShipmentView(msgspec.Struct, frozen=True, kw_only=True):
    """A shipment, planned or dispatched."""

    id: int
    state: LabState | None
    lab: str
    what: str
    how: str
    arrives: str
    tracking_number: str
    tracking_url: str
    shipped_at: datetime | None
    delivered_at: datetime | None
    # Why it waits or was not made.
    problem: str


def describe_shipment(shipment: Shipment, catalogue: Catalogue) -> ShipmentView:
    """Return what pages show of a shipment."""
    url = shipment.tracking_url or ""
    first, last = (
        date.fromisoformat(day) for day in (shipment.earliest_arrival, shipment.latest_arrival)
    )
    service = next((one.name for one in catalogue.services if one.code == shipment.service), "")
    tracked = "tracked" if shipment.is_tracked else "without tracking"
    images = count(len(shipment.image_ids), "image")
    return ShipmentView(
        id=shipment.id,
        state=shipment.state,
        lab=begin_sentence(show_lab(shipment.lab, catalogue)),
        what=f"{images}, {count(shipment.copies, 'copy', 'copies')}",
        how=f"{service or name_carrier(shipment.carrier)}, {tracked}",
        arrives=write_days(first, last),
        tracking_number=shipment.tracking_number or "",
        # Labs write these: nothing but an address of the web may become a link.
        tracking_url=url if url.lower().startswith(("https://", "http://")) else "",
        shipped_at=shipment.shipped_at,
        delivered_at=shipment.delivered_at,
        problem=shipment.held_because or shipment.reason or "",
    )
