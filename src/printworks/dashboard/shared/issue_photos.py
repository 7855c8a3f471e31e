"""Photographs of issues: how a form sends them, and how those who may see them do."""

from typing import Final

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from printworks.actions.issues.photos import (
    PhotoBatch,
    SentPhoto,
    add_photos,
    begin_photos,
    draw_photos,
)
from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.visits import MerchantVisit, Visit
from printworks.store.issues.issues import Issue
from printworks.store.issues.photos import NewPhoto, get_photo

# The name of the field.
PHOTOS: Final = "photos"

_HEADERS: Final = {
    # A photograph never changes. Whoever may see it may keep it for a while, and nobody between.
    "Cache-Control": "private, max-age=86400",
    # Even a picture that is something else as well runs nothing and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}


class Photographs(msgspec.Struct, frozen=True):
    """What came with a form, drawn and kept, and not yet part of an issue."""

    batch: PhotoBatch | None = None
    drawn: tuple[NewPhoto, ...] = ()

    def join(self, db: Connection, visit: MerchantVisit, issue: Issue) -> None:
        """Let them join an issue; the caller holds its order."""
        if self.batch is not None:
            add_photos(db, issue, self.batch, self.drawn, now=visit.now)


def take_photographs(visit: MerchantVisit, *, present: int) -> Photographs:
    """Draw what came with a form, outside of any transaction; an issue has so many already."""
    services = visit.services
    sent = [SentPhoto(file.filename or "", file.file) for file in visit.sent.files.get(PHOTOS, ())]
    if not sent:
        return Photographs()
    with services.database.writing() as db:
        batch = begin_photos(db, present=present, added=len(sent), now=visit.real_now)
    return Photographs(batch, tuple(draw_photos(services.processor, services.files, batch, sent)))


def send_photo(visit: Visit, issue: Issue) -> Response:
    """Return the photograph that the path names; the caller knows that the issue may be seen."""
    photo = get_photo(visit.db, issue, visit.number("photo"))
    return StoredPicture(visit.services, photo.file, _HEADERS)
