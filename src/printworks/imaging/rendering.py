"""Renders proxies, proofs and print files: one geometry at three densities.

Only for use in a jailed child.
"""

from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any, Final

import pyvips

from printworks.imaging.formats import EVERY_FORMAT, Format
from printworks.imaging.messages import (
    PREVIEW,
    PREVIEW_EDGE,
    PRINT,
    PROXY,
    THUMBNAIL,
    Colour,
    PrepareTask,
    PrintPlan,
    ProofTask,
    RenderingDone,
    RenderTask,
)
from printworks.imaging.pictures import (
    DecodedPicture,
    PictureRefusal,
    decode,
    open_picture,
    to_srgb,
)
from printworks.rules.sizing import Box, Pixels, Placement, PrintArea, place

PROXY_EDGE: Final = 1800
# Resizing by less than this costs more than the bytes it saves.
PROXY_SLACK: Final = 1.15
MOST_PROXY_PIXELS: Final = 8_000_000
THUMBNAIL_EDGE: Final = 240
# With full colour resolution; a higher quality only makes larger files.
PRINT_QUALITY: Final = 94

# The library operations that most pictures need, to be looked up beforehand.
OPERATIONS: Final = (
    "autorot",
    "cast",
    "copy",
    "embed",
    "extract_area",
    "flatten",
    "icc_transform",
    "jpegsave_buffer",
    "resize",
    "rot",
)

_SHRINKS: Final = (8, 4, 2)


def prepare(task: PrepareTask) -> RenderingDone:
    """Validate a picture by decoding all of it once; render its proofs and perhaps a proxy."""
    picture = open_picture(Path(task.source), EVERY_FORMAT)
    placement = place(picture.pixels, _area(task), task.sizing, task.position)
    scale = _proxy_scale(placement)

    proxy, colour = decode(lambda fail_on: _render_proxy(picture, scale, fail_on))

    out = Path(task.out)
    if task.with_proxy:
        _write(out / PROXY, proxy, quality=90)
    _render_proofs(proxy, placement.upright, out)
    return RenderingDone(facts=picture.facts(colour))


def proof(task: ProofTask) -> RenderingDone:
    """Render preview and thumbnail from a proxy, as they would be from the picture itself."""
    proxy = open_picture(Path(task.source), frozenset({Format.JPEG}))
    placement = place(task.picture, _area(task), task.sizing, task.position)
    image = decode(lambda fail_on: proxy.load(fail_on=fail_on).copy_memory())
    _render_proofs(image, placement.upright, Path(task.out), task.edge)
    return RenderingDone()


def render(task: RenderTask) -> RenderingDone:
    """Render the print file as planned."""
    picture = open_picture(Path(task.source), EVERY_FORMAT)
    if picture.pixels != task.plan.picture:
        raise PictureRefusal("The picture is not the one that the print was planned for.")

    def write_print(fail_on: str) -> Colour:
        image, colour = _render_print(picture, task.plan, fail_on)
        _write(Path(task.out) / PRINT, image, quality=PRINT_QUALITY, dpi=task.plan.dpi)
        return colour

    return RenderingDone(colour=decode(write_print), library=_library())


def _render_proxy(picture: DecodedPicture, scale: float, fail_on: str) -> tuple[Any, Colour]:
    shrink = _shrink_on_load(scale) if picture.format is Format.JPEG else 1
    image = picture.load(fail_on=fail_on, shrink=shrink)
    if shrink * scale < 1 / PROXY_SLACK:
        image = image.resize(shrink * scale)
    image, colour = to_srgb(image)
    # Rotated only once it is in memory: a picture that is read from top to bottom cannot be. Then
    # copied, or else it would be rotated again for each part of the proofs.
    image = image.copy_memory()
    return image.autorot().copy_memory() if picture.orientation > 1 else image, colour


def _render_proofs(proxy: Any, placement: Placement, out: Path, edge: int = PREVIEW_EDGE) -> None:
    """Render preview and thumbnail of an upright placement: people do not lie on their side."""
    scale = Fraction(proxy.width, placement.picture.width)
    native = placement.area.long_side * placement.effective_dpi * scale
    preview = _render_on_canvas(
        _cut(proxy, placement.box, placement.picture),
        canvas := _canvas(placement, min(edge, int(native))),
        placement.on(canvas),
    ).copy_memory()
    _write(out / PREVIEW, preview, quality=85)
    thumbnail = _resize(preview, _canvas(placement, min(THUMBNAIL_EDGE, max(canvas))), gap=1)
    _write(out / THUMBNAIL, thumbnail, quality=80)


def _render_print(picture: DecodedPicture, plan: PrintPlan, fail_on: str) -> tuple[Any, Colour]:
    box = box_in_file(plan.box, picture.orientation, picture.pixels)
    size = Pixels(plan.on_canvas.width, plan.on_canvas.height)
    if plan.is_turned != (picture.orientation >= 5):
        size = size.turned()
    image = _resize(picture.load(fail_on=fail_on).crop(*box), size)
    image, colour = to_srgb(image)
    if picture.orientation > 1 or plan.is_turned:
        image = image.copy_memory().autorot()
    if plan.is_turned:
        image = image.rot90()
    return _on_white(image, plan.canvas, plan.on_canvas), colour


def box_in_file(box: Box, orientation: int, upright: Pixels) -> Box:
    """Find a box of the upright picture in the file, where it may be rotated."""
    left, top, width, height = box
    right = upright.width - left - width
    bottom = upright.height - top - height
    # By EXIF orientation: the left and the top edge in the file.
    edges = {
        1: (left, top),
        2: (right, top),
        3: (right, bottom),
        4: (left, bottom),
        5: (top, left),
        6: (top, right),
        7: (bottom, right),
        8: (bottom, left),
    }
    size = (height, width) if orientation >= 5 else (width, height)
    return Box(*edges[orientation], *size)


def _render_on_canvas(image: Any, canvas: Pixels, on_canvas: Box) -> Any:
    size = Pixels(on_canvas.width, on_canvas.height)
    return _on_white(_resize(image, size, kernel="lanczos2"), canvas, on_canvas)


def _on_white(image: Any, canvas: Pixels, on_canvas: Box) -> Any:
    if on_canvas == Box(0, 0, *canvas):
        return image
    left, top = on_canvas.left, on_canvas.top
    return image.embed(left, top, *canvas, extend="background", background=[255])


def _cut(proxy: Any, box: Box, picture: Pixels) -> Any:
    across, down = proxy.width / picture.width, proxy.height / picture.height
    left, top = round(box.left * across), round(box.top * down)
    width = max(1, min(proxy.width - left, round(box.width * across)))
    height = max(1, min(proxy.height - top, round(box.height * down)))
    return proxy.crop(left, top, width, height)


def _resize(image: Any, size: Pixels, **how: Any) -> Any:
    """Resize with the best quality, unless a faster way is good enough for a proof."""
    if (image.width, image.height) == size:
        return image
    return image.resize(size.width / image.width, vscale=size.height / image.height, **how)


def _proxy_scale(placement: Placement) -> float:
    """Return the scale of the proxy: large enough for a preview of what will be printed."""
    picture, box = placement.picture, placement.box
    wanted = max(PROXY_EDGE / max(picture), PREVIEW_EDGE / max(box.width, box.height))
    return min(1.0, wanted, sqrt(MOST_PROXY_PIXELS / (picture.width * picture.height)))


def _shrink_on_load(scale: float) -> int:
    return next((shrink for shrink in _SHRINKS if shrink * scale <= 1), 1)


def _canvas(placement: Placement, long_edge: int) -> Pixels:
    return placement.canvas(max(1, long_edge) / placement.area.long_side)


def _area(task: PrepareTask | ProofTask) -> PrintArea:
    width, height = task.area
    return PrintArea(Fraction(width), Fraction(height), task.may_turn)


def _write(path: Path, image: Any, *, quality: int, dpi: int | None = None) -> None:
    """Write a JPEG without the metadata of the original.

    Without metadata the library writes no density either, so that header is added here.
    """
    if dpi is None:
        # Colour at half the resolution, as most cameras do; by default the library does not
        # from quality 90 on.
        data = image.jpegsave_buffer(Q=quality, keep="none", subsample_mode="on")
        path.write_bytes(data)
        return
    data = image.jpegsave_buffer(Q=quality, keep="none", subsample_mode="off", profile="srgb")
    density = dpi.to_bytes(2, "big")
    header = b"\xff\xe0\x00\x10JFIF\x00\x01\x02\x01" + density + density + b"\x00\x00"
    path.write_bytes(data[:2] + header + data[2:])


def _library() -> str:
    return ".".join(str(pyvips.version(part)) for part in range(3))
