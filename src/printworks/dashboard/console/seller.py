"""Who sells: the company of the operator, its registrations, and how prices are kept."""

from starlette.responses import Response

from printworks.actions.sellers import (
    register_seller,
    set_seller,
    stop_selling,
    unregister_seller,
)
from printworks.dashboard.shared.companies import read_company
from printworks.dashboard.shared.labels import COUNTRY_CHOICES
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.businesses import LONGEST, Business
from printworks.rules.people import Duty
from printworks.rules.sellers import Registration, Seller
from printworks.rules.taxes import TaxRounding
from printworks.store.money.sellers import find_seller

_TEXTS = ("email", "register_number", "bank", "iban", "bic")
_ROUNDINGS = [
    (TaxRounding.LINE, "On each line"),
    (TaxRounding.DOCUMENT, "Once for each rate of the document"),
]


@page_at("/console/seller", duty=Duty.ADMINISTER)
def show_seller(visit: ConsoleVisit) -> Response:
    """Show who sells, and let it be changed."""
    stored, sent = find_seller(visit.db), visit.sent
    is_typed = sent.text("do") == "set-seller"
    said = _read(visit) if is_typed else stored.seller if stored else Seller(company=Business())
    return visit.render(
        "console/seller.html",
        stored=stored,
        said=said,
        longest=LONGEST,
        countries=COUNTRY_CHOICES,
        roundings=_ROUNDINGS,
    )


@show_seller.action(
    "set-seller", "The seller was saved. New quotes carry its tax.", needs_password=True
)
def save_seller(visit: ConsoleVisit) -> None:
    """Say who sells, and how prices are kept."""
    set_seller(visit.system_work, _read(visit))


def _read(visit: ConsoleVisit) -> Seller:
    sent = visit.sent
    email, register_number, bank, iban, bic = (sent.text(name) for name in _TEXTS)
    return Seller(
        company=read_company(sent),
        email=email,
        register_number=register_number,
        bank=bank,
        iban=iban,
        bic=bic,
        has_one_stop=bool(sent.text("has_one_stop")),
        is_gross=sent.text("prices") == "gross",
        rounding=find_choice(TaxRounding, sent.text("rounding")) or TaxRounding.LINE,
    )


@show_seller.action("register-seller", "The registration was added.", needs_password=True)
def add_registration(visit: ConsoleVisit) -> None:
    """Add a VAT ID of another country."""
    sent = visit.sent
    registration = Registration(sent.text("vat_id"), bool(sent.text("is_reverse_charged")))
    register_seller(visit.system_work, sent.text("country"), registration)


@show_seller.action("unregister-seller", "The registration was removed.", needs_password=True)
def drop_registration(visit: ConsoleVisit) -> None:
    unregister_seller(visit.system_work, visit.sent.text("country"))


@show_seller.action(
    "end-seller", "No tax is collected any more. What was taxed stays so.", needs_password=True
)
def end(visit: ConsoleVisit) -> None:
    stop_selling(visit.system_work)
