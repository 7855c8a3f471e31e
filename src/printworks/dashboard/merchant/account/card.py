"""A merchant's own card: what is known of it, another one, or none."""

from datetime import date

import msgspec
from starlette.responses import Response

from printworks.actions.payments.cards import begin_card, describe_request, remove_card, settle_card
from printworks.dashboard.merchant.account.means import find_means
from printworks.dashboard.site.rendering import Link, Message, Onwards, render_message
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import ServiceUnavailable
from printworks.payments.provider import ProviderUnavailable
from printworks.rules.cards import expires_soon, find_last_day, has_expired, name_brand
from printworks.rules.people import Duty
from printworks.store.money.cards import ShownCard, find_shown_card

_NOT_REACHED = (
    "The payment provider could not be reached, and nothing was changed. Try again later."
)


class CardView(msgspec.Struct, frozen=True, kw_only=True):
    """What a page says about a card."""

    name: str
    # The last month in which it can be charged.
    until: date
    has_expired: bool
    expires_soon: bool
    # Why the bank refused it the last time; empty while it is taken.
    refusal: str


def describe_card(card: ShownCard, *, today: date) -> CardView:
    """Return what may be shown of a card."""
    ends = card.expires_month, card.expires_year
    return CardView(
        name=f"{name_brand(card.brand)} … {card.last_four}",
        until=find_last_day(*ends),
        has_expired=has_expired(*ends, today=today),
        expires_soon=expires_soon(*ends, today=today),
        refusal=card.refusal or "",
    )


@page_at("/settings/card", duty=Duty.ACCOUNT)
def show_card(visit: MerchantVisit) -> Response:
    """Show the card, and let it be replaced or removed."""
    card = find_shown_card(visit.db, visit.merchant.id)
    return visit.render(
        "merchant/card.html",
        means=find_means(visit),
        card=None if card is None else describe_card(card, today=visit.now.date()),
        takes_cards=visit.services.cards is not None,
    )


@show_card.action("replace-card", needs_password=True, alone=True)
def replace_card(visit: MerchantVisit) -> Response:
    """Ask the provider for a page on which a card is saved, and lead there."""
    services = visit.services
    with services.database.writing() as db:
        setup = begin_card(visit.work_in(db))
    try:
        provider = services.gateway.open(setup.provider)
        page = provider.ask_for_card(describe_request(visit.merchant, setup))
    except ProviderUnavailable as error:
        raise ServiceUnavailable(_NOT_REACHED) from error
    with services.database.writing() as db:
        settle_card(services.system_work(db), setup.id, page)
    message = Message(
        title="Enter your card at the bank",
        sentences=("You are being redirected. Nothing is charged, and we never see the number.",),
        link=Link("Continue to the bank", page.url),
    )
    return render_message(message, onwards=Onwards(to=page.url))


@show_card.action("remove-card", "The card was removed.", needs_password=True)
def drop_card(visit: MerchantVisit) -> None:
    remove_card(visit.work)
