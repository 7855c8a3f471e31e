"""The command line: `printworks <command>`."""

import os
import sys

from printworks.starting import doing_without


def main() -> None:
    """Run one command; an expected failure is one sentence on standard error and exit code 1."""
    # It would import all that colours a traceback, which no log of ours has: 0.07 s and 4 MB.
    with doing_without("rich"):
        import structlog  # noqa: F401
    from printworks.cli.app import app
    from printworks.cli.failures import explain

    # What is made from here on is for the operator alone: it holds names and addresses.
    os.umask(0o077)
    try:
        app()
    except Exception as error:
        sentence = explain(error)
        if sentence is None:
            raise
        sys.stderr.write(f"printworks: {sentence}\n")
        sys.exit(1)
