"""Photographs of products that come with a form, or with the files of a whole catalogue."""

from collections.abc import Sequence
from typing import Final

from starlette.datastructures import UploadFile

from printworks.actions.product_pictures import (
    DrawnPicture,
    begin_pictures,
    draw_picture,
    draw_pictures,
    find_missing,
)
from printworks.catalogue.drafts.pictures import rename_pictures
from printworks.catalogue.opening import read_catalogue
from printworks.catalogue.pictures import list_pictures
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.console.drafts.parts import PRODUCTS, Part
from printworks.dashboard.site.forms import at_field
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput

# The key of a product, and the name of the field.
PICTURE: Final = "picture"
# The name of the field with the files of a catalogue.
_FILES: Final = "files"
_ENDINGS: Final = (".jpg", ".jpeg", ".png", ".webp", ".heic", ".heif", ".tif", ".tiff")


def receive_picture(visit: ConsoleVisit, part: Part) -> DrawnPicture | None:
    """Draw and store the picture that was sent; None if there was none."""
    services, sent = visit.services, visit.sent.files.get(PICTURE, ())
    if part is not PRODUCTS or not sent:
        return None
    if len(sent) > 1:
        raise BadInput("Choose one picture.", field=PICTURE)
    services.check_room()
    with services.database.writing() as db:
        [upload] = begin_pictures(visit.system_work_in(db), 1)
    with at_field(PICTURE):
        return draw_picture(
            services.processor,
            services.files,
            upload,
            sent[0].file,
            called=f"{visit.sent.text('sku')}.jpg",
        )


def is_picture(file: UploadFile) -> bool:
    """Say whether a file of a catalogue is called as a picture is."""
    return (file.filename or "").lower().endswith(_ENDINGS)


def import_pictures(
    visit: ConsoleVisit, catalogue: Catalogue, files: Sequence[UploadFile]
) -> tuple[Catalogue, list[DrawnPicture]]:
    """Store the pictures that came with a catalogue; return it with the names that they have now.

    Those that are stored already need not come again.
    """
    services, names = visit.services, list_pictures(catalogue.products)
    sent = {str(file.filename): file.file for file in files if file.filename in names}
    if not names:
        return catalogue, []
    with services.database.writing() as db:
        system = visit.system_work_in(db)
        missing = [name for name in find_missing(system, names) if name not in sent]
        if missing:
            raise BadInput(f"Choose the picture {missing[0]} as well.", field=_FILES)
        uploads = begin_pictures(system, len(sent))
    if not sent:
        return catalogue, []
    services.check_room()
    with at_field(_FILES):
        drawn = draw_pictures(services.processor, services.files, uploads, sent.items())
    texts = rename_pictures(catalogue.texts, {name: one.name for name, one in drawn.items()})
    return read_catalogue(texts), list(drawn.values())
