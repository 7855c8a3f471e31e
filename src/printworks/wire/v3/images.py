"""Images as 3.0 shows and takes them."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from printworks.rules.images import ImageStatus
from printworks.rules.sizing import Sizing
from printworks.store.images.images import Image, NewImage
from printworks.wire.images import show_shared_members
from printworks.wire.links import Links
from printworks.wire.reading import (
    Attributes,
    Copies,
    CropPlacement,
    Md5,
    Price,
    Url,
    by_lower_name,
    read,
    text,
)

Sku = Annotated[str, Meta(max_length=100), text(100)]


class AddImage(msgspec.Struct, frozen=True, kw_only=True):
    """A picture to print, and on what."""

    sku: Sku
    url: Url
    copies: Copies
    sizing: Sizing = Sizing.CROP
    priceToUser: Price | None = None
    md5Hash: Md5 | None = None
    attributes: Attributes | None = None
    placement: CropPlacement | None = None

    def to_new_image(self) -> NewImage:
        return NewImage(
            sku=self.sku,
            url=self.url,
            copies=self.copies,
            sizing=self.sizing,
            price_to_user=self.priceToUser,
            expected_md5=self.md5Hash,
            attributes=self.attributes or {},
            placement=self.placement,
        )


class ChangeImage(msgspec.Struct, frozen=True, kw_only=True):
    """What changes an image: what is left out, or null, stays as it is.

    Attributes that are not named stay if the product offers them. A `placement` of null is the middle.
    """

    sku: Sku | UnsetType = UNSET
    copies: Copies | UnsetType = UNSET
    sizing: Sizing | UnsetType = UNSET
    attributes: Attributes | UnsetType = UNSET
    placement: CropPlacement | UnsetType | None = UNSET


def read_changes(sent: object) -> dict[str, object]:
    """Read what is to be changed of an image."""
    wanted = msgspec.structs.asdict(read(ChangeImage, sent))
    changes = {name: value for name, value in wanted.items() if value is not UNSET}
    if isinstance(sent, Mapping) and by_lower_name(sent).get("placement", UNSET) is None:
        # As it is shown: null is the middle, and not what is to be kept.
        changes["placement"] = None
    return changes


class PlacementOut(msgspec.Struct, frozen=True):
    """Which part of the picture is printed, where it is cropped.

    `x` and `y` go from 0 (left, top) to 1 (right, bottom); `zoom` 2 shows half as much as 1.
    """

    x: float
    y: float
    zoom: float


class ImageOut(msgspec.Struct, frozen=True):
    """A picture to print."""

    id: int
    sku: str
    url: str | None
    status: ImageStatus
    copies: int
    sizing: Sizing
    price: int
    priceToUser: int | None
    md5Hash: str | None
    previewUrl: str | None
    thumbnailUrl: str | None
    mockupUrl: str | None
    attributes: dict[str, str]
    errorMessage: str | None
    # Null is the middle.
    placement: PlacementOut | None

    @classmethod
    def of(cls, image: Image, links: Links) -> Self:
        mockup = None if image.mockup is None else links.mockup(image.id, image.edition)
        placement = None if image.placement is None else PlacementOut(**image.placement)
        shared = show_shared_members(image, links)
        return cls(**shared, sku=image.sku, mockupUrl=mockup, placement=placement)


class ImageListOut(msgspec.Struct, frozen=True):
    """The images that a batch added."""

    items: list[ImageOut]
    errorMessage: str | None = None


class BatchOut(msgspec.Struct, frozen=True):
    """The answer to a batch: clients look for the images in either of two places."""

    data: ImageListOut
    items: list[ImageOut]
    errorMessage: str | None = None
    statusTxt: str = "OK"
    statusCode: int = 200

    @classmethod
    def of(cls, images: Sequence[Image], links: Links) -> Self:
        items = [ImageOut.of(image, links) for image in images]
        return cls(data=ImageListOut(items), items=items)
