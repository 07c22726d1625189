"""The difference between two runs is what its queries, losses and documents add up to."""

from __future__ import annotations

import json
import math
from itertools import pairwise

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import nDCG
from rankscope._compare.ranges import range_despite_ties, range_despite_unjudged

from tests.cli.command import run
from tests.refusals import refuses
from tests.trec import write_qrels, write_run

QRELS = {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"f": 2, "g": 1}, "empty": {"x": 0}}
OLD = {
    "q1": {"x": 5.0, "b": 4.0, "y": 3.0, "c": 2.0, "gone": 1.0},
    "q2": {"f": 2.0, "g": 1.0},
    "empty": {"x": 1.0},
}
NEW = {"q1": {"a": 5.0, "b": 4.0, "z": 3.0, "c": 2.0}, "q2": {"g": 2.0, "f": 1.0}}


def gained(difference, query):
    """What the moves of the documents of a query gained in all."""
    column = difference.explain(query).table.column("gained")
    return math.fsum(float(cell or 0) for cell in column)


def test_means_are_those_of_evaluations_and_queries_are_counted():
    found = rs.diff(QRELS, OLD, NEW, nDCG @ 3)
    assert found.values == tuple(rs.evaluate(QRELS, run, nDCG @ 3)["nDCG@3"] for run in (OLD, NEW))
    assert found.difference == found.values[1] - found.values[0]
    assert (found.wins, found.ties, found.losses) == (1, 1, 1)
    assert found.queries.column("query_id") == ("q1", "q2", "empty")


def test_documents_that_entered_left_and_moved_are_named_with_what_they_gained():
    found = rs.diff(QRELS, OLD, NEW, nDCG @ 3).explain("q1")
    best = 3 + 2 / math.log2(3) + 1 / 2
    rows = {row[0]: row[1:] for row in found.table.rows()}
    assert rows["a"] == (3.0, None, 1, "entered", pytest.approx(3 / best, abs=1e-15))
    assert rows["b"] == (1.0, 2, 2, "same", 0)
    assert rows["x"] == (None, 1, None, "left", 0)
    assert rows["z"] == (None, None, 3, "entered", 0)
    assert rows.keys() == {"a", "b", "x", "y", "z"}
    assert found.table.column("doc_id")[0] == "a"
    assert "entered" in str(found)


def test_a_document_that_crosses_the_cutoff_enters_or_leaves():
    old = {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}
    new = {"q": {"c": 3.0, "a": 2.0, "b": 1.0}}
    found = rs.diff({"q": {"a": 1, "b": 1, "c": 1}}, old, new, nDCG @ 2).explain("q")
    moves = {row[0]: row[2:5] for row in found.table.rows()}
    assert moves == {"a": (1, 2, "down"), "b": (2, 3, "left"), "c": (3, 1, "entered")}


scores = st.sampled_from([0.0, 1.0, 1.0, 2.0, 3.0])
lists = st.dictionaries(st.sampled_from("abcdefgh"), scores, max_size=7)
runs = st.dictionaries(st.sampled_from(["q0", "q1", "q2"]), lists, min_size=1).filter(
    lambda run: any(run.values())
)
judgments = st.dictionaries(
    st.sampled_from("abcdefgh"), st.sampled_from([-1, 0, 1, 2, 3]), min_size=1
)
measures = st.sampled_from(
    [
        nDCG @ 3,
        nDCG,
        nDCG(gain="exp2", discount="reciprocal") @ 2,
        nDCG(ideal="retrieved") @ 3,
        nDCG(ideal="slots") @ 3,
        nDCG(judged_only=True) @ 3,
        rs.DCG @ 4,
        rs.CG @ 3,
    ]
)
policies = st.sampled_from(
    [
        "",
        "ties=average",
        "ties=worst,empty=one",
        "unjudged=remove",
        "unjudged=0.5",
        "missing_gain=-1",
        "negative=gain",
        "empty=skip,missing=skip",
        "unretrieved=ignore,ties=average",
    ]
)


@given(
    qrels=st.fixed_dictionaries({"q0": judgments, "q1": judgments, "q2": judgments}),
    run_a=runs,
    run_b=runs,
    measure=measures,
    policy=policies,
)
def test_queries_losses_and_documents_add_up_to_the_difference(
    qrels, run_a, run_b, measure, policy
):
    if measure.k is None and "missing_gain" in policy:
        return

    def has_value(run, query):
        # Where the ideal is of what was retrieved, a query needs a relevant document there.
        of = run.get(query, {}) if "retrieved" in measure.name else qrels[query]
        return query in run and any(qrels[query].get(doc, 0) > 0 for doc in of)

    if "skip" in policy and not any(has_value(run_a, q) and has_value(run_b, q) for q in qrels):
        return
    found = rs.diff(qrels, run_a, run_b, measure, policy=policy)
    table = found.queries
    a, b, difference = (table.array(name) for name in ("a", "b", "difference"))
    np.testing.assert_array_equal(difference, b - a)
    assert found.wins + found.ties + found.losses == len(table)
    sizes = abs(difference).tolist()
    assert all(before >= after - 1e-12 for before, after in pairwise(sizes))
    if len(table):
        assert found.difference == pytest.approx(difference.mean(), abs=1e-12)
    if found.terms and not np.isnan(found.difference):
        assert math.fsum(found.terms.values()) == pytest.approx(found.difference, abs=1e-12)
        of_queries = sum(table.array(name) for name in found.terms)
        np.testing.assert_allclose(of_queries, difference, atol=1e-12)
    assert bool(found.terms) == ("slots" not in measure.name)
    for query, moved in zip(table.column("query_id"), difference.tolist(), strict=True):
        assert gained(found, str(query)) == pytest.approx(moved, abs=1e-12)


def test_a_query_that_one_run_has_no_value_for_is_left_out_of_both():
    found = rs.diff(QRELS, OLD, NEW, nDCG @ 3, policy="missing=skip")
    assert found.queries.column("query_id") == ("q1", "q2")
    of_both = {query: QRELS[query] for query in ("q1", "q2")}
    assert found.values == tuple(
        rs.evaluate(of_both, run, nDCG @ 3)["nDCG@3"] for run in (OLD, NEW)
    )
    assert {note.code: note.count for note in found.notes}["unpaired_queries"] == 1


@pytest.mark.parametrize("measure", ["AP", "P@3", "RR", "ERR@5", "Bpref"])
def test_measures_that_are_no_sums_of_gains_have_no_losses(measure):
    found = rs.diff(QRELS, OLD, NEW, measure)
    assert found.terms == {}
    assert found.queries.names == ("query_id", "a", "b", "difference")
    assert found.explain("q1").table.names == ("doc_id", "grade", "rank_a", "rank_b", "move")
    assert found.values[1] == rs.evaluate(QRELS, NEW, measure)[measure]
    assert "retrieval" not in str(found)


@pytest.mark.parametrize("policy", ["negative=minmax", "aggregate=median"])
def test_policies_under_which_losses_do_not_add_up_leave_them_out(policy):
    found = rs.diff(QRELS, OLD, NEW, nDCG @ 3, policy=policy)
    assert found.terms == {}
    assert found.values[0] == rs.evaluate(QRELS, OLD, nDCG @ 3, policy=policy)["nDCG@3"]


def test_what_was_not_shown_is_not_observable():
    found = rs.diff(QRELS, OLD, NEW, nDCG(ideal="retrieved") @ 3)
    for text in (str(found), found._repr_html_()):
        assert text.count("retrieval") == 1
        assert "retrieval: not observable" in text


def test_runs_without_a_query_in_common_are_refused():
    old, new = ({query: {"a": 1.0}} for query in ("q1", "q2"))
    with pytest.raises(rs.errors.EmptyError, match="both runs"):
        rs.diff(QRELS, old, new, nDCG @ 3, policy="missing=skip")
    assert rs.diff(QRELS, old, new, nDCG @ 3).losses == 1


def test_a_query_that_is_not_judged_is_refused():
    with refuses(rs.UsageError, "unknown_query"):
        rs.diff(QRELS, OLD, NEW, nDCG @ 3).explain("nobody asked")


def test_one_standard_input_is_not_two_runs():
    with pytest.raises(rs.UsageError, match="for one input"):
        rs.diff(QRELS, "-", "-", nDCG)
    with pytest.raises(rs.UsageError, match="for one input"):
        rs.diff("-", OLD, "-", nDCG)


def test_the_same_run_twice_moves_nothing():
    found = rs.diff(QRELS, OLD, OLD, nDCG @ 3)
    assert (found.difference, found.wins, found.losses) == (0, 0, 0)
    assert "0 wins, 3 ties, 0 losses" in str(found)


def test_everything_leaves_as_plain_data():
    found = rs.diff(QRELS, OLD, NEW, nDCG @ 3, names=("old", "new"))
    document = found.to_dict()
    assert document["a"] == {"name": "old", "value": found.values[0]}
    assert isinstance(document["queries"], list)
    first = {name: document["queries"][0][name] for name in ("query_id", "a", "b")}
    old, new = (found.queries.column(name)[0] for name in ("old", "new"))
    assert first == {"query_id": "q1", "a": old, "b": new}
    for frame in (found.to_pandas(), found.to_polars()):
        assert frame["query_id"].to_list() == ["q1", "q2", "empty"]
    assert found.to_arrow()["old"].to_pylist() == list(found.queries.column("old"))
    of_query = found.explain("q1").to_dict()
    assert of_query["difference"] == found.explain("q1").difference
    assert isinstance(of_query["documents"], list)
    assert of_query["documents"][0]["doc_id"] == "a"


def test_the_command_adds_up_what_both_runs_have_diagnostics_of(tmp_path):
    qrels, old, new = ({f"q{at}": {"a": 1} for at in range(count)} for count in (6, 5, 3))
    runs = [write_run(tmp_path / "old.run", old), write_run(tmp_path / "new.run", new)]
    done = run("diff", write_qrels(tmp_path / "qrels", qrels), *runs, "--json")
    assert json.loads(done.stdout)["diagnostics"]["n_missing"] == 1 + 3


JUDGED = {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}, "q3": {"e": 2}}
BASELINE = {"q1": {"x": 3.0, "b": 2.0}, "q2": {"c": 2.0, "d": 1.0}, "q3": {"e": 1.0}}
RUN = {"q1": {"a": 2.0, "b": 2.0}, "q2": {"d": 2.0, "c": 1.0}, "q3": {"e": 1.0, "f": 1.0}}
SCOPE = (
    "These ranges are not confidence intervals: they cover unjudged documents and ties, not the "
    "choice of queries."
)


def rank(run, ties="doc_id"):
    return rs.Rankings.from_run(JUDGED, run, ties=ties)


def test_the_range_despite_unjudged_documents_has_the_ends_of_the_bounds():
    run, baseline = rank(RUN), rank(BASELINE)
    found = range_despite_unjudged(run, baseline, "nDCG@3")
    bounds = run.bounds("nDCG@3", against=baseline)
    assert found is not None
    assert (found.lowest, found.highest) == (
        bounds.mean.lower,
        bounds.mean.upper,
    )
    # The document d is unjudged in both runs, and counts once.
    assert (found.documents, found.scale, found.is_exact) == (3, (0, 1, 2, 3), True)


@pytest.mark.parametrize("ties", ["doc_id", "average"])
def test_the_range_despite_ties_breaks_those_of_each_run_independently(ties):
    run, baseline = rank(RUN, ties), rank(BASELINE, ties)
    found = range_despite_ties(run, baseline, "RR(rel=2)")
    assert found is not None
    # Over q1 and q3, the reciprocal rank of the run is 1/2 or 1. It is 0 for q2 in both runs.
    assert found.lowest == pytest.approx((1 / 2 - 0 + 1 / 2 - 1) / 3, abs=1e-15)
    assert found.highest == pytest.approx((1 - 0 + 1 - 1) / 3, abs=1e-15)
    assert found.documents == 4
    assert found.is_certain is False


def test_both_ranges_only_cover_queries_with_a_value_in_both_runs():
    policy = "missing=skip"
    run, baseline = rank({"q1": RUN["q1"], "q2": RUN["q2"]}), rank(BASELINE)
    assert range_despite_unjudged(run, baseline, "nDCG@3", policy) == range_despite_unjudged(
        run, rank({"q1": BASELINE["q1"], "q2": BASELINE["q2"]}), "nDCG@3", policy
    )
    found = range_despite_ties(run, baseline, "RR(rel=2)", policy)
    assert found is not None
    assert (found.lowest, found.highest) == (1 / 4, 1 / 2)
    assert found.is_certain is True


@pytest.mark.parametrize(
    ("measure", "policy"), [("Bpref", None), ("nDCG", "aggregate=median"), ("GMAP", None)]
)
def test_a_measure_or_policy_without_bounds_has_no_range(measure, policy):
    assert range_despite_unjudged(rank(RUN), rank(BASELINE), measure, policy) is None


def test_values_that_are_not_averaged_have_no_range_despite_ties():
    assert range_despite_ties(rank(RUN), rank(BASELINE), "GMAP") is None


def test_runs_without_common_queries_have_ranges_of_nan():
    run, baseline = rank({"q1": RUN["q1"]}), rank({"q2": BASELINE["q2"]})
    found = range_despite_ties(run, baseline, "RR", "missing=skip")
    assert found is not None
    assert math.isnan(found.lowest)
    assert math.isnan(found.highest)


def test_what_is_printed_of_a_difference_names_both_ranges():
    difference = rs.diff(JUDGED, BASELINE, RUN, "nDCG@3")
    assert difference.unjudged is not None
    assert difference.tied is not None
    unjudged, tied = difference.unjudged, difference.tied
    judged = f"{unjudged.lowest:.4f} to +{unjudged.highest:.4f}"
    ordered = f"{tied.lowest:.4f} to {tied.highest:+.4f}"
    first, second, third = difference.small_print[:3]
    assert first == f"unjudged documents: 3; if judged: {judged}; winner certain: no"
    assert second == f"tied documents: 4; in other orders: {ordered}; winner certain: no"
    assert third == SCOPE
    assert first in str(difference).splitlines()
