"""Visits pages as a browser does, without drawing them."""

import html
import re
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from tests.api.client import Client
from tests.api.images import add, create
from tests.api.production import set_status
from tests.running import Answer

FORM: Final = "application/x-www-form-urlencoded"
OPEN: Final = {"address1": "", "addressTownOrCity": "", "postalOrZipCode": "", "recipientName": ""}


def visit(browser: Client, address: str) -> Answer:
    """Open a page by its address, whatever the host in it."""
    parts = urlsplit(address)
    return browser.get(f"{parts.path}?{parts.query}" if parts.query else parts.path)


def words_of(page: Answer) -> str:
    """Return what a page says, without its tags."""
    text = re.sub(r"<head>.*?</head>|<[^>]+>", " ", page.body.decode(), flags=re.DOTALL)
    return " ".join(html.unescape(text).split())


def token_of(page: Answer) -> str:
    """Return the hidden token of a page's form."""
    [token] = set(re.findall(r'name="form_token" value="([0-9a-f]+)"', page.body.decode()))
    return str(token)


def send(browser: Client, address: str, fields: dict[str, str], **headers: str) -> Answer:
    """Send a form to an address."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    body = urlencode(fields).encode()
    path = urlsplit(address).path
    return browser.request("POST", path, body, {"Content-Type": FORM, **named})


def fill_in(browser: Client, address: str, **fields: str) -> Answer:
    """Open a page, send its form, and return the answer to that."""
    token = token_of(visit(browser, address))
    return send(browser, address, {"form_token": token, **fields})


def ask_recipient(merchant: Client, **members: Any) -> str:
    """Create an order for a print, let its recipient pay, and return the address for that."""
    order_id = create(merchant, payment="InvoiceRecipient", **members)
    add(merchant, order_id, priceToUser=1250, copies=2)
    assert set_status(merchant, order_id, "AwaitingPayment").status == 200
    return str(merchant.get(f"/orders/{order_id}").data["paymentUrl"])


def ask_merchant(merchant: Client, **members: Any) -> tuple[int, str]:
    """Submit an order that its bank asks about; return its number and where to authorise it."""
    order_id = create(merchant, countryCode="DE", **members)
    add(merchant, order_id)
    answer = set_status(merchant, order_id, "Submitted")
    assert answer.status == 402, answer.body
    return order_id, str(answer.json()["data"]["url"])
