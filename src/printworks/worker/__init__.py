"""What happens later: the loop that runs promised jobs, and one file for each sort of work."""

from collections.abc import Mapping
from typing import Final

from printworks.rules.jobs import JobKind
from printworks.worker.callbacks import deliver_callback
from printworks.worker.images import fetch_image, render_image
from printworks.worker.labs import apply_lab_report, cancel_at_lab, look_at_labs, send_to_lab
from printworks.worker.loop import Handler
from printworks.worker.packing_slips import fetch_packing_slip
from printworks.worker.payments import check_payment, end_checkout_of, refund_payment
from printworks.worker.sweeps import (
    forget_callback_attempts,
    forget_idempotency_keys,
    forget_jobs,
    forget_old_pictures,
    forget_old_requests,
    forget_old_sessions,
    remove_files,
)

HANDLERS: Final[Mapping[str, Handler]] = {
    JobKind.FETCH_IMAGE: fetch_image,
    JobKind.RENDER_IMAGE: render_image,
    JobKind.FETCH_PACKING_SLIP: fetch_packing_slip,
    JobKind.SEND_TO_LAB: send_to_lab,
    JobKind.APPLY_LAB_REPORT: apply_lab_report,
    JobKind.CANCEL_AT_LAB: cancel_at_lab,
    JobKind.LOOK_AT_LABS: look_at_labs,
    JobKind.DELIVER_CALLBACK: deliver_callback,
    JobKind.RETRY_CALLBACK: deliver_callback,
    JobKind.FORGET_CALLBACK_ATTEMPTS: forget_callback_attempts,
    JobKind.CHECK_PAYMENT: check_payment,
    JobKind.REFUND_PAYMENT: refund_payment,
    JobKind.END_CHECKOUT: end_checkout_of,
    JobKind.REMOVE_FILES: remove_files,
    JobKind.FORGET_PICTURES: forget_old_pictures,
    JobKind.FORGET_JOBS: forget_jobs,
    JobKind.FORGET_IDEMPOTENCY_KEYS: forget_idempotency_keys,
    JobKind.FORGET_REQUESTS: forget_old_requests,
    JobKind.FORGET_SESSIONS: forget_old_sessions,
}
