"""Delivers callbacks: one attempt after another, until the receiver answers 200."""

import asyncio
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import structlog
from sqlalchemy import Connection

from printworks.actions.callbacks import open_secrets
from printworks.actions.mail.notices import tell_callbacks_failed
from printworks.actions.services import Services
from printworks.net.client import Posted
from printworks.net.errors import OutboundError
from printworks.rules.callbacks import choose_format, wait_after
from printworks.rules.events import CallbackState
from printworks.rules.jobs import JobKind
from printworks.store.callbacks.callbacks import Attempt
from printworks.store.callbacks.deliveries import (
    Delivery,
    DeliveryOutcome,
    load_deliveries,
    write_outcomes,
)
from printworks.store.queue.jobs import Job
from printworks.wire.callbacks import (
    SAMPLE,
    SAMPLE_ORDER,
    carries_news,
    message_id,
    render_callback,
)
from printworks.wire.signatures import sign
from printworks.worker.context import Completion, Context, JobNeed
from printworks.worker.resources import infrastructure_errors

# The only status that acknowledges a callback.
ACKNOWLEDGED: Final = 200
# How much of an answer is stored.
LONGEST_ANSWER: Final = 2048

# What a job that sends a callback needs to know.
DELIVERY: Final = JobNeed(load_deliveries, "callback")

# The merchant does not know what these would have told.
_UNTOLD: Final = frozenset({CallbackState.QUIET, CallbackState.FAILED})

log = structlog.get_logger()


async def deliver_callback(context: Context, job: Job) -> Completion | None:
    """Send a callback to a merchant; the loop writes the outcome.

    Idempotent: receivers recognise a callback by its `webhook-id`, and only one of two attempts
    at the same time counts.
    """
    with infrastructure_errors():
        return await _deliver(context, job)


async def _deliver(context: Context, job: Job) -> Completion | None:
    delivery: Delivery | None = await context.load(DELIVERY, job)
    if (
        delivery is None
        or delivery.round != job.args["round"]
        or delivery.state is not CallbackState.PENDING
    ):
        return None
    if delivery.url is None:
        return _complete(context, DeliveryOutcome(delivery=delivery, state=CallbackState.QUIET))
    if _is_old_news(delivery):
        return _complete(context, DeliveryOutcome(delivery=delivery, state=CallbackState.SKIPPED))
    receivers = context.resources.receivers
    if job.kind == JobKind.DELIVER_CALLBACK and receivers.is_slow(
        delivery.merchant_id, delivery.url
    ):
        # Queue it with the other callbacks of slow receivers, of which few run at a time.
        waiting = DeliveryOutcome(delivery=delivery, state=delivery.state, retry_in=timedelta(0))
        return _complete(context, waiting)
    with receivers.slot(delivery.merchant_id, delivery.url), context.waiting.of(job):
        return _complete(context, await _attempt(context, delivery, delivery.url))


def _is_old_news(delivery: Delivery) -> bool:
    """Whether a callback would tell what the one before it has told, or is about to tell.

    Decided when it is sent, because the merchant may choose another format in the meantime.
    """
    if delivery.is_asked_for or delivery.state_before in _UNTOLD:
        return False
    before = delivery.event_before
    event = None if before is None else delivery.event
    if event is None or before is None:
        return False
    shown = choose_format(delivery.chosen_format, delivery.order_format)
    return not carries_news(event, before, format=shown)


class _Report(NamedTuple):
    """An outcome, and what is needed to tell people of it."""

    services: Services
    outcome: DeliveryOutcome


def _complete(context: Context, outcome: DeliveryOutcome) -> Completion:
    return Completion(_write_reports, _Report(context.services, outcome))


def _write_reports(db: Connection, reports: Sequence[_Report], now: datetime) -> None:
    """Store outcomes, and tell the merchants' people of callbacks that failed for good."""
    fresh = write_outcomes(db, [report.outcome for report in reports], now)
    failed = [
        one.delivery
        for one in fresh
        if one.state is CallbackState.FAILED and one.delivery.order_id is not None
    ]
    if failed:
        tell_callbacks_failed(reports[0].services.system_work(db), failed)


async def _attempt(context: Context, delivery: Delivery, url: str) -> DeliveryOutcome:
    """Send a callback once; return what follows from the answer."""
    now = context.clock()
    body = _render(context, delivery)
    # Receivers use the real time.
    vault = context.resources.opened_secrets
    secrets = open_secrets(vault, delivery.merchant_id, delivery.secrets, now)
    headers = sign(body, message_id=message_id(delivery.id), at=now, secrets=secrets)
    began = asyncio.get_running_loop().time()
    answer: Posted | OutboundError
    try:
        answer = await context.resources.outbound.post(
            url,
            body,
            {"Content-Type": "application/json", **headers},
            timeout=context.resources.callback_timeout,
        )
    except OutboundError as error:
        answer = error
    took = asyncio.get_running_loop().time() - began
    attempt = Attempt(
        number=delivery.attempts + 1,
        at=now + delivery.clock_offset,
        url=url,
        status=answer.status if isinstance(answer, Posted) else None,
        milliseconds=int(took * 1000),
        answer=_show_answer(answer),
        error=answer.message if isinstance(answer, OutboundError) else None,
    )
    return _decide(delivery, attempt, answer, now=now)


def _render(context: Context, delivery: Delivery) -> bytes:
    return render_callback(
        delivery.event or SAMPLE,
        order_id=delivery.order_id or SAMPLE_ORDER,
        environment=context.settings.environment,
        at=delivery.event_at or context.clock() + delivery.clock_offset,
        format=choose_format(delivery.chosen_format, delivery.order_format),
    )


def _show_answer(answer: Posted | OutboundError) -> str:
    if isinstance(answer, OutboundError):
        return ""
    return answer.answer[:LONGEST_ANSWER].decode(errors="replace").replace("\0", "")


def _decide(
    delivery: Delivery, attempt: Attempt, answer: Posted | OutboundError, *, now: datetime
) -> DeliveryOutcome:
    if attempt.status == ACKNOWLEDGED:
        return DeliveryOutcome(delivery=delivery, state=CallbackState.DELIVERED, attempt=attempt)
    failures = delivery.failures + 1
    wait = wait_after(
        failures,
        jitter=_jitter(delivery.id, failures),
        retry_after=answer.retry_after if isinstance(answer, Posted) else None,
        now=now,
    )
    is_test = delivery.number is None
    # Not a warning: the receiver failed, and its owner finds this in the callback's log.
    log.info(
        "callback not acknowledged",
        callback=delivery.id,
        failures=failures,
        status=attempt.status,
        is_last=is_test or wait is None,
    )
    if is_test or wait is None:
        return DeliveryOutcome(delivery=delivery, state=CallbackState.FAILED, attempt=attempt)
    return DeliveryOutcome(delivery=delivery, state=delivery.state, attempt=attempt, retry_in=wait)


def _jitter(callback_id: int, failures: int) -> float:
    """Return a number from 0 to 1 that differs between callbacks and is the same every time."""
    return zlib.crc32(f"{callback_id}:{failures}".encode()) / 2**32
