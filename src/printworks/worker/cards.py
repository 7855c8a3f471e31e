"""Finds out what became of the pages on which merchants save cards, and forgets former cards."""

from datetime import timedelta
from typing import Final

from printworks.actions.payments.cards import settle_card
from printworks.payments.cards import CardOutcome, CardPage, CardRefused
from printworks.payments.provider import ProviderUnavailable
from printworks.rules.cards import CardState
from printworks.rules.jobs import RetryLater
from printworks.rules.payments import wait_for_payer, wait_for_provider
from printworks.store.money.cards import CardSetup, find_setup, is_being_charged
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import infrastructure_errors

_NOT_IN_TIME: Final = CardRefused(reason="No card was entered in time.")
_SOON: Final = timedelta(minutes=1)


async def check_card(context: Context, job: Job) -> None:
    """Look up a page on which a card is saved, until it is over.

    Idempotent: a page that is settled stays as it is, and one that was swept is no more.
    """
    with infrastructure_errors():
        setup = await context.in_thread(_read, context, job)
        if setup is None or setup.state not in {CardState.WAITING, CardState.REPLACED}:
            return
        left = setup.expires_at - context.clock()
        try:
            outcome = await context.in_payment_pool(_look_up, context, setup)
        except ProviderUnavailable as error:
            wait = wait_for_provider(context.clock() - setup.created_at, left)
            raise RetryLater(str(error), wait=max(wait, _SOON)) from error
        if isinstance(outcome, CardPage) and left <= timedelta(0):
            outcome = _NOT_IN_TIME
        await context.in_thread(_settle, context, setup, outcome)
    if isinstance(outcome, CardPage):
        waited = context.clock() - setup.created_at
        wait = wait_for_payer(waited, left, is_clock_moving=False)
        raise RetryLater("No card was entered yet.", wait=max(wait, _SOON))


async def forget_card(context: Context, job: Job) -> None:
    """Let a provider forget a card that is not used any more.

    Idempotent: a provider forgets a card once.
    """
    with infrastructure_errors():
        if await context.in_thread(_is_needed, context, job):
            raise RetryLater("A payment by this card is under way.", wait=timedelta(minutes=15))
        try:
            await context.in_payment_pool(_forget, context, job)
        except ProviderUnavailable as error:
            raise RetryLater(str(error), wait=timedelta(minutes=15)) from error


def _read(context: Context, job: Job) -> CardSetup | None:
    with context.database.reading() as db:
        return find_setup(db, job.args["setup"])


def _look_up(context: Context, setup: CardSetup) -> CardOutcome:
    if not setup.reference:
        # Whoever asked for it died before it knew the page, so nobody was sent there.
        return _NOT_IN_TIME
    return context.resources.gateway.open(setup.provider).look_up_card(setup.reference)


def _settle(context: Context, setup: CardSetup, outcome: CardOutcome) -> None:
    with context.database.writing() as db:
        settle_card(context.system_work(db), setup.id, outcome)


def _is_needed(context: Context, job: Job) -> bool:
    with context.database.reading() as db:
        return is_being_charged(db, job.args["merchant"], job.args["card"])


def _forget(context: Context, job: Job) -> None:
    context.resources.gateway.open(job.args["provider"]).forget_card(job.args["card"])
