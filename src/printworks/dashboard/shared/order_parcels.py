"""In how many parcels an order travels, and why: without what labs charge us."""

from collections.abc import Sequence
from typing import Final

from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import begin_sentence, count, join
from printworks.dashboard.shared.order_routing import show_lab
from printworks.store.images.images import Image
from printworks.store.orders.shipments import Shipment

# So many products of a parcel are named before the rest is only counted.
_NAMED: Final = 3


def explain_parcels(
    shipments: Sequence[Shipment], images: Sequence[Image], catalogue: Catalogue
) -> str:
    """Say in a sentence or two who prints what, and what cannot travel together."""
    if not shipments:
        return ""
    if len(shipments) == 1:
        return f"One parcel from {show_lab(shipments[0].lab, catalogue)}."
    sentences = [f"It travels in {len(shipments)} parcels."]
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
