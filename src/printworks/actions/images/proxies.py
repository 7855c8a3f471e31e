"""A smaller picture of an original: what people see when they choose what is printed of it."""

import secrets
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from printworks.actions.images.pictures import remove_unless_stored, render_reliably
from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.work import SystemWork
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor, Invalid
from printworks.rules.jobs import JobKind
from printworks.rules.sizing import Layout, PrintArea, Sizing, Units
from printworks.store.images.pictures import Picture, cancel_removal, proxy_key, use_picture

# Any paper will do: the proofs on it are not kept.
_PAPER: Final = Layout(PrintArea.of(6, 4, Units.INCHES), Sizing.SHRINK_TO_FIT)


class ProxyPlan(NamedTuple):
    """Where the proxy of a picture will be stored, and the job that removes it unless it is kept."""

    picture: Picture
    key: str
    removal: int


def plan_proxy(work: SystemWork, picture: Picture, image_id: int) -> ProxyPlan:
    """Name the proxy of a picture, of which nothing is left if it is never kept."""
    # Named apart from any other: the removal of one must not remove the one that is kept.
    key = proxy_key(picture.sha256, f"{image_id}-{secrets.token_hex(4)}")
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": [key]}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return ProxyPlan(picture, key, removal)


def render_proxy(
    processor: ImageProcessor, files: Files, plan: ProxyPlan, folder: Path
) -> Picture | None:
    """Render and store the proxy of a picture that has none; return the picture with it.

    None if the picture cannot be read any more. Raise `RenderingUnavailable` if nothing can be
    rendered now. The proxy is upright, in sRGB, and has about 1800 pixels on its longer side.
    """
    picture = plan.picture
    if picture.original is None:
        return None
    with files.local(picture.original) as source:
        prepared = render_reliably(
            lambda: processor.prepare(source, _PAPER, folder, with_proxy=True), folder
        )
    if isinstance(prepared, Invalid) or prepared.proxy is None:
        return None
    files.put(plan.key, prepared.proxy)
    return msgspec.structs.replace(picture, proxy=plan.key)


def keep_proxy(work: SystemWork, plan: ProxyPlan, picture: Picture) -> Picture | None:
    """Note the proxy of a picture, unless it has one already; None if it was deleted meanwhile."""
    if not cancel_removal(work.db, plan.removal):
        return None
    used = use_picture(work.db, picture, now=work.real_now)
    remove_unless_stored(work, plan.key, stored=None if used is None else used.proxy)
    return used
