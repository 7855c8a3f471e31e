"""Starts the web server at the address of the settings."""

import asyncio
import fcntl
import os
import resource
import signal
import socket
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog
import uvloop

from printworks import log
from printworks.catalogue.opening import open_catalogue
from printworks.clock import system_clock
from printworks.settings import Settings
from printworks.starting import keep_for_good, without_collecting
from printworks.watch.counts import CONNECTIONS_OPEN
from printworks.watch.shared_counts import WEB, keep_sharing
from printworks.web.certificates import CertificateWatch
from printworks.web.cores import choose_core
from printworks.web.http1.connection import WaitingTimes
from printworks.web.http1.listening import Limits, Listener
from printworks.web.http1.spreading import Spread, share_counts
from printworks.web.memory import close_gaps, keep_returning_gaps
from printworks.web.notify import notify_ready
from printworks.web.parents import stop_with_parent
from printworks.web.processes import ProcessGroup
from printworks.web.tls import make_context, prepare_tls

# An idle connection costs little: stalled clients must not use up the limit.
CONNECTIONS: Final = 10_000
BACKLOG: Final = 4096
SOCKET_MODE: Final = 0o660
SECONDS_TO_NOTICE: Final = 2.0
# A head must arrive within ten seconds. A connection may be idle for longer than the 60 seconds
# after which load balancers and pools of connections usually close theirs. A client that reads
# nothing of its answer for a minute is gone.
LIMITS: Final = Limits(CONNECTIONS, WaitingTimes(head=10, idle=80, write=60))
# After this long a thread lets others run. A request needs its turn several times, and with Python's
# usual 5 ms each of them waits for all the large answers that are being written at the same time.
SECONDS_OF_A_THREAD: Final = 0.0005


class AddressUnusable(Exception):
    """The address of the settings cannot be used; the message says why."""


class ListenAddress(NamedTuple):
    """Where to listen: a unix socket, or an IP address with a port."""

    socket: Path | None
    host: str
    port: int

    def __str__(self) -> str:
        """Format it as in the settings."""
        if self.socket is not None:
            return f"unix:{self.socket}"
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def find_address(settings: Settings) -> ListenAddress:
    """Return the address of the settings, with names resolved."""
    proxied = settings.behind_proxy
    if proxied.startswith("unix:"):
        return ListenAddress(settings.data / proxied.removeprefix("unix:"), "", 0)
    host, port = settings.host, settings.port
    if proxied:
        host, _, digits = proxied.rpartition(":")
        host, port = host.strip("[]"), int(digits)
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise AddressUnusable(f"`host` is {host!r}, which cannot be resolved: {error}.") from error
    return ListenAddress(None, str(found[0][4][0]), port)


def check_address(settings: Settings) -> None:
    """Raise `AddressUnusable` if the address is in use or not allowed."""
    address = find_address(settings)
    if address.socket is not None:
        _clear_socket(address.socket)
        return
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address.host, address.port))
        except OSError as error:
            raise AddressUnusable(
                f"Cannot listen on {address}: {error.strerror}. Stop the program that uses it, "
                "or choose another address with PRINTWORKS_HOST and PRINTWORKS_PORT."
            ) from error


def _clear_socket(path: Path) -> None:
    """Remove the socket of a process that was killed; refuse if it is in use."""
    if not path.exists():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        if not stat.S_ISSOCK(path.stat().st_mode) or probe.connect_ex(str(path)) == 0:
            raise AddressUnusable(f"Cannot listen on unix:{path}: it is in use.")
    path.unlink()


def serve_web(settings: Settings) -> None:
    """Answer requests until SIGTERM or SIGINT; exit with 1 if the processes keep dying."""
    with without_collecting():
        # Imported before the fork, so that the processes share the memory.
        import printworks.web.app  # noqa: F401

        log.configure(settings)
        # Likewise; and its errors are shown once, before anything is started.
        open_catalogue(settings.catalogue)
    # Nor do they search it: that would copy it.
    keep_for_good()
    _allow_many_files()
    # Its errors are shown once, too; and others can be told to trust it.
    prepare_tls(settings, now=system_clock())
    address = find_address(settings)
    with _hold(address), open_socket(address) as listening:
        group = ProcessGroup(
            partial(_run_process, settings, listening, share_counts(settings.web_processes)),
            settings.web_processes,
            partial(_shut, listening, settings.drain_delay),
            settings.time_to_stop,
        )
        code = group.run()
    if code:
        sys.exit(code)


@contextmanager
def _hold(address: ListenAddress) -> Iterator[None]:
    """Keep others from a unix socket, whose file says nothing about whether it is used."""
    if address.socket is None:
        yield
        return
    lock = address.socket.with_name(f"{address.socket.name}.lock")
    try:
        file = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise AddressUnusable(f"Cannot listen on {address}: {error.strerror}.") from error
    try:
        _lock(file, address)
        _clear_socket(address.socket)
        yield
        address.socket.unlink(missing_ok=True)
    finally:
        os.close(file)


def _lock(file: int, address: ListenAddress) -> None:
    # The processes of one that was killed need some time to notice.
    deadline = time.monotonic() + SECONDS_TO_NOTICE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise AddressUnusable(f"Cannot listen on {address}: it is in use.") from None
            time.sleep(0.05)
        else:
            return


def open_socket(address: ListenAddress) -> socket.socket:
    """Return a socket that listens there; all web processes share it."""
    if address.socket is not None:
        listening = socket.socket(socket.AF_UNIX)
        place: Any = str(address.socket)
    else:
        listening = socket.socket(socket.AF_INET6 if ":" in address.host else socket.AF_INET)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        place = (address.host, address.port)
    try:
        listening.bind(place)
        if address.socket is not None:
            # For a proxy in the same group, and for nobody else.
            address.socket.chmod(SOCKET_MODE)
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise AddressUnusable(f"Cannot listen on {address}: {error.strerror}.") from error
    listening.settimeout(0)
    return listening


def _shut(listening: socket.socket, drain_delay: timedelta | None) -> None:
    """Let a proxy hear that nobody listens here any more, so that it asks another machine."""
    if drain_delay is not None:
        time.sleep(drain_delay.total_seconds())
    with suppress(OSError):
        listening.shutdown(socket.SHUT_RDWR)


def _run_process(
    settings: Settings, listening: socket.socket, connections: memoryview, number: int
) -> None:
    close_gaps()
    log.configure(settings, writes_often=True)
    stop_with_parent()
    sys.setswitchinterval(SECONDS_OF_A_THREAD)
    uvloop.run(_serve(settings, listening, Spread(connections, number), number))


async def _serve(settings: Settings, listening: socket.socket, spread: Spread, number: int) -> None:
    from printworks.web.app import build_app

    # Services on one machine have different ports, and so start with different cores.
    core = choose_core(number, first=settings.port) if settings.web_bind_cores else None
    app = build_app(settings, core=core)
    app.start()
    tls = prepare_tls(settings, now=system_clock())
    listener = Listener(app, listening, make_context(tls) if tls else None, LIMITS, spread)
    app.counts.show(CONNECTIONS_OPEN, lambda: listener.connections)
    notify_ready()
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    beside = [
        loop.create_task(keep_sharing(app.counts, settings.data, WEB)),
        loop.create_task(app.import_the_rest()),
        loop.create_task(keep_returning_gaps()),
    ]
    if settings.metrics_port:
        # Imported here: most web processes export nothing.
        from printworks.watch.exporter import keep_exporting

        beside.append(loop.create_task(keep_exporting(app.services, prefers_others=True)))
    if tls is not None:
        beside.append(loop.create_task(CertificateWatch(settings, tls).keep_watching(listener.use)))
    await stopping.wait()
    app.begin_draining()
    if settings.drain_delay is not None:
        await asyncio.sleep(settings.drain_delay.total_seconds())
    await listener.stop()
    for task in beside:
        task.cancel()
    await asyncio.gather(*beside, return_exceptions=True)
    app.stop()


def _allow_many_files() -> None:
    """Raise the limit of open files as far as the system allows; a connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 4 * CONNECTIONS)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            structlog.get_logger().warning("open files stay limited", limit=soft)
