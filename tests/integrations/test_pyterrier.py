"""Measures of rankscope work in `pt.Experiment`, and its pipelines can be compared."""

from __future__ import annotations

import pandas as pd
import pytest
import rankscope as rs
from rankscope.errors import FormatError, UsageError
from rankscope.integrations.pyterrier import compare, make_measures

pt = pytest.importorskip("pyterrier")

TOPICS = pd.DataFrame({"qid": ["1", "2", "3"], "query": ["one", "two", "three"]})
QRELS = pd.DataFrame(
    {
        "qid": ["1", "1", "2", "3", "4"],
        "docno": ["d1", "d2", "d1", "d9", "d1"],
        "label": [2, 1, 1, 1, 1],
    }
)
FIRST = pd.DataFrame(
    {
        "qid": ["1", "1", "2", "2", "3"],
        "query": ["one", "one", "two", "two", "three"],
        "docno": ["d1", "d3", "d5", "d1", "d8"],
        "score": [2.0, 1.0, 2.0, 1.0, 1.0],
        "rank": [0, 1, 0, 1, 0],
    }
)
OTHER = FIRST.assign(score=[1.0, 2.0, 1.0, 2.0, 1.0])


class Stored(pt.Transformer):
    """A pipeline that looks its results up, and so needs no index."""

    def __init__(self, results):
        super().__init__()
        self.results = results

    def transform(self, topics):
        return self.results.merge(topics[["qid"]], on="qid")


def as_dicts(frame, number):
    return {
        query: dict(zip(rows["docno"], rows[number], strict=True))
        for query, rows in frame.groupby("qid")
    }


JUDGED = as_dicts(QRELS[QRELS["qid"] != "4"], "label")
RUNS = {"first": as_dicts(FIRST, "score"), "other": as_dicts(OTHER, "score")}


def test_an_experiment_has_the_values_of_rankscope():
    wanted = [rs.nDCG @ 10, rs.nDCG(gain="exp2", discount="zipf", s=0.5) @ 3, rs.AP]
    systems = {"first": FIRST, "other": Stored(OTHER)}
    metrics = ["map", *make_measures(wanted)]
    found = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=metrics)
    for row, run in zip(found.to_dict("records"), RUNS.values(), strict=True):
        expected = rs.evaluate(JUDGED, run, wanted)
        assert {str(each): row[str(each)] for each in wanted} == pytest.approx(dict(expected))
        assert row["map"] == pytest.approx(expected["AP"])


def test_values_of_queries_and_tests_of_pyterrier_work_with_them():
    measures = make_measures("nDCG@10")
    systems = {"a": FIRST, "b": OTHER}
    found = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=measures, perquery=True)
    values = [rows["value"].tolist() for _, rows in found.groupby("name")]
    for run in RUNS.values():
        expected = rs.evaluate(JUDGED, run, "nDCG@10").per_query_list("nDCG@10")
        assert values.pop(0) == pytest.approx(expected)
    tested = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=measures, baseline="a")
    assert 0 <= tested["nDCG@10 p-value"][1] <= 1


def test_batches_have_the_values_of_the_whole():
    measures = make_measures(["nDCG@10", "AP"], policy="unjudged=nonrelevant")
    systems = {"first": Stored(FIRST)}
    whole = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=measures)
    for size in (1, 2):
        parts = pt.Experiment(systems, TOPICS, QRELS, eval_metrics=measures, batch_size=size)
        pd.testing.assert_frame_equal(parts, whole)


def test_batches_without_judged_queries_have_no_values():
    judged = QRELS[QRELS["qid"] == "1"]
    found = pt.Experiment(
        [Stored(FIRST)],
        TOPICS,
        judged,
        eval_metrics=make_measures("RR"),
        batch_size=1,
        filter_by_qrels=False,
    )
    assert found["RR"].tolist() == [1.0]


def test_pipelines_are_compared_as_their_runs():
    systems = {"first": FIRST, "other": Stored(OTHER)}
    found = compare(systems, TOPICS, QRELS, ["nDCG@10", rs.AP], baseline="first")
    expected = rs.compare(JUDGED, RUNS, ["nDCG@10", "AP"], baseline="first")
    assert str(found) == str(expected)
    assert found.to_dict() == expected.to_dict()


def test_scores_that_differ_in_double_precision_only_are_ties_as_in_pyterrier():
    close = FIRST.assign(score=[1.0, 1.0 + 1e-12, 2.0, 1.0, 1.0])
    found = compare({"close": close, "other": OTHER}, TOPICS, QRELS, "RR")
    theirs = pt.Experiment([close], TOPICS, QRELS, eval_metrics=["recip_rank"])
    assert found.means["close"]["RR"] == pytest.approx(theirs["recip_rank"][0])
    exact = compare({"close": close, "other": OTHER}, TOPICS, QRELS, "RR", score_type="float64")
    run = as_dicts(close, "score")
    assert exact.means["close"]["RR"] == rs.evaluate(JUDGED, run, "RR")["RR"]


def test_mistakes_are_errors_of_rankscope():
    with pytest.raises(UsageError, match="pipelines by name, found list"):
        compare([FIRST, OTHER], TOPICS, QRELS, "AP")
    with pytest.raises(FormatError, match="score"):
        compare({"a": FIRST.drop(columns="score"), "b": OTHER}, TOPICS, QRELS, "AP")
    with pytest.raises(UsageError, match="nDGC"):
        make_measures("nDGC@10")
