"""Addresses that can never work are refused when they are given, in every version and with a reason."""

from pathlib import Path

import pytest

from printworks.settings import Settings
from tests.api import images as v3_images
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.v2 import shop
from tests.running import Answer

NOT_PUBLIC = "The address is not public, so it cannot be reached from here."
WRONG_PORT = "The port of an address must be 80 or 443."
HOPELESS = {
    "https://user:word@shop.example/a.jpg": "An address must hold no user name and no password.",
    "https://user@shop.example/a.jpg": "An address must hold no user name and no password.",
    "https://shop.example:0/a.jpg": "The port of an address must be a number from 1 to 65535.",
    "https://shop.example:8443/a.jpg": WRONG_PORT,
    "https://93.184.215.14:22/a.jpg": WRONG_PORT,
    "https://shop.example\\a.jpg": "An address must hold no blanks, control characters or backslashes.",
    "https:///a.jpg": "The address names no valid host.",
    "http://127.1/a.jpg": "The address names no valid host.",
    "ftp://shop.example/a.jpg": "An address must begin with http:// or https://.",
    "http://localhost/a.jpg": NOT_PUBLIC,
    "http://127.0.0.1:8080/a.jpg": NOT_PUBLIC,
    "http://[::1]/a.jpg": NOT_PUBLIC,
    "http://10.1.2.3/a.jpg": NOT_PUBLIC,
    "http://[::ffff:192.168.0.1]/a.jpg": NOT_PUBLIC,
    "http://169.254.169.254/latest/meta-data": NOT_PUBLIC,
}


@pytest.mark.parametrize(("url", "reason"), HOPELESS.items())
class TestOnesThatCanNeverWork:
    def test_in_3_0(self, v3: Client, url: str, reason: str) -> None:
        order_id = v3_images.create(v3)
        image, path = v3_images.an_image(url=url), f"/orders/{order_id}"

        one = v3.post(f"{path}/images", image)
        several = v3.post(f"{path}/images/batch", [v3_images.an_image(), image])
        created = v3.post("/orders", an_order(packingSlipUrl=url))
        changed = v3.put(path, an_order(packingSlipUrl=url))

        expect(one, f"`url` is wrong: {reason}")
        expect(several, f"Element 2: `url` is wrong: {reason}")
        expect(created, f"`packingSlipUrl` is wrong: {reason}")
        expect(changed, f"`packingSlipUrl` is wrong: {reason}")
        order = v3.get(path).data
        assert (order["images"], order["packingSlipUrl"]) == ([], None)
        assert v3.get("/orders").data["count"] == 1

    @pytest.mark.parametrize("version", ["2.3", "2.5", "2.6"])
    def test_in_2_x(self, v3: Client, version: str, url: str, reason: str) -> None:
        v2 = Client(v3.server, f"/v{version}", v3.credentials)
        order_id = shop.create(v2)
        photo, path = shop.a_photo(url=url), f"/Orders/{order_id}/Photos"

        expect(v2.post(path, photo), f"`url` is wrong: {reason}")
        expect(v2.post(f"{path}/Batch", [photo]), f"Element 1: `url` is wrong: {reason}")
        assert shop.see(v2, order_id)["photos"] == []


def test_a_photo_that_waits_for_its_file_does_not_take_one_either(v3: Client) -> None:
    v2 = Client(v3.server, "/v2.6", v3.credentials)
    order_id = shop.create(v2, payment="InvoiceRecipient")
    shop.add(v2, order_id, url=None)
    shop.set_status(v2, order_id, "AwaitingPayment")

    refused = v2.post(f"/Orders/{order_id}/Photos", shop.a_photo(url="http://10.1.2.3/"))

    expect(refused, f"`url` is wrong: {NOT_PUBLIC}")
    assert shop.see(v2, order_id)["photos"][0]["status"] == "AwaitingUrlOrData"


def test_what_only_a_name_server_knows_is_found_out_later(v3: Client) -> None:
    url = "https://no-such-name.example/a.jpg"

    assert v3_images.add(v3, v3_images.create(v3), url=url)["status"] == "NotYetDownloaded"


class TestWhereMoreIsAllowed:
    @pytest.fixture(
        params=[{}, {"PRINTWORKS_OUTBOUND_ALLOW_NETWORKS": "127.0.0.0/8, 10.1.0.0/16"}],
        ids=["a sandbox on this machine", "networks that the operator allows"],
    )
    def settings(self, tmp_path: Path, request: pytest.FixtureRequest) -> Settings:
        public = {"PRINTWORKS_PUBLIC_URL": "https://print.example"} if request.param else {}
        return Settings.load(tmp_path, {**public, **request.param})

    @pytest.mark.parametrize(
        "url", ["http://127.0.0.1:8080/a.jpg", "http://localhost:3000/", "http://shop.lan:8080/"]
    )
    def test_addresses_inside_are_taken_on_any_port(self, v3: Client, url: str) -> None:
        order = v3.post("/orders", an_order(packingSlipUrl=url))

        assert order.status == 200
        assert v3_images.add(v3, order.data["id"], url=url)["url"] == url

    @pytest.mark.parametrize("url", ["http://169.254.169.254/", "http://192.168.0.1/"])
    def test_others_still_are_not(self, v3: Client, url: str) -> None:
        expect(v3.post("/orders", an_order(packingSlipUrl=url)), NOT_PUBLIC)


def expect(answer: Answer, reason: str) -> None:
    assert answer.status == 400
    assert answer.error.endswith(reason)
