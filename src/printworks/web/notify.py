"""Tells systemd that requests are answered, so that whoever restarts services one by one can wait.

See sd_notify(3). Without systemd nothing happens.
"""

import os
import socket
from contextlib import suppress


def notify_ready() -> None:
    """Say that this service has started."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address:
        return
    # One that begins with @ has no file.
    name = "\0" + address[1:] if address.startswith("@") else address
    # The service works without it; systemd will say that it waited in vain.
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
        sending.connect(name)
        sending.sendall(b"READY=1")
