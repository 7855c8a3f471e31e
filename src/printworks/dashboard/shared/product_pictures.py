"""Pictures of products: a photograph, or a drawing from what the catalogue says: kind, sides, colours.

A page that shows drawings has the motif once, wherever it likes, and then as many as it needs:

    {{ draw_motif() }} … {{ draw_product(product) }} … {{ draw_product(product, {"frameColour": "white"}) }}

They are decoration: the name of the product stands beside them in words.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from markupsafe import Markup

from printworks.catalogue.products import Product
from printworks.rules.product_pictures import find_hash

_SIDE: Final = 120
# The longer side of what is drawn true to its proportions.
_LONGEST: Final = 88
# A strip of paper would be a line: what is longer than this is drawn shorter.
_LONGEST_SHAPE: Final = 2.6
_MIDDLE: Final = _SIDE / 2
_SHADOW: Final = 'fill="#000" opacity=".16"'
_EDGE: Final = 'stroke="#000" stroke-opacity=".18" stroke-width=".75"'
_PAPER: Final = f'fill="#fff" {_EDGE}'
_RAG: Final = f'fill="#fbf9f3" {_EDGE}'
_OUTLINE: Final = f'fill="none" {_EDGE}'
# How many of a set lie side by side.
_SETS: Final[Mapping[str, int]] = {"Four": 2, "Nine": 3}
_DARK: Final = 'fill="#1f2125"'

# What a colour that can be chosen looks like, by its name in the catalogue.
COLOURS: Final[Mapping[str, str]] = {
    "black": "#26282d",
    "white": "#fdfdfb",
    "natural": "#d3a871",
    "brown": "#71472c",
    "gold": "#c79a3b",
    "silver": "#b4b9c0",
    "red": "#c0392f",
    "blue": "#3d6db5",
    "green": "#3f8457",
    "yellow": "#eec141",
    "grey": "#9a9fa7",
    "navy": "#283a5e",
    "pink": "#efb4c4",
}

_MOTIF: Final = """\
<svg class="visually-hidden" aria-hidden="true" focusable="false"><symbol id="motif" viewBox="0 0 90 90" \
preserveAspectRatio="xMidYMid slice"><rect width="90" height="90" fill="#f6d9b8"/>\
<rect width="90" height="34" fill="#a9cfe6"/><rect y="34" width="90" height="16" fill="#f3c9a0"/>\
<circle cx="58" cy="40" r="9" fill="#f9e29b"/><path d="M0 50 24 26l16 18 12-9 38 19v8H0z" fill="#6f8fb0"/>\
<path d="M0 56c18-10 34-8 48-2s28 4 42-3v12H0z" fill="#4f8a72"/><rect y="60" width="90" height="30" fill="#79b3c8"/>\
<path d="M46 62h24l-5 3 9 3-13 4 7 4-20 6 6-7-12-4 9-3-11-3z" fill="#f9e29b" opacity=".75"/>\
<path d="M0 90V72c12-3 22 0 30 6s18 8 26 12z" fill="#2f5d50"/></symbol></svg>"""


class DrawnBox(NamedTuple):
    """Where something is drawn."""

    x: float
    y: float
    width: float
    height: float

    def inside(self, margin: float) -> "DrawnBox":
        """Return what is left within a margin."""
        return DrawnBox(
            self.x + margin, self.y + margin, self.width - 2 * margin, self.height - 2 * margin
        )

    def moved(self, right: float, down: float) -> "DrawnBox":
        """Return the same box elsewhere."""
        return DrawnBox(self.x + right, self.y + down, self.width, self.height)


def draw_motif() -> Markup:
    """Return the picture that is printed on every drawing; a page has it once."""
    return Markup(_MOTIF)  # noqa: S704  (nothing in it comes from anywhere)


def draw_product(product: Product, chosen: Mapping[str, str] | None = None) -> Markup:
    """Return the photograph of a product, or its drawing in the colours that were chosen or are usual."""
    photograph = show_photograph(product.picture)
    if photograph:
        return photograph
    draw = _DRAWINGS.get(product.kind, _draw_print)
    content = draw(product, _find_colour(product, chosen or {}))
    # Numbers and colours of ours, and no text of anybody.
    return Markup(  # noqa: S704
        f'<svg class="drawing" viewBox="0 0 {_SIDE} {_SIDE}" aria-hidden="true">{content}</svg>'
    )


def show_photograph(name: str | None) -> Markup:
    """Return the photograph that a catalogue names; empty if it names none that is stored."""
    picture = find_hash(name)
    if picture is None:
        return Markup()
    # Another picture has another address.
    image = Markup(
        '<img class="drawing photo" src="/product-pictures/{}.jpg" alt="" loading="lazy">'
    )
    return image.format(picture)


def draw_swatch(value: str) -> Markup | None:
    """Return a dot in the colour of a choice; None if it is no colour."""
    colour = COLOURS.get(value.casefold())
    if colour is None:
        return None
    return Markup(  # noqa: S704
        '<svg class="swatch" viewBox="0 0 20 20" aria-hidden="true">'
        f'<circle cx="10" cy="10" r="9" fill="{colour}" stroke="#8a8f98"/></svg>'
    )


def _find_colour(product: Product, chosen: Mapping[str, str]) -> str:
    """Return the colour of a frame or a shirt: the chosen one, the usual one, or the first."""
    for attribute in product.attributes:
        if attribute.name.casefold().endswith(("colour", "edge", "wrap")):
            value = chosen.get(attribute.name) or attribute.default or attribute.valid_values[0]
            return COLOURS.get(value.casefold(), "")
    return COLOURS["gold"] if "gold" in product.description.casefold() else ""


def _fit(width: float, height: float, longest: float = _LONGEST) -> DrawnBox:
    """Return the largest box of a shape, in the middle of the drawing."""
    shape = min(max(width / height, 1 / _LONGEST_SHAPE), _LONGEST_SHAPE)
    wide, high = (longest, longest / shape) if shape >= 1 else (longest * shape, longest)
    return DrawnBox(_MIDDLE - wide / 2, _MIDDLE - high / 2, wide, high)


def _fit_product(product: Product, longest: float = _LONGEST) -> DrawnBox:
    return _fit(float(product.full_size.width), float(product.full_size.height), longest)


def _rect(box: DrawnBox, more: str, radius: float = 0) -> str:
    x, y, width, height = (f"{side:.4g}" for side in box)
    rounded = f' rx="{radius:g}"' if radius else ""
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}"{rounded} {more}/>'


def _motif(box: DrawnBox) -> str:
    x, y, width, height = (f"{side:.4g}" for side in box)
    return f'<use href="#motif" x="{x}" y="{y}" width="{width}" height="{height}"/>'


def _draw_print(product: Product, _colour: str) -> str:
    """A photograph on top of another."""
    box = _fit_product(product, 80)
    under = _rect(box, f'{_PAPER} transform="rotate(7 60 60)"')
    top = f"{_rect(box.moved(1.5, 2), _SHADOW)}{_rect(box, _PAPER)}{_motif(box.inside(3))}"
    return f'{under}<g transform="rotate(-3 60 60)">{top}</g>'


def _draw_poster(product: Product, _colour: str) -> str:
    """A sheet on a wall, between two strips of wood."""
    box = _fit_product(product, 82)
    strip = DrawnBox(box.x - 3, box.y - 3, box.width + 6, 4)
    cord = f'<path d="M{box.x:.4g} {box.y - 3:.4g} 60 {box.y - 13:.4g} {box.x + box.width:.4g} {box.y - 3:.4g}" '
    wood = f'fill="{COLOURS["natural"]}"'
    return (
        f'{_rect(box.moved(2, 3), _SHADOW)}{_motif(box)}{cord}fill="none" stroke="#77716a"/>'
        f"{_rect(strip, wood, 1)}{_rect(strip.moved(0, box.height + 2), wood, 1)}"
    )


def _draw_fine_art(product: Product, _colour: str) -> str:
    """A sheet with a white margin, as galleries sell it."""
    box = _fit_product(product)
    return f"{_rect(box.moved(2, 3), _SHADOW)}{_rect(box, _RAG)}{_motif(box.inside(9))}"


def _draw_canvas(product: Product, colour: str) -> str:
    """A stretched canvas, seen a little from the side; or in a floating frame."""
    if any("frame" in attribute.name for attribute in product.attributes):
        return _draw_frame(product, colour, gap="#3a3733")
    box = _fit_product(product, 80).moved(-4, 0)
    right, low, deep = box.x + box.width, box.y + box.height, 8
    side = (
        f'<path d="M{right:.4g} {box.y:.4g}l{deep} 5v{box.height:.4g}l-{deep}-5z" '
        f'fill="{colour or "#5d86a0"}" {_EDGE}/>'
    )
    shadow = f'<path d="M{box.x + 4:.4g} {low:.4g}h{box.width + deep - 4:.4g}v9z" {_SHADOW}/>'
    return f"{shadow}{side}{_motif(box)}{_rect(box, _OUTLINE)}"


def _draw_frame(product: Product, colour: str, gap: str = "") -> str:
    """A frame, with a mount where the picture is smaller than the frame."""
    box = _fit_product(product)
    wood = f'fill="{colour or COLOURS["black"]}" {_EDGE}'
    opening = box.inside(6)
    mount, picture = "", opening
    if product.image_size != product.full_size:
        scale = box.width / float(product.full_size.width)
        room = float(product.full_size.width - product.image_size.width) * scale / 2
        picture = opening.inside(min(max(room - 6, 7), 0.28 * min(opening.width, opening.height)))
        mount = f"{_rect(opening, _RAG)}{_rect(picture.inside(-1), _SHADOW)}"
    elif gap:
        picture = opening.inside(2.5)
        mount = _rect(opening, f'fill="{gap}"')
    inner = _rect(opening, 'fill="none" stroke="#000" stroke-opacity=".35"')
    return f"{_rect(box.moved(2, 4), _SHADOW)}{_rect(box, wood)}{mount}{_motif(picture)}{inner}"


def _draw_block(product: Product, _colour: str) -> str:
    """A block of clear acrylic glass."""
    box = _fit_product(product, 78).moved(-4, 2)
    right = box.x + box.width
    top = f'<path d="M{box.x:.4g} {box.y:.4g}l9-8h{box.width:.4g}l-9 8z" fill="#e3f1f6" {_EDGE}/>'
    side = f'<path d="M{right:.4g} {box.y:.4g}l9-8v{box.height:.4g}l-9 8z" fill="#b5d3df" {_EDGE}/>'
    shine = (
        f'<path d="M{box.x:.4g} {box.y + box.height * 0.55:.4g} {box.x + box.width * 0.55:.4g} {box.y:.4g}'
        f'h{box.width * 0.2:.4g}L{box.x:.4g} {box.y + box.height * 0.75:.4g}z" fill="#fff" opacity=".35"/>'
    )
    return f"{top}{side}{_motif(box)}{shine}"


def _draw_panel(product: Product, _colour: str) -> str:
    """A panel that stands off the wall."""
    box = _fit_product(product, 82)
    wood = f'fill="{COLOURS["natural"]}"'
    return f"{_rect(box.moved(6, 7), _SHADOW)}{_rect(box.moved(3, 3), wood)}{_motif(box)}"


def _draw_small(product: Product, _colour: str) -> str:
    """A sticker or magnet with round corners, or a set of them."""
    across = next((n for word, n in _SETS.items() if product.description.startswith(word)), 1)
    whole = _fit_product(product, 64 if across == 1 else 88)
    gap = 5.0
    wide, high = ((side - gap * (across - 1)) / across for side in (whole.width, whole.height))
    first = DrawnBox(whole.x, whole.y, wide, high)
    places = [
        first.moved(column * (wide + gap), row * (high + gap))
        for row in range(across)
        for column in range(across)
    ]
    return "".join(
        f"{_rect(box.moved(1.5, 2.5), _SHADOW, 4)}{_rect(box, _PAPER, 4)}{_motif(box.inside(2.5))}"
        for box in places
    )


def _draw_mug(_product: Product, _colour: str) -> str:
    white = f'fill="#fcfcfa" {_EDGE}'
    return (
        '<ellipse cx="58" cy="100" rx="40" ry="6" fill="#000" opacity=".14"/>'
        '<path d="M78 42h10a18 18 0 0 1 0 36H78" fill="none" stroke="#000" stroke-opacity=".2" stroke-width="9"/>'
        '<path d="M78 42h10a18 18 0 0 1 0 36H78" fill="none" stroke="#f4f4f0" stroke-width="7.5"/>'
        f'<path d="M20 26h62v64a10 10 0 0 1-10 10H30a10 10 0 0 1-10-10z" {white}/>'
        f'{_motif(DrawnBox(20, 38, 62, 46))}<path d="M20 26h9v74a10 10 0 0 1-9-10z" fill="#000" opacity=".07"/>'
        f'<ellipse cx="51" cy="26" rx="31" ry="6" {white}/><ellipse cx="51" cy="27" rx="26" ry="4" fill="#d9d6cf"/>'
    )


def _draw_keyring(product: Product, _colour: str) -> str:
    box = _fit_product(product, 58).moved(0, 18)
    return (
        '<circle cx="60" cy="24" r="15" fill="none" stroke="#8f959d" stroke-width="3.5"/>'
        '<path d="M60 38v9" stroke="#8f959d" stroke-width="4"/>'
        f"{_rect(box.inside(-4).moved(1.5, 2.5), _SHADOW, 7)}{_rect(box.inside(-4), _PAPER, 7)}"
        f"{_motif(box)}"
    )


def _draw_case(product: Product, _colour: str) -> str:
    box = _fit_product(product, 100)
    camera = DrawnBox(box.x + 5, box.y + 5, 15, 15)
    return (
        f"{_rect(box.moved(2, 3), _SHADOW, 9)}{_rect(box, _DARK, 9)}{_motif(box.inside(2.5))}"
        f"{_rect(camera, _DARK, 4)}"
        f'<circle cx="{camera.x + 5:.4g}" cy="{camera.y + 5:.4g}" r="2.6" fill="#56606c"/>'
        f'<circle cx="{camera.x + 10:.4g}" cy="{camera.y + 10:.4g}" r="2.6" fill="#56606c"/>'
    )


_TEE: Final = "M44 22c4 7 28 7 32 0l16 6 16 18-14 12-6-6v50H32V52l-6 6-14-12 16-18z"
_LONG: Final = "M44 22c4 7 28 7 32 0l15 6 17 62-13 5-7-30v37H32V65l-7 30-13-5 17-62z"
_TANK: Final = "M44 20c2 16 30 16 32 0h8c0 16 2 22 6 28v54H30V48c4-6 6-12 6-28z"
_BODY: Final = "M46 22c4 6 24 6 28 0l14 6 12 16-12 9-4-4v26L68 98H52L36 75V49l-4 4-12-9 12-16z"
_HOOD: Final = "M42 26c0-18 36-18 36 0-4 12-32 12-36 0z"


def _draw_clothing(product: Product, colour: str) -> str:
    """A garment of the shape that its name says."""
    name = product.description.casefold()
    is_hoodie = "hood" in name
    shape = _TEE
    if "bodysuit" in name:
        shape = _BODY
    elif "tank" in name or "racerback" in name:
        shape = _TANK
    elif is_hoodie or "sweat" in name or "long" in name:
        shape = _LONG
    cloth = f'fill="{colour or COLOURS["white"]}" {_EDGE}'
    hood = f'<path d="{_HOOD}" {cloth}/><path d="{_HOOD}" fill="#000" opacity=".12"/>'
    size = product.image_size
    printed = _fit(float(size.width), float(size.height), 26 if shape is _BODY else 36)
    return (
        f'<path d="{shape}" transform="translate(2 3)" {_SHADOW}/><path d="{shape}" {cloth}/>'
        f"{hood if is_hoodie else ''}{_motif(printed.moved(0, 2))}"
    )


def _draw_book(product: Product, _colour: str) -> str:
    """A book that lies closed."""
    box = _fit_product(product, 84)
    cover = _rect(box, f'fill="#efe9dc" {_EDGE}', 2)
    spine = _rect(DrawnBox(box.x, box.y, 7, box.height), 'fill="#000" opacity=".16"', 2)
    pages = _rect(box.moved(3, 4), _PAPER, 2)
    is_linen = "linen" in product.description.casefold()
    margin = 0.24 * min(box.width, box.height)
    picture = box.inside(margin).moved(3, 0) if is_linen else box
    return f"{_rect(box.moved(5, 7), _SHADOW, 2)}{pages}{cover}{_motif(picture)}{spine}"


_DRAWINGS: Final[Mapping[str, Callable[[Product, str], str]]] = {
    "print": _draw_print,
    "poster": _draw_poster,
    "fine-art": _draw_fine_art,
    "canvas": _draw_canvas,
    "frame": _draw_frame,
    "acrylic": _draw_block,
    "panel": _draw_panel,
    "magnet": _draw_small,
    "sticker": _draw_small,
    "mug": _draw_mug,
    "keyring": _draw_keyring,
    "case": _draw_case,
    "clothing": _draw_clothing,
    "photobook": _draw_book,
}
