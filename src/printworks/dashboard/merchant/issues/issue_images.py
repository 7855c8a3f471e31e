"""The images of an order as one chooses among them, or as an issue is about them."""

from collections.abc import Collection, Iterable

import msgspec

from printworks.catalogue.snapshot import Catalogue
from printworks.rules.images import ImageStatus
from printworks.store.images.images import Image
from printworks.wire.links import Links


class Tile(msgspec.Struct, frozen=True, kw_only=True):
    """An image with its picture."""

    id: int
    description: str
    copies: int
    # Empty where there is nothing to see.
    thumbnail: str
    preview: str
    is_chosen: bool


def make_tiles(
    images: Iterable[Image], catalogue: Catalogue, links: Links, chosen: Collection[int] = ()
) -> list[Tile]:
    """Return images as they are shown."""
    return [_make_tile(image, catalogue, links, chosen) for image in images]


def _make_tile(image: Image, catalogue: Catalogue, links: Links, chosen: Collection[int]) -> Tile:
    product = catalogue.find_product(image.sku)
    preview, thumbnail = links.proofs(image.id) if image.status is ImageStatus.OK else ("", "")
    return Tile(
        id=image.id,
        description=product.description if product else image.sku,
        copies=image.copies,
        thumbnail=thumbnail,
        preview=preview,
        is_chosen=image.id in chosen,
    )
