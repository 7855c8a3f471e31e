"""An image processor that has its answer ready, for what no real picture brings about at will."""

from pathlib import Path
from typing import Any, Final, cast

from printworks.imaging.formats import Format
from printworks.imaging.messages import PREVIEW, PROXY, THUMBNAIL, Cost, Facts
from printworks.imaging.processor import ImageProcessor, PreparedImage, Proofs, Rejected
from printworks.rules.sizing import Layout, Pixels, place

USUAL: Final = Pixels(600, 900)


class _Answering:
    def __init__(self, answer: Rejected) -> None:
        self._answer = answer

    def prepare(self, *_: object, **__: object) -> Rejected:
        return self._answer


class _Proxying:
    def __init__(
        self, pixels: Pixels, proxy_size: int, proof_size: int, then: Rejected | None
    ) -> None:
        self._pixels = pixels
        self._proxy_size = proxy_size
        self._proof_size = proof_size
        self._then = then

    def prepare(self, _source: Path, layout: Layout, out: Path, **_: object) -> PreparedImage:
        width, height = self._pixels
        facts = Facts(
            format=Format.JPEG,
            width=width,
            height=height,
            orientation=1,
            dpi=300,
            colour_space="srgb",
            bands=3,
            has_alpha=False,
            has_profile=False,
            colour="none",
        )
        placement = place(self._pixels, *layout)
        proxy = out / PROXY
        with proxy.open("wb") as file:
            file.truncate(self._proxy_size)
        return PreparedImage(
            facts, Proofs(placement, out / PREVIEW, out / THUMBNAIL, Cost()), proxy
        )

    def proof(
        self,
        _proxy: Path,
        pixels: Pixels,
        layout: Layout,
        out: Path,
        *,
        edge: int,
    ) -> Proofs | Rejected:
        del edge
        if self._then is not None:
            return self._then
        with (out / PREVIEW).open("wb") as file:
            file.truncate(self._proof_size)
        return Proofs(place(pixels, *layout), out / PREVIEW, out / THUMBNAIL, Cost())


def one_that_answers(answer: Rejected) -> ImageProcessor:
    """Return a processor that says the same of every file."""
    return _as_processor(_Answering(answer))


def one_that_claims(
    pixels: Pixels = USUAL,
    *,
    proxy_size: int = 9,
    proof_size: int = 9,
    then: Rejected | None = None,
) -> ImageProcessor:
    """Return a processor that says every picture has this size, and writes a proxy this large.

    `then` is what it says when it is asked for other proofs of the same picture.
    """
    return _as_processor(_Proxying(pixels, proxy_size, proof_size, then))


def _as_processor(stand_in: Any) -> ImageProcessor:
    return cast("ImageProcessor", stand_in)
