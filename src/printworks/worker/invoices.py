"""Issues invoices and credit notes after the transactions that caused them."""

from datetime import datetime

from printworks.actions.invoices.issuing import collect_documents, make_document
from printworks.store.queue.jobs import Job
from printworks.worker.context import Context


async def make_invoice(context: Context, job: Job) -> None:
    """Issue the document of a ledger entry. Idempotent: an entry that has one gets no other."""
    await context.in_thread(_make, context, job)


def _make(context: Context, job: Job) -> None:
    with context.database.writing() as db:
        make_document(
            context.job_work(db, job),
            job.args["entry"],
            payment_terms=context.settings.payment_terms,
        )


async def collect_invoices(context: Context, job: Job) -> None:
    """Issue the documents of a month. Idempotent: each takes what has none yet, one at a time."""
    await context.in_thread(_collect, context, job)


def _collect(context: Context, job: Job) -> None:
    before = datetime.fromisoformat(job.args["before"])
    is_left = True
    while is_left:
        with context.database.writing() as db:
            is_left = collect_documents(
                context.job_work(db, job), before, payment_terms=context.settings.payment_terms
            )
