"""The planned shipments of an open order, calculated when somebody looks.

Choosing labs takes longer than all that is written with an image, so no writer waits for it: it
is done on what was read, and stored if the order is still that version.
"""

from collections.abc import Sequence
from typing import Final

from printworks.actions.orders.renewing import renew_quotes
from printworks.actions.production.routing import (
    RoutingTerms,
    is_plan_current,
    make_shipments,
    route_order,
)
from printworks.actions.work import Work
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.orders import PLANNED
from printworks.rules.routing.model import Routed
from printworks.store.engine.database import Database
from printworks.store.orders.shipments import (
    NewShipment,
    WholeOrder,
    get_whole_order,
    replace_plan,
)

# Plans that are stored in one transaction, so that no other writer waits for long.
_STORED_TOGETHER: Final = 50


def look_at_order(work: Work, database: Database, order_id: int) -> WholeOrder:
    """Return an order of the merchant that is shown with its price.

    If its quote has ended, it is quoted again.
    """
    whole = get_whole_order(work.db, work.merchant.id, order_id)
    return look_at_orders(work, database, [whole])[0]


def look_at_orders(
    work: Work, database: Database, found: Sequence[WholeOrder]
) -> Sequence[WholeOrder]:
    """Return orders of the merchant that are shown with their prices."""
    return plan_orders(work, database, renew_quotes(work, database, found))


def get_planned_order(work: Work, database: Database, order_id: int) -> WholeOrder:
    """Return an order of the merchant with its images and its shipments, planned or real.

    Its price is what it was: this is for those who do not show it to the merchant.

    The work reads; what is planned is stored in a transaction of its own.
    """
    whole = get_whole_order(work.db, work.merchant.id, order_id)
    return plan_orders(work, database, [whole])[0]


def plan_orders(
    work: Work, database: Database, found: Sequence[WholeOrder]
) -> Sequence[WholeOrder]:
    """Return orders of the merchant with the shipments of those planned that need it."""
    stale = [one for one in found if _needs_plan(one, work.catalogue)]
    if not stale:
        return found
    terms = RoutingTerms.of(work)
    # Always in the same order: two lists of the same orders must not deadlock.
    stale.sort(key=lambda one: one.order.id)
    waiting = [
        (one, plan)
        for one in stale
        # As long as no lab can make an order, looking at it changes nothing.
        if (plan := _plan(one, terms)) or one.shipments or one.order.needs_plan
    ]
    planned: dict[int, WholeOrder] = {}
    for first in range(0, len(waiting), _STORED_TOGETHER):
        with database.writing_beside(work.db) as db:
            for one, plan in waiting[first : first + _STORED_TOGETHER]:
                # If it has changed since, this is what it was when it was read.
                order, shipments = replace_plan(db, one.order, plan, now=terms.now)
                planned[order.id] = one._replace(order=order, shipments=shipments)
    return [planned.get(one.order.id, one) for one in found]


def _needs_plan(whole: WholeOrder, catalogue: Catalogue) -> bool:
    """Whether an order has changed since it was planned, or its labs have."""
    order, images, shipments = whole
    if order.needs_plan or not images or order.status not in PLANNED:
        return order.needs_plan
    return not shipments or not is_plan_current(order, images, shipments, catalogue)


def _plan(whole: WholeOrder, terms: RoutingTerms) -> list[NewShipment]:
    # Without the labs' backlog, which changes until the order is submitted.
    routing = route_order(whole.order, whole.images, terms)
    if not isinstance(routing, Routed):
        return []
    return make_shipments(routing.plan.shipments, terms.catalogue, None)
