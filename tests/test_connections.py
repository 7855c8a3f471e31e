"""A server of a test leaves no connection behind, whenever it ends."""

import gc
import socket
from contextlib import suppress

from tests.worker.hosts import PictureHost


def test_a_connection_that_comes_as_the_server_ends_is_closed() -> None:
    with PictureHost() as host:
        connection = socket.create_connection(("127.0.0.1", host.port), timeout=30)

    # What was left open would fail the test here.
    gc.collect()
    with connection, suppress(ConnectionResetError):
        assert connection.recv(1) == b""
