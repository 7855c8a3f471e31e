"""Logs: one line of JSON for each thing that happened."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

# In a process of its own: a logger that was used once keeps its place of writing.
BEGIN = """
import logging, sys
from pathlib import Path
import structlog
from printworks import log
from printworks.settings import Settings
settings = Settings.load(Path(sys.argv[1]), {"PRINTWORKS_LOG_FORMAT": sys.argv[2]})
log.configure(settings)
logger = structlog.get_logger()
"""


def write(script: str, data: Path, form: str = "auto") -> str:
    """Return what a script wrote to standard error."""
    ended = subprocess.run(
        [sys.executable, "-c", BEGIN + script, data, form],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == ""
    return ended.stderr


def read_lines(text: str) -> list[dict[str, Any]]:
    """Read the lines of a log."""
    return [json.loads(line) for line in text.splitlines()]


def test_a_line_is_json_with_a_time_and_the_facts_as_fields(tmp_path: Path) -> None:
    [line] = read_lines(write('logger.info("order created", order=42)', tmp_path))

    assert line["event"] == "order created"
    assert line["level"] == "info"
    assert line["order"] == 42
    assert line["at"].endswith("Z")


def test_the_context_is_on_every_line_of_its_block_and_on_no_other(tmp_path: Path) -> None:
    script = """
with log.context(request_id="r-1"):
    with log.context(job=7):
        logger.info("inner")
    logger.info("outer", job=8)
logger.info("after")
"""

    inner, outer, after = read_lines(write(script, tmp_path))

    assert (inner["request_id"], inner["job"]) == ("r-1", 7)
    assert (outer["request_id"], outer["job"]) == ("r-1", 8)
    assert "request_id" not in after


def test_libraries_write_in_the_same_form_and_only_what_matters(tmp_path: Path) -> None:
    script = """
logging.getLogger("aiohttp").info("starting")
logging.getLogger("aiohttp").warning("port %d", 7)
"""

    [line] = read_lines(write(script, tmp_path))

    assert (line["event"], line["logger"], line["level"]) == ("port 7", "aiohttp", "warning")


def test_an_exception_stays_on_one_line(tmp_path: Path) -> None:
    script = """
try:
    1 / 0
except ZeroDivisionError:
    logger.exception("request failed", path=Path("/somewhere"))
"""

    [line] = read_lines(write(script, tmp_path))

    assert line["exception"].endswith("ZeroDivisionError: division by zero")
    assert line["path"] == "/somewhere"


def test_messages_below_the_level_are_not_written(tmp_path: Path) -> None:
    assert write('logger.debug("detail")', tmp_path) == ""


@pytest.mark.parametrize("script", ['logger.warning("careful", order=42)'])
def test_people_read_words_instead_of_json(tmp_path: Path, script: str) -> None:
    said = write(script, tmp_path, "console")

    assert "careful" in said
    assert "42" in said
    assert "{" not in said


@pytest.mark.parametrize("form", ["json", "console"])
def test_what_is_written_often_is_written_like_anything_else(tmp_path: Path, form: str) -> None:
    script = """
import asyncio
async def write():
    with log.context(job=7):
        log.info_often("request", {"status": 200, "client": None})
for writes_often in (False, True):
    log.configure(settings, writes_often=writes_often)
    asyncio.run(write())
"""

    usual, often = write(script, tmp_path, form).splitlines()

    if form == "console":
        # After the time.
        assert usual[8:] == often[8:]
        assert "request" in often
    else:
        assert json.loads(usual) | {"at": ""} == json.loads(often) | {"at": ""}
        assert list(json.loads(usual)) == list(json.loads(often))


def test_what_is_written_often_is_written_together_and_without_secrets(tmp_path: Path) -> None:
    script = """
import asyncio, os
from printworks.redaction import hide_secrets
async def write():
    for number in range(3):
        log.info_often("request", {"said": f"open sesame {number}"})
    os.write(2, b"first\\n")
    await asyncio.sleep(0)
    os.write(2, b"last\\n")
log.configure(settings, writes_often=True)
hide_secrets(["open sesame"])
asyncio.run(write())
"""

    first, *lines, last = write(script, tmp_path, "json").splitlines()

    assert (first, last) == ("first", "last")
    assert [json.loads(line)["said"] for line in lines] == [
        f"[hidden] {number}" for number in range(3)
    ]


def test_what_is_written_often_is_left_out_with_everything_of_its_level(tmp_path: Path) -> None:
    script = """
import msgspec
log.configure(msgspec.structs.replace(settings, log_level="warning"), writes_often=True)
log.info_often("request", {"status": 200})
"""

    assert write(script, tmp_path, "json") == ""
