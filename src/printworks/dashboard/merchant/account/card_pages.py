"""Where a merchant comes back to after saving a card, and the page of the sandbox's own bank.

Both are found by a key that nobody can guess, without signing in: a browser that comes from another
site may not send its cookies. They tell nothing of the card and nothing of the merchant, and settle
what the provider says, whoever asks and however often.
"""

from collections.abc import Sequence
from typing import Final

import structlog
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.payments.cards import settle_card
from printworks.dashboard.site.forms import Form
from printworks.dashboard.site.rate_limits import PageLimiter
from printworks.dashboard.site.rendering import (
    ENGLISH,
    Link,
    Message,
    render,
    render_message,
    send_on,
)
from printworks.dashboard.site.services import PageServices
from printworks.payments.cards import CardPage
from printworks.payments.provider import ProviderUnavailable
from printworks.payments.simulated import TEST_CARDS
from printworks.rules.cards import CardState
from printworks.store.money.cards import CardSetup, find_setup_by_key

log = structlog.get_logger(__name__)

_SIMULATED: Final = "simulated"
_BACK: Final = Link("Go to your card", "/settings/card")
_MESSAGES: Final = {
    CardState.SAVED: Message(
        tone="ok",
        title="Your card is saved",
        sentences=(
            "It is charged from your next order on. Your previous card, if you had one, was removed.",
        ),
        link=_BACK,
    ),
    CardState.WAITING: Message(
        title="No card was saved yet",
        sentences=("Enter it at the bank, or start again. Nothing was changed.",),
        link=_BACK,
    ),
    CardState.REPLACED: Message(
        tone="warn",
        title="This page is no longer used",
        sentences=("You started again later: use the newer page.",),
        link=_BACK,
    ),
}


def card_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the page to which merchants come back; only a sandbox has the bank."""
    limiter = PageLimiter(services, lambda _request: ENGLISH)
    pages = _CardPages(services)
    routes = [Route("/payments/cards/{key}", limiter.page(pages.show_return))]
    if services.is_sandbox:
        bank = limiter.page(pages.show_bank, pages.decide)
        routes.append(Route("/bank/cards/{key}", bank, methods=["GET", "POST"]))
    return routes


class _CardPages:
    def __init__(self, services: PageServices) -> None:
        self._services = services

    def show_return(self, request: Request) -> Response:
        """Find out what became of a page, and say so."""
        setup = self._find_out(self._find(request))
        if setup.state is CardState.REFUSED:
            message = Message(
                tone="warn",
                title="No card was saved",
                sentences=(
                    setup.reason or "",
                    "Your previous card, if you had one, is still used.",
                ),
                link=_BACK,
            )
            return render_message(message)
        return render_message(_MESSAGES[setup.state])

    def show_bank(self, request: Request) -> Response:
        """Let the merchant choose a card of the sandbox."""
        setup = self._find_simulated(request)
        outcome = self._services.gateway.bank.look_up_card(setup.reference)
        if not isinstance(outcome, CardPage) or setup.state is not CardState.WAITING:
            return send_on(_way_back(setup))
        token = self._services.forms.make_token(request.scope["path"])
        return render("merchant/bank_card.html", cards=TEST_CARDS, form_token=token)

    def decide(self, request: Request, form: Form) -> Response:
        """Save the card that was chosen, or none, and send the merchant back."""
        setup = self._find_simulated(request)
        chosen = form.get("card", "")
        bank = self._services.gateway.bank
        if chosen in TEST_CARDS:
            bank.save_card(setup.reference, chosen)
        else:
            bank.refuse_card(setup.reference)
        return send_on(_way_back(setup))

    def _find(self, request: Request) -> CardSetup:
        with self._services.database.reading() as db:
            setup = find_setup_by_key(db, request.path_params["key"])
        if setup is None:
            raise HTTPException(404)
        return setup

    def _find_simulated(self, request: Request) -> CardSetup:
        setup = self._find(request)
        if setup.provider != _SIMULATED or not setup.reference:
            raise HTTPException(404)
        return setup

    def _find_out(self, setup: CardSetup) -> CardSetup:
        """Look an open page up at its provider, outside of any transaction, and settle it."""
        is_open = setup.state in {CardState.WAITING, CardState.REPLACED}
        if not is_open or not setup.reference:
            return setup
        try:
            outcome = self._services.gateway.open(setup.provider).look_up_card(setup.reference)
        except ProviderUnavailable as error:
            # The worker will find out.
            log.warning("payment provider unavailable", setup=setup.id, why=error.detail)
            return setup
        with self._services.database.writing() as db:
            return settle_card(self._services.system_work(db), setup.id, outcome)


def _way_back(setup: CardSetup) -> str:
    return f"/payments/cards/{setup.key}"
