"""How far a new merchant has come: facts that are there anyway."""

import msgspec
from sqlalchemy import Connection, exists, func, select, update

from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing
from printworks.store.tables import api_keys, merchants, orders, passkeys, people

# Whoever has this many orders without an image adds none.
_NEWEST = 50
_SUBMITTED = (OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED, OrderStatus.COMPLETE)


class FirstSteps(msgspec.Struct, frozen=True, kw_only=True):
    """What a merchant, and the person who asks, have done already."""

    has_order: bool
    has_image: bool
    has_submitted: bool
    can_pay: bool
    has_key: bool
    has_called: bool
    has_callbacks: bool
    has_team: bool
    has_second_factor: bool


def read_first_steps(db: Connection, merchant_id: int, person_id: int) -> FirstSteps:
    """Return what was done already; a few index entries are read, however many orders there are."""
    merchant = db.execute(
        select(
            merchants.c.order_count,
            merchants.c.callback_url,
            merchants.c.billing,
            merchants.c.payment_method,
        ).where(merchants.c.id == merchant_id)
    ).one()
    newest = (
        select(orders.c.image_count)
        .where(orders.c.merchant_id == merchant_id)
        .order_by(orders.c.ordinal.desc())
        .limit(_NEWEST)
        .subquery("newest")
    )
    is_submitted = [
        exists().where(orders.c.merchant_id == merchant_id, orders.c.status == status)
        for status in _SUBMITTED
    ]
    keys = select(func.count(), func.max(api_keys.c.last_used_at)).where(
        api_keys.c.merchant_id == merchant_id
    )
    key_count, last_used_at = db.execute(keys).one()
    team = select(func.count()).where(people.c.merchant_id == merchant_id)
    factors = select(people.c.totp_secret, exists().where(passkeys.c.person_id == person_id)).where(
        people.c.id == person_id
    )
    totp, has_passkey = db.execute(factors).one()
    return FirstSteps(
        has_order=merchant.order_count > 0,
        has_image=bool(db.execute(select(func.max(newest.c.image_count))).scalar()),
        has_submitted=any(db.execute(select(*is_submitted)).one()),
        can_pay=merchant.billing is not Billing.CARD or bool(merchant.payment_method),
        has_key=key_count > 0,
        has_called=last_used_at is not None,
        has_callbacks=merchant.callback_url is not None,
        has_team=db.execute(team).scalar_one() > 1,
        has_second_factor=totp is not None or has_passkey,
    )


def hide_first_steps(db: Connection, person_id: int, *, is_hidden: bool) -> None:
    """Put the list of first steps away for a person, or show it again."""
    changed = update(people).where(people.c.id == person_id)
    db.execute(changed.values(hides_first_steps=is_hidden))
