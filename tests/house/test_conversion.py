"""Types are looked at before threads read from them: msgspec is not safe while it looks."""

import ast
import subprocess
import sys
from pathlib import Path

import printworks

SOURCE = Path(printworks.__file__).parent
# Those that run before there are threads.
ALONE = {"cli/listen.py", "cli/demo.py", "setting_values.py", "catalogue/countries.py"}
# Where it is done safely: `look_at` has seen what these read.
SAFE = {"conversion.py", "wire/v2/versions.py"}

# What ended a worker: threads that read a type which none of them had read before.
RACE = """
import sys, threading
import msgspec
from printworks.conversion import reader_of

sys.setswitchinterval(1e-6)
for number in range(60):
    inner = msgspec.defstruct("Inner", [(f"i{n}", dict[str, int] | None) for n in range(12)])
    outer = msgspec.defstruct("Outer", [(f"o{n}", inner) for n in range(6)])
    read = reader_of(outer)
    given = {f"o{n}": {f"i{n}": None for n in range(12)} for n in range(6)}
    start = threading.Barrier(6)
    def go():
        start.wait()
        read(given)
    threads = [threading.Thread(target=go) for _ in range(6)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
"""


def test_threads_may_read_a_type_for_the_first_time_together() -> None:
    ended = subprocess.run([sys.executable, "-c", RACE], check=False, timeout=60)
    assert ended.returncode == 0


def test_nothing_reads_a_type_that_was_not_looked_at() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{call.lineno}"
        for path in sorted(SOURCE.rglob("*.py"))
        if str(path.relative_to(SOURCE)) not in ALONE | SAFE
        # Most files do not name it, and need not be read as trees.
        if "msgspec" in path.read_text()
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call) and reads_a_type(call)
    ]
    assert found == []


def reads_a_type(call: ast.Call) -> bool:
    """Say whether a call hands a type to msgspec while something is read."""
    name = ast.unparse(call.func)
    is_typed = any(keyword.arg == "type" for keyword in call.keywords)
    return name == "msgspec.convert" or (name == "msgspec.json.decode" and is_typed)
