"""What the operator calls the service, and how it looks.

A logo comes in the three steps of a shop's: `begin_logo` and `render_logo`, then
`change_brand_logo`.
"""

from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.actions.images.redrawing import PendingFile, keep_file
from printworks.actions.work import SystemWork
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.files.store import Files
from printworks.mail.letter import LetterLogo
from printworks.rules.brand import Brand, PaperBrand, tidy_brand
from printworks.rules.jobs import JobKind
from printworks.store.accounts.brand import StoredBrand, lock_brand, read_brand, write_brand
from printworks.store.accounts.shops import Logo

# It goes with every mail.
_LARGEST_IN_MAIL: Final = 200_000


def change_brand(work: SystemWork, typed: Brand) -> None:
    """Change what the operator says about the service."""
    brand = tidy_brand(typed)
    stored = lock_brand(work.db)
    was, now = msgspec.structs.asdict(stored.brand), msgspec.structs.asdict(brand)
    changed = [name for name, value in now.items() if value != was[name]]
    if changed:
        _write(work, msgspec.structs.replace(stored, brand=brand), changed)


def change_brand_logo(work: SystemWork, upload: PendingFile | None, logo: Logo | None) -> None:
    """Give the service another logo, or none."""
    if upload is not None:
        keep_file(work, upload, noun="logo")
    stored = lock_brand(work.db)
    if stored.logo == logo:
        return
    if stored.logo is not None:
        work.enqueue_unowned(JobKind.REMOVE_FILES, {"files": [stored.logo.file]})
    _write(work, msgspec.structs.replace(stored, logo=logo), ["logo"])


def _write(work: SystemWork, stored: StoredBrand, changed: list[str]) -> None:
    write_brand(work.db, stored, now=work.real_now)
    # Not the texts, which are long and public anyway.
    work.audit("change-brand", changed=changed)


def read_paper_brand(stored: StoredBrand, files: Files) -> PaperBrand:
    """Return what stands on invoices and sheets; outside any transaction."""
    logo = None
    if stored.logo is not None:
        try:
            logo = files.read(stored.logo.file)
        except (FileMissing, FilesUnavailable):
            # Replaced a moment ago, or out of reach: better without it than not at all.
            logo = None
    return PaperBrand(stored.name, logo, stored.brand.accent)


def read_mail_logo(stored: StoredBrand, files: Files) -> LetterLogo | None:
    """Return what stands above mails; outside any transaction. None if it is too large to be sent."""
    content = read_paper_brand(stored, files).logo
    if stored.logo is None or content is None or len(content) > _LARGEST_IN_MAIL:
        return None
    return LetterLogo(content, stored.logo.width, stored.logo.height)


def may_show_labs(db: Connection) -> bool:
    """Whether merchants may see which lab prints for them."""
    return read_brand(db).brand.show_labs
