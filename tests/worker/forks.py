"""Processes that are made to be killed.

They are forked from one that has loaded the program once: a start of its own takes each of them
longer than everything that it does until it is killed.
"""

import multiprocessing
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, Final

import structlog

_FORKS: Final = multiprocessing.get_context("forkserver")
_FORKS.set_forkserver_preload(
    ["__main__", *(f"tests.worker.{name}victim" for name in ("", "lot_", "invoice_"))]
)


@contextmanager
def forked(target: Callable[..., None], *given: Any) -> Iterator[BaseProcess]:
    """Call a function in a process of its own, which does not outlive the block."""
    process = _FORKS.Process(target=_live, args=(target, *given), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


@contextmanager
def forked_to_talk(
    target: Callable[..., None], *given: Any
) -> Iterator[tuple[BaseProcess, Iterator[int]]]:
    """Do so, and give the function something to say numbers with; return them as they come."""
    heard, said = _FORKS.Pipe(duplex=False)
    with heard, forked(target, said, *given) as process:
        # Only the other process has it open now, and when it ends, so do the numbers.
        said.close()
        yield process, _listen(heard)


def _listen(heard: Connection) -> Iterator[int]:
    while True:
        try:
            yield heard.recv()
        except EOFError:
            return


def _live(target: Callable[..., None], *given: Any) -> None:
    # Only errors: whoever is killed has much to complain about.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    target(*given)
