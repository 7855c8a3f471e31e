"""The page of a recipient who pays for an order, from the link until the parcels are there."""

import hashlib
from collections.abc import Callable, Collection, Mapping
from enum import StrEnum
from typing import Final, Protocol

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.checkout.order_view import Item, OrderProgress
from printworks.dashboard.checkout.payment_view import REFRESH_AFTER
from printworks.dashboard.checkout.readers import (
    RecipientReader,
    ShopView,
    link_refresh,
    name_facts,
    show_message_to,
    show_to,
)
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.rendering import Link, Message, Onwards
from printworks.language.words import Words, mark


class CheckoutState(StrEnum):
    """What a recipient can do with an order now."""

    NOT_READY = "not ready"
    INCOMPLETE = "incomplete"
    PAYABLE = "payable"
    AT_BANK = "at bank"
    FINDING_OUT = "finding out"
    PAID = "paid"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


class CheckoutLineView(msgspec.Struct, frozen=True, kw_only=True):
    """A picture, on what it is printed, and for how much."""

    item: Item
    each: int
    total: int


class TotalRow(msgspec.Struct, frozen=True):
    """A part of what is paid."""

    label: str
    amount: int


class CheckoutField(msgspec.Struct, frozen=True, kw_only=True):
    """Something that the recipient fills in."""

    name: str
    label: str
    autocomplete: str
    value: str = ""
    error: str = ""
    hint: str = ""
    kind: str = "text"
    longest: int = 255
    is_optional: bool = False
    is_half: bool = False


class CheckoutView(msgspec.Struct, frozen=True, kw_only=True):
    """An order that its recipient pays for."""

    state: CheckoutState
    shop: ShopView
    order: str
    # The merchant's own, which the recipient may know.
    reference: str = ""
    currency: str
    total: int
    lines: tuple[CheckoutLineView, ...] = ()
    rows: tuple[TotalRow, ...] = ()
    # Where it goes, line by line, and the address for questions.
    address: tuple[str, ...] = ()
    email: str = ""
    country: str = ""
    fields: tuple[CheckoutField, ...] = ()
    form_token: str = ""
    # What was wrong with what was sent, if no single field is to blame.
    problem: str = ""
    # Why the last payment failed, as a sentence.
    reason: str = ""
    bank_url: str = ""
    # Whether the recipient has just asked to pay.
    is_leaving: bool = False
    # What becomes of what was charged, as a sentence; empty if nothing was.
    refund: str = ""
    # How far it is, once it is paid.
    progress: OrderProgress | None = None
    # Another one whenever the page would show something else.
    version: str = ""

    @property
    def wants_address(self) -> bool:
        """Whether more is missing than the email."""
        return any(field.name != "email" for field in self.fields)

    @property
    def has_errors(self) -> bool:
        """Whether something was filled in wrongly."""
        return any(field.error for field in self.fields)


# What the last part of an address is called where it goes, and the part before it.
_POSTCODES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("GB", "AU", "NZ", "ZA", "NL", "DK", "NO", "SE"), mark("Postcode")),
    "US": mark("ZIP code"),
    "IE": mark("Eircode"),
}
_REGIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("GB", "IE"), mark("County")),
    **dict.fromkeys(("US", "AU"), mark("State")),
    "CA": mark("Province"),
}


def make_fields(
    names: Collection[str],
    country: str,
    words: Words,
    *,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> tuple[CheckoutField, ...]:
    """Return what the recipient fills in, with what was typed and what is wrong with it."""
    return tuple(
        msgspec.structs.replace(
            field,
            value=(values or {}).get(field.name, ""),
            error=(errors or {}).get(field.name, ""),
        )
        for field in _list_fields(country, words)
        if field.name in names
    )


def _list_fields(country: str, words: Words) -> tuple[CheckoutField, ...]:
    say = words.say
    return (
        CheckoutField(name="recipient_name", label=say("Full name"), autocomplete="name"),
        CheckoutField(name="address1", label=say("Address"), autocomplete="address-line1"),
        CheckoutField(
            name="address2",
            label=say("Flat, building or floor"),
            autocomplete="address-line2",
            is_optional=True,
        ),
        CheckoutField(
            name="town_or_city", label=say("Town or city"), autocomplete="address-level2"
        ),
        CheckoutField(
            name="state_or_county",
            label=say(_REGIONS.get(country) or "State or region"),
            autocomplete="address-level1",
            is_optional=True,
            is_half=True,
        ),
        CheckoutField(
            name="postal_code",
            label=say(_POSTCODES.get(country) or "Postal code"),
            autocomplete="postal-code",
            is_half=True,
        ),
        CheckoutField(
            name="email",
            label=say("Email"),
            autocomplete="email",
            kind="email",
            hint=say("For questions about this order."),
        ),
    )


# For the catalogues: what is said where a country has no word of its own.
_USUAL: Final = (mark("State or region"), mark("Postal code"))


def show_checkout(view: CheckoutView, reader: RecipientReader, request: Request) -> Response:
    """Show what is paid for and take what is missing, or say how the order stands."""
    if view.state is CheckoutState.PAID:
        return show_live(reader, request, "recipient/paid.html", view)
    if view.state in _SAYING:
        return _SAYING[view.state](view, reader)
    status = 400 if view.has_errors or view.problem else 200
    return show_to(reader, "recipient/checkout.html", shop=view.shop, status=status, view=view)


class LiveView(Protocol):
    """What a page shows that looks for news by itself."""

    @property
    def shop(self) -> ShopView: ...

    @property
    def version(self) -> str:
        """Another one whenever the page would show something else."""


def show_live(reader: RecipientReader, request: Request, template: str, view: LiveView) -> Response:
    """Show a page that looks for news by itself; a look that finds none gets an empty answer."""
    shown = f"{view.version} {reader.words.language}"
    etag = hashlib.blake2s(shown.encode(), digest_size=8).hexdigest()
    is_refresh = request.method == "GET" and "hx-request" in request.headers
    if is_refresh and request.query_params.get("seen") == etag:
        return Response(status_code=204)
    return show_to(reader, template, shop=view.shop, with_script=True, etag=etag, view=view)


def _say_unknown(view: CheckoutView, reader: RecipientReader) -> Response:
    say = reader.words.say
    message = _write(
        view,
        reader,
        say("We are checking whether the payment went through"),
        say(
            "This page refreshes automatically. Please do not pay again; "
            "you will not be charged twice."
        ),
        link=link_refresh(reader),
    )
    return show_message_to(reader, message, shop=view.shop, onwards=Onwards(REFRESH_AFTER))


def _say_not_ready(view: CheckoutView, reader: RecipientReader) -> Response:
    say = reader.words.say
    message = _write(
        view,
        reader,
        say("This order is not ready for payment"),
        *_say_refund(view),
        say(
            "{shop} is still preparing it. Keep this link and come back later.",
            shop=view.shop.name,
        ),
        link=link_refresh(reader),
    )
    return show_message_to(reader, message, shop=view.shop)


def _say_cancelled(view: CheckoutView, reader: RecipientReader) -> Response:
    say = reader.words.say
    message = _write(
        view,
        reader,
        say("This order was cancelled"),
        say("Nothing is printed, and there is nothing to pay."),
        *_say_refund(view),
        say("If you have questions, ask {shop}.", shop=view.shop.name),
        tone="warn",
    )
    return show_message_to(reader, message, shop=view.shop)


def _say_expired(view: CheckoutView, reader: RecipientReader) -> Response:
    say = reader.words.say
    message = _write(
        view,
        reader,
        say("The time to pay for this order has expired"),
        *_say_refund(view),
        say("Ask {shop} for a new link.", shop=view.shop.name)
        if view.refund
        else say("Nothing was charged. Ask {shop} for a new link.", shop=view.shop.name),
        tone="warn",
    )
    return show_message_to(reader, message, shop=view.shop, status=410)


def _say_refund(view: CheckoutView) -> tuple[str, ...]:
    return (view.refund,) if view.refund else ()


def _send_to_bank(view: CheckoutView, reader: RecipientReader) -> Response:
    say = reader.words.say
    message = _write(
        view,
        reader,
        say("You are being taken to your bank")
        if view.is_leaving
        else say("Your bank is waiting for you"),
        say("Nothing is paid until you confirm it there."),
        link=Link(say("Continue to the bank"), view.bank_url),
    )
    onwards = Onwards(to=view.bank_url) if view.is_leaving else None
    return show_message_to(reader, message, shop=view.shop, onwards=onwards)


def _write(
    view: CheckoutView,
    reader: RecipientReader,
    title: str,
    *sentences: str,
    tone: Tone = "",
    link: Link | None = None,
) -> Message:
    facts = name_facts(reader, view.shop.name, view.reference or view.order)
    return Message(title=title, sentences=sentences, tone=tone, facts=facts, link=link)


# The states in which there is nothing to do but to read.
_SAYING: Final[Mapping[CheckoutState, Callable[[CheckoutView, RecipientReader], Response]]] = {
    CheckoutState.AT_BANK: _send_to_bank,
    CheckoutState.FINDING_OUT: _say_unknown,
    CheckoutState.NOT_READY: _say_not_ready,
    CheckoutState.CANCELLED: _say_cancelled,
    CheckoutState.EXPIRED: _say_expired,
}
