"""Payments: a protocol, and one module for each payment provider."""

from collections.abc import Callable

from printworks.payments.account import AccountProvider
from printworks.payments.provider import PaymentProvider
from printworks.payments.simulated import Memory, SimulatedProvider
from printworks.settings import BadSetting, Settings


def open_provider(
    settings: Settings, *, memory: Memory, page: Callable[[str], str], named: str = ""
) -> PaymentProvider:
    """Open the provider of the settings, or the one called `named`.

    `page` returns the address of our own page about a charge, by its key. Raise `BadSetting` if
    a live service would use simulated payments. The provider is not contacted yet.
    """
    match named or choose_provider(settings):
        case "account":
            return AccountProvider()
        case "stripe":
            return _open_stripe(settings, page)
        case "simulated" if settings.environment == "sandbox":
            return SimulatedProvider(memory, page)
        case name:
            raise BadSetting(f"A live service cannot take payments by `{name}`.")


def choose_provider(settings: Settings) -> str:
    """Return the name of the provider of the settings; live settings name one."""
    return "simulated" if settings.payments == "auto" else settings.payments


def _open_stripe(settings: Settings, page: Callable[[str], str]) -> PaymentProvider:
    if not settings.stripe_secret_key:
        raise BadSetting("Payments by Stripe need `stripe_secret_key`.")
    # Imported only when needed: the package takes long to load.
    from printworks.net.guard import Guard
    from printworks.payments.stripe import StripeProvider

    return StripeProvider(
        settings.stripe_secret_key,
        guard=Guard.of(settings),
        page=page,
        api_base=settings.stripe_url,
        timeout=settings.payment_timeout,
    )
