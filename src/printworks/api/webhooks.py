"""Receives the events of payment providers."""

from collections.abc import Sequence

import structlog
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.payments.cards import recheck_card
from printworks.actions.payments.payments import recheck_payment
from printworks.actions.services import Services
from printworks.payments.webhooks import BadWebhook, ProviderEvent, read_webhook

log = structlog.get_logger()


def webhook_routes(services: Services) -> Sequence[BaseRoute]:
    """Return the route to which Stripe sends its events."""

    async def receive_event(request: Request) -> Response:
        body = await request.body()
        secret = services.settings.stripe_webhook_secret
        try:
            event = read_webhook(body, request.headers, secret, now=services.clock())
        except BadWebhook as refusal:
            log.warning("webhook refused", reason=str(refusal))
            return Response(str(refusal), status_code=400, media_type="text/plain")
        if event is not None:
            await run_in_threadpool(recheck, event)
        return Response()

    def recheck(event: ProviderEvent) -> None:
        look = recheck_card if event.is_about_card else recheck_payment
        with services.database.writing() as db:
            look(services.system_work(db), event.key, event_id=event.id)

    return [Route("/payments/stripe", receive_event, methods=["POST"])]
