"""Mockups of images: drawn later, from their proofs, by a job of their own."""

from collections.abc import Sequence

from printworks.actions.images.pictures import remove_files
from printworks.actions.work import Work
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.jobs import JobKind
from printworks.rules.mockups import Mockup, MockupPlan
from printworks.rules.sizing import place
from printworks.store.images.images import Image, find_image, update_image
from printworks.store.images.pictures import mockup_key
from printworks.store.orders.orders import get_order_to_change


def enqueue_mockups(work: Work, images: Sequence[Image]) -> None:
    """Let the mockups of those images be drawn that have proofs and a product that is drawn."""
    if not work.backing.draws_mockups:
        return
    for image in images:
        if find_mockup_plan(image, work.catalogue) is not None:
            work.enqueue(JobKind.DRAW_MOCKUP, {"image": image.id}, order_id=image.order_id)


def find_mockup_plan(image: Image, catalogue: Catalogue) -> MockupPlan | None:
    """Return how an image is drawn; None without proofs, or if its product is not drawn."""
    product = catalogue.find_product(image.sku)
    if product is None or not image.has_proofs or image.pixels is None:
        return None
    placement = place(image.pixels, product.print_area, image.sizing, image.position)
    return product.plan_mockup(image.attributes, is_turned=placement.is_turned)


def record_mockup(work: Work, image: Image, mockup: Mockup) -> bool:
    """Record that the mockup of an edition of an image is stored.

    Return False if its proofs have been removed in the meantime; then the mockup is removed, too.
    If the image has been changed, it is drawn again.
    """
    # Locked first: proofs are removed with the order locked.
    get_order_to_change(work.db, work.merchant.id, image.order_id)
    current = find_image(work.db, image.id)
    if current is None or not current.has_proofs:
        remove_files(work, [mockup_key(image.id)])
        return False
    if current.edition != image.edition:
        # The latest may have been drawn already, under the same name.
        enqueue_mockups(work, [current])
        return False
    if current.mockup is not mockup:
        update_image(work.db, current, {"mockup": mockup, "updated_at": work.now})
    return True
