"""Structured logging: JSON for machines, columns on a terminal.

A message is a fixed text, the facts are fields: `log.info("order created", order=42)`.
Never log keys, names, addresses or bodies. If a library does, the secrets of the settings are hidden.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any, BinaryIO, Final, Protocol

import msgspec
import structlog

from printworks.redaction import hide_secrets, redact, redact_bytes

Facts = MutableMapping[str, Any]

_context: ContextVar[Mapping[str, Any]] = ContextVar("facts", default=MappingProxyType({}))
# Where `info_often` writes to by itself, if anywhere.
_direct: list[BinaryIO] = []
# What it will write.
_lines: list[bytes] = []


class LogSettings(Protocol):
    @property
    def log_level(self) -> str:
        """The least important message that is still written."""

    @property
    def log_format(self) -> str:
        """One of `auto`, `console` and `json`."""

    @property
    def secret_texts(self) -> Sequence[str]:
        """What must never be written."""


class context:  # noqa: N801  (used as a function)
    """Add these facts to every line that this task or thread writes in the block."""

    __slots__ = ("_facts", "_token")

    def __init__(self, **facts: Any) -> None:
        self._facts = facts

    def __enter__(self) -> None:
        # Our own variable: structlog's copies the whole context for every line.
        self._token = _context.set({**_context.get(), **self._facts})

    def __exit__(self, *_: object) -> None:
        _context.reset(self._token)


def configure(settings: LogSettings, *, writes_often: bool = False) -> None:
    """Send all logs of this process, those of libraries included, to standard error.

    If it writes often, `info_often` costs a third of what it usually does.
    """
    hide_secrets(settings.secret_texts)
    is_console = settings.log_format == "console" or (
        settings.log_format == "auto" and sys.stderr.isatty()
    )
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    structlog.configure(
        processors=[_add_context, *(_FOR_PEOPLE if is_console else _FOR_MACHINES)],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr)
        if is_console
        else structlog.BytesLoggerFactory(sys.stderr.buffer),
        cache_logger_on_first_use=True,
    )
    is_direct = writes_often and not is_console and level <= logging.INFO
    _direct[:] = [sys.stderr.buffer] if is_direct else []
    # Libraries log too much at `info`.
    logging.basicConfig(
        handlers=[_FromLibraries()],
        level=level if settings.log_level == "debug" else max(level, logging.WARNING),
        force=True,
    )
    # It warns of every malformed body, which any client can send.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)


def info_often(event: str, facts: Mapping[str, Any]) -> None:
    """Log what happens for every request: the same line, without asking each time how to write it.

    It is written at the end of this turn of the event loop, with all others of the turn.
    """
    if not _direct:
        structlog.get_logger().info(event, **facts)
        return
    if not _lines:
        asyncio.get_running_loop().call_soon(_write_lines)
    _lines.append(_encoder.encode(_add_context(None, "info", {"event": event, **facts})))


def _write_lines() -> None:
    """Write the lines of `info_often` that wait for the end of this turn of the event loop.

    In one call of the system, which costs more than a line: under load many end in one turn.
    """
    _lines.append(b"")
    lines = redact_bytes(b"\n".join(_lines))
    _lines.clear()
    for stream in _direct:
        stream.write(lines)
        stream.flush()


class _FromLibraries(logging.Handler):
    """Writes the logs of libraries to the same place and in the same form."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            structlog.get_logger().log(
                record.levelno,
                record.getMessage(),
                logger=record.name,
                exc_info=record.exc_info or None,
            )
        except Exception:  # noqa: BLE001  (a library must not fail because its message did)
            self.handleError(record)


def _add_context(_logger: object, level: str, facts: Facts) -> Facts:
    # The encoder formats a datetime ten times faster than `isoformat`.
    return {
        "at": datetime.now(UTC),
        "level": level,
        "event": facts["event"],
        **_context.get(),
        **facts,
    }


def _encode(_logger: object, _level: str, facts: Facts) -> bytes:
    return redact_bytes(_encoder.encode(facts))


def _redact_line(_logger: object, _level: str, line: str) -> str:
    return redact(line)


def _shorten_time(_logger: object, _level: str, facts: Facts) -> Facts:
    return {**facts, "at": f"{facts['at']:%H:%M:%S}"}


_encoder: Final = msgspec.json.Encoder(enc_hook=str)
_FOR_MACHINES: Final[list[Callable[..., Any]]] = [structlog.processors.format_exc_info, _encode]
_FOR_PEOPLE: Final[list[Callable[..., Any]]] = [
    _shorten_time,
    structlog.dev.ConsoleRenderer(
        timestamp_key="at", exception_formatter=structlog.dev.plain_traceback, pad_event_to=24
    ),
    _redact_line,
]
