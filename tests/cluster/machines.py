"""Several machines of one service: web and worker processes behind a proxy, as in production."""

import http.client
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final, Self

from printworks.clock import system_clock
from printworks.settings import Settings
from printworks.web.tls import prepare_tls
from tests.commands import make_environment
from tests.factories import KEY_FILE
from tests.programs import start
from tests.running import HOST, Client, Merchant, find_free_port
from tests.scale import IS_FULL
from tests.worker.hosts import wait_until

SECONDS_TO_START: Final = 60
SECONDS_TO_STOP: Final = 60
NGINX: Final = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
# As in the operator's guide, in one process and with everything in one folder.
NGINX_CONFIGURATION: Final = """
user root;
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{ worker_connections 512; }}
http {{
    access_log off;
    client_body_temp_path {folder}/bodies;
    proxy_temp_path {folder}/answers;
    fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u;
    scgi_temp_path {folder}/s;
    upstream printworks {{
        {servers}
        keepalive 16;
    }}
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {certificate};
        client_max_body_size 100m;
        proxy_request_buffering off;
        location / {{
            proxy_pass http://printworks;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $host;
            proxy_set_header X-Forwarded-For $remote_addr;
        }}
    }}
}}
"""


WEB: Final = 2
WORKERS: Final = 3 if IS_FULL else 2


class Machine:
    """A computer with one process of the service and a data folder of its own."""

    def __init__(self, role: str, folder: Path, port: int, settings: Mapping[str, str]) -> None:
        self.role = role
        self.port = port
        self._folder = folder
        self._settings = {**settings, "PRINTWORKS_BEHIND_PROXY": f"{HOST}:{self.port}"}
        folder.mkdir(mode=0o700)
        # Every machine of a deployment has the same key.
        shutil.copy(KEY_FILE, folder)

    def start(self) -> None:
        """Start the process, and wait until it is of use."""
        self._log.touch()
        said = self._log.stat().st_size
        with self._log.open("ab") as output:
            environment = make_environment(self._settings)
            self.process = start(self.role, "--data", self._folder, env=environment, output=output)
        deadline = time.monotonic() + SECONDS_TO_START
        while not (self._answers() if self.role == "web" else self._has_begun(said)):
            ended = self.process.poll()
            is_late = time.monotonic() > deadline
            assert not is_late and ended is None, f"{self.role} ({ended}):\n{self.explain()}"  # noqa: PT018
            time.sleep(0.02)

    def stop(self) -> None:
        """Stop the process as an operator does; it must end by itself, and well."""
        self.process.terminate()
        code = self.process.wait(SECONDS_TO_STOP)
        assert code == 0, f"{self.role} ended with {code}:\n{self.explain()}"

    def replace(self) -> None:
        """Stop it and start another: with another version of the program, this is an upgrade."""
        self.stop()
        self.start()

    def kill(self) -> None:
        """End it without a warning."""
        self.process.kill()
        self.process.wait()
        # Those that it has forked notice it, and end as well.
        wait_until(lambda: not self._is_listened_on())

    def explain(self) -> str:
        """Return the end of what it said."""
        return self._log.read_text(errors="replace")[-4000:]

    @property
    def _log(self) -> Path:
        return self._folder.with_name(f"{self._folder.name}.log")

    def _is_listened_on(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((HOST, self.port)) == 0

    def _answers(self) -> bool:
        return answers(Client(self.port, None, {}))

    def _has_begun(self, said: int) -> bool:
        return b"worker started" in self._log.read_bytes()[said:]


class Cluster:
    """Two web machines and some workers, with nginx in front of them."""

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self.folder = folder
        ports = _find_free_ports(1 + WEB + WORKERS)
        self._port = ports.pop()
        self.web = [Machine("web", folder / f"web-{n}", ports.pop(), settings) for n in range(WEB)]
        self.workers = [
            Machine("work", folder / f"work-{n}", ports.pop(), settings) for n in range(WORKERS)
        ]
        self._all = (*self.web, *self.workers)
        with ThreadPoolExecutor(len(self._all)) as starting:
            list(starting.map(Machine.start, self._all))
        proxy = folder / "proxy"
        self._proxy = self._start_nginx(proxy)
        self._tls = ssl.create_default_context(cafile=proxy / "tls" / "ca.pem")
        self._wait_for_proxy(proxy / "nginx.log")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._proxy.terminate()
        self._proxy.wait()
        living = [machine for machine in self._all if machine.process.poll() is None]
        with ThreadPoolExecutor(len(self._all)) as stopping:
            list(stopping.map(Machine.stop, living))

    def client(self, merchant: Merchant) -> Client:
        """Return a connection to the proxy."""
        return Client(self._port, self._tls, merchant.headers)

    def _start_nginx(self, folder: Path) -> subprocess.Popen[bytes]:
        assert NGINX is not None
        folder.mkdir(mode=0o700)
        files = prepare_tls(Settings.load(folder, {}), now=system_clock())
        assert files is not None
        servers = "".join(f"server {HOST}:{machine.port} max_fails=0;" for machine in self.web)
        text = NGINX_CONFIGURATION.format(
            folder=folder, port=self._port, servers=servers, certificate=files.cert
        )
        (folder / "nginx.conf").write_text(text)
        return subprocess.Popen(
            [NGINX, "-c", folder / "nginx.conf", "-p", folder, "-e", folder / "nginx.log"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def _wait_for_proxy(self, log: Path) -> None:
        deadline = time.monotonic() + SECONDS_TO_START
        while not answers(Client(self._port, self._tls, {})):
            said = log.read_text() if log.exists() else ""
            assert time.monotonic() < deadline, f"nginx does not answer:\n{said}"
            time.sleep(0.02)


def _find_free_ports(count: int) -> list[int]:
    """Return different ones, though nobody listens at them yet."""
    found: set[int] = set()
    while len(found) < count:
        found.add(find_free_port())
    return list(found)


def answers(client: Client) -> bool:
    """Whether there is an answer."""
    try:
        with client:
            client.get("/v3.0/countries")
    except (OSError, http.client.HTTPException):
        return False
    return True
