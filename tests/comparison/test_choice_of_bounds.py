"""Whether a comparison has what unjudged documents and ties could change: asked for, or quick."""

from __future__ import annotations

import pytest
import rankscope as rs
from rankscope.comparison import ranges

QRELS = {f"q{number}": {"a": 1, "b": 0} for number in range(10)}
RUNS = {
    name: {query: {"a": 1.0, "b": 2.0, name: 3.0} for query in QRELS} for name in ("x", "y", "z")
}
MEASURES = ["AP", "nDCG@2"]
# Three pairs of two runs with 10 lists of 3 documents.
DOCUMENTS = 3 * 2 * 10 * 3
SQUARES = 3 * 10 * 3**2


def compare(bounds: bool | None, measures: list[str] = MEASURES) -> rs.Comparison:
    return rs.compare(QRELS, RUNS, measures, bounds=bounds)


def list_bounded(found: rs.Comparison) -> list[str]:
    known = {each.measure: (each.unjudged is None) + (each.tied is None) for each in found}
    assert {*known.values()} <= {0, 2}
    return [name for name, missing in known.items() if not missing]


@pytest.mark.parametrize(("bounds", "names"), [(None, MEASURES), (True, MEASURES), (False, [])])
def test_small_comparisons_have_bounds_unless_they_are_not_wanted(
    bounds: bool | None, names: list[str]
) -> None:
    found = compare(bounds)
    assert list_bounded(found) == names
    assert "not computed" not in " ".join(found.small_print)


@pytest.mark.parametrize(
    ("limit", "most", "names"),
    [
        ("MOST_DOCUMENTS", DOCUMENTS + 1, MEASURES),
        ("MOST_DOCUMENTS", DOCUMENTS, MEASURES),
        ("MOST_DOCUMENTS", DOCUMENTS - 1, []),
        ("MOST_SQUARES", SQUARES + 1, MEASURES),
        ("MOST_SQUARES", SQUARES, MEASURES),
        ("MOST_SQUARES", SQUARES - 1, ["nDCG@2"]),
    ],
)
def test_what_takes_long_is_left_out_and_named(
    monkeypatch: pytest.MonkeyPatch, limit: str, most: int, names: list[str]
) -> None:
    monkeypatch.setattr(ranges, limit, most)
    found = compare(None)
    assert list_bounded(found) == names
    left = ", ".join(name for name in MEASURES if name not in names)
    told = f"was not computed for {left}, because it takes long; bounds=True"
    assert (told in " ".join(found.small_print)) == bool(left)
    # Asked for, it is computed however long it takes.
    assert list_bounded(compare(True)) == MEASURES


def test_the_cutoff_of_ap_limits_how_long_its_bounds_take(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "MOST_SQUARES", 3 * 10 * 2**2)
    assert list_bounded(compare(None, ["AP", "AP@2"])) == ["AP@2"]


def test_bounds_by_default_are_those_that_are_asked_for() -> None:
    assert compare(None).to_dict()["comparisons"] == compare(True).to_dict()["comparisons"]


def test_the_range_over_ties_is_that_of_two_runs_on_their_own() -> None:
    tied = {
        name: {query: {"a": 1.0, "b": 1.0, name: float(at)} for query in QRELS}
        for at, name in enumerate(("x", "y", "z"))
    }
    found = rs.compare(QRELS, tied, "RR", policy="ties=average")
    for each in found:
        run, baseline = (
            rs.Rankings.from_run(QRELS, tied[name], ties="average")
            for name in (each.run, each.baseline)
        )
        alone = ranges.range_despite_ties(run, baseline, "RR", "ties=average")
        assert each.tied == alone
        assert alone is not None
        assert alone.if_ties_lowest < alone.if_ties_highest
