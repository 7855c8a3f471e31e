"""What the page of an image draws to choose which part of it is printed."""

from fractions import Fraction
from typing import Final

import msgspec

from printworks.catalogue.products import Product
from printworks.rules.images import ImageStatus
from printworks.rules.sizing import Sizing, place
from printworks.store.images.images import Image

# The longer side of the drawing.
_DRAWN: Final = 1000


class Cropper(msgspec.Struct, frozen=True, kw_only=True):
    """The whole picture to scale, and in it the part that is printed."""

    address: str
    width: float
    height: float
    left: float
    top: float
    kept_width: float
    kept_height: float
    # The part that is printed at zoom 1, and its density.
    most_width: float
    most_height: float
    most_dpi: float
    dpi: int
    # Whether the part is printed at all, or the whole picture.
    is_used: bool

    @property
    def outline(self) -> str:
        """The outside of the part, as a path: the picture, and a hole in it."""
        return (
            f"M0 0H{self.width}V{self.height}H0Z"
            f"M{self.left} {self.top}h{self.kept_width}v{self.kept_height}h{-self.kept_width}Z"
        )

    @property
    def thirds(self) -> str:
        """Two lines across and two down, as photographers divide a picture."""
        wide, high = round(self.kept_width / 3, 1), round(self.kept_height / 3, 1)
        return (
            f"M{self.left + wide:.1f} {self.top}v{self.kept_height}"
            f"M{self.left + 2 * wide:.1f} {self.top}v{self.kept_height}"
            f"M{self.left} {self.top + high:.1f}h{self.kept_width}"
            f"M{self.left} {self.top + 2 * high:.1f}h{self.kept_width}"
        )


def describe_cropper(image: Image, product: Product | None) -> Cropper | None:
    """Return the drawing of an image whose picture is there; None for any other."""
    picture = image.pixels
    is_there = image.status is ImageStatus.OK and image.picture_id is not None
    if picture is None or product is None or not is_there:
        return None
    most = place(picture, product.print_area, Sizing.CROP)
    now = place(picture, product.print_area, Sizing.CROP, image.position)
    scale = Fraction(_DRAWN, max(picture))

    def draw(length: int) -> float:
        return round(float(length * scale), 1)

    which = f"?v={image.edition}" if image.edition else ""
    return Cropper(
        address=f"/orders/{image.order_id}/images/{image.id}/picture{which}",
        width=draw(picture.width),
        height=draw(picture.height),
        left=draw(now.box.left),
        top=draw(now.box.top),
        kept_width=draw(now.box.width),
        kept_height=draw(now.box.height),
        most_width=draw(most.box.width),
        most_height=draw(most.box.height),
        most_dpi=round(float(most.effective_dpi), 2),
        dpi=round(now.effective_dpi),
        is_used=image.sizing is Sizing.CROP,
    )
