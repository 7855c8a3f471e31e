"""What the benchmark says of its figures."""

from pathlib import Path

import pytest

from bench.budgets import BOTH, BUDGETS, INCONCLUSIVE, MET, MISSED, NONE, at_least, at_most
from bench.compare import BETTER, SAME, WORSE, list_changes
from bench.lines import Line, compare, state
from bench.publish import BEGIN, END, PAGE, write_page
from bench.report import FAILED, list_rows
from bench.results import RESULTS, PartResult, Result, find_result
from bench.run import PARTS, _choose_exit_code


def a_result(*lines: Line, failure: str = "", database: str = "SQLite") -> Result:
    found = PartResult(lines=lines, failure=failure)
    return Result("abc", parts={"reading": {database: found}})


def a_line(*rounds: float, name: str = "GET / hello") -> Line:
    return Line(name, rounds[0], rounds[0], 1.0, rounds, database="SQLite")


class TestJudge:
    @pytest.mark.parametrize(
        ("rounds", "verdict"),
        [
            ((0.4, 0.41, 0.39), MET),
            ((0.3, 0.31, 0.29), MISSED),
            ((0.34, 0.36, 0.35), INCONCLUSIVE),
            # One bad round of many does not count.
            ((0.4, 0.4, 0.4, 0.4, 0.1), MET),
        ],
    )
    def test_the_rounds_decide(self, rounds: tuple[float, ...], verdict: str) -> None:
        line = compare("GET / hello", rounds, [1.0] * len(rounds))

        assert at_least(0.35).judge(line) == verdict

    def test_what_is_not_offered_is_missed(self) -> None:
        assert at_least(0.4).judge(Line("304 / hello", None, note="not offered")) == MISSED

    def test_a_limit_itself_is_met(self) -> None:
        assert at_most(0).judge(Line("errors", 0)) == MET


def test_every_budget_belongs_to_a_part_and_its_databases() -> None:
    assert BUDGETS.keys() <= PARTS.keys()
    for part, budgets in BUDGETS.items():
        for budget in budgets.values():
            # A part without a database of its own names them in its lines.
            assert set(budget.databases) <= {*PARTS[part].databases, *BOTH}
            assert PARTS[part].databases in (NONE, BOTH) or budget.databases != BOTH


class TestRows:
    def test_a_part_that_failed_keeps_its_lines_and_says_why_the_others_are_missing(self) -> None:
        result = a_result(a_line(0.4), failure="NoAnswers: nothing came\nmore")

        rows = {row.line.name: row for row in list_rows(result)}

        assert rows["GET / hello"].verdict == MET
        assert rows["GET / FastAPI"].verdict == FAILED
        assert rows["GET / FastAPI"].line.note == "NoAnswers: nothing came"

    def test_the_exit_code_tells(self) -> None:
        assert _choose_exit_code(a_result(a_line(0.4))) == 0
        assert _choose_exit_code(a_result(a_line(0.3))) == 1
        assert _choose_exit_code(a_result(a_line(0.4), failure="It broke.")) == 2


class TestResults:
    def test_a_result_is_read_as_it_was_written(self, tmp_path: Path) -> None:
        result = a_result(state("GET / hello", [0.4, 0.5]), failure="It broke.")

        result.write(tmp_path / "abc.json")

        assert Result.read(tmp_path / "abc.json") == result
        assert find_result(str(tmp_path / "abc.json")) == tmp_path / "abc.json"

    def test_an_unknown_commit_is_said_to_be_unknown(self) -> None:
        with pytest.raises(FileNotFoundError, match="There is no result of nowhere"):
            find_result("nowhere")


@pytest.mark.parametrize(
    ("before", "after", "direction"),
    [
        ((0.30, 0.31), (0.40, 0.41), BETTER),
        ((0.40, 0.41), (0.30, 0.31), WORSE),
        ((0.30, 0.40), (0.35, 0.45), SAME),
    ],
)
def test_a_change_counts_only_beyond_the_rounds(
    before: tuple[float, ...], after: tuple[float, ...], direction: str
) -> None:
    old, new = a_result(a_line(*before)), a_result(a_line(*after))

    (change,) = list_changes(old, new)

    assert change.direction == direction


def test_figures_are_written_between_the_marks_of_the_page() -> None:
    page = PAGE.read_text()

    written = write_page(page, a_result(a_line(0.4)))

    assert "| GET / hello | SQLite | 0.4 | 1 | 0.4 | 0.4 to 0.4 | ≥ 0.35 | met |" in written
    assert written.partition(BEGIN)[0] == page.partition(BEGIN)[0]
    assert written.partition(END)[2] == page.partition(END)[2]


def test_each_part_is_from_the_last_result_that_has_it() -> None:
    old = a_result(a_line(0.4))
    old.add("writing", "SQLite", PartResult(lines=(a_line(0.5, name="create / bare INSERTs"),)))
    new = Result("def", parts=a_result(a_line(0.45)).parts)

    written = write_page(PAGE.read_text(), old, new)

    assert "Commit `abc` of ? (writing), `def` of ? (reading);" in written
    assert "| GET / hello | SQLite | 0.45 |" in written
    assert "| GET / hello | SQLite | 0.4 |" not in written
    assert "| create / bare INSERTs | SQLite | 0.5 |" in written


def test_each_machine_is_named_with_what_was_measured_on_it() -> None:
    old = Result("abc", {"processor": "arm"}, parts=a_result(a_line(0.4)).parts)
    writing = {"SQLite": PartResult(lines=(a_line(0.5, name="create / bare INSERTs"),))}
    new = Result("def", {"processor": "intel"}, parts={"writing": writing})

    written = write_page(PAGE.read_text(), old, new)

    assert "Commit `abc` of ? (reading); cores ?, processor arm," in written
    assert ". Commit `def` of ? (writing); cores ?, processor intel," in written


def test_every_result_that_is_kept_can_be_read() -> None:
    # Git ignores the results of a changed tree and of small numbers.
    kept = [path for path in RESULTS.glob("*.json") if "-" not in path.stem]

    assert kept
    for path in kept:
        assert Result.read(path).commit == path.stem
