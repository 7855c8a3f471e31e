"""Draws mockups from the proofs of images."""

from typing import NamedTuple

import structlog

from printworks.actions.images.mockups import find_mockup_plan, record_mockup
from printworks.files.errors import FileMissing
from printworks.imaging.processor import Invalid
from printworks.rules.jobs import PermanentFailure
from printworks.rules.mockups import MockupPlan
from printworks.store.images.images import Image, find_image
from printworks.store.images.pictures import mockup_key, proof_key
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import Resources, infrastructure_errors

log = structlog.get_logger()


class _Drawing(NamedTuple):
    """An image, and how it is drawn."""

    image: Image
    plan: MockupPlan


async def draw_mockup(context: Context, job: Job) -> None:
    """Draw the mockup of an image from its proof.

    Idempotent: the same proof gives the same drawing, under the same name; of an image that was
    removed, or whose proofs were, nothing is left.
    """
    with infrastructure_errors():
        drawing = await context.in_thread(_find_drawing, context, job)
        if drawing is None:
            # An interrupted attempt may have stored one that nobody wants any more.
            key = mockup_key(job.args["image"])
            await context.in_cpu_pool(context.resources.files.delete, key)
        elif await context.in_cpu_pool(_draw, context.resources, drawing):
            await context.in_thread(_record, context, job, drawing)


def _find_drawing(context: Context, job: Job) -> _Drawing | None:
    with context.database.reading() as db:
        image = find_image(db, job.args["image"])
    plan = None if image is None else find_mockup_plan(image, context.resources.catalogue)
    return None if image is None or plan is None else _Drawing(image, plan)


def _draw(resources: Resources, drawing: _Drawing) -> bool:
    """Draw and store it; False if the proof has just been removed."""
    image, plan = drawing
    processor, files = resources.processor, resources.files
    with resources.folder() as folder:
        try:
            with files.local(proof_key(image.id, "preview")) as preview:
                drawn = resources.render(lambda: processor.draw_mockup(preview, plan, folder))
        except FileMissing:
            log.warning("proof is missing", image=image.id)
            return False
        if isinstance(drawn, Invalid):
            # The proof was rendered here.
            raise PermanentFailure(f"No mockup can be drawn from the proof: {drawn.reason}")
        files.put(mockup_key(image.id), drawn.file)
    return True


def _record(context: Context, job: Job, drawing: _Drawing) -> None:
    image, plan = drawing
    with context.database.writing() as db:
        record_mockup(context.job_work(db, job), image, plan.mockup)
