"""The job sheet and the print files of a lab job."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from starlette.responses import Response, StreamingResponse

from printworks.actions.brand import read_paper_brand
from printworks.actions.production.lab_documents import write_document
from printworks.actions.production.shop_slips import enclose_slip, find_shop_slip
from printworks.dashboard.shared.slips import SlipResponse, make_paper_policy
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit, refuse_unknown
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.files.store import Files
from printworks.labs.documents import JobDocument
from printworks.labs.print_paths import place_prints
from printworks.labs.sheet import write_sheet
from printworks.labs.slip import SlipText
from printworks.store.accounts.merchants import get_merchant
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import find_packing_slip
from printworks.store.images.pictures import print_key, proof_key
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, get_shipment
from printworks.store.views.console.orders import get_any_order

PRIVATE: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}
# Even a picture that is something else as well runs nothing and loads nothing.
_PICTURE_POLICY: Final = "default-src 'none'; sandbox; frame-ancestors 'none'"


class LeftOut(StrEnum):
    """Why a lab job is not printed together with others."""

    NOT_READY = "print files not ready yet"
    ON_HOLD = "order on hold"
    LAB_GONE = "lab no longer in the catalogue"


@page_at("/console/shipments/{id}/sheet")
def show_sheet(visit: ConsoleVisit) -> Response:
    """Show the job sheet as the lab has it, ready for paper."""
    document, slip = _require_document(visit)
    if slip is not None:
        # The sheet only says that there is one.
        document = enclose_slip(document, b"")
    # The pictures are read once the database is let go.
    content = _draw(document, visit.services.files, visit.services.settings.lab_print_path)
    policy = make_paper_policy(_draw_without_pictures(document))
    headers = {**PRIVATE, "Content-Security-Policy": policy}
    return StreamingResponse(content, media_type="text/html; charset=utf-8", headers=headers)


@page_at("/console/shipments/{id}/slip")
def show_slip(visit: ConsoleVisit) -> Response:
    """Show the packing slip of the shop as the lab has it, ready for paper."""
    _, slip = _require_document(visit)
    return refuse_unknown() if slip is None else SlipResponse(visit.services, slip)


def _require_document(visit: ConsoleVisit) -> tuple[JobDocument, SlipText | None]:
    shipment = get_shipment(visit.db, visit.number("id"))
    order = get_any_order(visit.db, shipment.order_id)
    return _write_document(visit, order, shipment) or refuse_unknown()


def find_document(visit: ConsoleVisit, shipment_id: int) -> JobDocument | LeftOut:
    """Return what a lab is told of a job, or why it is not to be printed now."""
    shipment = get_shipment(visit.db, shipment_id)
    order = get_any_order(visit.db, shipment.order_id)
    if order.held_at is not None:
        return LeftOut.ON_HOLD
    if visit.services.catalogue.find_lab(shipment.lab) is None:
        return LeftOut.LAB_GONE
    written = _write_document(visit, order, shipment)
    if written is None:
        return LeftOut.NOT_READY
    document, slip = written
    return document if slip is None else enclose_slip(document, b"")


def _write_document(
    visit: ConsoleVisit, order: Order, shipment: Shipment
) -> tuple[JobDocument, SlipText | None] | None:
    """Return what a lab is told; None before there is something to print, or if the lab is gone."""
    images = list_images(visit.db, order.id)
    theirs = [image for image in images if image.id in shipment.image_ids]
    is_drawn = theirs and all(image.manifest is not None for image in theirs)
    lab = visit.services.catalogue.find_lab(shipment.lab)
    if shipment.state is None or not is_drawn or lab is None:
        return None
    work = visit.services.work(visit.db, get_merchant(visit.db, order.merchant_id))
    own = find_packing_slip(visit.db, order.id)
    document = write_document(work, order, shipment, images, own)
    return document, find_shop_slip(visit.db, order, document, can_pack=lab.packing_slips)


def _draw(document: JobDocument, files: Files, print_path: str) -> Iterator[bytes]:
    places = {name: str(place) for name, place in place_prints(document, print_path).items()}
    logo = read_paper_brand(find_brand(), files).logo
    yield write_sheet(document, places, read_thumbnails(document, files), logo).encode()


def _draw_without_pictures(document: JobDocument) -> str:
    return write_sheet(document, {}, {})


def read_thumbnails(document: JobDocument, files: Files) -> dict[str, bytes]:
    """Read the pictures of a sheet; those that are missing are left out."""
    thumbnails = {}
    for item in document.items:
        try:
            thumbnails[item.thumbnail] = files.read(proof_key(item.image, "thumbnail"))
        except FileMissing:
            # Its place on the sheet stays empty.
            continue
        except FilesUnavailable:
            break
    return thumbnails


@page_at("/console/shipments/{id}/prints/{image}")
def show_print(visit: ConsoleVisit) -> Response:
    shipment = get_shipment(visit.db, visit.number("id"))
    number = visit.number("image")
    theirs = list_images(visit.db, shipment.order_id)
    image = next((one for one in theirs if one.id == number), None)
    is_kept = image is not None and image.manifest is not None and image.picture_id is not None
    if shipment.state is None or number not in shipment.image_ids or not is_kept:
        refuse_unknown()
    headers = {
        **PRIVATE,
        "Content-Security-Policy": _PICTURE_POLICY,
        "Content-Disposition": f'inline; filename="{number}.jpg"',
    }
    return StoredPicture(visit.services, print_key(number), headers)
