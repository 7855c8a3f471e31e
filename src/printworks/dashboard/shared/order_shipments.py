"""The shipments of an order as the merchant sees them."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

import msgspec

from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.dates import write_days
from printworks.dashboard.shared.labels import begin_sentence, count, join, name_carrier
from printworks.dashboard.shared.order_routing import show_lab
from printworks.rules.production import LabState
from printworks.store.images.images import Image
from printworks.store.orders.shipments import Shipment

# So many products of a shipment are named before the rest is only counted.
_NAMED: Final = 3


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


def explain_shipments(
    shipments: Sequence[Shipment], images: Sequence[Image], catalogue: Catalogue
) -> str:
    """Say in a sentence or two who prints what, and what cannot travel together."""
    if not shipments:
        return ""
    if len(shipments) == 1:
        return f"One shipment from {show_lab(shipments[0].lab, catalogue)}."
    sentences = [f"It travels in {len(shipments)} shipments."]
    bands = list(dict.fromkeys(shipment.band for shipment in shipments))
    if len(bands) > 1:
        sentences.append(f"{join(bands)} are packed differently and cannot share one.")
    if len({shipment.lab for shipment in shipments}) > 1:
        skus = {image.id: image.sku for image in images}
        sentences.append(f"{begin_sentence(_describe_labs(shipments, skus, catalogue))}.")
    return " ".join(sentences)


def _describe_labs(
    shipments: Sequence[Shipment], skus: dict[int, str], catalogue: Catalogue
) -> str:
    by_lab: dict[str, list[str]] = {}
    for shipment in shipments:
        found = [skus[image] for image in shipment.image_ids if image in skus]
        by_lab.setdefault(shipment.lab, []).extend(found)
    return "; ".join(
        f"{show_lab(lab, catalogue)} prints {_name_products(found, catalogue)}"
        for lab, found in by_lab.items()
    )


def _name_products(skus: Sequence[str], catalogue: Catalogue) -> str:
    different = list(dict.fromkeys(skus))
    named = [
        product.description if (product := catalogue.find_product(sku)) else sku
        for sku in different[:_NAMED]
    ]
    rest = len(different) - len(named)
    return join([*named, count(rest, "more product")] if rest else named)
