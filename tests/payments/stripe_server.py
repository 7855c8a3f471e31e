"""Stripe for tests: `localstripe` in a process of its own, what it lacks, and faults on demand.

`localstripe` knows customers, cards, payments and refunds. It does not know, and gets here, as
Stripe documents them: idempotency keys; the refusal of a card that needs authorisation while the
payer is not there, and the second try with the payer; addresses to send the payer to; lists by
customer and time; the refusal of a second refund; refunds that are under way, or rejected by a
bank later; the end of `payment_method_types`; the pages on which payers pay (`stripe_pages`).
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web
from localstripe import resources
from localstripe.errors import UserError
from localstripe.resources import Charge, Event, PaymentIntent, PaymentMethod, Refund
from localstripe.webhooks import schedule_webhook

from tests.payments import stripe_pages

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

faults: list[str] = []
# By key: what was sent, and what was answered, or None while that is not known.
kept: dict[str, tuple[tuple[str, bytes], tuple[int, bytes] | None]] = {}
# By charge: what was given back.
refunds: dict[str, list[Any]] = {}
# The status of the next refunds, if it is not the usual one.
next_refunds: list[str] = []

usual_status = PaymentIntent.status.fget
usual_error = PaymentIntent.last_payment_error.fget
usual_create = PaymentIntent._api_create.__func__


def status(intent: Any) -> Any:
    """Show a payment that waits for its payer as one that was refused."""
    return "requires_payment_method" if is_refused(intent) else usual_status(intent)


def last_payment_error(intent: Any) -> Any:
    """Say why it was refused."""
    if is_refused(intent):
        return {"code": "authentication_required", "decline_code": "authentication_required"}
    return usual_error(intent)


def is_refused(intent: Any) -> bool:
    """Say whether the payer was not there when the bank asked for them."""
    return getattr(intent, "_is_refused", False) and not intent._canceled


def create(cls: Any, /, **data: Any) -> Any:
    """Take what Stripe takes today; refuse cards that need their owner."""
    if "payment_method_types" in data:
        raise UserError(400, "", {"code": "payment_method_types_no_longer_supported"})
    data.pop("allowed_payment_method_types", None)
    data.pop("return_url", None)
    method = PaymentMethod._api_retrieve(data["payment_method"])
    if not method._requires_authentication():
        return usual_create(cls, **data)
    del data["confirm"], data["off_session"]
    intent = usual_create(cls, **data)
    intent._is_refused = True
    facts = {"code": "authentication_required", "payment_intent": intent._export()}
    raise UserError(402, "The card needs its owner.", facts)


def confirm(id: str, payment_method: str, return_url: str) -> Any:  # noqa: A002
    """Send the payer to the bank."""
    intent = PaymentIntent._api_retrieve(id)
    if not is_refused(intent):
        raise UserError(400, "", {"code": "payment_intent_unexpected_state"})
    intent._is_refused = False
    url = f"https://bank.example/{id}?back={return_url}"
    intent.next_action = {"type": "redirect_to_url", "redirect_to_url": {"url": url}}
    return intent


def list_intents(cls: Any, /, url: str, customer: str, limit: str, **options: Any) -> Any:
    """List the payments of a customer, the newest first, as many as fit on a page."""
    since = int((options.get("created") or {}).get("gte", 0))
    found = resources.List(url, limit=limit, starting_after=options.get("starting_after"))
    found._list = [
        intent
        for name, intent in resources.store.items()
        if name.startswith("payment_intent:")
        and intent.customer == customer
        and intent.created >= since
    ][::-1]
    return found


def refund(cls: Any, /, **data: Any) -> Any:
    """Give back once."""
    intent = PaymentIntent._api_retrieve(data["payment_intent"])
    if intent.latest_charge is not None and intent.latest_charge.refunded:
        raise UserError(400, "", {"code": "charge_already_refunded"})
    made = cls(**data)
    made.status, made.failure_reason = (next_refunds or ["succeeded"]).pop(0), None
    refunds.setdefault(made.charge, []).append(made)
    return made


def list_refunds(charge: Any) -> Any:
    """List what was given back of a charge and not rejected.

    Without a look at everything there is.
    """
    found = resources.List(f"/v1/charges/{charge.id}/refunds")
    made = refunds.get(charge.id, [])
    found._list = [one for one in made if one.status not in {"failed", "canceled"}]
    return found


def reject(intent: str, status: str, reason: str) -> Any:
    """Be the bank that does not take what was given back; the charge can be refunded again."""
    made = refunds[PaymentIntent._api_retrieve(intent).latest_charge.id][-1]
    made.status, made.failure_reason = status, reason
    for kind in ("refund.failed", "refund.updated", "charge.refund.updated"):
        schedule_webhook(Event(kind, made))
    return made


async def reject_on_demand(request: web.Request) -> web.Response:
    """Let a test be the bank; Stripe has no such address."""
    facts = await request.post()
    made = reject(request.match_info["intent"], str(facts["status"]), str(facts["reason"]))
    return web.json_response(made._export())


async def choose_next_refund(request: web.Request) -> web.Response:
    """Let a test choose what becomes of the next refund; Stripe has no such address."""
    next_refunds.append(str((await request.post())["status"]))
    return web.Response()


def improve() -> web.Application:
    """Put what is missing into `localstripe`, and return its application."""
    PaymentIntent.status = property(status)
    PaymentIntent.last_payment_error = property(last_payment_error)
    PaymentIntent._api_create = classmethod(create)
    PaymentIntent._api_list_all = classmethod(list_intents)
    Refund._api_create = classmethod(refund)
    Charge.refunds = property(list_refunds)
    # Stripe has given it up; it would show every charge twice.
    del PaymentIntent.charges
    # It would write everything into one file that all such servers share.
    resources.Store.dump_to_disk = lambda _store: None
    ours = [("POST", "/v1/payment_intents/{id}/confirm", confirm), *stripe_pages.APIS]
    paths = {path for _, path, _ in ours}
    others = [line for line in resources.extra_apis if line[1] not in paths]
    resources.extra_apis[:] = [*others, *ours]
    # Imported late: it makes its routes of the above.
    from localstripe.server import app as found

    app: web.Application = found
    app.middlewares[:0] = [fail_on_demand, keep_answers]
    app.router.add_post("/_config/faults", set_faults)
    app.router.add_delete("/_config/keys", forget_keys)
    app.router.add_post("/_config/refunds/next", choose_next_refund)
    app.router.add_post("/_config/refunds/{intent}/reject", reject_on_demand)
    app.router.add_post("/_config/pages/{id}/pay", stripe_pages.pay_on_demand)
    app.router.add_post("/_config/pages/{id}/save", stripe_pages.save_on_demand)
    return app


async def set_faults(request: web.Request) -> web.Response:
    """Take the faults of the next requests: a list with an entry, maybe empty, for each."""
    faults[:] = await request.json()
    return web.Response()


async def forget_keys(_request: web.Request) -> web.Response:
    """Forget the idempotency keys, as Stripe does after a day."""
    kept.clear()
    return web.Response()


@web.middleware
async def fail_on_demand(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Break off, fail or dawdle, before or after the request was carried out."""
    fault = faults.pop(0) if faults and request.path.startswith("/v1/") else ""
    body = await request.read()
    if fault == "saved 500":
        kept[request.headers["Idempotency-Key"]] = ((request.path, body), (500, b"{}"))
    if fault.endswith("after"):
        await handler(request)
    if fault.startswith("drop"):
        assert request.transport is not None
        request.transport.abort()
    if fault.startswith("hang"):
        await asyncio.sleep(10)
    if fault.startswith(("500", "saved 500")):
        return web.json_response({"error": {"type": "api_error"}}, status=500)
    if fault.startswith("429"):
        return web.json_response({"error": {"type": "invalid_request_error"}}, status=429)
    if fault.startswith("nonsense"):
        return web.Response(text="<html>")
    return web.Response() if fault else await handler(request)


@web.middleware
async def keep_answers(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Answer a key that was seen before as then, and refuse it for other facts."""
    key = request.headers.get("Idempotency-Key")
    if request.method != "POST" or key is None:
        return await handler(request)
    facts = (request.path, await request.read())
    if key in kept:
        before, answer = kept[key]
        if before != facts:
            return web.json_response({"error": {"type": "idempotency_error"}}, status=400)
        if answer is None:
            return web.json_response({"error": {"code": "idempotency_key_in_use"}}, status=409)
        return web.Response(status=answer[0], body=answer[1], content_type="application/json")
    kept[key] = (facts, None)
    response = await handler(request)
    assert isinstance(response, web.Response)
    assert isinstance(response.body, bytes)
    kept[key] = (facts, (response.status, response.body))
    if response.status in {400, 401, 404}:
        # Not carried out, so there is nothing to keep.
        del kept[key]
    return response


async def serve() -> None:
    """Serve on a free port, say which, and end with the standard input."""
    runner = web.AppRunner(improve())
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    sys.stdout.write(json.dumps(runner.addresses[0][1]) + "\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(serve())
