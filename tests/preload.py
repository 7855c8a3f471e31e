"""Does once what every process of the tests would do for itself, before they are forked.

Nothing of the program is run by it but imports and templates: what is covered is what tests run.
"""

import importlib
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.internal.conjecture import providers
from starlette import routing

from tests import programs

# The program imports these, and what they need, when somebody first asks for them.
IMPORTED_LATER: Final = (
    *programs.IMPORTED,
    "printworks.invoices.files",
    "printworks.worker.advance",
)


def preload() -> None:
    """Start what starts programs, import what is imported late, compile all templates, and the like."""
    # It imports the program meanwhile.
    programs.open_starter()
    for name in IMPORTED_LATER:
        importlib.import_module(name)
    from printworks.dashboard.site import rendering as pages
    from printworks.mail import rendering as letters

    for environment in (pages._ENVIRONMENT, letters._TEXT, letters._HTML):
        for name in environment.list_templates(["html", "txt"]):
            environment.get_template(name)
    _prepare_hypothesis()


@settings(max_examples=1, deadline=None, database=None)
@given(st.text())
def _prepare_hypothesis(_: str) -> None:
    """Have Hypothesis list all characters, and the constants of all modules, which it tries.

    The constants must not depend on which tests a process has run before.
    """
    providers._get_local_constants()


def share_routes() -> None:
    """Compile the path of a route once, and not for each application."""
    compile_path = routing.compile_path
    compiled: dict[str, Any] = {}

    def compile_once(path: str) -> Any:
        if path not in compiled:
            compiled[path] = compile_path(path)
        return compiled[path]

    routing.compile_path = compile_once
