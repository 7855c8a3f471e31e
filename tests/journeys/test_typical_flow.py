"""The script that shows the typical flow works as it stands, against the real program."""

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.running import Merchant, Service, running
from tests.worker.hosts import PictureHost, holds
from tests.worker.shops import A_PICTURE

SCRIPT: Final = Path(__file__).parents[2] / "docs" / "typical-flow.sh"

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="needs curl")


def run_script(
    service: Service, merchant: Merchant, picture_url: str
) -> subprocess.CompletedProcess[str]:
    """Run the script with the clock, as its head explains."""
    return subprocess.run(
        ["/bin/sh", SCRIPT],
        capture_output=True,
        text=True,
        timeout=50,
        env={
            "PATH": os.environ["PATH"],
            "BASE_URL": f"https://127.0.0.1:{service.port}/v3.0",
            "CA_FILE": str(service.data / "tls" / "ca.pem"),
            "MERCHANT_ID": merchant.id,
            "API_KEY": merchant.key,
            "PICTURE_URL": picture_url,
            "MOVE_CLOCK": "1",
        },
    )


def test_it_ends_with_a_complete_order_and_its_tracking_number(tmp_path: Path) -> None:
    with running(tmp_path / "data") as service, PictureHost() as host:
        merchant = service.add_merchant()

        ended = run_script(service, merchant, host.at("/sunset.jpg", holds(A_PICTURE)))

        assert ended.returncode == 0, ended.stdout + ended.stderr + service.explain()
        with service.client(merchant) as client:
            [order] = client.get("/v3.0/orders").data["content"]
    [shipment] = order["shippingInfo"]["shipments"]
    assert order["status"] == "Complete"
    assert re.fullmatch(r"LX\d{9}ZZ", shipment["trackingNumber"])
    assert ended.stdout.splitlines()[-4:] == [
        f"Order {order['id']} is Complete.",
        f"Carrier: {shipment['carrier']}",
        f"Tracking number: {shipment['trackingNumber']}",
        f"Follow it at: {shipment['trackingUrl']}",
    ]
    assert f"With shipping that makes {order['price']}." in ended.stdout
    assert ended.stderr == ""


def test_it_stops_at_the_first_refusal_and_shows_it(tmp_path: Path) -> None:
    with running(tmp_path / "data") as service:
        merchant = service.add_merchant()

        ended = run_script(service, merchant, "ftp://shop.example/sunset.jpg")

        with service.client(merchant) as client:
            [order] = client.get("/v3.0/orders").data["content"]
    assert ended.returncode != 0
    assert "`url`" in ended.stdout + ended.stderr
    assert (order["status"], order["images"]) == ("NotYetSubmitted", [])
