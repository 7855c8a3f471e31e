"""How a merchant's program calls the API: address, headers and an example."""

import shlex
from typing import Final

import msgspec

from printworks.dashboard.site.visits import MerchantVisit
from printworks.net.guard import is_private_sandbox

# Stands where the key would; it can be shown once only.
KEY_GOES_HERE: Final = "YOUR-KEY"


class ApiAccess(msgspec.Struct, frozen=True, kw_only=True):
    """What a program needs to call the API."""

    base: str
    id_header: str
    key_header: str
    merchant_id: str
    # A command line that lists orders.
    curl: str


def describe_access(visit: MerchantVisit, key: str = KEY_GOES_HERE) -> ApiAccess:
    """Return how this merchant's programs call the API; the key is known only right after it was made."""
    settings = visit.services.settings
    base = f"{settings.public_url}/v3.0"
    id_header = f"{settings.header_prefix}MerchantId"
    key_header = f"{settings.header_prefix}REST-API-Key"
    # On one's own machine the certificate comes from an authority that only the service knows.
    is_own = is_private_sandbox(settings) and settings.tls_cert is None
    trust = ["--cacert", str(settings.data / "tls" / "ca.pem")] if is_own else []
    headers = [f"{id_header}: {visit.merchant.code}", f"{key_header}: {key}"]
    options = [*trust, *(part for header in headers for part in ("-H", header))]
    return ApiAccess(
        base=base,
        id_header=id_header,
        key_header=key_header,
        merchant_id=visit.merchant.code,
        curl=shlex.join(["curl", *options, f"{base}/orders"]),
    )
