"""`printworks merchant shop`: what recipients see of a merchant."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from printworks.actions.accounts.shops import change_profile
from printworks.actions.work import Work
from printworks.cli.options import MerchantId
from printworks.cli.output import align
from printworks.cli.session import CommandSession, command
from printworks.store.accounts.shops import Shop, get_shop

app = typer.Typer()


@command(app, "shop")
def show_shop(
    session: CommandSession,
    merchant_id: MerchantId,
    *,
    name: Annotated[
        str | None, typer.Option(help="What recipients call it; empty is the merchant's name.")
    ] = None,
    email: Annotated[str | None, typer.Option(help="For questions of recipients.")] = None,
    telephone: Annotated[str | None, typer.Option(help="For questions of recipients.")] = None,
    website: Annotated[str | None, typer.Option(help="Such as https://example.com.")] = None,
    return_address: Annotated[
        str | None, typer.Option(help="Printed on packing slips; separate its lines with `;`.")
    ] = None,
    packing_slip: Annotated[
        Path | None, typer.Option(help="A file with the text of the slip in each parcel.")
    ] = None,
    time_zone: Annotated[
        str | None, typer.Option(help="Of the dates in its dashboard, such as Europe/London.")
    ] = None,
) -> None:
    """Show what recipients see of a merchant, and change that. Logos are uploaded in the dashboard."""
    lines = (
        None
        if return_address is None
        else "\n".join(line.strip() for line in return_address.split(";"))
    )
    said = {
        "name": name,
        "email": email,
        "telephone": telephone,
        "website": website,
        "return_address": lines,
        "packing_slip": None if packing_slip is None else packing_slip.read_text(errors="replace"),
        "time_zone": time_zone,
    }
    changes = {field: text for field, text in said.items() if text is not None}
    with session.work(merchant_id) as work:
        shop = _change(work, changes)
    _show(session, shop)


def _change(work: Work, changes: Mapping[str, str]) -> Shop:
    known = get_shop(work.db, work.merchant.id).profile
    change_profile(work, msgspec.structs.replace(known, **changes))
    return get_shop(work.db, work.merchant.id)


def _show(session: CommandSession, shop: Shop) -> None:
    profile = shop.profile
    facts = {
        "name": shop.name,
        "email": profile.email,
        "telephone": profile.telephone,
        "website": profile.website,
        "returnAddress": profile.return_address.split("\n") if profile.return_address else [],
        "packingSlip": profile.packing_slip,
        "timeZone": profile.time_zone,
        "hasLogo": shop.logo is not None,
    }
    texts = {
        "name": shop.name,
        "email": profile.email or "none",
        "telephone": profile.telephone or "none",
        "website": profile.website or "none",
        "return address": ", ".join(profile.return_address.split("\n")) or "none",
        "packing slip": "from a template" if profile.packing_slip else "none",
        "time zone": profile.time_zone,
        "logo": "yes" if shop.logo else "none",
    }
    session.show(facts, *align(texts))
