"""The images of an order as people see them: name and proof, what is cut off, and how sharp it will be."""

from fractions import Fraction
from typing import Final, NamedTuple

import msgspec

from printworks.catalogue.products import Product, explain_misfit
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import name_attribute
from printworks.rules.images import ImageStatus
from printworks.rules.sharpness import Sharpness, SharpnessLimits, count_dpi, judge_sharpness
from printworks.rules.sizing import Placement, Sizing, mismatch, place
from printworks.rules.submission import ImageWarning, find_size_warnings
from printworks.store.images.images import Image
from printworks.store.orders.orders import Order
from printworks.wire.links import Links

# The longer side of the drawing that shows what is cut off.
_DRAWN: Final = 100
_HUNDRED: Final = 100
_CM_SIGN: Final = "cm"


class Crop(NamedTuple):
    """A drawing to scale: the whole picture, and in it the part that is printed."""

    width: float
    height: float
    left: float
    top: float
    kept_width: float
    kept_height: float


class ImageView(msgspec.Struct, frozen=True, kw_only=True):
    """An image and all that is known of it."""

    id: int
    # What people call it, and on what it is printed.
    name: str
    title: str
    sku: str
    status: ImageStatus
    copies: int
    price: int
    total: int
    sizing: Sizing
    choices: tuple[str, ...]
    error: str
    # Empty until the picture has come.
    preview: str = ""
    thumbnail: str = ""
    # Empty until it is drawn.
    mockup: str = ""
    pixels: str = ""
    size: str = ""
    # How it lies on the paper, if that is not how the product is described.
    printed: str = ""
    dpi: int | None = None
    # What people will see, and a sentence with the numbers unless that is sharp.
    sharpness: Sharpness | None = None
    density_note: str = ""
    percent_lost: int = 0
    warnings: tuple[str, ...] = ()
    crop: Crop | None = None
    price_to_user: int | None = None


def describe_image(
    image: Image, order: Order, catalogue: Catalogue, links: Links, limits: SharpnessLimits
) -> ImageView:
    """Return what pages show of an image."""
    product = catalogue.find_product(image.sku)
    preview, thumbnail = links.proofs(image.id, image.edition) if image.has_proofs else ("", "")
    placement = _place(image, product)
    sharpness, note = _judge(product, placement, limits)
    return ImageView(
        id=image.id,
        name=image.title,
        title=product.description if product else image.sku,
        sku=image.sku,
        status=image.status,
        copies=image.copies,
        price=image.price,
        total=image.price * image.copies,
        sizing=image.sizing,
        choices=tuple(f"{name_attribute(k)}: {v}" for k, v in image.attributes.items()),
        error=image.error_message or "",
        preview=preview,
        thumbnail=thumbnail,
        mockup=links.mockup(image.id, image.edition) if image.mockup else "",
        pixels=f"{image.width} \N{MULTIPLICATION SIGN} {image.height}" if image.pixels else "",
        size=write_size(product) if product else "",
        printed=_say_how_it_lies(placement),
        dpi=count_dpi(placement.effective_dpi) if placement else None,
        sharpness=sharpness,
        density_note=note,
        percent_lost=round(placement.percent_lost) if placement else 0,
        warnings=(
            *_warn_of_size(image, product, placement, sharpness),
            *_warn_of_product(image, order, product),
        ),
        crop=make_crop(placement) if placement else None,
        price_to_user=image.price_to_user,
    )


def write_size(product: Product, *, is_turned: bool = False) -> str:
    """Return the sides of the print area, as in 10 by 15 cm."""
    sign = _CM_SIGN if product.units.value == _CM_SIGN else "in"
    sides = (product.image_size.width, product.image_size.height)
    width, height = sides[::-1] if is_turned else sides
    return f"{width} \N{MULTIPLICATION SIGN} {height} {sign}"


def _place(image: Image, product: Product | None) -> Placement | None:
    if product is None or image.pixels is None:
        return None
    return place(image.pixels, product.print_area, image.sizing, image.position)


def _judge(
    product: Product | None, placement: Placement | None, limits: SharpnessLimits
) -> tuple[Sharpness | None, str]:
    """Return how sharp a picture will look, and the numbers unless it is sharp."""
    if product is None or placement is None:
        return None, ""
    dpi, box = count_dpi(placement.effective_dpi), placement.box
    sharpness = judge_sharpness(dpi, limits)
    if sharpness is Sharpness.SHARP:
        return sharpness, ""
    size = write_size(product, is_turned=placement.is_turned)
    by = "\N{MULTIPLICATION SIGN}"
    return sharpness, (
        f"{box.width} {by} {box.height} pixels are {dpi} dpi at {size}; "
        f"{limits.sharp_from} or more look sharp."
    )


def _say_how_it_lies(placement: Placement | None) -> str:
    """Say that the print file is turned: the proofs are shown upright."""
    if placement is None or not placement.is_turned:
        return ""
    picture = placement.picture
    return "printed landscape" if picture.width > picture.height else "printed portrait"


def _warn_of_size(
    image: Image,
    product: Product | None,
    placement: Placement | None,
    sharpness: Sharpness | None,
) -> tuple[str, ...]:
    if product is None or placement is None or image.status is not ImageStatus.OK:
        return ()
    found = find_size_warnings(image.status, placement, product.recommended_pixels)
    return tuple(
        write_warning(warning, product, placement)
        for warning in found
        # Said with other words already, unless the product asks for more than looks sharp.
        if warning is not ImageWarning.PICTURE_SIZE_TOO_SMALL or sharpness is Sharpness.SHARP
    )


def write_warning(warning: ImageWarning, product: Product, placement: Placement) -> str:
    """Say with numbers what is doubtful about a picture on a product."""
    if warning is ImageWarning.CROPPING_WILL_OCCUR:
        return _write_misfit(placement)
    area, recommended = product.print_area, product.recommended_pixels
    wanted = round(min(recommended.width / area.width, recommended.height / area.height))
    return (
        f"At {write_size(product)} this picture has {round(placement.effective_dpi)} dpi; "
        f"{wanted} dpi are recommended."
    )


def _write_misfit(placement: Placement) -> str:
    match placement.sizing:
        case Sizing.CROP:
            return f"{write_percent(placement.percent_lost)} of the picture is cropped."
        case Sizing.SHRINK_TO_FIT:
            white = _HUNDRED * (1 - placement.covers.width * placement.covers.height)
            return f"{write_percent(white)} of the paper stays white."
        case Sizing.SHRINK_TO_EXACT_FIT:
            picture = placement.picture.turned() if placement.is_turned else placement.picture
            stretched = _HUNDRED * (mismatch(picture, placement.area) - 1)
            return f"The picture is stretched by {write_percent(stretched)} to fit."


def write_percent(percent: Fraction) -> str:
    """Return `12 %`, and never `0 %` for something."""
    rounded = round(percent)
    return f"{rounded} %" if rounded else "Less than 1 %"


def _warn_of_product(image: Image, order: Order, product: Product | None) -> tuple[str, ...]:
    if product is None:
        return ("This product is no longer in the catalogue.",)
    country = order.destination_country
    if country is not None and not product.is_sold_to(country):
        return ("This product is not sold to the country of this order.",)
    misfit = explain_misfit(product, image.attributes)
    return () if misfit is None else (misfit,)


def make_crop(placement: Placement) -> Crop | None:
    """Return the drawing of what is cut off; None if nothing is."""
    is_cut = placement.will_be_cropped or placement.percent_lost >= 1
    if placement.sizing is not Sizing.CROP or not is_cut:
        return None
    picture, box = placement.picture, placement.box
    scale = Fraction(_DRAWN, max(picture))

    def draw(length: int) -> float:
        return round(float(length * scale), 1)

    return Crop(
        width=draw(picture.width),
        height=draw(picture.height),
        left=draw(box.left),
        top=draw(box.top),
        kept_width=draw(box.width),
        kept_height=draw(box.height),
    )
