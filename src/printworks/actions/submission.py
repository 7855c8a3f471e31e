"""Whether an order can be submitted, and what the merchant should know before."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection

from printworks.catalogue.products import choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.sizing import place
from printworks.rules.submission import (
    Findings,
    GeneralError,
    ImageWarning,
    find_general_errors,
    find_image_errors,
    find_size_warnings,
)
from printworks.store.images import Image, list_images
from printworks.store.ledger import read_books, read_credit_limit
from printworks.store.orders import Order
from printworks.store.shipments import list_shipments


class SubmissionStatus(msgspec.Struct, frozen=True):
    """All that was found out about an order."""

    order: Order
    images: Sequence[Image]
    errors: list[GeneralError]
    findings: list[Findings]

    @property
    def is_valid(self) -> bool:
        """Whether submission will succeed."""
        return not self.errors and self.order.status is OrderStatus.NOT_YET_SUBMITTED


def check_submission(db: Connection, order: Order, catalogue: Catalogue) -> SubmissionStatus:
    """Find out whether an order can be submitted, and what is doubtful about it."""
    images = list_images(db, order.id) if order.image_count else []
    findings = [_examine(image, order, catalogue) for image in images]
    errors = find_general_errors(
        recipient_name=order.recipient_name,
        address1=order.address1,
        town_or_city=order.town_or_city,
        postal_code=order.postal_code,
        destination_country=order.destination_country,
        images=findings,
        is_routable=_is_routable(db, order, findings),
        is_balance_sufficient=_is_within_limit(db, order),
    )
    return SubmissionStatus(order, images, errors, findings)


def _is_within_limit(db: Connection, order: Order) -> bool:
    """Whether the merchant may owe what the order costs; one that is submitted is paid for."""
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return True
    if order.payment is Payment.INVOICE_RECIPIENT:
        return True
    limit = read_credit_limit(db, order.merchant_id)
    return limit is None or read_books(db, order.merchant_id).balance + order.price <= limit


def _is_routable(db: Connection, order: Order, findings: Sequence[Findings]) -> bool:
    """Whether labs were found for what can be ordered; the rest has errors of its own."""
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    if not is_open or not findings or any(found.is_wrong for found in findings):
        return True
    return bool(list_shipments(db, order.id))


def require_valid(db: Connection, order: Order, catalogue: Catalogue) -> SubmissionStatus:
    """Return the status of an order that can be submitted; refuse another with every code."""
    status = check_submission(db, order, catalogue)
    if not status.is_valid:
        codes: list[str] = [*status.errors]
        for found in status.findings:
            reasons: list[str] = [*found.errors]
            if not found.is_sold:
                reasons.append(ImageWarning.ATTRIBUTE_NOT_VALID)
            codes += [f"image {found.image_id} has {code}" for code in reasons]
        raise WrongState(f"The order cannot be submitted: {', '.join(codes)}.")
    return status


def _examine(image: Image, order: Order, catalogue: Catalogue) -> Findings:
    product = catalogue.find_product(image.sku)
    errors = find_image_errors(image.status, image.copies)
    if product is None:
        return Findings(
            image_id=image.id,
            errors=errors,
            warnings=[ImageWarning.ATTRIBUTE_NOT_VALID],
            is_sold=False,
        )
    pixels = image.pixels
    placement = None if pixels is None else place(pixels, product.print_area, image.sizing)
    warnings = find_size_warnings(image.status, placement, product.recommended_pixels)
    is_sold = order.destination_country is None or product.is_sold_to(order.destination_country)
    try:
        choose_attributes(product, image.attributes)
        fits = is_sold
    except BadInput:
        fits = False
    if not fits:
        warnings.append(ImageWarning.ATTRIBUTE_NOT_VALID)
    return Findings(image_id=image.id, errors=errors, warnings=warnings, is_sold=is_sold)
