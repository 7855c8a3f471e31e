"""Checks whether an order can be submitted, with errors and warnings."""

from collections.abc import Hashable, Sequence, Set
from typing import Final, NamedTuple

import msgspec

from printworks.actions.orders.renewing import refuse_unseen_price
from printworks.actions.payments.balances import read_owed, read_share_of_balance
from printworks.actions.payments.totals import total_for_recipient
from printworks.actions.production.release import find_routing
from printworks.actions.production.routing import (
    ReadyRouting,
    RoutingTerms,
    is_plan_current,
    route_order,
)
from printworks.actions.work import Work
from printworks.catalogue.products import Product, explain_misfit
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import WrongState
from printworks.rules.merchants import explain_account, explain_currency
from printworks.rules.orders import PLANNED, OrderStatus, Payment
from printworks.rules.payments import MOST_TO_PAY, is_on_account, may_owe
from printworks.rules.routing.model import Routing, Unroutable
from printworks.rules.sizing import place
from printworks.rules.submission import (
    GONE,
    Findings,
    GeneralError,
    ImageError,
    ImageFacts,
    Obstacle,
    PostalAddress,
    ProductFit,
    examine_image,
    explain_state,
    find_general_errors,
)
from printworks.store.images.images import Image, list_images
from printworks.store.money.ledger import read_credit_limit
from printworks.store.money.payments import get_card
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import WholeOrder, list_shipments

NO_CARD: Final = "No card is saved for this merchant. Save one in the dashboard, under Settings."
NO_CHECKOUT: Final = "Recipients cannot pay here; set `payment` to InvoiceMe."


class SubmissionStatus(msgspec.Struct, frozen=True):
    """The result of checking an order."""

    order: Order
    images: Sequence[Image]
    errors: list[GeneralError]
    findings: list[Findings]
    # What stands in the way and has no code.
    refusal: str | None

    @property
    def is_valid(self) -> bool:
        """Whether submission will succeed."""
        return not self.errors and self.refusal is None

    @property
    def is_printable(self) -> bool:
        """Whether every image can be made, now or once its file has arrived."""
        return not any(_ignore_missing_file(found).is_wrong for found in self.findings)


class ReadySubmission(NamedTuple):
    """What a transaction needs to know of an order that it submits, found before it begins.

    The order, its images and its shipments are the same as long as it has the same version.
    """

    whole: WholeOrder
    findings: list[Findings]
    routing: ReadyRouting

    def is_for(self, work: Work, order: Order) -> bool:
        """Whether neither the order nor the catalogue has changed since."""
        return self.routing.is_for(work, order)


def make_ready(work: Work, whole: WholeOrder) -> ReadySubmission:
    """Choose the labs of an order and examine its images."""
    routing = find_routing(work, whole.order, whole.images)
    findings = _examine_images(work.catalogue, whole, _list_stuck(routing))
    return ReadySubmission(
        whole, findings, ReadyRouting(whole.order.version, routing, work.catalogue)
    )


def check_submission(
    work: Work, order: Order, *, needs_recipient: bool = True, ready: ReadySubmission | None = None
) -> SubmissionStatus:
    """Check whether an order can be submitted; return all errors and warnings.

    The caller decides whether a shipment needs the recipient's name. What is ready is used if the
    order has not changed since.
    """
    if ready is not None and ready.is_for(work, order):
        return _check(work, ready.whole, ready.findings, needs_recipient=needs_recipient)
    images = list_images(work.db, order.id) if order.image_count else []
    shipments = list_shipments(work.db, order.id) if images else []
    whole = WholeOrder(order, images, shipments)
    return check_whole(work, whole, needs_recipient=needs_recipient)


def check_whole(work: Work, whole: WholeOrder, *, needs_recipient: bool = True) -> SubmissionStatus:
    """Check an order whose images and shipments the caller has read already."""
    findings = _examine_images(work.catalogue, whole, _find_stuck(work, whole))
    return _check(work, whole, findings, needs_recipient=needs_recipient)


def _check(
    work: Work, whole: WholeOrder, findings: list[Findings], *, needs_recipient: bool
) -> SubmissionStatus:
    """Add to what was found about the images what stands in the way of the order."""
    order, images, _ = whole
    is_open = order.status is OrderStatus.NOT_YET_SUBMITTED
    # A submitted order is paid for.
    added = find_debt(work, order, images) if is_open else 0
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
        is_balance_sufficient=not is_open or _is_within_limit(work, added),
    )
    refusal = (
        explain_state(order.status)
        or explain_account(work.merchant.state, work.merchant.state_reason)
        or _refuse_recipient(work, order, images)
        or explain_currency(work.merchant.currency, work.catalogue.currencies)
        or refuse_unseen_price(work, whole)
        or _refuse_debt(work, added)
        or _refuse_card(work, order)
    )
    return SubmissionStatus(order, images, errors, findings, refusal)


def _examine_images(catalogue: Catalogue, whole: WholeOrder, stuck: Set[int]) -> list[Findings]:
    """Find what is wrong with each image, and that no lab can make some of them now."""
    order, images, _ = whole
    found: dict[Hashable, Findings] = {}
    findings = []
    for image in images:
        kind = _find_kind(image, is_stuck=image.id in stuck)
        if kind not in found:
            found[kind] = examine_image(_gather_facts(image, order, catalogue, stuck))
        findings.append(msgspec.structs.replace(found[kind], image_id=image.id))
    return findings


def _find_kind(image: Image, *, is_stuck: bool) -> Hashable:
    """Return the same for images of which the same is found."""
    chosen = tuple(image.attributes.items())
    place = image.pixels, image.sizing, image.position
    return image.sku, image.status, image.copies, place, chosen, is_stuck


def _find_stuck(work: Work, whole: WholeOrder) -> Set[int]:
    """Return the images that no lab can make now; labs are chosen if it is not known already."""
    order, images, shipments = whole
    if not images or order.status not in PLANNED:
        return set()
    is_planned = bool(shipments) and not order.needs_plan
    if is_planned and is_plan_current(order, images, shipments, work.catalogue):
        return set()
    return _list_stuck(route_order(order, images, RoutingTerms.of(work)))


def _list_stuck(routing: Routing | None) -> Set[int]:
    return set(routing.items) if isinstance(routing, Unroutable) else set()


def find_debt(work: Work, order: Order, images: Sequence[Image]) -> int:
    """Return what the merchant will owe for the order."""
    if order.payment is Payment.INVOICE_RECIPIENT:
        return max(0, order.total - total_for_recipient(order, images).total)
    # A card payment is not owed.
    return order.total if is_on_account(work.merchant.billing, work.cards) else 0


def _is_within_limit(work: Work, added: int) -> bool:
    """Whether nothing is outstanding that must be paid before the merchant owes more."""
    limit = read_credit_limit(work.db, work.merchant.id)
    on_account = is_on_account(work.merchant.billing, work.cards)
    if limit is None and (on_account or not added):
        return True
    owed = read_owed(work.db, work.merchant.id)
    return may_owe(added, owed=owed, limit=limit, on_account=on_account)


def _refuse_recipient(work: Work, order: Order, images: Sequence[Image]) -> str | None:
    """Return why the recipient of an order cannot pay for it."""
    if order.payment is not Payment.INVOICE_RECIPIENT:
        return None
    if work.cards is None:
        return NO_CHECKOUT
    is_too_much = total_for_recipient(order, images).total > MOST_TO_PAY
    return "The order is too expensive to be paid for at once." if is_too_much else None


def _refuse_card(work: Work, order: Order) -> str | None:
    """Return why the merchant cannot be charged for an order by card."""
    if order.payment is not Payment.INVOICE_ME or order.payment_request_id is not None:
        return None
    cards, merchant = work.cards, work.merchant
    if cards is None or not cards.needs_saved_card or is_on_account(merchant.billing, cards):
        return None
    if get_card(work.db, merchant.id).payment_method:
        return None
    from_balance = (
        read_share_of_balance(work.db, merchant.id, order.total) if cards.uses_balance else 0
    )
    return NO_CARD if from_balance < order.total else None


def _refuse_debt(work: Work, added: int) -> str | None:
    """Return why nobody can be charged what the recipient does not pay."""
    if not added or work.cards is None or is_on_account(work.merchant.billing, work.cards):
        return None
    has_limit = read_credit_limit(work.db, work.merchant.id) is not None
    has_card = not work.cards.needs_saved_card or get_card(work.db, work.merchant.id).payment_method
    if has_limit or has_card:
        return None
    return (
        f"The recipient would pay {added / 100:,.2f} {work.merchant.currency} less than the order "
        "costs, and there is neither a card nor an account to charge the difference to. Ask the "
        "recipient for more, or save a card."
    )


def require_valid(
    work: Work, order: Order, *, needs_recipient: bool = True, ready: ReadySubmission | None = None
) -> SubmissionStatus:
    """Return the status of an order that can be submitted; otherwise raise with every code."""
    status = check_submission(work, order, needs_recipient=needs_recipient, ready=ready)
    if status.refusal and not status.errors:
        raise WrongState(status.refusal)
    if not status.is_valid:
        raise WrongState(
            f"The order cannot be submitted: {_list_codes(status.errors, status.findings)}."
        )
    return status


def require_payable(
    work: Work, order: Order, ready: ReadySubmission | None = None
) -> SubmissionStatus:
    """Return the status of an order; refuse one that its recipient cannot pay for, with every code.

    The recipient can still give an address, and images may be uploaded after the payment.
    """
    status = check_submission(work, order, ready=ready)
    ignored = {GeneralError.POSTAL_ADDRESS_NOT_SET} if order.destination_country else set()
    if status.is_printable:
        ignored.add(GeneralError.ITEMS_CONTAINING_ERRORS)
    errors = [error for error in status.errors if error not in ignored]
    if errors:
        later = [_ignore_missing_file(found) for found in status.findings]
        raise WrongState(f"The order cannot be submitted: {_list_codes(errors, later)}.")
    if status.refusal:
        raise WrongState(status.refusal)
    return status


def require_printable(
    work: Work, order: Order, ready: ReadySubmission | None = None
) -> SubmissionStatus:
    """Return the status of an order; refuse one with an image that is invalid or not sold."""
    status = check_submission(work, order, ready=ready)
    if not status.is_printable:
        later = [_ignore_missing_file(found) for found in status.findings]
        raise WrongState(f"The order cannot be printed: {_list_codes([], later)}.")
    return status


def _ignore_missing_file(found: Findings) -> Findings:
    errors = [error for error in found.errors if error is not ImageError.NO_IMAGE_FILE]
    return msgspec.structs.replace(found, errors=errors)


def _list_codes(errors: Sequence[GeneralError], findings: Sequence[Findings]) -> str:
    codes: list[str] = [*errors]
    for found in findings:
        image = f"image {found.image_id}"
        codes += [f"{image} has {code}" for code in found.errors]
        codes += [obstacle.rstrip(".")] if (obstacle := found.explain(image)) else []
    return ", ".join(codes)


def _gather_facts(image: Image, order: Order, catalogue: Catalogue, stuck: Set[int]) -> ImageFacts:
    product = catalogue.find_product(image.sku)
    if product is None:
        return ImageFacts(image.id, image.sku, image.status, image.copies, GONE)
    pixels, (obstacle, detail) = image.pixels, _find_obstacle(image, product, order, stuck)
    fit = ProductFit(
        placement=pixels and place(pixels, product.print_area, image.sizing, image.position),
        recommended=product.recommended_pixels,
        obstacle=obstacle,
        detail=detail,
    )
    return ImageFacts(image.id, image.sku, image.status, image.copies, fit)


def _find_obstacle(
    image: Image, product: Product, order: Order, stuck: Set[int]
) -> tuple[Obstacle | None, str]:
    country = order.destination_country
    if country is not None and not product.is_sold_to(country):
        return Obstacle.NOT_SOLD_THERE, country
    misfit = explain_misfit(product, image.attributes)
    if misfit is not None:
        return Obstacle.WRONG_ATTRIBUTES, misfit
    if image.id in stuck:
        return Obstacle.NO_LAB, country or ""
    return None, ""
