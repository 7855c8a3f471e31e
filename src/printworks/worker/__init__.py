"""The worker: the loop that runs jobs, and one file for each kind of work."""

from collections.abc import Mapping
from typing import Final

from printworks.rules.jobs import JobKind
from printworks.worker.callbacks import DELIVERY, deliver_callback
from printworks.worker.cards import check_card, forget_card
from printworks.worker.challenges import challenge_callback
from printworks.worker.context import JobNeed
from printworks.worker.figures import sum_days
from printworks.worker.images import fetch_image
from printworks.worker.invoices import collect_invoices, make_invoice
from printworks.worker.labs import apply_lab_report, cancel_at_lab, poll_labs, send_to_lab
from printworks.worker.ledger import verify_ledger
from printworks.worker.loop import Handler
from printworks.worker.lots import run_lot
from printworks.worker.mail import check_accounts, send_mail, start_reset, write_notices
from printworks.worker.mockups import draw_mockup
from printworks.worker.packing_slips import fetch_packing_slip
from printworks.worker.payments import check_payment, expire_checkout, refund_payment
from printworks.worker.prints import render_image
from printworks.worker.privacy import erase_files
from printworks.worker.proofs import render_proofs
from printworks.worker.sweeps import SWEEPS, remove_files, sweep

HANDLERS: Final[Mapping[str, Handler]] = {
    JobKind.FETCH_IMAGE: fetch_image,
    JobKind.FETCH_SLOW_IMAGE: fetch_image,
    JobKind.RENDER_IMAGE: render_image,
    JobKind.DRAW_MOCKUP: draw_mockup,
    JobKind.RENDER_PROOFS: render_proofs,
    JobKind.FETCH_PACKING_SLIP: fetch_packing_slip,
    JobKind.FETCH_SLOW_PACKING_SLIP: fetch_packing_slip,
    JobKind.SEND_TO_LAB: send_to_lab,
    JobKind.APPLY_LAB_REPORT: apply_lab_report,
    JobKind.CANCEL_AT_LAB: cancel_at_lab,
    JobKind.POLL_LABS: poll_labs,
    JobKind.DELIVER_CALLBACK: deliver_callback,
    JobKind.RETRY_CALLBACK: deliver_callback,
    JobKind.CHALLENGE_CALLBACK: challenge_callback,
    JobKind.CHECK_PAYMENT: check_payment,
    JobKind.REFUND_PAYMENT: refund_payment,
    JobKind.CHECK_CARD: check_card,
    JobKind.FORGET_CARD: forget_card,
    JobKind.END_CHECKOUT: expire_checkout,
    JobKind.MAKE_INVOICE: make_invoice,
    JobKind.COLLECT_INVOICES: collect_invoices,
    JobKind.RUN_LOT: run_lot,
    JobKind.SUM_DAYS: sum_days,
    JobKind.VERIFY_LEDGER: verify_ledger,
    JobKind.SEND_MAIL: send_mail,
    JobKind.SEND_NOTICE: send_mail,
    JobKind.WRITE_NOTICES: write_notices,
    JobKind.START_RESET: start_reset,
    JobKind.CHECK_ACCOUNTS: check_accounts,
    JobKind.REMOVE_FILES: remove_files,
    JobKind.ERASE_FILES: erase_files,
    **{kind: sweep(kind) for kind in SWEEPS},
}

# What claims read for those they take, so that they can begin at once.
NEEDS: Final[Mapping[str, JobNeed]] = {
    JobKind.DELIVER_CALLBACK: DELIVERY,
    JobKind.RETRY_CALLBACK: DELIVERY,
}
