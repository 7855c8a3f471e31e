"""The page of one callback: its body, its attempts, and sending it again."""

from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.callbacks import send_again
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.callbacks import choose_format
from printworks.rules.people import Duty
from printworks.store.callbacks.callbacks import Callback, get_callback
from printworks.store.callbacks.deliveries import load_deliveries
from printworks.store.callbacks.log import list_latest_attempts
from printworks.store.callbacks.settings import read_callback_settings
from printworks.wire.callbacks import SAMPLE, SAMPLE_ORDER, message_id, render_callback

# The attempts of three rounds; older ones are of no use.
_ATTEMPTS: Final = 45


@page_at("/integrations/callbacks/{id}", forms=Duty.MANAGE)
def show_callback(visit: MerchantVisit) -> Response:
    """Show everything about one callback of this merchant."""
    callback = get_callback(visit.db, visit.merchant.id, visit.number("id"))
    settings = read_callback_settings(visit.db, visit.merchant.id)
    etag = visit.etag(
        callback.state, callback.attempts, callback.next_at, settings.url, settings.format
    )
    attempts = list_latest_attempts(visit.db, visit.merchant.id, callback.id, limit=_ATTEMPTS)
    body = _render(visit, callback)
    return visit.render(
        "merchant/callback.html",
        callback=callback,
        message_id=message_id(callback.id),
        address=settings.url,
        attempts=attempts,
        last_answer=attempts[0].answer if attempts else "",
        body=body.decode(),
        indented=msgspec.json.format(body, indent=2).decode(),
        looks_again=visit.here(seen=etag),
    )


@show_callback.action("send-this-callback-again", "The callback is being resent.")
def send_this_again(visit: MerchantVisit) -> None:
    send_again(visit.work, visit.number("id"))


def _render(visit: MerchantVisit, callback: Callback) -> bytes:
    """Return the body as the next attempt would send it."""
    delivery = load_deliveries(visit.db, [callback.id])[callback.id]
    return render_callback(
        delivery.event or SAMPLE,
        order_id=delivery.order_id or SAMPLE_ORDER,
        environment=visit.services.settings.environment,
        at=delivery.event_at or callback.created_at,
        format=choose_format(delivery.chosen_format, delivery.order_format),
    )
