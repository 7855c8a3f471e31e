"""Every state of every page for people, with made-up facts: each can be looked at and measured."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.checkout.checkout_view import (
    CheckoutLineView,
    CheckoutState,
    CheckoutView,
    TotalRow,
    make_fields,
    show_checkout,
)
from printworks.dashboard.checkout.order_view import Item, OrderProgress, OrderStep, TrackedShipment
from printworks.dashboard.checkout.payment_view import (
    BankView,
    PaymentView,
    show_bank,
    show_payment,
    show_unknown_payment,
    show_unreachable_bank,
)
from printworks.dashboard.checkout.readers import ShopView, find_reader, refuse_unknown_order
from printworks.dashboard.checkout.tracking import TrackingView, show_tracking
from printworks.dashboard.site.forms import Sent, refuse_form
from printworks.dashboard.site.rate_limits import refuse_busy, refuse_too_many
from printworks.dashboard.site.rendering import render
from printworks.language.words import Words
from printworks.payments.provider import Declined, NeedsAuthorisation, Paid
from printworks.rules.languages import Language
from printworks.rules.order_progress import Stage
from printworks.rules.payments import PaymentState
from printworks.rules.recipients import NEEDED, OPTIONAL
from printworks.web.pages import PageServer
from tests.api.client import make_scope

Show = Callable[[Request], Response]

# Two pictures in the shapes of prints: one lies, one stands.
LYING: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='180' height='120'%3E"
    "%3Crect width='180' height='120' fill='%23f29f58'/%3E%3Ccircle cx='130' cy='52' r='24' "
    "fill='%23ffe9a8'/%3E%3Cpath d='M0 92l46-36 40 30 34-20 60 40v14H0z' fill='%23423a63'/%3E%3C/svg%3E"
)
STANDING: Final = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='120' height='160'%3E"
    "%3Crect width='120' height='160' fill='%238fc7d9'/%3E%3Cpath d='M60 30l38 66H22z' fill='%232f6f4f'/%3E"
    "%3Cpath d='M60 60l44 70H16z' fill='%2338865f'/%3E%3Crect x='54' y='130' width='12' height='20' "
    "fill='%236b4a2f'/%3E%3C/svg%3E"
)

SHOP: Final = ShopView(
    name="Fox & Daughters Pictures",
    logo=LYING,
    logo_width=180,
    logo_height=120,
    email="hello@fox.example",
    telephone="+44 1904 123456",
    website="https://fox.example",
    return_address=("1 High Street", "York", "YO1 1AA"),
)
CHECKOUT: Final = CheckoutView(
    state=CheckoutState.PAYABLE,
    shop=SHOP,
    order="1042",
    currency="GBP",
    total=6447,
    lines=(
        CheckoutLineView(
            item=Item(
                "12x18 inch fine art print, framed with mount",
                ("Frame colour: black", "Finish: matte"),
                1,
                LYING,
            ),
            each=4900,
            total=4900,
        ),
        CheckoutLineView(item=Item("4x6 inch print", (), 12, STANDING), each=49, total=588),
        CheckoutLineView(item=Item("Sticker sheet", (), 1, ""), each=250, total=250),
    ),
    rows=(TotalRow("Prints", 5738), TotalRow("Standard shipping", 599), TotalRow("Tax", 110)),
    address=("Mary Fox", "12 Long Lane", "Flat 3", "Hebden Bridge HX7 8AA", "United Kingdom"),
    email="mary@example.com",
    country="United Kingdom",
    form_token="0" * 64,
)


def _shipment(number: int, *, is_sent: bool, is_delivered: bool = False) -> TrackedShipment:
    return TrackedShipment(
        number=number,
        items=("1 \N{MULTIPLICATION SIGN} 12x18 inch fine art print, framed with mount",),
        is_sent=is_sent,
        is_delivered=is_delivered,
        dispatch="Sent on Mon 16 Nov" if is_sent else "Leaves the lab by Wed 18 Nov",
        arrival="Expected Thu 19 Nov \N{EN DASH} Mon 23 Nov",
        carrier="Royal Mail" if is_sent else "",
        tracking_number="LX123456789ZZ" if is_sent else "",
        tracking_url="https://tracking.example/LX123456789ZZ" if is_sent else "",
    )


def _progress(stage: Stage, *shipments: TrackedShipment) -> OrderProgress:
    reached = list(Stage).index(stage)
    sent = sum(shipment.is_sent for shipment in shipments)
    texts = (
        ("Paid", "16 November 2026"),
        ("In production", ""),
        ("Sent", f"{sent} of {len(shipments)} parcels sent" if sent else ""),
        ("Delivered", "" if stage is Stage.DELIVERED else "Expected Thu 19 Nov"),
    )
    steps = tuple(
        OrderStep(text, more, place <= reached, place == reached)
        for place, (text, more) in enumerate(texts)
    )
    return OrderProgress(stage, steps, shipments, sent)


_IN_PRODUCTION: Final = _progress(
    Stage.IN_PRODUCTION,
    _shipment(1, is_sent=True),
    _shipment(2, is_sent=True),
    _shipment(3, is_sent=False),
)
_DELIVERED: Final = _progress(Stage.DELIVERED, _shipment(1, is_sent=True, is_delivered=True))
TRACKING: Final = TrackingView(
    shop=SHOP,
    order="A-1001",
    items=tuple(line.item for line in CHECKOUT.lines),
    address=CHECKOUT.address,
    progress=_IN_PRODUCTION,
    version="1",
)
PAYMENT: Final = PaymentView(
    state=PaymentState.PAID,
    merchant="Fox & Daughters Pictures",
    order="1042",
    amount=123450,
    currency="EUR",
)
BANK: Final = BankView(
    merchant="Fox & Daughters Pictures",
    order="1042",
    amount=123450,
    currency="EUR",
    form_token="0" * 64,
    outcome=NeedsAuthorisation(url="", reference=""),
    back="/payment-paid",
)
ENGLISH: Final = Words(Language.EN)
ALL: Final = {**NEEDED, **OPTIONAL}
TYPED: Final = {
    "recipient_name": "Mary Fox",
    "town_or_city": "Hebden Bridge",
    "email": "mary at example",
}
WRONG: Final = {
    "address1": "Say in which street and house it should arrive.",
    "postal_code": "The postcode is missing.",
    "email": "Enter a valid email address, such as mary@example.com.",
}


def _checkout(state: CheckoutState, **facts: Any) -> Show:
    view = msgspec.structs.replace(CHECKOUT, state=state, **facts)
    return lambda request: show_checkout(view, find_reader(request), request)


def _payment(state: PaymentState, **facts: Any) -> Show:
    view = msgspec.structs.replace(PAYMENT, state=state, **facts)
    return lambda request: show_payment(view, find_reader(request))


def _bank(**facts: Any) -> Show:
    view = msgspec.structs.replace(BANK, **facts)
    return lambda request: show_bank(view, find_reader(request))


def _tracking(**facts: Any) -> Show:
    view = TRACKING._replace(**facts)
    return lambda request: show_tracking(view, find_reader(request), request)


def _sign_in(*, problem: str = "", is_blocked: bool = False, is_console: bool = False) -> Show:
    return lambda _request: render(
        "sign_in.html",
        with_script=True,
        problem=problem,
        problem_tone="error",
        is_blocked=is_blocked,
        is_console=is_console,
        sent=Sent(),
        form_token="0" * 64,
        environment="sandbox",
        may_sign_up=not is_console,
        was_ended=False,
        passkey_options="{}",
        forgotten="" if is_console else "/forgotten-password",
    )


ENDLESS_WORD: Final = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamten" * 3
# What must not break a page, although nobody should write it.
ENDLESS: Final[Mapping[str, Show]] = {
    "checkout-endless": _checkout(
        CheckoutState.PAYABLE,
        shop=SHOP._replace(name=ENDLESS_WORD),
        order=str(10**7),
        lines=tuple(
            msgspec.structs.replace(
                line, item=line.item._replace(description=ENDLESS_WORD), total=10**7
            )
            for line in CHECKOUT.lines
        ),
        rows=(TotalRow(ENDLESS_WORD, 10**7),),
        total=10**7,
        address=(ENDLESS_WORD, ENDLESS_WORD),
        email=f"{ENDLESS_WORD}@example.com",
        reason=ENDLESS_WORD,
    ),
    "tracking-endless": _tracking(
        shop=SHOP._replace(
            name=ENDLESS_WORD,
            email=f"{ENDLESS_WORD}@example.com",
            website=f"https://{ENDLESS_WORD}.example",
            return_address=(ENDLESS_WORD,),
        ),
        order=ENDLESS_WORD,
        address=(ENDLESS_WORD,),
        progress=_progress(
            Stage.SENT,
            _shipment(1, is_sent=True)._replace(
                items=(ENDLESS_WORD,), tracking_number=ENDLESS_WORD, carrier=ENDLESS_WORD
            ),
        ),
    ),
    "bank-endless": _bank(merchant=ENDLESS_WORD, order=ENDLESS_WORD, amount=10**7),
}

_S = CheckoutState
STATES: Final[Mapping[str, Show]] = {
    "checkout-payable": _checkout(_S.PAYABLE),
    "checkout-declined": _checkout(_S.PAYABLE, reason="The bank declined the card."),
    "checkout-incomplete": _checkout(
        _S.INCOMPLETE, address=(), email="", fields=make_fields(ALL, "GB", ENGLISH)
    ),
    "checkout-wrong": _checkout(
        _S.INCOMPLETE,
        address=(),
        email="",
        fields=make_fields(ALL, "GB", ENGLISH, values=TYPED, errors=WRONG),
    ),
    "checkout-email": _checkout(
        _S.INCOMPLETE, email="", fields=make_fields(["email"], "GB", ENGLISH)
    ),
    "checkout-long": _checkout(_S.PAYABLE, lines=CHECKOUT.lines * 4),
    "checkout-paid": _checkout(
        _S.PAID, progress=_progress(Stage.ORDERED, _shipment(1, is_sent=False))
    ),
    "checkout-partly-sent": _checkout(_S.PAID, progress=_IN_PRODUCTION),
    "checkout-delivered": _checkout(_S.PAID, progress=_DELIVERED),
    "checkout-plain": _checkout(_S.PAYABLE, shop=ShopView("Fox & Daughters Pictures")),
    "tracking": _tracking(),
    "tracking-delivered": _tracking(progress=_DELIVERED),
    "checkout-at-bank": _checkout(_S.AT_BANK, bank_url="/bank-open"),
    "checkout-finding-out": _checkout(_S.FINDING_OUT),
    "checkout-not-ready": _checkout(_S.NOT_READY),
    "checkout-cancelled": _checkout(_S.CANCELLED),
    "checkout-refunded": _checkout(_S.CANCELLED, refund="Your payment was refunded."),
    "checkout-expired": _checkout(_S.EXPIRED),
    "checkout-unknown": lambda request: refuse_unknown_order(find_reader(request)),
    "payment-finding-out": _payment(PaymentState.ASKED),
    "payment-paid": _payment(PaymentState.PAID),
    "payment-declined": _payment(PaymentState.DECLINED, reason="The bank declined the card."),
    "payment-expired": _payment(PaymentState.WAITING, is_expired=True),
    "payment-refunded": _payment(PaymentState.REFUNDED),
    "payment-unknown": lambda request: show_unknown_payment(find_reader(request)),
    "bank-open": _bank(),
    "bank-authorised": _bank(outcome=Paid(provider="", reference="")),
    "bank-declined": _bank(outcome=Declined(reason="The payment was not authorised.")),
    "bank-silent": lambda request: show_unreachable_bank(find_reader(request)),
    "sign-in": _sign_in(),
    "sign-in-wrong": _sign_in(problem="Wrong email address or password."),
    "sign-in-blocked": _sign_in(
        problem="Too many wrong passwords or codes. Try again in 2 minutes.", is_blocked=True
    ),
    "sign-in-console": _sign_in(
        problem="Too many wrong passwords or codes.", is_blocked=True, is_console=True
    ),
    "sign-in-busy": lambda _request: refuse_busy(
        "/sign-in", "Many people are signing in at the moment."
    ),
    "form-refused": lambda _request: refuse_form("/pay/token"),
    "too-many": lambda _request: refuse_too_many("/pay/token", timedelta(seconds=12)),
}


def _route(name: str, show: Show) -> BaseRoute:
    async def answer(request: Request) -> Response:
        return show(request)

    return Route(f"/{name}", answer)


@contextmanager
def serve() -> Iterator[str]:
    """Show each state at an address that ends in its name; return how the addresses begin."""
    pages = PageServer([_route(name, show) for name, show in {**STATES, **ENDLESS}.items()])

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asyncio.run(_answer(pages, self))

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


async def _answer(pages: PageServer, asked: BaseHTTPRequestHandler) -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            asked.send_response(message["status"])
            for name, value in message["headers"]:
                asked.send_header(name.decode(), value.decode())
            asked.end_headers()
        else:
            asked.wfile.write(message.get("body", b""))

    headers = {name: value for name, value in asked.headers.items() if name != "Accept-Encoding"}
    await pages(make_scope("GET", asked.path, headers), receive, send)
