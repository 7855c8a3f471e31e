"""Asks people before pictures are printed that will look blurred.

Programs are not asked: what they are told of it is a warning of the submission status.
"""

from collections.abc import Collection, Sequence

from printworks.actions.submission.check import ReadySubmission, SubmissionStatus, check_submission
from printworks.actions.work import Work
from printworks.errors import BadInput
from printworks.rules.sharpness import Sharpness, SharpnessLimits, judge_sharpness
from printworks.store.images.images import Image
from printworks.store.orders.orders import Order

# So many are named before the rest is only counted.
_MOST_NAMED = 5


def list_blurred(status: SubmissionStatus, limits: SharpnessLimits) -> list[Image]:
    """Return the images of an order that will look blurred."""
    blurred = {
        found.image_id
        for found in status.findings
        if found.dpi is not None and judge_sharpness(found.dpi, limits) is Sharpness.BLURRED
    }
    return [image for image in status.images if image.id in blurred]


def require_confirmed(
    work: Work, order: Order, confirmed: Collection[int], ready: ReadySubmission | None = None
) -> None:
    """Refuse an order with blurred pictures that nobody has said yes to, with their names."""
    status = check_submission(work, order, ready=ready)
    blurred = list_blurred(status, work.backing.sharpness)
    asked = [image for image in blurred if image.id not in confirmed]
    if asked:
        raise BadInput(
            f"{name_some(asked)} will look blurred. Confirm that you want to print "
            f"{'it' if len(asked) == 1 else 'them'} all the same, or use larger pictures."
        )


def name_some(images: Sequence[Image]) -> str:
    """Return the names of a few images, and how many more there are."""
    names = [
        f"\N{LEFT DOUBLE QUOTATION MARK}{one.title}\N{RIGHT DOUBLE QUOTATION MARK}"
        for one in images
    ]
    named, more = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    if more > 0:
        return f"{', '.join(named)} and {more} more"
    return " and ".join([", ".join(named[:-1]), named[-1]]) if len(named) > 1 else named[0]
