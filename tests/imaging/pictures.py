"""Pictures that the tests make for themselves.

All show the same: red at the top left, green at the top right, blue at the bottom left and
yellow at the bottom right, so that one look at the corners tells how a picture lies.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyvips

from printworks.rules.sizing import Layout, PrintArea, Sizing, Units

RED, GREEN, BLUE, YELLOW = (220, 30, 30), (30, 180, 60), (40, 60, 200), (240, 220, 40)
WHITE: Final = (255, 255, 255)
CORNERS: Final = (RED, GREEN, BLUE, YELLOW)

AREA: Final = PrintArea.of(6, 4, Units.INCHES)
CROPPED: Final = Layout(AREA, Sizing.CROP)
TALL_AREA: Final = PrintArea.of(4, 6, Units.INCHES)

Corners = tuple[tuple[int, int, int], ...]


def a_picture(width: int = 240, height: int = 160) -> Any:
    """Four fields of colour in sRGB."""
    red, green, blue, yellow = (
        pyvips.Image.black(width // 2, height // 2, bands=3) + list(colour) for colour in CORNERS
    )
    top = red.join(green, "horizontal")
    picture = top.join(blue.join(yellow, "horizontal"), "vertical")
    return picture.cast("uchar").copy(interpretation="srgb")


def a_noisy_picture(width: int = 240, height: int = 160, *, seed: int = 7) -> Any:
    """The same under a little noise, so that files are as dense as those of cameras."""
    noise = pyvips.Image.gaussnoise(width, height, sigma=12, seed=seed)
    return (a_picture(width, height) + noise).cast("uchar").copy(interpretation="srgb")


def held(picture: Any, orientation: int) -> Any:
    """The picture as a camera would store it that was held in this way."""
    lay = {
        1: lambda image: image,
        2: lambda image: image.fliphor(),
        3: lambda image: image.rot180(),
        4: lambda image: image.flipver(),
        5: lambda image: image.rot90().fliphor(),
        6: lambda image: image.rot270(),
        7: lambda image: image.rot90().flipver(),
        8: lambda image: image.rot90(),
    }
    stored = lay[orientation](picture).copy()
    stored.set_type(pyvips.GValue.gint_type, "orientation", orientation)
    return stored


def as_jpeg(picture: Any, **options: Any) -> bytes:
    """Encode a picture."""
    return bytes(picture.jpegsave_buffer(**{"Q": 92, "subsample_mode": "off", **options}))


def drawn_apart(draw: Callable[[], bytes]) -> bytes:
    """Draw a picture while tests are imported, in a process that ends with it.

    libvips would leave threads behind, which the forks that run the tests lacked.
    """
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        # There are threads already: this process is not the one that forks.
        return draw()
    reading, writing = os.pipe()
    if (pid := os.fork()) == 0:
        try:
            with os.fdopen(writing, "wb") as there:
                there.write(draw())
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as here:
        drawn = here.read()
    os.waitpid(pid, 0)
    assert drawn, "The picture could not be drawn."
    return drawn


def written(folder: Path, data: bytes, name: str = "picture") -> Path:
    """Put a file there."""
    path = folder / name
    path.write_bytes(data)
    return path


def read(path: Path) -> Any:
    """Open what was drawn."""
    return pyvips.Image.new_from_buffer(path.read_bytes(), "")


def corners(image: Any, inset: float = 0.12) -> Corners:
    """The colours a little inside the four corners."""
    across, down = round(image.width * inset), round(image.height * inset)
    return tuple(
        tuple(round(value) for value in image.getpoint(x, y))
        for y in (down, image.height - 1 - down)
        for x in (across, image.width - 1 - across)
    )


def are_alike(some: Corners, others: Corners, tolerance: int = 14) -> bool:
    """Whether the same colours lie in the same corners."""
    return all(
        abs(one - other) <= tolerance
        for colour, other_colour in zip(some, others, strict=True)
        for one, other in zip(colour, other_colour, strict=True)
    )
