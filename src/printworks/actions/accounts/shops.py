"""What a merchant says about its shop, and its logo: rendered again, never stored as it came.

A logo comes in three steps, as uploads do: `begin_logo`, in a transaction, names the file;
`render_logo`, outside any transaction, renders and stores it; `change_logo`, in another transaction,
makes it the logo. The first step enqueues the removal of the file and the last cancels it.
"""

import secrets
import shutil
import tempfile
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

import msgspec
import structlog

from printworks.actions.images.uploads import REMOVED_AFTER
from printworks.actions.work import SystemWork, Work
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import (
    ImageProcessor,
    Invalid,
    PreparedImage,
    Proofs,
    Rejected,
)
from printworks.rules.jobs import JobKind
from printworks.rules.shops import ShopProfile, tidy_profile
from printworks.rules.sizing import Pixels, PrintArea, Sizing
from printworks.store.accounts.shops import Logo, lock_shop, write_shop
from printworks.store.images.pictures import cancel_removal

# What a browser may send, and what a rendered logo may take: it is at most 1,200 pixels long.
LARGEST_LOGO: Final = 5_000_000
_LARGEST_RENDERED: Final = 1_000_000
_LONGEST_SIDE: Final = 30_000
# Any paper will do for the first look at a picture.
_PAPER: Final = PrintArea(Fraction(4), Fraction(4))
_UNAVAILABLE: Final = "Logos are temporarily unavailable; try again later."
_UNUSABLE: Final = "This file cannot be used as a logo."

log = structlog.get_logger()


class LogoUpload(NamedTuple):
    """A logo that is being uploaded: the name of its file, and the job that removes it."""

    file: str
    removal: int


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


def begin_logo(work: SystemWork) -> LogoUpload:
    """Name the file of a logo that is about to be rendered."""
    # Random, because the name is part of its address.
    file = f"logos/{secrets.token_hex(16)}.jpg"
    removal = work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": [file]}, wait=REMOVED_AFTER)
    # Only a job with a dedupe key may exist already.
    assert removal is not None  # noqa: S101
    return LogoUpload(file, removal)


def render_logo(
    processor: ImageProcessor, files: Files, upload: LogoUpload, sent: BinaryIO
) -> Logo:
    """Render a logo from the file that came, and store it.

    Raise `BadInput` if the file is not a picture, and `ServiceUnavailable` if nothing can be
    rendered or stored now.
    """
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "logo"
        with source.open("wb") as copy:
            shutil.copyfileobj(sent, copy)
        if source.stat().st_size > LARGEST_LOGO:
            raise BadInput(f"A logo can have at most {LARGEST_LOGO // 1_000_000} MB.")
        size, rendered = _render(processor, source, folder)
        try:
            files.put(upload.file, rendered)
        except FilesUnavailable as error:
            log.error("logo cannot be stored", reason=str(error))
            raise ServiceUnavailable(_UNAVAILABLE) from error
    return Logo(upload.file, size.width, size.height)


def _render(processor: ImageProcessor, source: Path, folder: Path) -> tuple[Pixels, Path]:
    """Render all of a picture, upright and without anything that was hidden in it."""
    prepared = processor.prepare(source, _PAPER, Sizing.SHRINK_TO_FIT, folder, with_proxy=True)
    if not isinstance(prepared, PreparedImage):
        raise _refuse(prepared)
    size, proxy = prepared.facts.pixels, prepared.proxy
    # The picture may have taken control of the child process.
    if proxy is None or max(size) > _LONGEST_SIDE:
        raise BadInput(_UNUSABLE)
    # Once more, on paper of its own shape, so that nothing is around it.
    shape = PrintArea(Fraction(size.width), Fraction(size.height))
    proofs = processor.proof(proxy, size, shape, Sizing.SHRINK_TO_FIT, folder)
    if not isinstance(proofs, Proofs):
        raise _refuse(proofs)
    if proofs.preview.stat().st_size > _LARGEST_RENDERED:
        raise BadInput(_UNUSABLE)
    return size, proofs.preview


def _refuse(rejected: Rejected) -> Exception:
    if isinstance(rejected, Invalid):
        return BadInput(f"{_UNUSABLE} {rejected.reason}")
    log.warning("logo cannot be processed", reason=rejected.reason)
    is_ours = rejected.is_infrastructure_error
    return ServiceUnavailable(_UNAVAILABLE) if is_ours else BadInput(_UNUSABLE)


def change_logo(work: Work, upload: LogoUpload | None, logo: Logo | None) -> None:
    """Give a merchant another logo, or none."""
    if upload is not None and not cancel_removal(work.db, upload.removal):
        raise ServiceUnavailable("The logo took too long to process; send it again.")
    shop = lock_shop(work.db, work.merchant.id)
    if shop.logo == logo:
        return
    if shop.logo is not None:
        work.enqueue(JobKind.REMOVE_FILES, {"files": [shop.logo.file]})
    write_shop(work.db, msgspec.structs.replace(shop, logo=logo), now=work.real_now)
    work.audit("change-shop", work.merchant.code, changed=["logo"])
