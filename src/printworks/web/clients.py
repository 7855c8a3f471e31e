"""Whose request it is: the address of the client, behind a proxy as well."""

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Any


def find_client(
    scope: Mapping[str, Any], headers: Mapping[str, str], *, is_proxied: bool
) -> str | None:
    """Return the address of the client; behind a proxy, otherwise all would have the proxy's."""
    if is_proxied and (said := headers.get("x-forwarded-for")) is not None:
        # The last one is from the proxy; those before it are from the client, and not trusted.
        try:
            return str(ip_address(said.rpartition(",")[2].strip().partition("%")[0]))
        except ValueError:
            pass
    client = scope.get("client")
    return str(client[0]) if client else None
