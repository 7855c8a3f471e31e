"""What a start does not import: each of these modules takes as long as many requests."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

# What only pages, workers, outgoing requests, invoices, metrics or estimates need.
LATER = {
    "aiohttp",
    "fpdf",
    "holidays",
    "jinja2",
    "printworks.dashboard.console",
    "printworks.dashboard.merchant",
    "printworks.dashboard.site.routes",
    "printworks.worker",
    "prometheus_client",
    "segno",
    "smtplib",
    "starlette",
    "stripe",
    "tomlkit",
    "trustme",
    "webauthn",
}


def _import(*modules: str) -> set[str]:
    """Return all that is imported with some modules, in a process of its own."""
    said = subprocess.run(
        [sys.executable, "-c", f"import sys, {', '.join(modules)}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(said.stdout.split())


@pytest.mark.parametrize(
    "modules",
    [
        ("printworks.web.server", "printworks.web.app"),
        ("printworks.cli.processes", "printworks.cli.supervisor", "printworks.cli.demo"),
    ],
    ids=["a web process", "a supervisor"],
)
def test_the_first_answer_does_not_wait_for_what_it_does_not_need(modules: tuple[str, ...]) -> None:
    assert _import(*modules) & LATER == set()


def test_pages_leave_the_library_of_passkeys_to_those_who_use_one() -> None:
    assert _import("printworks.web.site") & {"webauthn", "OpenSSL", "pyasn1"} == set()
