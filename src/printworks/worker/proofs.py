"""Renders the proofs of images again that were changed after their pictures had come."""

from pathlib import Path
from typing import NamedTuple

from printworks.actions.images.editing import record_proofs
from printworks.actions.images.pictures import store_proofs
from printworks.catalogue.products import Product
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import PermanentFailure
from printworks.store.images.images import Image, find_image
from printworks.store.images.pictures import Picture, get_picture, proof_keys
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import Resources, infrastructure_errors


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
            await context.in_cpu_pool(_render, context.resources, stale, folder)
        await context.in_thread(_record, context, job, stale.image)


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
        product = context.resources.catalogue.find_product(image.sku)
        # Without a picture they have been removed on purpose; without a product nobody can order.
        if image.picture_id is None or image.width is None or product is None:
            return None
        return _Order(image, get_picture(db, image.picture_id), product)


def _render(resources: Resources, stale: _Order, folder: Path) -> None:
    image, picture, product = stale
    with resources.files.local(picture.original or "") as source:
        result = resources.render(
            lambda: resources.processor.prepare(
                source, product.print_area, image.sizing, folder, position=image.position
            )
        )
    if isinstance(result, Invalid):
        # The picture was valid when it came.
        raise PermanentFailure(f"No proof can be rendered again: {result.reason}")
    store_proofs(resources.files, image.id, folder)


def _record(context: Context, job: Job, image: Image) -> None:
    with context.database.writing() as db:
        record_proofs(context.job_work(db, job), image)
