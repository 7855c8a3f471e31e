"""Only actions write to the audit log: what a page, a command or a program asks for is audited once."""

import ast
from collections.abc import Iterator
from pathlib import Path

import printworks

OUTER = ("dashboard", "api", "cli")
AUDIT = "printworks.store.accounts.audit"


def find_imports(path: Path) -> Iterator[str]:
    """Return all that a module imports, by its full name."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def test_only_actions_write_to_the_audit_log() -> None:
    root = Path(printworks.__file__).parent
    modules = [path for name in OUTER for path in (root / name).rglob("*.py")]
    # With the module, `record` could be reached as well.
    writers = {f"{AUDIT}.record", AUDIT}
    assert modules
    assert [path for path in modules if writers & set(find_imports(path))] == []
