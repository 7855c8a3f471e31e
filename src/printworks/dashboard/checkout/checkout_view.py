"""The checkout page of a recipient."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.checkout.payment_view import REFRESH_AFTER
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.rendering import Fact, Link, Message, Onwards, render, render_message


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

    description: str
    choices: tuple[str, ...] = ()
    copies: int
    each: int
    total: int
    thumbnail: str = ""
    # What it will look like; empty until that is drawn.
    mockup: str = ""


class TotalRow(msgspec.Struct, frozen=True):
    """A part of what is paid."""

    label: str
    amount: int


class Field(msgspec.Struct, frozen=True, kw_only=True):
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

    page: str
    state: CheckoutState
    merchant: str
    order: str
    currency: str
    total: int
    lines: tuple[CheckoutLineView, ...] = ()
    rows: tuple[TotalRow, ...] = ()
    # Where it goes, line by line, and the address for questions.
    address: tuple[str, ...] = ()
    email: str = ""
    country: str = ""
    fields: tuple[Field, ...] = ()
    form_token: str = ""
    # What was wrong with what was sent, if no single field is to blame.
    problem: str = ""
    # Why the last payment failed, as a sentence.
    reason: str = ""
    bank_url: str = ""
    # Whether the recipient has just asked to pay.
    is_leaving: bool = False
    # Whether what was paid goes back.
    is_refunded: bool = False

    @property
    def wants_address(self) -> bool:
        """Whether more is missing than the e-mail."""
        return any(field.name != "email" for field in self.fields)

    @property
    def has_errors(self) -> bool:
        """Whether something was filled in wrongly."""
        return any(field.error for field in self.fields)


# What the last part of an address is called where it goes, and the part before it.
_POSTCODES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("GB", "AU", "NZ", "ZA", "NL", "DK", "NO", "SE"), "Postcode"),
    "US": "ZIP code",
    "IE": "Eircode",
}
_REGIONS: Final[Mapping[str, str]] = {
    **dict.fromkeys(("GB", "IE"), "County"),
    **dict.fromkeys(("US", "AU"), "State"),
    "CA": "Province",
}


def make_fields(
    names: Collection[str],
    country: str,
    *,
    values: Mapping[str, str] | None = None,
    errors: Mapping[str, str] | None = None,
) -> tuple[Field, ...]:
    """Return what the recipient fills in, with what was typed and what is wrong with it."""
    return tuple(
        msgspec.structs.replace(
            field,
            value=(values or {}).get(field.name, ""),
            error=(errors or {}).get(field.name, ""),
        )
        for field in _list_fields(country)
        if field.name in names
    )


def _list_fields(country: str) -> tuple[Field, ...]:
    region = _REGIONS.get(country, "State or region")
    postcode = _POSTCODES.get(country, "Postal code")
    return (
        Field(name="recipient_name", label="Full name", autocomplete="name"),
        Field(name="address1", label="Address", autocomplete="address-line1"),
        Field(
            name="address2",
            label="Flat, building or floor",
            autocomplete="address-line2",
            is_optional=True,
        ),
        Field(
            name="town_or_city", label="Town or city", autocomplete="address-level2", is_half=True
        ),
        Field(
            name="state_or_county",
            label=region,
            autocomplete="address-level1",
            is_optional=True,
            is_half=True,
        ),
        Field(name="postal_code", label=postcode, autocomplete="postal-code", is_half=True),
        Field(
            name="email",
            label="E-mail",
            autocomplete="email",
            kind="email",
            hint="For questions about this order.",
        ),
    )


def show_checkout(view: CheckoutView) -> Response:
    """Show what is paid for and take what is missing, or say why there is nothing to pay."""
    refresh = Link("Refresh", view.page)
    refund = (
        ("Your payment is refunded to the original payment method.",) if view.is_refunded else ()
    )
    match view.state:
        case CheckoutState.INCOMPLETE | CheckoutState.PAYABLE | CheckoutState.PAID:
            status = 400 if view.has_errors or view.problem else 200
            return render("checkout.html", status=status, view=view)
        case CheckoutState.AT_BANK:
            return _send_to_bank(view)
        case CheckoutState.FINDING_OUT:
            title = "We are checking whether the payment went through"
            sentence = (
                "This page refreshes automatically. Please do not pay again; "
                "you will not be charged twice."
            )
            message = _say(view, title, sentence, link=refresh)
            return render_message(message, onwards=Onwards(REFRESH_AFTER))
        case CheckoutState.NOT_READY:
            come_back = (
                f"{view.merchant} is still preparing it. Keep this link and come back later."
            )
            title = "This order is not ready for payment"
            return render_message(_say(view, title, *refund, come_back, link=refresh))
        case CheckoutState.CANCELLED:
            sentences = (
                "There is nothing to pay.",
                *refund,
                f"If you have questions, ask {view.merchant}.",
            )
            return render_message(_say(view, "This order was cancelled", *sentences, tone="warn"))
        case CheckoutState.EXPIRED:
            title = "The time to pay for this order has expired"
            sentence = f"Nothing was charged. Ask {view.merchant} for a new link."
            return render_message(_say(view, title, sentence, tone="warn"), status=410)


def _send_to_bank(view: CheckoutView) -> Response:
    title = (
        "You are being taken to your bank" if view.is_leaving else "Your bank is waiting for you"
    )
    sentence = "Nothing is paid until you confirm it there."
    message = _say(view, title, sentence, link=Link("Continue to the bank", view.bank_url))
    return render_message(message, onwards=Onwards(to=view.bank_url) if view.is_leaving else None)


def _say(
    view: CheckoutView, title: str, *sentences: str, tone: Tone = "", link: Link | None = None
) -> Message:
    facts = (Fact("Shop", view.merchant), Fact("Order", view.order))
    return Message(
        heading=view.merchant, title=title, sentences=sentences, tone=tone, facts=facts, link=link
    )


def show_unknown_checkout() -> Response:
    message = Message(
        tone="warn",
        title="Order not found",
        sentences=("Check that the link is complete, or ask the shop for a new one.",),
    )
    return render_message(message, status=404)
