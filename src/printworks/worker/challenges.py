"""Challenges new callback addresses: their owner has to send back what only they were sent."""

import secrets
from typing import Final

from printworks.actions.callbacks import open_secrets, settle_challenge
from printworks.net.errors import OutboundError
from printworks.rules.callbacks import is_echo
from printworks.store.callbacks.settings import CallbackSettings, read_callback_settings
from printworks.store.queue.jobs import Job
from printworks.wire.callbacks import write_challenge
from printworks.wire.signatures import sign
from printworks.worker.context import Context
from printworks.worker.resources import infrastructure_errors

_TOKEN_BYTES: Final = 32
_NO_ECHO: Final = "The receiver answered 200, but not with the challenge that it was sent."


async def challenge_callback(context: Context, job: Job) -> None:
    """Challenge the new callback address of a merchant.

    Idempotent: an address that is used already, or was given up, is not challenged again.
    """
    with infrastructure_errors():
        known = await context.in_thread(_read, context, job)
        candidate = known.candidate
        if candidate is None or candidate.is_over:
            return
        if candidate.since.isoformat() == job.args["since"]:
            problem = await _challenge(context, job, known, candidate.url)
            await context.in_thread(_settle, context, job, problem)


def _read(context: Context, job: Job) -> CallbackSettings:
    with context.database.reading() as db:
        return read_callback_settings(db, context.job_work(db, job).merchant.id)


def _settle(context: Context, job: Job, problem: str | None) -> None:
    with context.database.writing() as db:
        settle_challenge(context.job_work(db, job), job.args["since"], problem)


async def _challenge(context: Context, job: Job, known: CallbackSettings, url: str) -> str | None:
    """Send a challenge; return what was wrong with the answer, if anything was."""
    # Made anew for each attempt and stored nowhere: nobody else can answer it.
    token, now = secrets.token_urlsafe(_TOKEN_BYTES), context.clock()
    body = write_challenge(token, environment=context.settings.environment)
    valid = open_secrets(context.services.vault, job.merchant_id or 0, known.secrets, now)
    headers = sign(body, message_id=f"challenge_{job.id}", at=now, secrets=valid)
    try:
        answer = await context.resources.outbound.post(
            url,
            body,
            {"Content-Type": "application/json", **headers},
            timeout=context.resources.callback_timeout,
        )
    except OutboundError as error:
        return error.message
    if answer.status != 200:
        return f"The receiver answered the challenge with {answer.status} instead of 200."
    return None if is_echo(answer.answer, token) else _NO_ECHO
