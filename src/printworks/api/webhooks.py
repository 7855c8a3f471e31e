"""Hears from payment providers that something became of a payment."""

from collections.abc import Callable, Sequence

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.payments.payments import recheck_payment
from printworks.clock import Clock
from printworks.payments.webhooks import BadWebhook, read_webhook
from printworks.settings import Settings
from printworks.store.engine.database import Database

log = structlog.get_logger()


def webhook_routes(
    settings: Settings, clock: Clock, database: Callable[[], Database]
) -> Sequence[BaseRoute]:
    """Return where Stripe announces what became of payments."""

    async def hear_from_stripe(request: Request) -> Response:
        body = await request.body()
        now = clock()
        try:
            event = read_webhook(body, request.headers, settings.stripe_webhook_secret, now=now)
        except BadWebhook as refusal:
            log.warning("notification refused", reason=str(refusal))
            return Response(str(refusal), status_code=400, media_type="text/plain")
        if event is not None:
            await run_in_threadpool(hear, event.key, event.id)
        return Response()

    def hear(key: str, event_id: str) -> None:
        with database().writing() as db:
            recheck_payment(db, key, event_id=event_id, now=clock())

    return [Route("/payments/stripe", hear_from_stripe, methods=["POST"])]
