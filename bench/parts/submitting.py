"""Submitting orders of twenty items, and what others feel of it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from itertools import islice

from bench.clients import Laps, send_in_turn, send_on_schedule, take_turns, write_request
from bench.lines import Line, compare, state_beside
from bench.servers import Plan
from bench.session import Session
from bench.workload import ORDER_BODY, PHOTO, SUBMIT_BODY
from bench.wrk import NoAnswers, Target

ITEMS = 20
# Submissions of one round: by many clients at once, and by one while others are timed.
AT_ONCE = 64
ALONE = 20
# Others ask and create at this rate meanwhile.
PER_SECOND = 50
OTHERS = 100


def measure(session: Session) -> list[Line]:
    """Measure submissions against creates, and the longest wait of others meanwhile."""
    seeded = session.seed("ours")
    plain = seeded.add_orders(session.sizes.few)
    stock = (AT_ONCE + ALONE) * (session.sizes.rounds + 1)
    ready = iter(seeded.add_orders(stock, [PHOTO] * ITEMS))
    seeded.close()
    ours = session.plan("ours", seeded)
    body = session.work / "order.json"
    body.write_text(json.dumps(ORDER_BODY))
    create = session.driving(Target(ours.port, "/v3.0/orders", ours.credentials, "POST", body))

    def submit() -> float:
        chosen = list(_submit(ours, islice(ready, AT_ONCE)))
        return take_turns(ours, chosen, connections=session.sizes.connections)

    measures: dict[str, Callable[[], float]] = {
        "create": lambda: create().per_second,
        "submit of 20 items": submit,
        "longest wait, ms": lambda: _time_others(ours, plain, islice(ready, ALONE)),
        "longest wait while nobody submits, ms": lambda: _time_others(ours, plain, iter(())),
    }
    with session.serving(ours=ours):
        found = session.interleave("submitting", measures)
    longest, quiet = found["longest wait, ms"], found["longest wait while nobody submits, ms"]
    return [
        compare("submit of 20 items / create", found["submit of 20 items"], found["create"]),
        state_beside("longest wait of others, ms", longest, quiet),
    ]


def _submit(plan: Plan, ids: Iterator[int]) -> Iterator[bytes]:
    for order_id in ids:
        yield write_request(plan, "POST", f"/v3.0/orders/{order_id}/status", SUBMIT_BODY)


def _time_others(plan: Plan, plain: range, ids: Iterator[int]) -> float:
    """Return the longest wait of requests on schedule while one client submits these orders."""
    read = [write_request(plan, "GET", f"/v3.0/orders/{one}") for one in plain[: OTHERS // 2]]
    create = write_request(plan, "POST", "/v3.0/orders", ORDER_BODY)
    others = [(kind, one) for get in read for kind, one in (("GET", get), ("create", create))]

    async def drive() -> tuple[Laps, dict[str, Laps]]:
        return await asyncio.gather(
            send_in_turn(plan, list(_submit(plan, ids))),
            send_on_schedule(plan, others, per_second=PER_SECOND, connections=8),
        )

    submitted, found = asyncio.run(drive())
    errors = [error for laps in (submitted, *found.values()) for error in laps.errors]
    if errors:
        message = f"{len(errors)} requests failed: {errors[0]}"
        raise NoAnswers(message)
    return max(lap for laps in found.values() for lap in laps.milliseconds)
