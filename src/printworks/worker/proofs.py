"""Renders the proofs of images again that were changed after their pictures had come."""

from pathlib import Path
from typing import Final, NamedTuple

from printworks.actions.images.editing import record_proofs, refuse_edition
from printworks.actions.images.pictures import store_proofs
from printworks.catalogue.products import Product
from printworks.files.errors import FileMissing
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.sizing import Layout
from printworks.store.images.images import Image, find_image
from printworks.store.images.pictures import Picture, get_picture, proof_keys
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.originals import forget_original, open_original
from printworks.worker.resources import Resources, infrastructure_errors

LOST: Final = "The picture was lost; replace it."


class _Order(NamedTuple):
    """An image whose proofs are not of its latest edition, and what they are rendered from."""

    image: Image
    picture: Picture
    product: Product


async def render_proofs(context: Context, job: Job) -> None:
    """Render the proofs of the latest edition of an image.

    Idempotent: an image whose proofs are of its latest edition is left alone, and of one that is
    gone or erased nothing is left; the same picture and edition give the same files.
    """
    with infrastructure_errors():
        if await context.in_thread(_is_gone, context, job):
            # An interrupted attempt may have stored proofs that nobody wants any more.
            for key in proof_keys(job.args["image"]):
                await context.in_cpu_pool(context.resources.files.delete, key)
            return
        stale = await context.in_thread(_find_stale, context, job)
        if stale is None:
            return
        with context.resources.folder() as folder:
            try:
                refusal = await context.in_cpu_pool(_render, context.resources, stale, folder)
            except FileMissing:
                await context.in_thread(forget_original, context, stale.picture)
                refusal = LOST
        await context.in_thread(_record, context, job, stale.image, refusal)


def _is_gone(context: Context, job: Job) -> bool:
    """Whether an image was removed, or its proofs were; one that awaits another file has neither."""
    with context.database.reading() as db:
        image = find_image(db, job.args["image"])
    return image is None or (image.status is ImageStatus.OK and image.width is None)


def _find_stale(context: Context, job: Job) -> _Order | None:
    with context.database.reading() as db:
        image = find_image(db, job.args["image"])
        if image is None or image.status is not ImageStatus.OK or image.has_proofs:
            return None
        if image.picture_id is None or image.width is None:
            # They have been removed on purpose.
            return None
        picture = get_picture(db, image.picture_id)
    product = context.resources.find_product(image.sku)
    # Without a product nobody can order.
    return None if product is None else _Order(image, picture, product)


def _render(resources: Resources, stale: _Order, folder: Path) -> str | None:
    """Render and store the proofs; return why that is impossible, though the picture was valid."""
    image, picture, product = stale
    layout = Layout(product.print_area, image.sizing, image.position)
    with open_original(resources, picture) as source:
        result = resources.render(lambda: resources.processor.prepare(source, layout, folder))
    if isinstance(result, Invalid):
        return result.reason
    store_proofs(resources.files, image.id, folder)
    return None


def _record(context: Context, job: Job, image: Image, refusal: str | None) -> None:
    with context.database.writing() as db:
        work = context.job_work(db, job)
        if refusal is None:
            record_proofs(work, image)
        else:
            refuse_edition(work, image, refusal)
