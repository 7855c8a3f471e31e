"""`printworks listen`: callbacks on the machine of whoever develops a receiver."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook

from printworks.wire.signatures import make_secret
from tests.api.conftest import an_order
from tests.cli.program import run, started
from tests.cli.receivers import Receiver
from tests.commands import run_here
from tests.programs import Program, start
from tests.running import Merchant, Service
from tests.worker.hosts import wait_until

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Listening:
    """A `printworks listen` that runs."""

    process: Program
    out: Path
    err: Path

    def lines(self) -> list[str]:
        """Return what it has shown so far."""
        return self.out.read_text().splitlines()

    def says(self, words: str) -> None:
        """Wait until it has said something beside the callbacks."""
        wait_until(lambda: words in self.err.read_text())

    def secret(self) -> str:
        """Return the secret that it made."""
        [found] = re.findall(r"signed with (whsec_\S+)", self.err.read_text())
        return str(found)


@contextmanager
def listening(
    service: Service, folder: Path, *words: str, environ: dict[str, str] | None = None
) -> Iterator[Listening]:
    """Run `printworks listen` until the block ends, and end it as people do."""
    out, err = folder / "listen.out", folder / "listen.err"
    with out.open("wb") as said, err.open("wb") as complained:
        process = start(
            "listen",
            *words,
            "--data",
            service.data,
            env={**service.settings, **(environ or {})},
            output=said,
            errors=complained,
        )
    listener = Listening(process, out, err)
    try:
        wait_until(lambda: process.poll() is not None or "Ctrl-C" in err.read_text())
        assert process.poll() is None, err.read_text()
        yield listener
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0, err.read_text()
    finally:
        process.kill()
        process.wait()


def demo_of(service: Service) -> Merchant:
    """Return the demo merchant that the service made."""
    kept = json.loads((service.data / "demo-merchant.json").read_text())
    return Merchant(kept["merchantId"], kept["apiKey"])


def as_environment(merchant: Merchant) -> dict[str, str]:
    """Let `listen` ask for this merchant, and not for the demo."""
    return {"MERCHANT_ID": merchant.id, "API_KEY": merchant.key}


def create(service: Service, merchant: Merchant, **members: Any) -> int:
    """Create an order."""
    with service.client(merchant) as client:
        return int(client.post("/v3.0/orders", an_order(**members)).data["id"])


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service for all; only one test listens to its demo merchant."""
    with started(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


def test_the_demo_merchants_callbacks_arrive_signed_and_shown(
    service: Service, tmp_path: Path
) -> None:
    with Receiver() as receiver:
        demo = demo_of(service)
        create(service, demo, merchantOrderId="before")
        where = receiver.url("/callbacks?shop=1")
        with listening(service, tmp_path, "--forward-to", where) as listener:
            order_id = create(service, demo, merchantOrderId="Café 🖼")
            told = receiver.next()
            wait_until(lambda: bool(listener.lines()))

        body = Webhook(listener.secret()).verify(told.body, told.headers)
        with service.client(demo) as client:
            event = client.get("/v3.0/events?after=1").data["events"][0]

    assert told.path == "/callbacks?shop=1"
    assert body["merchantOrderId"] == "Café 🖼"
    assert body == event["callback"]
    assert told.headers["webhook-id"] == event["messageId"]
    assert told.headers["content-type"] == "application/json"
    [line] = listener.lines()
    assert line.split() == [
        "2",
        "order",
        str(order_id),
        "order-created",
        "NotYetSubmitted",
        "→",
        "200",
    ]


def test_it_sends_what_the_service_itself_sends_to_the_byte(
    service: Service, tmp_path: Path
) -> None:
    with Receiver() as there, Receiver() as here:
        merchant, port = service.add_merchant(), str(service.port)
        about = ("merchant", "callback")
        to = ("--data", service.data)
        run(*about, "set", merchant.id, there.url(), *to, port=port)
        [kept] = json.loads(run(*about, "secret", merchant.id, "--json", *to, port=port).said)
        words = ("--forward-to", here.url())
        with listening(service, tmp_path, *words, environ=as_environment(merchant)) as listener:
            create(service, merchant, merchantOrderId='"Café" </b>')
            sent, forwarded = there.next(), here.next()

    Webhook(kept["secret"]).verify(sent.body, sent.headers)
    Webhook(listener.secret()).verify(forwarded.body, forwarded.headers)
    assert forwarded.body == sent.body
    assert forwarded.headers["webhook-id"] == sent.headers["webhook-id"]
    assert forwarded.headers["content-type"] == sent.headers["content-type"]


def test_a_restart_of_the_service_loses_nothing(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with (
        started(data) as service,
        Receiver() as receiver,
        listening(service, tmp_path, "--forward-to", receiver.url()) as listener,
    ):
        demo = demo_of(service)
        before = create(service, demo)
        heard_before = receiver.next()
        service.process.terminate()
        service.process.wait(30)
        listener.says("The service does not answer; waiting for it.")

        with started(data, port=str(service.port)):
            after = create(service, demo)
            heard_after = receiver.next()

    heard = [json.loads(told.body)["orderId"] for told in (heard_before, heard_after)]
    assert heard == [before, after]


def test_older_events_and_a_receiver_that_is_away_are_shown_as_json(
    service: Service, tmp_path: Path
) -> None:
    with Receiver() as receiver:
        where = receiver.url()
    merchant = service.add_merchant()
    orders = [create(service, merchant) for _ in range(3)]
    secret = make_secret()
    words = ["--forward-to", where, "--after", "1", "--json", "--secret", secret]
    by_environment = {
        **as_environment(merchant),
        "BASE_URL": f"https://localhost:{service.port}/v3.0/",
    }
    with listening(service, tmp_path, *words, environ=by_environment) as listener:
        wait_until(lambda: len(listener.lines()) == 2)

    shown = [json.loads(line) for line in listener.lines()]
    assert [event["callback"]["orderId"] for event in shown] == orders[1:]
    assert [event["number"] for event in shown] == [2, 3]
    assert all("no answer" in event["answer"] for event in shown)
    assert listener.secret() == secret


def test_without_a_receiver_callbacks_are_only_shown(service: Service, tmp_path: Path) -> None:
    merchant = service.add_merchant()
    create(service, merchant)
    words = ("--after", "0")
    with listening(service, tmp_path, *words, environ=as_environment(merchant)) as listener:
        wait_until(lambda: len(listener.lines()) == 1)

    assert "→" not in listener.out.read_text()
    assert "whsec_" not in listener.err.read_text()


def test_a_wrong_key_is_one_sentence(service: Service) -> None:
    ended = run(
        *("listen", "--merchant", demo_of(service).id, "--api-key", "wrong"),
        *("--data", service.data),
        port=str(service.port),
    )

    assert ended.code == 1
    assert ended.complained == (
        f"printworks: https://localhost:{service.port} knows no merchant with this ID and key.\n"
    )


def test_a_certificate_of_somebody_else_is_refused(service: Service, tmp_path: Path) -> None:
    run("migrate", "--data", tmp_path / "other")
    # The same service, but not the one whose authority this data folder holds.
    ended = run(
        *("listen", "--base-url", f"https://127.0.0.1:{service.port}"),
        *("--merchant", "x", "--api-key", "secret-key", "--data", tmp_path / "other"),
    )

    assert ended.code == 1
    assert "shows a certificate that is not trusted" in ended.complained
    assert ended.complained.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--forward-to", "localhost:3000"], "`--forward-to` must be an absolute http or https"),
        (["--forward-to", "http://x:y/"], "`--forward-to` must be an absolute http or https"),
        (["--forward-to", "http://x/a b"], "`--forward-to` must be an absolute http or https"),
        (["--forward-to", "http://x/é"], "`--forward-to` must be an absolute http or https"),
        (["--merchant", "x", "--api-key", "é\n"], "`--merchant` and `--api-key` must be plain"),
        (["--base-url", "http://localhost:8443"], "`--base-url` must begin with https"),
        (["--base-url", "https://print.example"], "Name the merchant with `--merchant`"),
        (["--merchant", "somebody"], "Name the merchant with `--merchant`"),
        (["--secret", "whsec_c2hvcnQ="], "`--secret` must be `whsec_` and the base64"),
        (["--secret", "x"], "`--secret` must be `whsec_` and the base64"),
    ],
)
def test_what_cannot_work_is_one_sentence(tmp_path: Path, words: list[str], sentence: str) -> None:
    ended = run_here("listen", *words, "--data", tmp_path, settings={})

    assert ended.code == 1
    assert ended.complained.startswith(f"printworks: {sentence}")
    assert ended.complained.count("\n") == 1
