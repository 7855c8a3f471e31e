"""Checks whether an order can be submitted, with errors and warnings."""

from collections.abc import Sequence

import msgspec
from sqlalchemy import Connection

from printworks.actions.payments.totals import MOST_TO_PAY, total_for_recipient
from printworks.actions.work import Work
from printworks.catalogue.products import choose_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import is_on_account
from printworks.rules.sizing import place
from printworks.rules.submission import (
    Findings,
    GeneralError,
    ImageError,
    ImageWarning,
    PostalAddress,
    find_general_errors,
    find_image_errors,
    find_size_warnings,
)
from printworks.store.images.images import Image, list_images
from printworks.store.labs.shipments import list_shipments
from printworks.store.money.ledger import read_books, read_credit_limit
from printworks.store.orders.orders import Order


class SubmissionStatus(msgspec.Struct, frozen=True):
    """The result of checking an order."""

    order: Order
    images: Sequence[Image]
    errors: list[GeneralError]
    findings: list[Findings]

    @property
    def is_valid(self) -> bool:
        """Whether submission will succeed."""
        return not self.errors and self.order.status is OrderStatus.NOT_YET_SUBMITTED

    @property
    def is_printable(self) -> bool:
        """Whether every image can be made, now or once its file has arrived."""
        return not any(_ignore_missing_file(found).is_wrong for found in self.findings)


def check_submission(work: Work, order: Order, *, needs_recipient: bool = True) -> SubmissionStatus:
    """Check whether an order can be submitted; return all errors and warnings.

    The caller decides whether a shipment needs the recipient's name.
    """
    images = list_images(work.db, order.id) if order.image_count else []
    findings = [_examine(image, order, work.catalogue) for image in images]
    errors = find_general_errors(
        PostalAddress(
            recipient_name=order.recipient_name,
            address1=order.address1,
            town_or_city=order.town_or_city,
            postal_code=order.postal_code,
            destination_country=order.destination_country,
        ),
        findings,
        needs_recipient=needs_recipient,
        is_routable=_is_routable(work.db, order, findings),
        is_balance_sufficient=_is_within_limit(work, order, images),
    )
    return SubmissionStatus(order, images, errors, findings)


def _is_within_limit(work: Work, order: Order, images: Sequence[Image]) -> bool:
    """Whether the merchant's credit covers the order; a submitted one is paid for."""
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return True
    limit = read_credit_limit(work.db, order.merchant_id)
    on_account = is_on_account(work.merchant.billing, work.cards)
    # A card payment is not owed, but debts must be within the limit.
    added = order.price if on_account else 0
    if order.payment is Payment.INVOICE_RECIPIENT:
        # The merchant owes what the recipient does not pay.
        added = max(0, order.price - total_for_recipient(order, images).total)
        if added and not on_account and limit is None:
            return False
    return limit is None or read_books(work.db, order.merchant_id).balance + added <= limit


def _is_routable(db: Connection, order: Order, findings: Sequence[Findings]) -> bool:
    """Whether labs were found; images that cannot be ordered have errors of their own."""
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    if not is_open or not findings or any(found.is_wrong for found in findings):
        return True
    return bool(list_shipments(db, order.id))


def require_valid(work: Work, order: Order, *, needs_recipient: bool = True) -> SubmissionStatus:
    """Return the status of an order that can be submitted; otherwise raise with every code."""
    status = check_submission(work, order, needs_recipient=needs_recipient)
    if not status.is_valid:
        raise WrongState(f"The order cannot be submitted: {_list_codes(status.errors, status)}.")
    return status


def require_payable(work: Work, order: Order) -> None:
    """Refuse an order that its recipient cannot pay for, with every code.

    The recipient can still give an address, and images may be uploaded after the payment.
    """
    status = check_submission(work, order)
    later = [_ignore_missing_file(found) for found in status.findings]
    ignored = {GeneralError.POSTAL_ADDRESS_NOT_SET} if order.destination_country else set()
    if not any(found.is_wrong for found in later) and _is_routable(work.db, order, later):
        ignored.add(GeneralError.ITEMS_CONTAINING_ERRORS)
    errors = [error for error in status.errors if error not in ignored]
    if total_for_recipient(order, status.images).total > MOST_TO_PAY:
        raise WrongState("The order is too expensive to be paid for at once.")
    if errors:
        found_now = msgspec.structs.replace(status, findings=later)
        raise WrongState(f"The order cannot be submitted: {_list_codes(errors, found_now)}.")


def require_printable(work: Work, order: Order) -> None:
    """Refuse an order with an image that is invalid or no longer sold."""
    status = check_submission(work, order)
    if not status.is_printable:
        found_now = msgspec.structs.replace(
            status, findings=[_ignore_missing_file(found) for found in status.findings]
        )
        raise WrongState(f"The order cannot be printed: {_list_codes([], found_now)}.")


def _ignore_missing_file(found: Findings) -> Findings:
    errors = [error for error in found.errors if error is not ImageError.NO_IMAGE_FILE]
    return msgspec.structs.replace(found, errors=errors)


def _list_codes(errors: Sequence[GeneralError], status: SubmissionStatus) -> str:
    codes: list[str] = [*errors]
    for found in status.findings:
        reasons: list[str] = [*found.errors]
        if not found.is_sold:
            reasons.append(ImageWarning.ATTRIBUTE_NOT_VALID)
        codes += [f"image {found.image_id} has {code}" for code in reasons]
    return ", ".join(codes)


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
