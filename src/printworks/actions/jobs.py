"""What operators do about jobs that failed or are waiting."""

from printworks.actions.work import SystemWork
from printworks.store.accounts.merchants import get_merchant
from printworks.store.views.console import jobs as store


def retry_job(system: SystemWork, job_id: int) -> None:
    """Run a job that failed, was cancelled or is scheduled now, with all its attempts."""
    store.retry_job(system.db, job_id, now=system.real_now)
    _audit(system, "retry-job", job_id)


def cancel_job(system: SystemWork, job_id: int) -> None:
    """Cancel a job that has not started, or dismiss one that is exhausted."""
    store.cancel_job(system.db, job_id, now=system.real_now)
    _audit(system, "cancel-job", job_id)


def _audit(system: SystemWork, action: str, job_id: int) -> None:
    job = store.get_job(system.db, job_id)
    work = system
    if job.merchant_id is not None:
        work = system.for_merchant(get_merchant(system.db, job.merchant_id))
    work.audit(action, f"job {job.id}", kind=job.kind)
