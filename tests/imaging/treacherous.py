"""A zygote whose children do what a picture that took over its decoder might try.

The first word of the file says what. Run as a program, in the place of the real one.
"""

import ctypes
import json
import os
import resource
import socket
import time
from collections.abc import Callable
from pathlib import Path

from printworks.imaging import zygote
from printworks.imaging.messages import Answer, PrepareTask, RenderingDone, RenderingRefused


def _try_all(form_actions: dict[str, Callable[[], object]]) -> Answer:
    """Say which attempts succeeded."""
    succeeded = []
    for name, form_action in form_actions.items():
        try:
            form_action()
        except (OSError, ValueError):
            continue
        succeeded.append(name)
    return RenderingRefused(reason=json.dumps(succeeded))


def crash(_: PrepareTask) -> Answer:
    """Read where nothing is."""
    ctypes.string_at(1)
    return RenderingDone()


def hang(_: PrepareTask) -> Answer:
    """Do nothing, for long."""
    time.sleep(3600)
    return RenderingDone()


def spin(_: PrepareTask) -> Answer:
    """Do nothing, busily."""
    while True:
        pass


def leave(_: PrepareTask) -> Answer:
    """End without a word."""
    os._exit(3)


def swell(_: PrepareTask) -> Answer:
    """Ask for more memory than there is for it."""
    return RenderingRefused(reason=str(len(bytearray(3 << 30))))


def babble(_: PrepareTask) -> Answer:
    """Write what nobody wants to read."""
    while True:
        os.write(3, b"{" * 65536)


def lie(_: PrepareTask) -> Answer:
    """Claim to have done it."""
    return RenderingDone()


def invent(_: PrepareTask) -> Answer:
    """Answer with something that is no answer."""
    os.write(3, b'{"type": "done", "facts": {"width": "wide"}}\n')
    os._exit(0)


def flood(task: PrepareTask) -> Answer:
    """Write a file without end."""
    with (Path(task.out) / "preview.jpg").open("wb") as file:
        while True:
            file.write(bytes(1 << 20))


def reach_out(_: PrepareTask) -> Answer:
    """Speak to anybody outside."""
    return _try_all(
        {
            "tcp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
            "udp": lambda: socket.socket(socket.AF_INET6, socket.SOCK_DGRAM),
            "unix": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_STREAM),
            "pair": socket.socketpair,
            "fork": os.fork,
            "exec": lambda: os.execv("/bin/true", ["true"]),
            "signal to the zygote": lambda: os.kill(os.getppid(), 0),
            "signal to init": lambda: os.kill(1, 0),
            "thread signal to the zygote": lambda: _tgkill(os.getppid()),
            "more memory": lambda: resource.setrlimit(resource.RLIMIT_AS, (-1, -1)),
            "the zygote's input": lambda: os.fstat(4),
        }
    )


def _tgkill(pid: int) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    number = {"x86_64": 234, "aarch64": 131}[os.uname().machine]
    if libc.syscall(number, pid, pid, 0) != 0:
        raise OSError(ctypes.get_errno(), "refused")


def pry(task: PrepareTask) -> Answer:
    """Read, write and remove what is none of its business."""
    source, out = Path(task.source), Path(task.out)
    neighbour = source.parent / "neighbour"
    return _try_all(
        {
            "read own": source.read_bytes,
            "write own": lambda: (out / "mine").write_bytes(b"mine"),
            "remove own": (out / "mine").unlink,
            "read neighbour": neighbour.read_bytes,
            "write neighbour": lambda: neighbour.write_bytes(b""),
            "change source": lambda: source.write_bytes(b""),
            "remove source": source.unlink,
            "list folder": lambda: os.listdir(source.parent),  # noqa: PTH208
            "read passwords": Path("/etc/passwd").read_bytes,
            "read memory": Path("/proc/self/mem").read_bytes,
            "read environment": Path(f"/proc/{os.getppid()}/environ").read_bytes,
            "write elsewhere": lambda: Path("/tmp/treacherous").write_bytes(b""),
            "link": lambda: (out / "link").symlink_to("/etc/passwd"),
            "make folder": (out / "folder").mkdir,
        }
    )


def show_environment(_: PrepareTask) -> Answer:
    """Tell what the surroundings give away."""
    return RenderingRefused(reason=json.dumps(sorted(os.environ)))


FORM_ACTIONS: dict[bytes, Callable[[PrepareTask], Answer]] = {
    form_action.__name__.encode(): form_action
    for form_action in (
        *(crash, hang, spin, leave, swell, babble, lie, invent, flood),
        *(reach_out, pry, show_environment),
    )
}


def misbehave(task: PrepareTask) -> Answer:
    """Do what the file says."""
    return FORM_ACTIONS[Path(task.source).read_bytes().split()[0]](task)


if __name__ == "__main__":
    zygote.main({PrepareTask: misbehave})
