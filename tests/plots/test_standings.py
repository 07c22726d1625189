"""The picture of a leaderboard: its data, and that each run is drawn where its value is."""

from __future__ import annotations

import pytest
import rankscope as rs
from rankscope.plots.data import Standings
from rankscope.plots.matplotlib import draw_standings, to_svg

QRELS = {f"q{number}": {"a": 2, "b": 1, "c": 0} for number in range(12)}
ORDERS = {"x$y$": "abc", "good": "acb", "poor": "cba"}
RUNS = {name: {query: [*order] for query in QRELS} for name, order in ORDERS.items()}
BOARD = rs.leaderboard(QRELS, RUNS, ["nDCG@2", "RR(rel=2)"], baseline="good")


def test_runs_have_the_order_groups_and_baselines_of_the_board() -> None:
    found = Standings.of(BOARD)
    assert (found.measure, found.grouped_by) == ("nDCG@2", "nDCG@2")
    assert [(each.run, each.group, each.is_baseline) for each in found.runs] == [
        ("x$y$", "A", False),
        ("good", "B", True),
        ("poor", "C", False),
    ]
    other = Standings.of(BOARD, "RR(rel=2)")
    assert [each.value for each in other.runs] == [1.0, 1.0, 1 / 3]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_run_is_a_mark_at_its_value_and_a_line_is_at_each_baseline(theme: str) -> None:
    ax = draw_standings(Standings.of(BOARD), theme=theme)  # type: ignore[arg-type]
    drawn = {}
    lines = []
    for line in ax.lines:
        if line.get_linestyle() == "None":
            drawn |= dict(zip(line.get_ydata(), line.get_xdata(), strict=True))
        else:
            lines.append(line.get_xdata()[0])
    values = [entry.values["nDCG@2"] for entry in BOARD]
    assert drawn == dict(enumerate(values))
    assert lines == [BOARD["good"].values["nDCG@2"]]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["x$y$", "good", "poor"]
    assert "1.0000  A" in [text.get_text() for text in ax.texts]
    assert to_svg(BOARD.plot("nDCG@2", theme=theme)).startswith("<svg")  # type: ignore[arg-type]


def test_runs_without_a_value_are_left_out_and_none_at_all_is_an_error() -> None:
    none = {query: {"a": 0} for query in QRELS}
    board = rs.leaderboard(none, RUNS, "RR", policy="empty=skip")
    with pytest.raises(rs.EmptyError, match="no run has a value of RR"):
        board.plot()
    with pytest.raises(rs.UsageError, match="the leaderboard has no measure AP"):
        board.plot("AP")
