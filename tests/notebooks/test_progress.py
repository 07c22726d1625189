"""Long work shows how far it is on a terminal, and nothing anywhere else."""

from __future__ import annotations

from functools import partial
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
import rankscope as rs
from rankscope.engine import progress
from rankscope.engine.progress import ProgressBar

from tests.notebooks.results import Runs
from tests.refusals import refuses
from tests.trec import write_qrels, write_run


class Terminal(StringIO):
    """What a program writes on a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """A terminal, on which bars appear at once."""
    made = Terminal()
    # pytest replaces sys.stderr between this and the test.
    standard = SimpleNamespace(stderr=made)
    monkeypatch.setattr(progress, "sys", standard)
    monkeypatch.setattr(progress, "ProgressBar", partial(ProgressBar, after=0))
    return made


plain = Runs(query=lambda at: f"q{at}", doc=lambda at: f"d{at}")


def write_files(folder: Path) -> tuple[str, str]:
    qrels = write_qrels(folder / "a.qrels", plain.qrels)
    return qrels, write_run(folder / "a.run", plain.runs["old"])


def test_reading_files_draws_a_bar_for_each(terminal: Terminal, tmp_path: Path) -> None:
    qrels, run = write_files(tmp_path)
    shown = rs.evaluate(qrels, run, "nDCG@5", progress=True)
    for name in (qrels, run):
        assert f"\r…{name[-39:]}: " in terminal.getvalue()
    assert "%|" in terminal.getvalue()
    assert shown.to_dict() == rs.evaluate(qrels, run, "nDCG@5").to_dict()


def test_a_comparison_and_a_report_draw_their_steps(terminal: Terminal) -> None:
    made = rs.compare(plain.qrels, plain.runs, "nDCG@5", progress=True)
    assert "reading runs: " in terminal.getvalue()
    assert str(made) == str(rs.compare(plain.qrels, plain.runs, "nDCG@5"))
    report = rs.report(plain.qrels, plain.runs, "nDCG@5", progress=True)
    assert "evaluating runs: " in terminal.getvalue()
    assert report.to_html() == rs.report(plain.qrels, plain.runs, "nDCG@5").to_html()


def test_work_that_fails_clears_its_bar(terminal: Terminal) -> None:
    def fail() -> None:
        with ProgressBar("a.run", after=0) as bar:
            bar(1, 2)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert terminal.getvalue().endswith("\r")


def test_short_work_and_what_is_no_terminal_stay_empty(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with ProgressBar("a.run", after=3600) as bar:
        bar(1, 2)
    assert terminal.getvalue() == ""
    qrels, run = write_files(tmp_path)
    plain_file = StringIO()
    for stream in (plain_file, None):
        monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream))
        rs.evaluate(qrels, run, "nDCG@5", progress=True)
    assert plain_file.getvalue() == ""


def test_without_progress_nothing_is_drawn(terminal: Terminal, tmp_path: Path) -> None:
    qrels, run = write_files(tmp_path)
    rs.evaluate(qrels, run, "nDCG@5")
    rs.evaluate(qrels, run, "nDCG@5", progress=False)
    rs.compare(plain.qrels, plain.runs, "nDCG@5")
    assert terminal.getvalue() == ""


def test_a_function_is_called_in_place_of_a_bar(terminal: Terminal, tmp_path: Path) -> None:
    qrels, run = write_files(tmp_path)
    calls: list[tuple[int, int | None]] = []
    rs.evaluate(qrels, run, "nDCG@5", progress=lambda *call: calls.append(call))
    size = (tmp_path / "a.run").stat().st_size
    assert {total for _, total in calls} == {size}
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("given", ["yes", 1, 0.5])
def test_progress_that_is_neither_is_an_error(given: object, tmp_path: Path) -> None:
    qrels, run = write_files(tmp_path)
    for call in (
        lambda: rs.evaluate(qrels, run, "nDCG@5", progress=given),  # type: ignore[call-overload]  # as typed
        lambda: rs.compare(plain.qrels, plain.runs, "nDCG@5", progress=given),  # type: ignore[arg-type]
        lambda: rs.report(plain.qrels, plain.runs, "nDCG@5", progress=given),  # type: ignore[arg-type]
    ):
        with refuses(rs.UsageError, "bad_parameter", match="expected progress to be True"):
            call()
