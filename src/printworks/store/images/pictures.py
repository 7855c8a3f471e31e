"""Received files: one for each content, and the URLs they came from."""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Connection, case, delete, exists, func, select, text, update

from printworks.rules.jobs import JobState
from printworks.rules.orders import ENDED, OrderStatus
from printworks.store.accounts.quotas import uncount_files
from printworks.store.engine.rows import columns_of, find_struct
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import downloads, images, jobs, orders, pictures


class Picture(msgspec.Struct, frozen=True):
    """A file that was received: what it is, or why it cannot be printed."""

    id: int
    sha256: str
    md5: str
    size: int
    facts: dict[str, Any] | None
    refusal: str | None
    original: str | None
    proxy: str | None

    @property
    def is_lost(self) -> bool:
        """Whether it can be printed, but its file is missing."""
        return self.original is None and self.refusal is None


class NewPicture(msgspec.Struct, frozen=True, kw_only=True):
    """A file that has just been received and validated."""

    sha256: str
    md5: str
    size: int
    facts: dict[str, Any] | None = None
    refusal: str | None = None
    original: str | None = None


class Download(NamedTuple):
    """What a URL held when it was last fetched."""

    etag: str
    last_modified: str
    picture: Picture


class Unlinked(NamedTuple):
    """How many images were detached from their pictures, and the print files of those."""

    amount: int
    files: list[str]


class PurgedPicture(NamedTuple):
    """A picture that was deleted, and the files that are not needed any more."""

    sha256: str
    files: list[str]


_COLUMNS: Final = columns_of(pictures, Picture)
# While an order is in one of these, its pictures may still be needed.
_OPEN: Final = (OrderStatus.NOT_YET_SUBMITTED, OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED)


def find_picture(db: Connection, sha256: str) -> Picture | None:
    """Return the picture with this content."""
    return find_struct(db, Picture, select(*_COLUMNS).where(pictures.c.sha256 == sha256))


def get_picture(db: Connection, picture_id: int) -> Picture:
    """Return a picture by id; it exists."""
    return Picture(*db.execute(select(*_COLUMNS).where(pictures.c.id == picture_id)).one())


def store_picture(db: Connection, new: NewPicture, *, now: datetime) -> Picture:
    """Store a picture, or return the one with the same content that came first.

    If the file of that one was lost, the new file takes its place.
    """
    facts = msgspec.structs.asdict(new)
    key = {"sha256": facts.pop("sha256")}
    found = func.coalesce(pictures.c.original, new.original)
    values = {**facts, "used_at": now, "created_at": now}
    changes = {"used_at": now, "original": case((pictures.c.refusal.is_(None), found))}
    stored = insert_or_update(db, pictures, key, values, changes)
    return Picture(*db.execute(stored.returning(*_COLUMNS)).one())


def use_picture(db: Connection, picture: Picture, *, now: datetime) -> Picture | None:
    """Mark a picture as used, and store its proxy if it has none; None if it was deleted."""
    used = db.execute(
        update(pictures)
        .where(pictures.c.id == picture.id)
        .values(used_at=now, proxy=func.coalesce(pictures.c.proxy, picture.proxy))
        .returning(*_COLUMNS)
    ).one_or_none()
    return None if used is None else Picture(*used)


def drop_proxy(db: Connection, picture: Picture) -> bool:
    """Drop a proxy from which nothing can be rendered; False if another process has done so."""
    this = (pictures.c.id == picture.id, pictures.c.proxy == picture.proxy)
    return db.execute(update(pictures).where(*this).values(proxy=None)).rowcount == 1


def forget_original(db: Connection, picture: Picture) -> None:
    """Note that the file of a picture is lost, and what addresses hold is not known any more."""
    this = (pictures.c.id == picture.id, pictures.c.original == picture.original)
    if db.execute(update(pictures).where(*this).values(original=None)).rowcount:
        db.execute(delete(downloads).where(downloads.c.picture_id == picture.id))


def find_download(db: Connection, merchant_id: int, url: str) -> Download | None:
    """Return what this merchant's URL held when it was last fetched."""
    row = db.execute(
        select(downloads.c.etag, downloads.c.last_modified, *_COLUMNS)
        .join_from(downloads, pictures)
        .where(downloads.c.merchant_id == merchant_id, downloads.c.url_hash == _hash(url))
    ).one_or_none()
    return None if row is None else Download(row[0], row[1], Picture(*row[2:]))


def remember_download(db: Connection, merchant_id: int, url: str, download: Download) -> None:
    """Store what a URL held, so that its server can be asked whether that has changed."""
    etag, last_modified, picture = download
    key = {"merchant_id": merchant_id, "url_hash": _hash(url)}
    values = {"etag": etag, "last_modified": last_modified, "picture_id": picture.id}
    db.execute(insert_or_update(db, downloads, key, values))


def _hash(url: str) -> str:
    return hashlib.sha256(url.encode()).hexdigest()


def unlink_old_images(db: Connection, *, before: datetime, limit: int) -> Unlinked:
    """Detach the pictures of images whose orders ended before then, whoever else uses them."""
    found = db.execute(
        select(images.c.id, images.c.manifest)
        .join_from(images, orders, images.c.order_id == orders.c.id)
        .where(
            # Spelled as in the index.
            text("picture_id IS NOT NULL"),
            images.c.created_at < before,
            orders.c.status.in_(ENDED),
            orders.c.updated_at < before,
        )
        .order_by(images.c.created_at)
        .limit(limit)
        .with_for_update(of=images)
    ).all()
    ids = [row.id for row in found]
    db.execute(update(images).where(images.c.id.in_(ids)).values(picture_id=None))
    return Unlinked(len(ids), [print_key(row.id) for row in found if row.manifest is not None])


def purge_pictures(db: Connection, *, before: datetime, limit: int) -> list[PurgedPicture]:
    """Delete pictures that are only used by orders that ended before then; return their files.

    What orders show of them stays: the size, the hash and the proofs.
    """
    still_needed = exists().where(
        images.c.picture_id == pictures.c.id,
        orders.c.id == images.c.order_id,
        orders.c.status.in_(_OPEN) | (orders.c.updated_at >= before),
    )
    found = db.execute(
        select(pictures.c.id, pictures.c.sha256, pictures.c.original, pictures.c.proxy)
        .where(pictures.c.used_at < before, ~still_needed)
        .order_by(pictures.c.used_at)
        .limit(limit)
        .with_for_update()
    ).all()
    ids = [row.id for row in found]
    printed = _unlink_images(db, ids)
    db.execute(delete(downloads).where(downloads.c.picture_id.in_(ids)))
    uncount_files(db, ids)
    db.execute(delete(pictures).where(pictures.c.id.in_(ids)))
    return [
        PurgedPicture(
            row.sha256, [key for key in (row.original, row.proxy, *printed.get(row.id, ())) if key]
        )
        for row in found
    ]


def delete_unused_pictures(db: Connection, picture_ids: Sequence[int]) -> list[str]:
    """Delete those of these pictures that no image uses; return their files."""
    is_used = exists().where(images.c.picture_id == pictures.c.id)
    found = db.execute(
        select(pictures.c.id, pictures.c.original, pictures.c.proxy)
        .where(pictures.c.id.in_(picture_ids), ~is_used)
        # A download that has just received the same content waits, and finds it gone.
        .with_for_update()
    ).all()
    ids = [row.id for row in found]
    db.execute(delete(downloads).where(downloads.c.picture_id.in_(ids)))
    uncount_files(db, ids)
    db.execute(delete(pictures).where(pictures.c.id.in_(ids)))
    return [key for row in found for key in (row.original, row.proxy) if key]


def cancel_removal(db: Connection, job_id: int) -> bool:
    """Delete the job that removes files, so that it cannot be retried; False if it has begun."""
    cancelled = delete(jobs).where(jobs.c.id == job_id, jobs.c.state == JobState.SCHEDULED)
    return db.execute(cancelled).rowcount == 1


def _unlink_images(db: Connection, picture_ids: Sequence[int]) -> Mapping[int, list[str]]:
    """Detach pictures from their images; return the print files that were made of each."""
    rows = db.execute(
        select(images.c.id, images.c.picture_id, images.c.manifest).where(
            images.c.picture_id.in_(picture_ids)
        )
    ).all()
    db.execute(update(images).where(images.c.picture_id.in_(picture_ids)).values(picture_id=None))
    printed: dict[int, list[str]] = {}
    for row in rows:
        if row.manifest is not None:
            printed.setdefault(row.picture_id, []).append(print_key(row.id))
    return printed


def print_key(image_id: int) -> str:
    return f"prints/{image_id}.jpg"


def proof_key(image_id: int, name: str) -> str:
    """Return the key of a proof of an image: its `preview` or its `thumbnail`."""
    return f"proofs/{image_id}/{name}.jpg"


def proof_keys(image_id: int) -> tuple[str, str]:
    return proof_key(image_id, "preview"), proof_key(image_id, "thumbnail")


def mockup_key(image_id: int) -> str:
    return proof_key(image_id, "mockup")


def shown_keys(image_id: int) -> tuple[str, str, str]:
    """Return the keys of all that is shown of an image, whether it exists or not."""
    return *proof_keys(image_id), mockup_key(image_id)


def original_key(sha256: str, image_id: int) -> str:
    """Return the key of the file of a picture that came with an image.

    The image is part of it, so that a file that comes again while it is being removed is
    another file.
    """
    return f"originals/{sha256}-{image_id}"


def uploaded_key(image_id: int) -> str:
    """Return the key of an uploaded file that has not been validated yet."""
    return f"originals/upload-{image_id}"


def awaited_key(image_id: int, upload: str) -> str:
    """Return the key of a file that is uploaded for an image that awaits one.

    The upload is part of it, so that the removal of one that failed is not that of the next.
    """
    return f"{uploaded_key(image_id)}-{upload}"


def proxy_key(sha256: str, rendering: int | str) -> str:
    """Return the key of the smaller picture from which further proofs are rendered."""
    return f"proxies/{sha256}-{rendering}.jpg"
