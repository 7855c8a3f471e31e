"""What operators change in an order on behalf of its merchant, by the merchant's own rules."""

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from starlette.datastructures import UploadFile
from starlette.responses import Response

from printworks.actions.images.replacing import (
    begin_replacing,
    drop_replacing,
    replace_by_upload,
    replace_by_url,
)
from printworks.actions.images.uploads import Upload, UploadResult, validate_upload
from printworks.dashboard.shared.order_address import describe_address, take_address
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput, WrongState
from printworks.rules.images import ImageStatus, check_replacing
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import get_merchant
from printworks.store.console.orders import get_any_order
from printworks.store.images.images import get_image_of_order
from printworks.store.labs.shipments import get_whole_order


@page_at("/console/orders/{id}/address")
def show_address(visit: ConsoleVisit) -> Response:
    """Show where an order goes, to be corrected while that is still possible."""
    order = get_any_order(visit.db, visit.number("id"))
    form = describe_address(visit, get_whole_order(visit.db, order.merchant_id, order.id))
    return visit.render(
        "console/order_address.html",
        order=order,
        form=form,
        merchant=get_merchant(visit.db, order.merchant_id),
        may_support=visit.may(Duty.SUPPORT),
    )


@show_address.action("support-address", "The address and shipping were changed.", duty=Duty.SUPPORT)
def change_address(visit: ConsoleVisit) -> str:
    """Change the address or shipping method of the order."""
    work, order = visit.system_work.lock_order(visit.number("id"))
    take_address(work, order, visit.sent)
    return f"/console/orders/{order.id}"


@page_at("/console/orders/{id}/images/{image}")
def show_image(visit: ConsoleVisit) -> Response:
    """Show an image, and the form for another picture."""
    order = get_any_order(visit.db, visit.number("id"))
    image = get_image_of_order(visit.db, order.id, visit.number("image"))
    why_not = ""
    try:
        check_replacing(order.status, image.status)
    except WrongState as refusal:
        why_not = refusal.message
    return visit.render(
        "console/order_image.html",
        order=order,
        image=image,
        merchant=get_merchant(visit.db, order.merchant_id),
        why_not=why_not,
        may_support=visit.may(Duty.SUPPORT),
    )


@show_image.action("replace-picture", "The picture was replaced.", duty=Duty.SUPPORT, alone=True)
def replace_picture(visit: ConsoleVisit) -> str:
    """Give an image another picture: by address, or a file that is validated at once."""
    files, url = visit.sent.files.get("picture", ()), visit.sent.text("url")
    if len(files) > 1 or bool(files) == bool(url):
        raise BadInput("Enter the address of a picture, or choose one file.")
    order_id, image_id = visit.number("id"), visit.number("image")
    if files:
        _replace_by_file(visit, order_id, image_id, files[0])
    else:
        with visit.services.database.writing() as db:
            work, order = visit.system_work_in(db).lock_order(order_id)
            replace_by_url(work, order, image_id, url)
    return f"/console/orders/{order_id}"


def _replace_by_file(visit: ConsoleVisit, order_id: int, image_id: int, file: UploadFile) -> None:
    """Validate a file outside any transaction, then give it to the image."""
    services = visit.services
    services.check_room()
    with services.database.writing() as db:
        work, order = visit.system_work_in(db).lock_order(order_id)
        upload = begin_replacing(work, order, image_id)
    result = _validate(visit, upload, file)
    with services.database.writing() as db:
        work, _ = visit.system_work_in(db).lock_order(order_id)
        if result.status is ImageStatus.OK:
            replace_by_upload(work, order_id, image_id, (upload, result))
        else:
            drop_replacing(work, upload)
    if result.status is not ImageStatus.OK:
        raise BadInput(result.error_message or "This file cannot be printed.")


def _validate(visit: ConsoleVisit, upload: Upload, file: UploadFile) -> UploadResult:
    with TemporaryDirectory(prefix="printworks-") as folder:
        picture = Path(folder) / "picture"
        with picture.open("wb") as copy:
            shutil.copyfileobj(file.file, copy)
        services = visit.services
        return validate_upload(services.processor, services.files, upload, picture, Path(folder))
