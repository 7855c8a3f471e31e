"""Providers, each with nothing charged yet."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from printworks.payments.provider import PaymentProvider
from tests.payments.banks import (
    AccountBank,
    Bank,
    SimulatedBank,
    SqliteMemory,
    StripeBank,
    StripeServer,
    run_stripe,
)
from tests.payments.recorded import Recorder, record_requests


@pytest.fixture(scope="session")
def _stripe_process() -> Iterator[StripeServer]:
    with run_stripe() as server:
        yield server


@pytest.fixture
def stripe_server(_stripe_process: StripeServer) -> StripeServer:
    """A server like Stripe's, without a fault."""
    _stripe_process.fail()
    return _stripe_process


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    """A server that gives single answers."""
    with record_requests() as running:
        yield running


@pytest.fixture
def memory(tmp_path: Path) -> SqliteMemory:
    """What the simulated bank remembers: nothing yet."""
    return SqliteMemory(tmp_path / "memory.db")


@pytest.fixture
def simulated(memory: SqliteMemory) -> SimulatedBank:
    """The sandbox's bank."""
    return SimulatedBank(memory)


@pytest.fixture
def stripe_bank(stripe_server: StripeServer) -> StripeBank:
    """Stripe."""
    return StripeBank(stripe_server)


@pytest.fixture(params=["simulated", "stripe_bank"])
def bank(request: pytest.FixtureRequest) -> Bank:
    """Every provider with a bank behind it; each test that asks runs on all of them."""
    found: Bank = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=["account", "simulated", "stripe_bank"])
def any_bank(request: pytest.FixtureRequest) -> AccountBank | Bank:
    """Every provider; each test that asks runs on all of them."""
    if request.param == "account":
        return AccountBank()
    found: Bank = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def provider(any_bank: AccountBank | Bank) -> PaymentProvider:
    """Every provider; each test that asks runs on all of them."""
    return any_bank.provider
