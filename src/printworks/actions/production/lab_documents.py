"""Writes the job document that a lab gets with a shipment."""

from collections.abc import Sequence
from datetime import date
from pathlib import PurePosixPath
from typing import Any, Final

import msgspec

from printworks.actions.production.release import print_name
from printworks.actions.work import Work
from printworks.catalogue.labs import Lab
from printworks.catalogue.snapshot import Catalogue
from printworks.conversion import reader_of
from printworks.imaging.manifest import Manifest
from printworks.labs.documents import Address, Customs, JobDocument, JobFile, JobItem, JobService
from printworks.rules.customs import crosses_customs, find_declared_value
from printworks.rules.images import ImageStatus
from printworks.store.accounts.brand import read_brand
from printworks.store.images.images import Image, Images
from printworks.store.images.packing_slips import PackingSlip
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, list_decisions

_read_manifest: Final = reader_of(Manifest)


def thumbnail_name(image_id: int) -> str:
    """Name the small picture of an image as labs know it."""
    return f"{image_id}-small.jpg"


def slip_name(slip: PackingSlip) -> str:
    """Name a packing slip as labs know it, with the ending of its format."""
    return f"packing-slip{PurePosixPath(slip.file or '').suffix}"


def write_document(
    work: Work, order: Order, shipment: Shipment, images: Images, slip: PackingSlip | None
) -> JobDocument:
    """Write what a lab needs to know to make and send a shipment."""
    lab, merchant = work.catalogue.get_lab(shipment.lab), work.merchant
    theirs = [image for image in images if image.id in shipment.image_ids]
    items = [_write_item(work, image) for image in theirs]
    if crosses_customs(lab.country, order.destination_country or lab.country):
        items = [_declare(work, order, *pair) for pair in zip(items, theirs, strict=True)]
    decisions = list_decisions(work.db, order.id)
    rejected = [len(decision.without) for decision in decisions]
    return JobDocument(
        job=shipment.id,
        name=shipment.job_name,
        lab=lab.code,
        operator=read_brand(work.db).brand.name or msgspec.UNSET,
        environment=work.environment,
        order=order.id,
        merchant=merchant.name,
        merchant_order_id=order.merchant_order_id,
        reprint_of=order.reprint_of,
        rejections=max(rejected, default=0),
        # A job that replaces another is younger than its order.
        ordered_at=min(
            [decision.created_at for decision in decisions], default=shipment.created_at
        ),
        dispatch_by=_find_dispatch_day(lab, theirs, shipment),
        address=_write_address(order),
        service=_write_service(order, shipment, work.catalogue),
        items=items,
        packing_slip=_write_slip(slip, lab),
        customs=Customs(
            currency=order.currency or merchant.currency,
            value=_add_up(items),
            invoice_amount_net=order.invoice_amount_net,
            invoice_tax=order.invoice_tax,
            invoice_currency=order.invoice_currency,
        ),
    )


def _write_item(work: Work, image: Image) -> JobItem:
    manifest = read_manifest(image)
    product = work.catalogue.find_product(image.sku)
    return JobItem(
        image=image.id,
        sku=image.sku,
        description=product.description if product else image.sku,
        copies=image.copies,
        attributes=image.attributes,
        print=JobFile(name=print_name(image.id), sha256=manifest.output_sha256),
        thumbnail=thumbnail_name(image.id),
        width=manifest.plan.canvas.width,
        height=manifest.plan.canvas.height,
        dpi=manifest.plan.dpi,
        value=None,
    )


def _declare(work: Work, order: Order, item: JobItem, image: Image) -> JobItem:
    """Return an item with its value, for a parcel that crosses a customs border."""
    product, currency = work.catalogue.find_product(image.sku), order.currency
    country = order.destination_country or ""
    listed = (
        None
        if product is None
        else product.find_price(currency or work.merchant.currency, country=country)
    )
    value = find_declared_value(image.price_to_user, listed)
    return msgspec.structs.replace(item, value=value)


def _add_up(items: Sequence[JobItem]) -> int | None:
    """Return what all items are worth; None if it is not known of one, or nobody wants to know."""
    values = [None if item.value is None else item.value * item.copies for item in items]
    known = [value for value in values if value is not None]
    return sum(known) if known and len(known) == len(values) else None


def read_manifest(image: Image) -> Manifest:
    """Return how the print file of an image was made."""
    manifest: Any = image.manifest
    return _read_manifest(manifest)


def _find_dispatch_day(lab: Lab, images: Images, shipment: Shipment) -> date:
    skus = {image.sku for image in images}
    return lab.find_dispatch(skus, ordered_at=shipment.created_at).latest


def _write_address(order: Order) -> Address:
    return Address(
        name=order.recipient_name,
        address1=order.address1,
        address2=order.address2,
        town_or_city=order.town_or_city,
        state_or_county=order.state_or_county,
        postal_code=order.postal_code,
        country=order.destination_country,
        telephone=order.mobile_telephone or order.telephone,
        email=order.email,
    )


def _write_service(order: Order, shipment: Shipment, catalogue: Catalogue) -> JobService:
    names = {service.code: service.name for service in catalogue.services}
    return JobService(
        code=shipment.service,
        name=names.get(shipment.service, shipment.service),
        carrier=shipment.carrier,
        method=order.shipping_method,
        is_tracked=shipment.is_tracked,
    )


def _write_slip(slip: PackingSlip | None, lab: Lab) -> JobFile | None:
    if slip is None or slip.status is not ImageStatus.OK or not lab.packing_slips:
        return None
    return JobFile(name=slip_name(slip), sha256=slip.sha256 or "")
