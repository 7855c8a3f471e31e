"""Small drawings of products: the shape of the sheet, and what stands around it."""

from typing import Final

from markupsafe import Markup

from printworks.catalogue.products import Product

_SIDE: Final = 100.0
# The longest side of what is drawn, and the longest shape: a strip would be a line.
_LONGEST: Final = 72.0
_LONGEST_SHAPE: Final = 2.4
# How wide the border is that a kind has around its picture.
_BORDERS: Final = {"frame": 7.0, "canvas": 3.0, "panel": 2.0, "acrylic": 2.0}
_ROUND: Final = {"case": 9.0, "keyring": 5.0, "magnet": 3.0, "sticker": 4.0, "mug": 4.0}


def product_picture(product: Product) -> Markup:
    """Draw a product as a sheet of its proportions. Decoration: its name stands beside it."""
    width, height = _fit(float(product.full_size.width), float(product.full_size.height))
    x, y = (_SIDE - width) / 2, (_SIDE - height) / 2
    border = _BORDERS.get(product.kind, 0.0)
    radius = _ROUND.get(product.kind, 1.0)
    inside = max(width - 2 * border, 4.0), max(height - 2 * border, 4.0)
    return Markup(
        '<svg class="sketch" viewBox="0 0 100 100" aria-hidden="true" focusable="false">'
        '<rect class="sketch__edge" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}"/>'
        '<rect class="sketch__sheet" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" rx="{:.1f}"/>'
        '<path class="sketch__hill" d="M{:.1f} {:.1f}l{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f} '
        '{:.1f} {:.1f}z"/></svg>'
    ).format(
        *(x, y, width, height, radius),
        *((_SIDE - inside[0]) / 2, (_SIDE - inside[1]) / 2, *inside, max(radius - border, 0.0)),
        *((_SIDE - inside[0]) / 2, (_SIDE + inside[1]) / 2),
        *(inside[0] * 0.32, -inside[1] * 0.45, inside[0] * 0.2, inside[1] * 0.2),
        *(inside[0] * 0.18, -inside[1] * 0.12, inside[0] * 0.3, inside[1] * 0.37),
    )


def _fit(width: float, height: float) -> tuple[float, float]:
    """Return the size of a drawing with these proportions, or nearly these."""
    longest, shortest = max(width, height), min(width, height)
    shape = min(longest / shortest, _LONGEST_SHAPE)
    across = _LONGEST / shape
    return (_LONGEST, across) if width > height else (across, _LONGEST)
