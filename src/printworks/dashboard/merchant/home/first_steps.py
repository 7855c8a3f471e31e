"""The first steps of a new merchant, which tick themselves off."""

from typing import Final

import msgspec

from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.payments import is_on_account
from printworks.rules.people import Duty
from printworks.store.views.home.first_steps import FirstSteps, read_first_steps


class Step(msgspec.Struct, frozen=True):
    """One of the first steps."""

    text: str
    address: str
    is_done: bool


# What each is, where it is done, the fact that shows it, and who can do it.
_STEPS: Final = (
    ("Place an order", "/orders/new", "has_order", Duty.ORDER),
    ("Add a picture to it", "/orders", "has_image", Duty.ORDER),
    ("Submit it", "/orders", "has_submitted", Duty.ORDER),
    ("Arrange how you pay", "/account", "can_pay", Duty.ACCOUNT),
    ("Protect your sign-in with a second factor", "/settings#totp", "has_second_factor", Duty.LOOK),
    ("Invite a colleague", "/team#invite", "has_team", Duty.MANAGE),
    ("Make an API key for your program", "/keys", "has_key", Duty.MANAGE),
    ("Send your first API request", "/requests", "has_called", Duty.MANAGE),
    ("Set a callback address", "/integrations", "has_callbacks", Duty.MANAGE),
)


def list_steps(visit: MerchantVisit) -> list[Step]:
    """Return the steps of this person's role; none once all are done."""
    done = read_first_steps(visit.db, visit.merchant.id, visit.person.id)
    steps = [
        Step(text, address, _is_done(visit, done, fact))
        for text, address, fact, duty in _STEPS
        if visit.may(duty)
    ]
    return [] if all(step.is_done for step in steps) else steps


def _is_done(visit: MerchantVisit, done: FirstSteps, fact: str) -> bool:
    if fact == "can_pay":
        cards = visit.services.gateway.cards
        # The simulated bank charges a card that nobody has to have.
        is_simulated = cards is not None and visit.services.is_sandbox
        return done.can_pay or is_simulated or is_on_account(visit.merchant.billing, cards)
    return bool(getattr(done, fact))
