"""A smaller picture of an original: what people see when they choose what is printed of it."""

from pathlib import Path
from typing import Final

import msgspec

from printworks.actions.images.pictures import remove_unless_stored, render_reliably
from printworks.actions.work import SystemWork
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor, Invalid
from printworks.rules.sizing import PrintArea, Sizing, Units
from printworks.store.images.pictures import Picture, proxy_key, use_picture

# Any paper will do: the proofs on it are not kept.
_PAPER: Final = PrintArea.of(6, 4, Units.INCHES)


def render_proxy(
    processor: ImageProcessor, files: Files, picture: Picture, *, image_id: int, folder: Path
) -> Picture | None:
    """Render and store the proxy of a picture that has none; return the picture with it.

    None if the picture cannot be read any more. Raise `RenderingUnavailable` if nothing can be
    rendered now. The proxy is upright, in sRGB, and has about 1800 pixels on its longer side.
    """
    with files.local(picture.original or "") as source:
        prepared = render_reliably(
            lambda: processor.prepare(
                source, _PAPER, Sizing.SHRINK_TO_FIT, folder, with_proxy=True
            ),
            folder,
        )
    if isinstance(prepared, Invalid) or prepared.proxy is None:
        return None
    key = proxy_key(picture.sha256, image_id)
    files.put(key, prepared.proxy)
    return msgspec.structs.replace(picture, proxy=key)


def keep_proxy(work: SystemWork, picture: Picture) -> Picture | None:
    """Note the proxy of a picture, unless it has one already; None if the picture was deleted."""
    used = use_picture(work.db, picture, now=work.real_now)
    stored = None if used is None else used.proxy
    remove_unless_stored(work, picture.proxy, stored=stored)
    return used
