"""When shipments would arrive, as it looks today."""

from printworks.actions.production.routing import estimate_anew
from printworks.api.endpoints import Call
from printworks.store.images.images import Images
from printworks.store.labs.shipments import Shipment, Shipments


def estimate_today(call: Call, images: Images, shipments: Shipments) -> list[Shipment]:
    """Return shipments of which no plan promises days that have passed."""
    return [
        estimate_anew(shipment, images, call.catalogue, now=call.now)
        if shipment.state is None and shipment.created_at.date() != call.now.date()
        else shipment
        for shipment in shipments
    ]
