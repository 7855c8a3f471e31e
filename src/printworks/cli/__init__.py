"""The command line: `printworks <command>`."""

import os
import sys


def main() -> None:
    """Run one command; an expected failure is one sentence on standard error and exit code 1."""
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
