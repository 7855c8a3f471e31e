"""Make a photo for the benchmark: run `python -m bench.photos FILE WIDTH HEIGHT [PROFILE]`.

Not a scene, but what matters to a decoder: light and colour that change slowly, texture that is
rich in some places and faint in others, grain everywhere. At quality 90 that gives three
eighths of a byte per pixel, as with photos of good cameras. A separate program,
because the image library must not be loaded into a long-lived process.
"""

import sys
from typing import Any, Final

import pyvips

# Repeated as often as needed: too large for any decoder to cache.
TILE: Final = 2048

# Each pair: spots of this many pixels, this much lighter or darker.
LIGHT: Final = ((512, 40), (128, 22), (32, 14), (8, 8), (4, 18))
TEXTURE: Final = ((2, 18), (1, 12.6))
COLOUR: Final = ((512, 15), (64, 6))
# How rich the texture is; negative values mean none.
RICHNESS: Final = ((256, 0.6),)


def make_photo(width: int, height: int) -> Any:
    """Return an image that is as hard to decode as a photo."""
    richness = _spots(RICHNESS, seed=20) + 0.6
    light = _spots(LIGHT, seed=1) + _spots(TEXTURE, seed=9) * (richness > 0).ifthenelse(richness, 0)
    red, green, blue = (_spots(COLOUR, seed=seed) for seed in (30, 40, 50))
    tile = (red.bandjoin([green, blue]) + light + 125).cast("uchar").copy(interpretation="srgb")
    tiles = tile.copy_memory().replicate(-(-width // TILE), -(-height // TILE))
    return tiles.crop(0, 0, width, height)


def _spots(layers: tuple[tuple[int, float], ...], *, seed: int) -> Any:
    return sum(
        (
            pyvips.Image.gaussnoise(TILE // size, TILE // size, mean=0, sigma=sigma, seed=seed + i)
            .cast("float")
            .resize(size, kernel="cubic")
            for i, (size, sigma) in enumerate(layers)
        ),
        start=pyvips.Image.black(TILE, TILE),
    )


def main() -> None:
    """Write the file."""
    path, width, height, *profile = sys.argv[1:]
    options = {"profile": profile[0]} if profile else {}
    photo = make_photo(int(width), int(height))
    photo.jpegsave(path, Q=90, subsample_mode="on", **options)


if __name__ == "__main__":
    main()
