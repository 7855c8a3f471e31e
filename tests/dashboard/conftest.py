"""A service with its pages, a merchant who orders, and somebody with a browser."""

import pytest

from tests.api.client import Client, Server
from tests.api.conftest import clock, server, settings, v3

__all__ = ["clock", "server", "settings", "v3"]


@pytest.fixture
def browser(server: Server) -> Client:
    """Somebody who has nothing but addresses."""
    return Client(server, "", {})
