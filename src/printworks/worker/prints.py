"""Renders the print files of images."""

from pathlib import Path
from typing import Final

import msgspec

from printworks.actions.images.images import record_print
from printworks.actions.images.pictures import has_room
from printworks.catalogue.products import Product
from printworks.conversion import reader_of
from printworks.files.errors import FileMissing
from printworks.imaging.manifest import Manifest, plan_print
from printworks.imaging.messages import Facts
from printworks.imaging.processor import Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import PermanentFailure, RetryLater
from printworks.rules.sizing import place
from printworks.store.images.pictures import Picture, get_picture, print_key
from printworks.store.queue.jobs import Job
from printworks.worker.fetching import Failure
from printworks.worker.images import NOT_SOLD, ImageTask, find_task, record_failure
from printworks.worker.loop import Context
from printworks.worker.originals import forget_original, open_original
from printworks.worker.resources import OUTAGE_WAIT, infrastructure_errors

LOST: Final = Failure(ImageStatus.INVALID, "The picture was lost; replace it.")

_read_facts: Final = reader_of(Facts)


async def render_image(context: Context, job: Job) -> None:
    """Render the print file of an image.

    Idempotent: the same picture and plan give the same bytes, under the same name; of an image
    whose picture was erased, nothing is left.
    """
    with infrastructure_errors():
        task = await context.in_thread(find_task, context, job)
        if task is None or task.image.status is not ImageStatus.OK:
            return
        if task.image.manifest is not None:
            return
        image, picture_id = task.image, task.image.picture_id
        if picture_id is None:
            # An interrupted attempt may have stored a print file that nobody wants any more.
            await context.in_cpu_pool(context.resources.files.delete, print_key(image.id))
            raise PermanentFailure("The original has been removed.")
        product = await context.in_thread(context.resources.find_product, image.sku)
        if product is None:
            await context.in_thread(record_failure, task, NOT_SOLD)
            return
        picture = await context.in_thread(_get_picture, context, picture_id)
        with context.resources.folder() as folder:
            try:
                rendered = await context.in_cpu_pool(_render, task, product, picture, folder)
            except FileMissing:
                await context.in_thread(forget_original, context, picture)
                rendered = LOST
        if isinstance(rendered, Failure):
            await context.in_thread(record_failure, task, rendered)
        else:
            await context.in_thread(_record, task, rendered)


def _get_picture(context: Context, picture_id: int) -> Picture:
    with context.database.reading() as db:
        return get_picture(db, picture_id)


def _render(
    task: ImageTask, product: Product, picture: Picture, folder: Path
) -> Manifest | Failure:
    resources, image = task.context.resources, task.image
    pixels = _read_facts(picture.facts).pixels
    plan = plan_print(place(pixels, product.print_area, image.sizing, image.position))
    with open_original(resources, picture) as source:
        rendered = resources.render(lambda: resources.processor.render(source, plan, folder))
    if isinstance(rendered, Invalid):
        # The library reports a full disk like an invalid picture.
        if not has_room(resources.scratch):
            raise RetryLater(f"No print file can be rendered: {rendered.reason}", wait=OUTAGE_WAIT)
        return Failure(ImageStatus.INVALID, rendered.reason)
    resources.files.put(print_key(image.id), rendered.file)
    return rendered.manifest


def _record(task: ImageTask, manifest: Manifest) -> None:
    context, job, merchant, image = task
    with context.database.writing() as db:
        work, values = context.work(db, merchant, job), msgspec.to_builtins(manifest)
        record_print(work, image, values, manifest.output_sha256)
