"""`printworks probe`: what a container or a script asks to know whether the web process is well."""

import http.client
import socket
import ssl
from pathlib import Path
from typing import Annotated, Final

import typer

from printworks.cli.session import CommandSession, command
from printworks.settings import Settings

PATIENCE: Final = 5.0
# Of an answer that is shown.
LONGEST: Final = 200

app = typer.Typer()


@command(app, "probe")
def probe(
    session: CommandSession,
    path: Annotated[str, typer.Argument(help="The address to ask for.")] = "/livez",
) -> None:
    """Ask the web process on this machine for /livez or /readyz. Exit 1 unless it says 200."""
    connection = _connect(session.settings)
    try:
        connection.request("GET", path, headers={"Host": "localhost"})
        answer = connection.getresponse()
        said = answer.read(LONGEST).decode(errors="replace").partition("\n")[0]
    except (OSError, http.client.HTTPException) as error:
        session.show({"ok": False, "error": str(error)}, f"No answer: {error}.")
        raise typer.Exit(1) from error
    finally:
        connection.close()
    is_well = answer.status == http.client.OK
    session.show({"ok": is_well, "status": answer.status}, f"{answer.status} {said}".rstrip())
    if not is_well:
        raise typer.Exit(1)


class _SocketConnection(http.client.HTTPConnection):
    """A connection to a unix socket."""

    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=PATIENCE)
        self._path = path

    def connect(self) -> None:
        """Open it."""
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(PATIENCE)
        self.sock.connect(str(self._path))


def _connect(settings: Settings) -> http.client.HTTPConnection:
    # Imported here: it is of no use to `--help`.
    from printworks.web.server import find_address

    address = find_address(settings)
    if address.socket is not None:
        return _SocketConnection(address.socket)
    # Whoever listens everywhere listens here, too.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address.host, address.host)  # noqa: S104
    if settings.behind_proxy:
        return http.client.HTTPConnection(host, address.port, timeout=PATIENCE)
    # Our own process answers; the certificate is for another name.
    context = ssl._create_unverified_context()  # noqa: S323
    return http.client.HTTPSConnection(host, address.port, timeout=PATIENCE, context=context)
