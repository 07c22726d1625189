"""Which run is better, for measures of which higher or lower values are better, or neither."""

from __future__ import annotations

import numpy as np
import pytest
import rankscope as rs
from rankscope._compare import ranges
from rankscope.measures import RBP
from rankscope.measures.spec import ROWS, SIGNS, default_measure

QUERIES = [f"q{number}" for number in range(20)]
QRELS = {query: {"a": 3, "b": 1, "c": 0} for query in QUERIES}
GOOD = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in QUERIES}
BAD = {query: {"c": 3.0, "b": 2.0, "x": 1.0} for query in QUERIES}
DIRECTIONS = ("higher", "lower", "neither")
HIGH, LOW = (0.6, 0.7), (0.2, 0.1)


def compare(direction, **settings):
    """Compare a run with low values with one with high values."""
    values = {"query_id": QUERIES, "low": LOW * 10, "high": HIGH * 10}
    return rs.compare(values, "value", values=True, better=direction, **settings)


def test_no_parameter_but_residual_and_value_changes_the_direction_of_a_row():
    for row in ROWS.values():
        measure = default_measure(row)
        names = [parameter.name for parameter in row.parameters]
        assert measure.better == row.better
        if "residual" in names:
            assert measure(residual=True).better == "lower"
        if "value" in names:
            assert measure(value="total_utility").better == row.better
            for value in ("cost", "total_cost", "items"):
                assert measure(value=value).better == "neither"
                assert measure(value=value, residual=True).better == "lower"
    assert RBP.better == "higher"


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_the_better_run_by_a_measure_has_the_mean_that_its_direction_says(row):
    measure = default_measure(row)
    found = compare(measure.better, range=None)
    expected = {"higher": "high", "lower": "low", "neither": None}[measure.better]
    assert found["value", "high"].better == found.find_best("value") == expected


def evaluate(measure):
    return {name: rs.evaluate(QRELS, run, measure) for name, run in (("a", GOOD), ("b", BAD))}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name, row in ROWS.items()
        if row.of_grades and row.mean == "mean" and row.level == "query"
    ],
)
def test_compare_gives_the_direction_of_the_measure_to_the_result(name):
    measure = default_measure(ROWS[name])
    row = measure.row
    if "max_rel" in measure.parameters:
        measure = measure(max_rel=3)
    if row.parameter(row.at).name == "k" if row.at else False:
        measure = measure @ 2
    elif row.at:
        measure = measure @ 0.5
    found = rs.compare(evaluate(measure))[measure, "b"]
    assert found.direction == row.better
    sign = SIGNS[row.better]
    gain = sign * (found.run_mean - found.baseline_mean)
    if found.is_significant and gain:
        assert found.better == ("b" if gain > 0 else "a")
        assert (found.wins > found.losses) == (gain > 0)
    else:
        assert found.better is None


@pytest.mark.parametrize(
    "name", ["Unjudged@2", "NumRet", "RBP_CWL(residual=True)", "OrderingLoss@2"]
)
def test_a_gate_refuses_measures_of_which_higher_values_are_not_better(name):
    with pytest.raises(rs.UsageError, match="can't have a budget"):
        rs.gate(QRELS, GOOD, BAD, {name: 0.1})


def test_a_measure_of_your_own_has_its_direction_everywhere():
    mine = rs.measure("LengthOfList", lambda grades: float(len(grades)), better="lower")
    short = {query: {"a": 1.0} for query in QUERIES}
    found = rs.compare(QRELS, {"long": GOOD, "short": short}, mine)
    assert found[mine, "short"].better == "short"
    assert "short is better than long" in str(found)
    with pytest.raises(rs.UsageError, match="a drop of it is an improvement"):
        rs.gate(QRELS, short, GOOD, {mine: 0.1})


def test_a_difference_says_its_wins_by_the_direction():
    found = rs.diff(QRELS, GOOD, BAD, "OrderingLoss@2")
    means = found.values
    assert means[0] < means[1]
    assert (found.wins, found.losses) == (0, len(QUERIES))


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_swap_of_sign_and_direction_changes_nothing_but_signs(direction):
    opposite = {"higher": "lower", "lower": "higher", "neither": "neither"}[direction]
    generator = np.random.default_rng(1)
    table = {"old": generator.random(30).tolist(), "new": generator.random(30).tolist()}
    negative = {run: [-value for value in values] for run, values in table.items()}
    one = rs.compare(table, values=True, better=direction, margin=0.1, range=None)["value", "new"]
    other = rs.compare(negative, values=True, better=opposite, margin=0.1, range=None)[
        "value", "new"
    ]
    assert other.better == one.better
    if direction != "neither":
        assert (other.wins, other.ties, other.losses) == (one.wins, one.ties, one.losses)
        assert other.p_not_worse == pytest.approx(one.p_not_worse, rel=1e-12)
    else:
        assert np.isnan([one.p_not_worse, other.p_not_worse]).all()
    assert other.p_equivalent == pytest.approx(one.p_equivalent, rel=1e-12)


def test_sentences_name_the_direction_unless_higher_is_better():
    up, down, none = map(str, map(compare, DIRECTIONS))
    assert "high is better than low by 0.5000 value" in up
    assert "values are better" not in up
    assert "low is better than high by 0.5000 value" in down
    assert "Lower values are better." in down
    assert "high has a higher value than low by 0.5000" in none
    assert "better than" not in none
    assert "Neither higher nor lower values are better." in none


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_the_first_of_many_is_the_run_with_the_best_mean(direction):
    values = {"query_id": QUERIES, "low": LOW * 10, "mid": (0.4, 0.4) * 10, "high": HIGH * 10}
    found = rs.compare(values, values=True, better=direction)
    best = {"higher": "high", "lower": "low", "neither": None}[direction]
    assert found.find_best("value") == best
    top = best or "high"
    beats = "has a higher value than" if best is None else "is better than"
    assert f"{top} {beats} each of the other 2 runs" in str(found)
    against = rs.compare(values, values=True, better=direction, baseline="mid")
    words = ("higher", "lower") if best is None else ("better", "worse")
    bottom = {"high": "low", "low": "high"}[top]
    assert (
        f"value, against mid: {top} is significantly {words[0]}; "
        f"{bottom} is significantly {words[1]}." in str(against)
    )


JUDGED = {f"q{number}": {"a": 1, "b": 0} for number in range(10)}
RUNS = {
    name: {query: {"a": 1.0, "b": 2.0, name: 3.0} for query in JUDGED} for name in ("x", "y", "z")
}
MEASURES = ["AP", "nDCG@2"]
# Three pairs of two runs with 10 lists of 3 documents.
DOCUMENTS = 3 * 2 * 10 * 3
SQUARES = 3 * 10 * 3**2


def compare_runs(bounds, measures=MEASURES):
    return rs.compare(JUDGED, RUNS, measures, bounds=bounds)


def list_bounded(found):
    known = {each.measure: (each.unjudged is None) + (each.tied is None) for each in found}
    assert {*known.values()} <= {0, 2}
    return [name for name, missing in known.items() if not missing]


@pytest.mark.parametrize(("bounds", "names"), [(None, MEASURES), (True, MEASURES), (False, [])])
def test_small_comparisons_have_bounds_unless_they_are_not_wanted(bounds, names):
    found = compare_runs(bounds)
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
def test_what_takes_long_is_left_out_and_named(monkeypatch, limit, most, names):
    monkeypatch.setattr(ranges, limit, most)
    found = compare_runs(None)
    assert list_bounded(found) == names
    left = ", ".join(name for name in MEASURES if name not in names)
    told = f"was not computed for {left}, because it takes long; bounds=True"
    assert (told in " ".join(found.small_print)) == bool(left)
    # Asked for, it is computed however long it takes.
    assert list_bounded(compare_runs(True)) == MEASURES


def test_the_cutoff_of_ap_limits_how_long_its_bounds_take(monkeypatch):
    monkeypatch.setattr(ranges, "MOST_SQUARES", 3 * 10 * 2**2)
    assert list_bounded(compare_runs(None, ["AP", "AP@2"])) == ["AP@2"]


def test_the_range_over_ties_is_that_of_two_runs_on_their_own():
    tied = {
        name: {query: {"a": 1.0, "b": 1.0, name: float(at)} for query in JUDGED}
        for at, name in enumerate(("x", "y", "z"))
    }
    found = rs.compare(JUDGED, tied, "RR", policy="ties=average")
    for each in found:
        run, baseline = (
            rs.Rankings.from_run(JUDGED, tied[name], ties="average")
            for name in (each.run, each.baseline)
        )
        alone = ranges.range_despite_ties(run, baseline, "RR", "ties=average")
        assert each.tied == alone
        assert alone is not None
        assert alone.lowest < alone.highest


def test_bounds_by_default_are_those_that_are_asked_for():
    assert (
        compare_runs(None).to_dict()["comparisons"] == compare_runs(True).to_dict()["comparisons"]
    )
