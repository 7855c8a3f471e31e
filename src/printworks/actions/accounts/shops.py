"""What a merchant says about its shop, and its logo: rendered again, never stored as it came.

A logo comes in three steps, as uploads do: `begin_logo`, in a transaction, names the file;
`render_logo`, outside any transaction, renders and stores it; `change_logo`, in another transaction,
makes it the logo. The first step enqueues the removal of the file and the last cancels it.
"""

import tempfile
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from printworks.actions.images.redrawing import (
    PendingFile,
    begin_file,
    keep_file,
    receive_file,
    redraw,
    store_drawn,
)
from printworks.actions.work import SystemWork, Work
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.rules.jobs import JobKind
from printworks.rules.shops import ShopProfile, tidy_profile
from printworks.store.accounts.shops import Logo, lock_shop, write_shop

# What a browser may send.
LARGEST_LOGO: Final = 5_000_000
_NOUN: Final = "logo"


def change_profile(work: Work, typed: ShopProfile) -> None:
    """Change what a merchant says about its shop."""
    profile = tidy_profile(typed)
    shop = lock_shop(work.db, work.merchant.id)
    was, now = msgspec.structs.asdict(shop.profile), msgspec.structs.asdict(profile)
    changed = [name for name, text in now.items() if text != was[name]]
    if not changed:
        return
    write_shop(work.db, msgspec.structs.replace(shop, profile=profile), now=work.real_now)
    # Not the texts: an address may be a person's.
    work.audit("change-shop", work.merchant.code, changed=changed)


def begin_logo(work: SystemWork) -> PendingFile:
    """Name the file of a logo that is about to be rendered."""
    return begin_file(work, "logos")


def render_logo(
    processor: ImageProcessor, files: Files, upload: PendingFile, sent: BinaryIO
) -> Logo:
    """Render a logo from the file that came, and store it.

    Raise `BadInput` if the file is not a picture, and `ServiceUnavailable` if nothing can be
    rendered or stored now.
    """
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "logo"
        receive_file(sent, source, largest=LARGEST_LOGO, noun=_NOUN)
        size, rendered = redraw(processor, source, folder, noun=_NOUN)
        store_drawn(files, upload.file, rendered)
    return Logo(upload.file, size.width, size.height)


def change_logo(work: Work, upload: PendingFile | None, logo: Logo | None) -> None:
    """Give a merchant another logo, or none."""
    if upload is not None:
        keep_file(work, upload, noun=_NOUN)
    shop = lock_shop(work.db, work.merchant.id)
    if shop.logo == logo:
        return
    if shop.logo is not None:
        work.enqueue(JobKind.REMOVE_FILES, {"files": [shop.logo.file]})
    write_shop(work.db, msgspec.structs.replace(shop, logo=logo), now=work.real_now)
    work.audit("change-shop", work.merchant.code, changed=["logo"])
