"""The packing slip of a shop, for parcels whose order has none of its own."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from sqlalchemy import Connection

from printworks.files.errors import FileMissing
from printworks.files.store import Files
from printworks.labs.documents import JobDocument, JobFile
from printworks.labs.slip import SLIP_NAME, SlipText, write_slip
from printworks.language.words import Words
from printworks.rules.languages import guess_language
from printworks.rules.shops import ShopProfile, fill_in_slip
from printworks.store.accounts.shops import Shop, get_shop
from printworks.store.mail.settings import read_mail_settings
from printworks.store.orders.orders import Order


class SlipFacts(NamedTuple):
    """What a slip can name of a parcel."""

    recipient: str
    # The merchant's own reference, which may be empty, and our number.
    reference: str
    number: int
    ordered_at: datetime
    # What is in it, line by line.
    items: Sequence[str]
    # Where it goes; empty if that is not known.
    country: str


def find_shop_slip(
    db: Connection, order: Order, document: JobDocument, *, can_pack: bool
) -> SlipText | None:
    """Return the slip of the order's shop; None if it has none, or the order has one of its own.

    `can_pack` says whether the lab packs slips at all.
    """
    if not can_pack or order.packing_slip_url is not None:
        return None
    shop = get_shop(db, order.merchant_id)
    if not shop.profile.packing_slip:
        return None
    return describe_slip(db, shop, _find_facts(document))


def _find_facts(document: JobDocument) -> SlipFacts:
    return SlipFacts(
        recipient=document.address.name or "",
        reference=document.merchant_order_id or "",
        number=document.order,
        ordered_at=document.ordered_at,
        items=[
            f"{item.copies} \N{MULTIPLICATION SIGN} {item.description}" for item in document.items
        ],
        country=document.address.country or "",
    )


def describe_slip(db: Connection, shop: Shop, facts: SlipFacts) -> SlipText:
    """Return what the slip of a parcel says."""
    profile = shop.profile
    chosen = read_mail_settings(db, shop.merchant_id).recipient_language
    words = Words(chosen or guess_language(facts.country), facts.country)
    contact = _write_contact(profile)
    values = {
        "recipient": facts.recipient,
        "order": facts.reference or str(facts.number),
        "number": str(facts.number),
        "date": words.date(facts.ordered_at.astimezone(ZoneInfo(profile.time_zone))),
        "items": "\n".join(facts.items),
        "shop": shop.name,
        "contact": contact,
        "return_address": profile.return_address,
    }
    return SlipText(
        language=words.language.value,
        shop=shop.name,
        text=fill_in_slip(profile.packing_slip, values),
        foot="\n".join(filter(None, (profile.return_address, contact))),
        logo=shop.logo.file if shop.logo else "",
    )


def _write_contact(profile: ShopProfile) -> str:
    shown = (profile.email, profile.telephone, profile.website)
    return " \N{MIDDLE DOT} ".join(filter(None, shown))


def render_slip(files: Files, slip: SlipText) -> bytes:
    """Return a slip as a file, with its logo; outside any transaction."""
    try:
        logo = files.read(slip.logo) if slip.logo else None
    except FileMissing:
        # Replaced a moment ago: better without it than not at all.
        logo = None
    return write_slip(slip, logo).encode()


def enclose_slip(document: JobDocument, content: bytes) -> JobDocument:
    """Return the document of a job whose parcel gets this slip."""
    file = JobFile(name=SLIP_NAME, sha256=hashlib.sha256(content).hexdigest())
    return msgspec.structs.replace(document, packing_slip=file)
