"""Photos of issues: received from a form, and shown."""

from typing import Final

import msgspec
from sqlalchemy import Connection
from starlette.responses import Response

from printworks.actions.issues.photos import (
    PhotoBatch,
    SentPhoto,
    add_photos,
    begin_photos,
    render_photos,
)
from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.visits import MerchantVisit, Visit
from printworks.store.issues.issues import Issue
from printworks.store.issues.photos import NewPhoto, get_photo

# The name of the field.
PHOTOS: Final = "photos"

_HEADERS: Final = {
    # A photo never changes. Browsers may cache it for a while, proxies may not.
    "Cache-Control": "private, max-age=86400",
    # Even a picture that is something else as well runs nothing and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox",
    "Referrer-Policy": "no-referrer",
}


class ReceivedPhotos(msgspec.Struct, frozen=True):
    """Photos of a form, rendered and stored, and not yet part of an issue."""

    batch: PhotoBatch | None = None
    drawn: tuple[NewPhoto, ...] = ()

    def join(self, db: Connection, visit: MerchantVisit, issue: Issue) -> None:
        """Add them to an issue; the caller holds its order."""
        if self.batch is not None:
            add_photos(visit.system_work_in(db), issue, self.batch, self.drawn)


def receive_photos(visit: MerchantVisit, *, present: int) -> ReceivedPhotos:
    """Render the photos of a form, outside any transaction; `present` is how many the issue has."""
    services = visit.services
    sent = [SentPhoto(file.filename or "", file.file) for file in visit.sent.files.get(PHOTOS, ())]
    if not sent:
        return ReceivedPhotos()
    with services.database.writing() as db:
        batch = begin_photos(visit.system_work_in(db), present=present, added=len(sent))
    return ReceivedPhotos(
        batch, tuple(render_photos(services.processor, services.files, batch, sent))
    )


def send_photo(visit: Visit, issue: Issue) -> Response:
    """Return the photo that the path names; the caller checks that the issue may be seen."""
    photo = get_photo(visit.db, issue, visit.number("photo"))
    return StoredPicture(visit.services, photo.file, _HEADERS)
