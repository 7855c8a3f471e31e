"""Checks whether an order can be submitted, with errors and warnings."""

from collections.abc import Sequence

import msgspec

from printworks.actions.payments.totals import MOST_TO_PAY, total_for_recipient
from printworks.actions.work import Work
from printworks.catalogue.products import offers_attributes
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import is_on_account
from printworks.rules.sizing import place
from printworks.rules.submission import (
    Findings,
    GeneralError,
    ImageError,
    ImageFacts,
    ImageWarning,
    PostalAddress,
    ProductFit,
    examine_order,
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
    # Whether labs were found for it.
    is_routable: bool

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
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    is_routable = not images or not is_open or bool(list_shipments(work.db, order.id))
    # A submitted order is paid for.
    is_balance_sufficient = not is_open or _is_within_limit(work, order, images)
    errors, findings = examine_order(
        PostalAddress(
            recipient_name=order.recipient_name,
            address1=order.address1,
            town_or_city=order.town_or_city,
            postal_code=order.postal_code,
            destination_country=order.destination_country,
        ),
        [_gather_facts(image, order, work.catalogue) for image in images],
        needs_recipient=needs_recipient,
        is_routable=is_routable,
        is_balance_sufficient=is_balance_sufficient,
    )
    return SubmissionStatus(order, images, errors, findings, is_routable)


def _is_within_limit(work: Work, order: Order, images: Sequence[Image]) -> bool:
    """Whether the merchant's credit covers the order."""
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


def require_valid(work: Work, order: Order, *, needs_recipient: bool = True) -> SubmissionStatus:
    """Return the status of an order that can be submitted; otherwise raise with every code."""
    status = check_submission(work, order, needs_recipient=needs_recipient)
    if not status.is_valid:
        raise WrongState(
            f"The order cannot be submitted: {_list_codes(status.errors, status.findings)}."
        )
    return status


def require_payable(work: Work, order: Order) -> None:
    """Refuse an order that its recipient cannot pay for, with every code.

    The recipient can still give an address, and images may be uploaded after the payment.
    """
    status = check_submission(work, order)
    ignored = {GeneralError.POSTAL_ADDRESS_NOT_SET} if order.destination_country else set()
    if status.is_printable and status.is_routable:
        ignored.add(GeneralError.ITEMS_CONTAINING_ERRORS)
    errors = [error for error in status.errors if error not in ignored]
    if total_for_recipient(order, status.images).total > MOST_TO_PAY:
        raise WrongState("The order is too expensive to be paid for at once.")
    if errors:
        later = [_ignore_missing_file(found) for found in status.findings]
        raise WrongState(f"The order cannot be submitted: {_list_codes(errors, later)}.")


def require_printable(work: Work, order: Order) -> None:
    """Refuse an order with an image that is invalid or no longer sold."""
    status = check_submission(work, order)
    if not status.is_printable:
        later = [_ignore_missing_file(found) for found in status.findings]
        raise WrongState(f"The order cannot be printed: {_list_codes([], later)}.")


def _ignore_missing_file(found: Findings) -> Findings:
    errors = [error for error in found.errors if error is not ImageError.NO_IMAGE_FILE]
    return msgspec.structs.replace(found, errors=errors)


def _list_codes(errors: Sequence[GeneralError], findings: Sequence[Findings]) -> str:
    codes: list[str] = [*errors]
    for found in findings:
        reasons: list[str] = [*found.errors]
        if not found.is_sold:
            reasons.append(ImageWarning.ATTRIBUTE_NOT_VALID)
        codes += [f"image {found.image_id} has {code}" for code in reasons]
    return ", ".join(codes)


def _gather_facts(image: Image, order: Order, catalogue: Catalogue) -> ImageFacts:
    product = catalogue.find_product(image.sku)
    if product is None:
        return ImageFacts(image.id, image.status, image.copies, None)
    country, pixels = order.destination_country, image.pixels
    fit = ProductFit(
        placement=pixels and place(pixels, product.print_area, image.sizing),
        recommended=product.recommended_pixels,
        is_sold=country is None or product.is_sold_to(country),
        has_valid_attributes=offers_attributes(product, image.attributes),
    )
    return ImageFacts(image.id, image.status, image.copies, fit)
