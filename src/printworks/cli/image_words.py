"""What `printworks image check` says about an image: facts, advice, and a little sketch."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from printworks.actions.images.preflight import Passed
from printworks.catalogue.products import Product
from printworks.rules.sizing import Pixels, Placement, Sizing, place
from printworks.rules.submission import ImageWarning

# The size of the sketch, in letters, which are about twice as high as wide.
MOST_COLUMNS: Final = 40
MOST_ROWS: Final = 12
PRINTED, CUT_OFF, WHITE = "#", ".", " "


def list_facts(product: Product, passed: Passed) -> list[tuple[str, str]]:
    """Return the facts about an image, each with its label."""
    placement = passed.placement
    left, top, width, height = placement.box
    return [
        ("product", f"{product.sku}, {product.description}"),
        ("format", passed.facts.format),
        ("pixels", str(placement.picture)),
        ("recommended", f"{_recommended(product, placement)} or more"),
        ("print area", f"{product.image_size} {product.units}"),
        ("sizing", placement.sizing),
        ("density", f"{write_number(placement.effective_dpi)} pixels to the inch"),
        ("cut off", f"{write_number(placement.percent_lost)} per cent"),
        ("turned", "by a quarter, clockwise" if placement.is_turned else "no"),
        ("crop box", f"{width}x{height}, {left} from the left and {top} from the top"),
    ]


def explain(warning: ImageWarning, product: Product, placement: Placement) -> str:
    """Say what a warning means for this image, and what to do about it."""
    match warning:
        case ImageWarning.PICTURE_SIZE_TOO_SMALL:
            return _explain_smallness(product, placement)
        case ImageWarning.CROPPING_WILL_OCCUR:
            return _explain_cropping(product, placement)
        case _:
            return ""


def _explain_smallness(product: Product, placement: Placement) -> str:
    area, wanted = placement.area, product.recommended_pixels
    wanted_dpi = round(max(wanted.width / area.width, wanted.height / area.height))
    dpi = placement.effective_dpi
    has = write_number(dpi) if round(dpi, 1) < wanted_dpi else f"a little less than {wanted_dpi}"
    return (
        f"The print would have {has} pixels to the inch; {wanted_dpi} are recommended: "
        f"send at least {_recommended(product, placement)}."
    )


def _explain_cropping(product: Product, placement: Placement) -> str:
    picture = placement.picture
    best = place(picture, placement.area, Sizing.CROP).box
    if (best.width, best.height) == picture:
        # Of a handful of pixels none can be spared.
        shape = _recommended(product, placement)
        return f"The picture has another shape than the print: send one of the shape of {shape}."
    cut = f"cut it to {best.width}x{best.height} yourself"
    match placement.sizing:
        case Sizing.CROP:
            left, top = best.left, best.top
            right = picture.width - left - best.width
            bottom = picture.height - top - best.height
            sides = (
                f"{left} pixels at the left and {right} at the right"
                if best.width < picture.width
                else f"{top} pixels at the top and {bottom} at the bottom"
            )
            return (
                f"{write_number(placement.percent_lost)} per cent of the picture would be cut off, "
                f"{sides}: {cut}, or choose ShrinkToFit to keep all of it."
            )
        case Sizing.SHRINK_TO_FIT:
            return (
                f"{_find_margin(product, placement):.2f} {product.units} of the print would stay "
                f"white along two of its edges: {cut}, or choose Crop to fill it."
            )
        case Sizing.SHRINK_TO_EXACT_FIT:
            across, down = placement.densities
            is_wider = (across < down) is not placement.is_turned
            percent = 100 * (max(across, down) / min(across, down) - 1)
            return (
                f"The picture would be stretched by {write_number(percent)} per cent in "
                f"{'width' if is_wider else 'height'}: {cut}, or choose Crop or ShrinkToFit."
            )


def _find_margin(product: Product, placement: Placement) -> float:
    """Return how wide the white edges are, in the units of the product."""
    size, covers = product.image_size, placement.covers
    white = (float(size.width) * (1 - covers.width), float(size.height) * (1 - covers.height))
    return max(white) / 2


def sketch(placement: Placement) -> Iterator[str]:
    """Sketch the image and what is printed of it, or the paper if some of that stays white."""
    picture, box = placement.picture, placement.box
    if placement.sizing is Sizing.SHRINK_TO_FIT:
        # As the picture stands, like everything else that is said of it.
        area = placement.area.turned() if placement.is_turned else placement.area
        covers = reversed(placement.covers) if placement.is_turned else placement.covers
        columns, rows = _scale(area.width / area.height)
        across, down = covers
        rest, legend = WHITE, f"{PRINTED} picture, on the white paper"
    else:
        columns, rows = _scale(Fraction(picture.width, picture.height))
        across = Fraction(box.width, picture.width)
        down = Fraction(box.height, picture.height)
        rest, legend = CUT_OFF, f"{PRINTED} printed, {CUT_OFF} cut off"
    left, top = _spare(columns, across), _spare(rows, down)
    empty = rest * columns
    filled = rest * left + PRINTED * (columns - 2 * left) + rest * left
    yield f"+{'-' * columns}+"
    for row in range(rows):
        yield f"|{filled if top <= row < rows - top else empty}|"
    yield f"+{'-' * columns}+"
    yield legend


def _scale(ratio: Fraction) -> tuple[int, int]:
    """Return the columns and rows of a sketch of this shape."""
    if ratio * 2 * MOST_ROWS <= MOST_COLUMNS:
        return max(1, round(ratio * 2 * MOST_ROWS)), MOST_ROWS
    return MOST_COLUMNS, max(1, round(MOST_COLUMNS / ratio / 2))


def _spare(length: int, share: Fraction) -> int:
    """Return how much of a length lies on either side of a share in its middle."""
    return min((length - 1) // 2, round(length * (1 - share) / 2))


def _recommended(product: Product, placement: Placement) -> Pixels:
    """Return the recommended size, as the picture stands."""
    wanted = product.recommended_pixels
    return wanted.turned() if placement.is_turned else wanted


def write_number(value: Fraction) -> str:
    """Write a number with one digit behind the point, if it needs one."""
    return f"{float(round(value, 1)):.1f}".removesuffix(".0")
