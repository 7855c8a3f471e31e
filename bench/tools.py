"""What the benchmark needs beside the product: wrk, and a virtual environment for the peers."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PEERS_VENV: Final = ROOT / ".venv-bench"
PEERS_PYTHON: Final = PEERS_VENV / "bin" / "python"
PROGRAM: Final = Path(sys.executable).with_name("printworks")


def prepare() -> None:
    """Install whatever is missing."""
    _prepare_wrk()
    _prepare_peers(ROOT / "requirements" / "bench.txt")


def _prepare_wrk() -> None:
    if shutil.which("wrk"):
        return
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit("The benchmark needs wrk; install it (on Debian: apt-get install wrk).")
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    subprocess.run(
        ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "wrk"], check=True
    )


def _prepare_peers(requirements: Path) -> None:
    """Keep the peers' packages out of the product's own environment."""
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    installed = PEERS_VENV / "installed"
    if installed.exists() and installed.read_text() == wanted:
        return
    venv.create(PEERS_VENV, clear=True, with_pip=True)
    (PEERS_VENV / ".gitignore").write_text("*\n")
    install = [str(PEERS_PYTHON), "-m", "pip", "install", "-qq", "--require-hashes"]
    subprocess.run([*install, "-r", str(requirements)], check=True)
    installed.write_text(wanted)
