"""`printworks seller`: who sells, where it is registered for tax, and the rates of tax."""

from datetime import date
from typing import Annotated, Any

import msgspec
import typer

from printworks.actions.sellers import (
    register_seller,
    set_seller,
    stop_selling,
    unregister_seller,
)
from printworks.catalogue.taxes import read_builtin
from printworks.cli.output import Columns, align
from printworks.cli.session import CommandSession, command
from printworks.rules.businesses import Business
from printworks.rules.sellers import Registration, Seller
from printworks.rules.taxes import TaxRounding
from printworks.store.money.sellers import find_seller, find_seller_to_change

app = typer.Typer()

_Country = Annotated[str, typer.Argument(help="Its code of two letters, such as FR.")]


@command(app, "show")
def show_seller(session: CommandSession) -> None:
    """Show who sells."""
    with session.reading() as db:
        stored = find_seller(db)
    if stored is None:
        session.show({"seller": None}, "No seller has been set up, and no tax is collected.")
        return
    seller, company = stored.seller, stored.seller.company
    elsewhere = {country: one.vat_id for country, one in seller.registrations.items()}
    facts = {"id": stored.id, **msgspec.to_builtins(seller)}
    texts = {
        "name": company.name,
        "address": ", ".join(filter(None, (*company.street.split("\n"), company.postal_code))),
        "town": f"{company.town}, {company.country}",
        "VAT ID": company.vat_id or "none: no tax is collected",
        "registered in": ", ".join(f"{each}: {vat}" for each, vat in elsewhere.items()) or "none",
        "one stop": "yes" if seller.has_one_stop else "no",
        "prices": "gross" if seller.is_gross else "net",
        "rounding": f"by {seller.rounding}",
        "email": seller.email or "none",
        "bank": " ".join(filter(None, (seller.bank, seller.iban, seller.bic))) or "none",
    }
    session.show(facts, *align(texts))


@command(app, "set")
def set_one(
    session: CommandSession,
    *,
    name: Annotated[str | None, typer.Option(help="The name of the company.")] = None,
    street: Annotated[str | None, typer.Option(help="With the house number.")] = None,
    postal_code: Annotated[str | None, typer.Option(help="The postcode.")] = None,
    town: Annotated[str | None, typer.Option(help="The town or city.")] = None,
    country: Annotated[str | None, typer.Option(help="Its code of two letters.")] = None,
    vat_id: Annotated[str | None, typer.Option(help="In its own country.")] = None,
    email: Annotated[str | None, typer.Option(help="Where buyers may write to.")] = None,
    register_number: Annotated[
        str | None, typer.Option(help="The number in its country's register of companies.")
    ] = None,
    bank: Annotated[
        str | None, typer.Option(help="The name of the bank that is paid into.")
    ] = None,
    iban: Annotated[str | None, typer.Option(help="The account that is paid into.")] = None,
    bic: Annotated[str | None, typer.Option(help="The code of that bank.")] = None,
    gross: Annotated[
        bool | None, typer.Option("--gross/--net", help="Whether prices include tax.")
    ] = None,
    rounding: Annotated[TaxRounding | None, typer.Option(help="Where tax is rounded.")] = None,
    one_stop: Annotated[
        bool | None,
        typer.Option("--one-stop/--no-one-stop", help="Whether it reports in one place (OSS)."),
    ] = None,
) -> None:
    """Say who sells; what is not given stays as it is. From then on, quotes carry tax."""
    company = {
        "name": name,
        "street": street,
        "postal_code": postal_code,
        "town": town,
        "country": country,
        "vat_id": vat_id,
    }
    terms: dict[str, Any] = {
        "email": email,
        "register_number": register_number,
        "bank": bank,
        "iban": iban,
        "bic": bic,
        "is_gross": gross,
        "rounding": rounding,
        "has_one_stop": one_stop,
    }
    with session.system_work() as system:
        stored = find_seller_to_change(system.db)
        seller = stored.seller if stored else Seller(company=Business())
        set_seller(
            system,
            msgspec.structs.replace(
                seller,
                company=msgspec.structs.replace(seller.company, **_pick_given(company)),
                **_pick_given(terms),
            ),
        )
    session.done("The seller was saved. New quotes carry its tax.")


def _pick_given(said: dict[str, Any]) -> dict[str, Any]:
    return {field: value for field, value in said.items() if value is not None}


@command(app, "register")
def register(
    session: CommandSession,
    country: _Country,
    vat_id: Annotated[str, typer.Argument(help="The VAT ID in that country.")],
    *,
    reverse_charge: Annotated[
        bool, typer.Option(help="Businesses there account for the tax themselves.")
    ] = False,
) -> None:
    """Note that the seller is registered for tax in another country."""
    with session.system_work() as system:
        register_seller(system, country, Registration(vat_id, reverse_charge))
    session.done(f"The seller is registered in {country.upper()}.")


@command(app, "unregister")
def unregister(session: CommandSession, country: _Country) -> None:
    """Note that the seller is no longer registered for tax in a country."""
    with session.system_work() as system:
        unregister_seller(system, country)
    session.done(f"The seller is no longer registered in {country.upper()}.")


@command(app, "end")
def end(session: CommandSession) -> None:
    """Collect no tax from now on; what was submitted keeps its tax."""
    with session.system_work() as system:
        stop_selling(system)
    session.done("No tax is collected any more.")


@command(app, "rates")
def rates(
    session: CommandSession,
    *,
    toml: Annotated[
        bool, typer.Option("--toml", help="Print the table that comes with the program.")
    ] = False,
) -> None:
    """List the rates of tax of the catalogue in use, on this day."""
    if toml:
        session.show({"toml": read_builtin()}, read_builtin().rstrip("\n"))
        return
    table, today = session.services.catalogue.taxes, session.services.clock().date()
    found = [
        {
            "country": country,
            "class": str(tax_class),
            "rate": _find(table.find_rate(country, tax_class, today)),
            "next": _find_next(dated, today),
        }
        for (country, tax_class), dated in sorted(table.rates.items())
    ]
    columns: Columns = {"country": "country", "class": "class", "percent": "rate", "next": "next"}
    session.show_list(found, columns, "There are no rates.")


def _find(rate: int | None) -> float | None:
    return None if rate is None else rate / 100


def _find_next(dated: Any, today: date) -> str:
    later = [each for each in dated if each.since > today]
    return f"{later[0].rate / 100} from {later[0].since}" if later else ""
