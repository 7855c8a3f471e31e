"""The benchmark runs where nothing else is installed than what it names."""

import ast
import re
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_all_that_it_imports_is_installed_for_it() -> None:
    pinned = (ROOT / "requirements" / "bench.txt").read_text()
    installed = set(re.findall(r"^[\w.-]+", pinned, re.MULTILINE))
    packages = packages_distributions()

    needed = {
        re.sub(r"[-_.]+", "-", packages[name][0]).lower(): name
        for name in _imported_names()
        # What is not installed here is the peers', who have an environment of their own.
        if name in packages and name not in ("printworks", "tests", "bench")
    }

    assert {"psycopg", "rich", "standardwebhooks"} <= needed.keys()
    assert needed.keys() - installed == set()


def _imported_names() -> set[str]:
    names = set()
    for file in (ROOT / "bench").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    return {name.partition(".")[0] for name in names}
