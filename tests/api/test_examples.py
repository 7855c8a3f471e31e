"""The examples of the reference: what a service really answers, one for each operation of each version.

To write them anew after a change that is meant: `PRINTWORKS_GOLDEN=write`, and look at the diff.
"""

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import pytest

import printworks.dashboard.reference
from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import path_of
from printworks.api.routing import FoundEndpoint
from printworks.store.engine.database import Database
from printworks.web.families import FAMILIES
from tests.api.client import ROUTER, Client
from tests.api.conftest import an_order
from tests.api.images import PHOTO, an_addressed_order, an_image
from tests.api.v2 import shop
from tests.api.v3_0.test_invoices import sell_to

FOLDER: Final = Path(printworks.dashboard.reference.__file__).parent / "examples"
# What is made at random.
SECRETS: Final = (
    (re.compile(r"/proofs/(\d+)/[0-9a-f]+/"), r"/proofs/\1/…/"),
    (re.compile(r"/pay/[\w-]+"), "/pay/…"),
)
# Of a long list, only the beginning is shown.
MOST_LINES: Final = 2
# What needs a file, or a callback that was sent, or is long: the page has room for so much.
WITHOUT: Final = frozenset(
    {
        "PUT /orders/{orderId}/images/{imageId}",
        "POST /images/check",
        "POST /callbacks/{id}/resend",
        "POST /callbacks/replay",
        "GET /invoices/{number}",
        "GET /invoices/{number}/pdf",
        "PUT /Orders/{orderId}/Photos/{photoId}",
    }
)


class Recorder:
    """A program that writes down what it sends and what it gets."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.examples: dict[str, dict[str, Any]] = {}

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Send a request and write it down as the example of its operation, if it is the first."""
        content = b"" if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} if body is not None else {}
        answer = self.client.request(method, path, content, headers)
        assert answer.status == 200, (method, path, answer.body)
        found = ROUTER.find(method, unquote(self.client.prefix + path.partition("?")[0]))
        assert isinstance(found, FoundEndpoint)
        shown = json.loads(_blank(answer.body.decode()))
        example = {"path": path, "body": body, "answer": _shorten(shown)}
        self.examples.setdefault(f"{method} {path_of(found.endpoint)}", example)
        return answer.json()


def _blank(text: str) -> str:
    for pattern, replacement in SECRETS:
        text = pattern.sub(replacement, text)
    return text


def _shorten(shown: Any) -> Any:
    if isinstance(shown, list):
        return [_shorten(each) for each in shown[:MOST_LINES]]
    if isinstance(shown, dict):
        return {name: _shorten(value) for name, value in shown.items()}
    return shown


def use_3_0(shop: Recorder) -> None:
    """Use every operation of 3.0 once, as a shop would."""
    order = shop.ask("POST", "/orders", an_addressed_order(merchantOrderId="A-1001"))["data"]["id"]
    shop.ask(
        "PUT", f"/orders/{order}", an_order(recipientName="Mary Fox", address1="2 High Street")
    )
    image = shop.ask("POST", f"/orders/{order}/images", an_image())["data"]["id"]
    crop = {"copies": 2, "placement": {"x": 0.5, "y": 0.25, "zoom": 1.2}}
    shop.ask("PATCH", f"/orders/{order}/images/{image}", crop)
    shop.ask("POST", f"/orders/{order}/images/batch", [an_image(copies=2), an_image()])
    shop.ask("GET", f"/orders/{order}")
    shop.ask("GET", f"/orders/{order}/SubmissionStatus")
    shop.ask("GET", "/orders?limit=2")
    shop.ask("POST", f"/orders/{order}/status", {"status": "Cancelled"})
    shop.ask("GET", "/countries")
    place = "/catalogue/service%20direct/destination/GB"
    shop.ask("POST", f"{place}/prices", {"skus": [PHOTO]})
    shop.ask("GET", f"{place}/shippingRates")
    shop.ask("GET", "/events?limit=2")
    shop.ask("GET", "/sandbox/clock")
    shop.ask("POST", "/sandbox/clock", {"advance": "PT1H"})


def use_2(recorder: Recorder, version: str) -> None:
    """Use every operation of an older version once, as a shop would."""
    order = recorder.ask("POST", "/Orders", shop.an_order(**shop.ADDRESS))["id"]
    recorder.ask("PUT", f"/Orders/{order}", shop.an_order(**shop.ADDRESS))
    photo = recorder.ask("POST", f"/Orders/{order}/Photos/", shop.a_photo())["id"]
    recorder.ask("POST", f"/Orders/{order}/Photos/Batch", [shop.a_photo(), shop.a_photo()])
    recorder.ask("GET", f"/Orders/{order}/Photos")
    recorder.ask("GET", f"/Orders/{order}/Photos/{photo}")
    recorder.ask("DELETE", f"/Orders/{order}/Photos/{photo}")
    recorder.ask("GET", f"/Orders/{order}")
    recorder.ask("GET", "/Orders" if version == "2.3" else "/Orders?limit=2")
    recorder.ask("GET", f"/Orders/{order}/SubmissionStatus")
    recorder.ask("POST", f"/Orders/{order}/Status", {"status": "Submitted"})
    recorder.ask("GET", "/Country")
    recorder.ask("GET", "/Catalogue/GB/Pro")
    issue = {"issue": "PrintDefects", "action": "Reprint", "issueDetail": "One print has a stripe."}
    recorder.ask("POST", f"/Orders/{order}/Issues", issue)
    recorder.ask("GET", f"/Orders/{order}/Issues")
    complaint = recorder.ask("GET", f"/Orders/{order}/Issues")["issues"][0]["id"]
    place = f"/Orders/{order}/Issues/{complaint}"
    recorder.ask("GET", place)
    recorder.ask("PUT", place, {"comment": "It is on the left."})
    recorder.ask("GET", f"/Orders/{order}/Logs")
    if version == "2.6":
        order = recorder.ask("POST", "/Orders", shop.an_order(**shop.ADDRESS))["id"]
        recorder.ask("POST", f"/Orders/{order}/Photos/", shop.a_photo())
        recorder.ask("POST", f"/Orders/{order}/Hold")
        recorder.ask("POST", f"/Orders/{order}/Shipping", {"address1": "2 High Street"})
        recorder.ask("POST", f"/Orders/{order}/Cancel")


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.version)
def test_every_operation_has_an_example_that_the_service_gave(
    v3: Client, database: Database, family: ApiFamily
) -> None:
    recorder = Recorder(replace(v3, prefix=f"/{family.prefix}"))
    if family.version == "3.0":
        use_3_0(recorder)
        sell_to(database, v3)
        recorder.ask("GET", "/invoices?limit=1")
    else:
        use_2(recorder, family.version)

    without = {
        f"{endpoint.method} {path_of(endpoint)}" for endpoint in family.endpoints
    } - recorder.examples.keys()
    assert without <= WITHOUT
    written = json.dumps(recorder.examples, indent=1, ensure_ascii=False) + "\n"
    file = FOLDER / f"{family.prefix}.json"
    if os.environ.get("PRINTWORKS_GOLDEN") == "write":
        file.write_text(written, encoding="utf-8")
    assert file.read_text(encoding="utf-8") == written
