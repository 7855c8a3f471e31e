"""Install what the benchmark needs: a few programs, and an environment for the peers."""

import hashlib
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
PEERS_VENV: Final = ROOT / ".venv-bench"
PEERS_PYTHON: Final = PEERS_VENV / "bin" / "python"
PROGRAM: Final = Path(sys.executable).with_name("printworks")


# For each part of the benchmark: the programs it runs, and their Debian packages.
WRK: Final = {"wrk": "wrk"}
PROGRAMS: Final[Mapping[str, Mapping[str, str]]] = {
    **dict.fromkeys(("reading", "writing", "submitting", "growth"), WRK),
    "pictures": {
        "djpeg": "libjpeg-turbo-progs",
        "cjpeg": "libjpeg-turbo-progs",
        "vipsthumbnail": "libvips-tools",
    },
}


class ToolMissing(Exception):
    """A program is missing and cannot be installed."""


def prepare(part: str) -> None:
    """Install what a part of the benchmark needs."""
    _prepare_programs(PROGRAMS.get(part, {}))
    _prepare_peers(ROOT / "requirements" / "bench.txt")


def _prepare_programs(packages: Mapping[str, str]) -> None:
    missing = [program for program in packages if not shutil.which(program)]
    if not missing:
        return
    wanted = sorted({packages[program] for program in missing})
    how = f"install it (on Debian: apt-get install {' '.join(wanted)})."
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        message = f"The benchmark needs {', '.join(missing)}; {how}"
        raise ToolMissing(message)
    try:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *wanted], check=True
        )
    except subprocess.CalledProcessError as error:
        message = f"The benchmark needs {', '.join(missing)} and could not install it; {how}"
        raise ToolMissing(message) from error


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
