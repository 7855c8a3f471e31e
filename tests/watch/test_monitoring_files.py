"""The alerts and the board for operators ask for what the service measures."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from printworks.watch.metrics import METRICS

FOLDER: Final = Path(__file__).parents[2] / "deploy" / "monitoring"
ALERTS: Final = FOLDER / "alerts.yml"
BOARD: Final = FOLDER / "grafana-board.json"
PAGE: Final = Path(__file__).parents[2] / "docs" / "operate" / "watching.md"
_NAME: Final = re.compile(r"printworks_[a-z_]+")
_PART: Final = re.compile(r"_(bucket|count|sum)$")


def find_names(text: str) -> set[str]:
    """Return the metrics that a text names."""
    return {name if name in METRICS else _PART.sub("", name) for name in _NAME.findall(text)}


@pytest.mark.parametrize("file", [ALERTS, BOARD], ids=lambda file: file.name)
def test_every_metric_that_is_asked_for_exists(file: Path) -> None:
    names = find_names(file.read_text())

    assert names
    assert names - METRICS.keys() == set()


def test_every_metric_is_explained() -> None:
    assert METRICS.keys() - find_names(PAGE.read_text()) == set()


def test_only_labels_that_exist_are_used() -> None:
    labels = {label for metric in METRICS.values() for label in metric.labels}
    known = labels | {"le", "instance", "severity"}
    text = ALERTS.read_text() + BOARD.read_text()

    used = {
        label.strip() for group in re.findall(r"by \(([^)]*)\)", text) for label in group.split(",")
    } | set(re.findall(r"\$labels\.(\w+)", text))

    assert used
    assert used - known == set()


def test_the_panels_of_the_board_do_not_overlap() -> None:
    board: dict[str, Any] = json.loads(BOARD.read_text())
    taken: set[tuple[int, int]] = set()

    for panel in board["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert taken.isdisjoint(cells), panel["title"]
        taken |= cells

    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
@pytest.mark.parametrize(
    "words", [["check", "rules", ALERTS], ["check", "config", FOLDER / "prometheus.yml"]]
)
def test_prometheus_accepts_the_files(words: list[Any]) -> None:
    ended = subprocess.run(
        ["promtool", *words], capture_output=True, text=True, check=False, cwd=FOLDER
    )

    assert ended.returncode == 0, ended.stdout + ended.stderr
