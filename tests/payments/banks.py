"""What the tests need of every provider: charges that go well or badly, and what came of them."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen
from uuid import uuid4

from printworks.net.guard import Guard
from printworks.payments.account import AccountProvider
from printworks.payments.provider import (
    Charge,
    Outcome,
    PaymentProvider,
    ProviderUnavailable,
    Unknown,
)
from printworks.payments.simulated import Magic, SimulatedProvider
from printworks.payments.stripe import StripeProvider
from printworks.payments.webhooks import KEY, KINDS

SECRET_KEY: Final = "sk_test_printworks"

# What becomes of a charge, and the card for which it does at Stripe.
CARDS: Final = {
    "paid": "4242424242424242",
    "declined": "4000000000000341",
    "waiting": "4000002500003155",
    "waiting, then declined": "4000008260003178",
}
WORDS: Final = {"paid": "", "declined": Magic.DECLINED, "waiting": Magic.AUTHORISE}


def a_charge(**values: Any) -> Charge:
    """Describe a charge that no other test has."""
    given = {
        "key": uuid4().hex,
        "merchant": "shop",
        "order": 42,
        "amount": 1250,
        "currency": "EUR",
        **values,
    }
    return Charge(**given)


def a_page(key: str) -> str:
    """Give the address of our own page about a charge."""
    return f"https://print.example/pay/{key}"


def ask_until_known(provider: PaymentProvider, charge: Charge) -> Outcome:
    """Do what a process does that takes over from one that died."""
    for _ in range(10):
        try:
            found = provider.look_up(charge)
            return provider.charge(charge) if isinstance(found, Unknown) else found
        except ProviderUnavailable:
            continue
    raise AssertionError("The provider never answered.")


def ask_payer_until_known(provider: PaymentProvider, charge: Charge) -> Outcome:
    """Do the same for somebody whose card is not known."""
    for _ in range(10):
        try:
            found = provider.look_up(charge)
            return provider.ask_payer(charge) if isinstance(found, Unknown) else found
        except ProviderUnavailable:
            continue
    raise AssertionError("The provider never answered.")


class SqliteMemory:
    """A memory in a file, for any number of processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with self._open() as db:
            db.execute("CREATE TABLE IF NOT EXISTS memory (key TEXT PRIMARY KEY, value TEXT)")

    def get(self, key: str) -> str | None:
        """Return what was put last, or None."""
        with self._open() as db:
            row = db.execute("SELECT value FROM memory WHERE key = ?", [key]).fetchone()
        return row and str(row[0])

    def put(self, key: str, value: str, *, instead_of: str | None) -> bool:
        """Put a text if the present one is still `instead_of`; say whether that was so."""
        statement = (
            "INSERT INTO memory (value, key) VALUES (?, ?) ON CONFLICT DO NOTHING"
            if instead_of is None
            else "UPDATE memory SET value = ? WHERE key = ? AND value = ?"
        )
        facts = [value, key, *([] if instead_of is None else [instead_of])]
        with self._open() as db:
            return db.execute(statement, facts).rowcount == 1

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        with closing(sqlite3.connect(self._path, timeout=30)) as db, db:
            yield db


class Bank(Protocol):
    """A provider, and what a test must be able to do behind its back."""

    provider: PaymentProvider

    def a_charge(self, outcome: str, *, lost: bool = False) -> Charge:
        """Describe a charge of which this becomes; the answer to it may get lost."""

    def authorise(self, reference: str, *, agrees: bool) -> None:
        """Be the payer at the bank."""

    def a_charge_to_ask_for(self, *, lost: bool = False) -> Charge:
        """Describe a charge whose payer has no saved card; the answer to it may get lost."""

    def a_charge_without_time(self) -> Charge:
        """Describe a charge that its payer cannot pay in time; `run_out` ends the time."""

    def run_out(self, reference: str) -> None:
        """Let the time for paying run out."""

    def pay(self, reference: str) -> None:
        """Be the payer who was asked, and pay."""

    def count(self, charge: Charge) -> tuple[int, int]:
        """Count how often the money was taken, and how often given back."""


class AccountBank:
    """On account, where nothing can happen."""

    def __init__(self) -> None:
        self.provider: PaymentProvider = AccountProvider()

    def a_charge(self, outcome: str, *, lost: bool = False) -> Charge:
        """Describe any charge."""
        return a_charge()

    def a_charge_to_ask_for(self, *, lost: bool = False) -> Charge:
        """Describe any charge."""
        return a_charge()


class SimulatedBank:
    """The sandbox's bank."""

    def __init__(self, memory: SqliteMemory) -> None:
        self.memory = memory
        self.simulated = SimulatedProvider(memory, a_page)
        self.provider: PaymentProvider = self.simulated

    def a_charge(self, outcome: str, *, lost: bool = False) -> Charge:
        """Ask for it with words, and with a destination."""
        if not lost:
            return a_charge(recipient=f"Ada {WORDS[outcome]}")
        country = {"paid": "GB", "waiting": "FR"}[outcome]
        return a_charge(recipient=Magic.LOST, destination_country=country)

    def authorise(self, reference: str, *, agrees: bool) -> None:
        """Press the button on the bank page."""
        (self.simulated.authorise if agrees else self.simulated.refuse)(reference)

    def a_charge_to_ask_for(self, *, lost: bool = False) -> Charge:
        """Choose a destination for which a saved card would be charged at once."""
        return a_charge(recipient=Magic.LOST if lost else "Ada", destination_country="GB")

    def a_charge_without_time(self) -> Charge:
        """Ask for it with a word."""
        return a_charge(recipient=Magic.EXPIRED, destination_country="GB")

    def run_out(self, reference: str) -> None:
        """Do nothing: the word did it."""

    def pay(self, reference: str) -> None:
        """Press the button on the bank page."""
        self.simulated.authorise(reference)

    def count(self, charge: Charge) -> tuple[int, int]:
        """Read the memory."""
        state = self.memory.get(charge.key)
        return int(state in {"paid", "refunded"}), int(state == "refunded")


class StripeServer:
    """The test server for Stripe, seen from outside."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"

    def ask(self, method: str, path: str, data: dict[str, str] | None = None) -> Any:
        """Ask as Stripe's dashboard might, and return what is answered."""
        body = urlencode(data).encode() if data else None
        request = Request(f"{self.base}{path}", body, method=method)
        request.add_header("Authorization", f"Bearer {SECRET_KEY}")
        with urlopen(request, timeout=10) as response:
            return json.loads(response.read() or b"null")

    def fail(self, *faults: str) -> None:
        """Let the next requests fail, each in its way; an empty text is no fault."""
        request = Request(f"{self.base}/_config/faults", json.dumps(faults).encode())
        request.add_header("Content-Type", "application/json")
        urlopen(request, timeout=10).close()

    def forget_keys(self) -> None:
        """Let a day pass."""
        self.ask("DELETE", "/_config/keys")

    def listen(self, url: str, secret: str) -> None:
        """Have what becomes of payments and pages announced at an address."""
        facts = {"url": url, "secret": secret, "events": sorted(KINDS)}
        request = Request(f"{self.base}/_config/webhooks/ours", json.dumps(facts).encode())
        request.add_header("Content-Type", "application/json")
        urlopen(request, timeout=10).close()

    def list_intents(self, customer: str, *, limit: int = 100) -> Sequence[Any]:
        """List the payments of a customer."""
        found = self.ask("GET", f"/v1/payment_intents?customer={customer}&limit={limit}")
        return list(found["data"])

    def list_pages(self, key: str) -> Sequence[Any]:
        """List the pages on which a charge can be paid."""
        found = self.ask("GET", "/v1/checkout/sessions?limit=100000")
        return [page for page in found["data"] if page["metadata"].get(KEY) == key]

    def pay(self, page: str, card: str) -> None:
        """Try a card on a page."""
        request = Request(
            f"{self.base}/_config/pages/{page}/pay", json.dumps({"card": card}).encode()
        )
        request.add_header("Content-Type", "application/json")
        urlopen(request, timeout=10).close()

    def save_on_page(self, page: str, card: str) -> None:
        """Enter a card on a page."""
        request = Request(
            f"{self.base}/_config/pages/{page}/save", json.dumps({"card": card}).encode()
        )
        request.add_header("Content-Type", "application/json")
        urlopen(request, timeout=10).close()

    def choose_next_refund(self, status: str) -> None:
        """Let the next refund have this status when it is made."""
        self.ask("POST", "/_config/refunds/next", {"status": status})

    def reject_refund(self, intent: str, reason: str = "unknown", *, status: str = "failed") -> Any:
        """Be the bank: reject the last refund of a payment. Return what Stripe says of it."""
        facts = {"status": status, "reason": reason}
        return self.ask("POST", f"/_config/refunds/{intent}/reject", facts)

    def save_card(self, number: str) -> tuple[str, str]:
        """Make a customer with a card."""
        customer = self.ask("POST", "/v1/customers", {"email": "a@shop.example"})["id"]
        facts = {"number": number, "exp_month": "12", "exp_year": "2040", "cvc": "123"}
        card = {f"card[{name}]": text for name, text in facts.items()}
        method = self.ask("POST", "/v1/payment_methods", {"type": "card", **card})["id"]
        self.ask("POST", f"/v1/payment_methods/{method}/attach", {"customer": customer})
        return customer, method


def open_stripe(base: str, *, guard: Guard | None = None, **options: Any) -> StripeProvider:
    """Open Stripe at an address of this machine."""
    given = {"timeout": timedelta(seconds=5), "page": a_page, **options}
    guard = guard or Guard(allow_loopback=True)
    return StripeProvider(SECRET_KEY, guard=guard, api_base=base, **given)


class StripeBank:
    """Stripe, as far as the test server is like it."""

    def __init__(self, server: StripeServer) -> None:
        self.server = server
        self.provider: PaymentProvider = self.open()

    def open(self, **options: Any) -> StripeProvider:
        """Open another way to the same server."""
        return open_stripe(self.server.base, **options)

    def a_charge(self, outcome: str, *, lost: bool = False) -> Charge:
        """Save the card that does this, and break the connection if that is asked for."""
        customer, method = self.server.save_card(CARDS[outcome])
        if lost:
            self.server.fail("drop after")
        return a_charge(customer=customer, payment_method=method)

    def authorise(self, reference: str, *, agrees: bool) -> None:
        """Do what the bank does when the payer has answered."""
        secret = self.server.ask("GET", f"/v1/payment_intents/{reference}")["client_secret"]
        facts = {"client_secret": secret, "success": str(agrees).lower()}
        # A card that is declined even then is answered with 402.
        with suppress(HTTPError):
            self.server.ask("POST", f"/v1/payment_intents/{reference}/_authenticate", facts)

    def a_charge_to_ask_for(self, *, lost: bool = False) -> Charge:
        """Break the connection if that is asked for."""
        if lost:
            self.server.fail("drop after")
        return a_charge(payer_email="ada@example.com")

    def a_charge_without_time(self) -> Charge:
        """Describe any charge: every page has its time."""
        return a_charge()

    def run_out(self, reference: str) -> None:
        """Do what Stripe does after a day."""
        self.server.ask("POST", f"/v1/checkout/sessions/{reference}/expire")

    def pay(self, reference: str) -> None:
        """Pay on the page with a card that works."""
        self.server.pay(reference, CARDS["paid"])

    def list_payments(self, charge: Charge) -> Sequence[Any]:
        """List what Stripe has of a charge, on pages or of the customer."""
        if charge.customer:
            return self.server.list_intents(charge.customer)
        pages = self.server.list_pages(charge.key)
        made = [page["payment_intent"] for page in pages if page["payment_intent"]]
        return [self.server.ask("GET", f"/v1/payment_intents/{intent}") for intent in made]

    def count(self, charge: Charge) -> tuple[int, int]:
        """Ask the server."""
        paid = [each for each in self.list_payments(charge) if each["status"] == "succeeded"]
        refunds = [
            refund
            for intent in paid
            for refund in self.server.ask("GET", f"/v1/refunds?payment_intent={intent['id']}")[
                "data"
            ]
        ]
        return len(paid), len(refunds)


@contextmanager
def run_stripe() -> Iterator[StripeServer]:
    """Run the test server for Stripe in the block."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.payments.stripe_server"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield StripeServer(json.loads(process.stdout.readline()))
        process.stdin.close()
