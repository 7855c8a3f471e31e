"""Which provider is opened, by the settings and the environment."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from printworks.payments import open_provider
from printworks.payments.account import AccountProvider
from printworks.payments.provider import Paid, PaymentProvider, ProviderUnavailable
from printworks.payments.simulated import SimulatedProvider
from printworks.payments.stripe import StripeProvider
from printworks.settings import BadSetting, Settings
from tests.payments.banks import SqliteMemory, StripeServer, a_charge, a_page
from tests.payments.recorded import Recorder

LIVE = {"ENVIRONMENT": "live", "PUBLIC_URL": "https://print.example"}
TEST_KEY = {"STRIPE_SECRET_KEY": "sk_test_hush"}
LIVE_KEY = {"STRIPE_SECRET_KEY": "sk_live_hush"}
SAVED_CARD = a_charge(customer="cus_1", payment_method="pm_1")


def load(data: Path, **environ: str) -> Settings:
    """Read settings."""
    return Settings.load(data, {f"PRINTWORKS_{name}": value for name, value in environ.items()})


def open_one(settings: Settings, memory: SqliteMemory, **options: Any) -> PaymentProvider:
    """Open the provider of the settings."""
    return open_provider(settings, memory=memory, page=a_page, **options)


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        ({}, SimulatedProvider),
        ({"PAYMENTS": "simulated"}, SimulatedProvider),
        ({"PAYMENTS": "account"}, AccountProvider),
        ({"PAYMENTS": "stripe", **TEST_KEY}, StripeProvider),
        ({**LIVE, "PAYMENTS": "account"}, AccountProvider),
        ({**LIVE, "PAYMENTS": "stripe", **LIVE_KEY}, StripeProvider),
        ({**LIVE, "PAYMENTS": "stripe", "STRIPE_SECRET_KEY": "rk_live_hush"}, StripeProvider),
    ],
)
def test_the_settings_choose(
    tmp_path: Path, memory: SqliteMemory, environ: dict[str, str], kind: type
) -> None:
    assert isinstance(open_one(load(tmp_path, **environ), memory), kind)


def test_a_live_service_never_opens_the_simulated_bank(
    tmp_path: Path, memory: SqliteMemory
) -> None:
    settings = load(tmp_path, **LIVE, PAYMENTS="account")

    with pytest.raises(BadSetting, match="cannot take payments by `simulated`"):
        open_one(settings, memory, named="simulated")


def test_the_one_that_took_money_before_can_be_asked_to_give_it_back(
    tmp_path: Path, memory: SqliteMemory
) -> None:
    settings = load(tmp_path, PAYMENTS="account", **TEST_KEY)

    assert open_one(settings, memory, named="stripe").name == "stripe"
    with pytest.raises(BadSetting, match="need `stripe_secret_key`"):
        open_one(load(tmp_path), memory, named="stripe")


@pytest.mark.parametrize(
    ("environ", "sentence"),
    [
        (LIVE, "A live service needs `payments`: `account` or `stripe`."),
        ({**LIVE, "PAYMENTS": "simulated"}, "would be printed and never paid for"),
        ({"PAYMENTS": "stripe"}, "`payments = stripe` needs `stripe_secret_key`"),
        (LIVE_KEY, "A sandbox charges nothing"),
        ({"PAYMENTS": "stripe", "STRIPE_SECRET_KEY": "rk_live_hush"}, "A sandbox charges nothing"),
        ({**LIVE, "PAYMENTS": "stripe", **TEST_KEY}, "must be a live key"),
        ({"STRIPE_SECRET_KEY": "pk_test_hush"}, "must begin with `sk_test_`"),
        ({"STRIPE_SECRET_KEY": "sk_test_hu sh"}, "a key that begins with `sk_`"),
        ({"STRIPE_WEBHOOK_SECRET": "hush"}, "must begin with `whsec_`"),
        ({"PAYMENTS": "cash"}, "`auto`, `simulated`, `account` or `stripe`"),
        ({"STRIPE_URL": "https://me:hush@x"}, "`stripe_url` must be an address such as"),
        (
            {**LIVE, "PAYMENTS": "account", "STRIPE_URL": "https://x"},
            "A live service asks Stripe itself",
        ),
        (
            {**LIVE, "PAYMENTS": "account", "STRIPE_URL": "http://api.stripe.com"},
            "A live service asks Stripe itself",
        ),
    ],
)
def test_settings_that_would_lose_money_are_refused(
    tmp_path: Path, environ: dict[str, str], sentence: str
) -> None:
    with pytest.raises(BadSetting) as refused:
        load(tmp_path, **environ)

    assert sentence in str(refused.value)
    assert "hush" not in str(refused.value)


def test_a_sandbox_on_this_machine_may_ask_another_stripe_on_it(
    tmp_path: Path, memory: SqliteMemory, recorder: Recorder
) -> None:
    settings = load(tmp_path, PAYMENTS="stripe", STRIPE_URL=recorder.base, **TEST_KEY)
    paid = {"id": "pi_1", "object": "payment_intent", "status": "succeeded"}
    recorder.answers = [(200, paid)]

    outcome = open_one(settings, memory).charge(SAVED_CARD)

    assert outcome == Paid(provider="stripe", reference="pi_1")
    assert recorder.asked[0].headers["Authorization"] == "Bearer sk_test_hush"


@pytest.mark.parametrize(
    "environ",
    [
        {"PUBLIC_URL": "https://print.example"},
        {"HOST": "0.0.0.0"},
        {"BEHIND_PROXY": "127.0.0.1:8080"},
    ],
)
def test_a_sandbox_for_others_may_not(
    tmp_path: Path, memory: SqliteMemory, recorder: Recorder, environ: dict[str, str]
) -> None:
    settings = load(tmp_path, PAYMENTS="stripe", STRIPE_URL=recorder.base, **TEST_KEY, **environ)

    with pytest.raises(ProviderUnavailable) as raised:
        open_one(settings, memory).charge(SAVED_CARD)

    assert "Refused" in raised.value.detail
    assert recorder.asked == []


def test_a_provider_is_waited_for_as_long_as_the_settings_say(
    tmp_path: Path, memory: SqliteMemory, stripe_server: StripeServer
) -> None:
    settings = load(tmp_path, STRIPE_URL=stripe_server.base, PAYMENT_TIMEOUT="1s", **TEST_KEY)
    stripe_server.fail("hang before")

    with pytest.raises(ProviderUnavailable) as raised:
        open_one(settings, memory, named="stripe").charge(SAVED_CARD)

    assert "TimedOut" in raised.value.detail


def test_secrets_may_be_in_files(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("whsec_hush\n")

    settings = load(tmp_path, STRIPE_WEBHOOK_SECRET_FILE=str(secret))

    assert settings.stripe_webhook_secret == "whsec_hush"
    assert "hush" not in repr(settings)


def test_who_does_not_use_stripe_does_not_wait_for_its_package() -> None:
    story = "import sys, printworks.payments, printworks.payments.webhooks; "
    story += "sys.exit('stripe' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", story], check=False).returncode == 0
