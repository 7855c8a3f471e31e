"""Starts the web server (Granian) at the address of the settings."""

import multiprocessing
import resource
import socket
import stat
import sys
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final, NamedTuple

import structlog
from granian.constants import HTTPModes, Interfaces, Loops, SSLProtocols
from granian.http import HTTP1Settings
from granian.log import LogLevels
from granian.server import MPServer

from printworks import log
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.public_holidays import find_delivery_calendar
from printworks.clock import system_clock
from printworks.settings import Settings
from printworks.web.cores import choose_core
from printworks.web.parents import stop_with_parent
from printworks.web.tls import prepare_tls
from printworks.web.unfinished_heads import HeadWatch

# An idle connection costs little: stalled clients must not use up the limit.
CONNECTIONS: Final = 10_000
LARGEST_HEADERS: Final = 64 * 1024
HEADERS_WITHIN: Final = timedelta(seconds=10)
# How long a connection may be idle: longer than the 60 seconds after which load balancers and
# pools of connections usually close theirs.
KEPT_ALIVE: Final = timedelta(seconds=80)


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
        # Granian's sockets would silently share a port; this one does not.
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
    # Imported before the fork, so that the processes share the memory.
    import printworks.web.app  # noqa: F401

    log.configure(settings)
    # Likewise; and its errors are shown once, before anything is started.
    open_catalogue(settings.catalogue)
    # Any country: no request has to wait until the library of holidays is imported.
    find_delivery_calendar("GB", system_clock().year)
    _allow_many_files()
    address = find_address(settings)
    tls = prepare_tls(settings, now=system_clock())
    if sys.platform == "linux":
        multiprocessing.set_start_method("fork", force=True)
    _Server(
        "printworks",
        address=address.host,
        port=address.port,
        uds=address.socket,
        uds_permissions=0o666,
        ssl_cert=tls.cert if tls else None,
        ssl_key=tls.key if tls else None,
        ssl_protocol_min=SSLProtocols.tls12,
        workers=settings.web_processes,
        respawn_failed_workers=True,
        workers_kill_timeout=max(1, round(settings.stop_timeout.total_seconds())),
        http1_settings=HTTP1Settings(
            # Granian applies this to headers and to idle connections alike.
            header_read_timeout=(KEPT_ALIVE if _can_watch() else HEADERS_WITHIN)
            // timedelta(milliseconds=1),
            max_buffer_size=LARGEST_HEADERS,
        ),
        **_GRANIAN,
    ).serve(target_loader=partial(_load_app, settings), wrap_loader=False)


_GRANIAN: Final[dict[str, Any]] = {
    "interface": Interfaces.ASGI,
    "loop": Loops.uvloop,
    # HTTP/1.1 alone: an idle HTTP/2 connection keeps Granian from stopping.
    "http": HTTPModes.http1,
    "websockets": False,
    "backlog": 4096,
    "backpressure": CONNECTIONS,
    "log_level": LogLevels.warning,
    # Granian's logs go the way of all logs.
    "log_dictconfig": {
        "formatters": {},
        "handlers": {},
        "loggers": {"_granian": {"propagate": True}, "granian.access": {"propagate": True}},
    },
}


class _Server(MPServer):
    """Granian, with processes that know their number."""

    def _spawn_worker(self, idx: int, target: Any, callback_loader: Any) -> Any:  # type: ignore[override]
        return super()._spawn_worker(idx, target, partial(callback_loader, idx))


def _load_app(settings: Settings, number: int) -> Any:
    from printworks.web.app import build_app

    log.configure(settings)
    stop_with_parent()
    # Services on one machine have different ports, and so start with different cores.
    core = choose_core(number, first=settings.port) if settings.web_bind_cores else None
    app = build_app(settings, core=core)
    address = find_address(settings)
    if address.socket is not None or not _can_watch():
        return app
    watch = HeadWatch(app, address.port, HEADERS_WITHIN)
    watch.start()
    return watch


def _can_watch() -> bool:
    return sys.platform == "linux"


def _allow_many_files() -> None:
    """Raise the limit of open files as far as the system allows; a connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * CONNECTIONS if hard == resource.RLIM_INFINITY else min(hard, 4 * CONNECTIONS)
    if soft < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        except (OSError, ValueError):
            structlog.get_logger().warning("open files stay limited", limit=soft)
