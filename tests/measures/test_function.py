"""Measures that are Python functions work like the others, and are refused where they can't."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys

import numpy as np
import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope.errors import MeasureError, PolicyError, UsageError
from rankscope.monitor import define

from tests.generated import examples
from tests.inputs.entry import flatten
from tests.refusals import refuses_if
from tests.trec import write_run


def discounted(grades, ideal, *, k, power=1.0):
    """The gain discounted by rank, divided by that of the ideal list."""
    weights = np.arange(1, 1 + max(len(grades), len(ideal))) ** -power
    best = ideal[:k] @ weights[: len(ideal[:k])]
    return float(grades @ weights[: len(grades)] / best) if best > 0 else None


def first_grade(lists):
    """The grade of the first document."""
    sizes = np.diff(lists.offsets)
    first = np.zeros(len(lists))
    first[sizes > 0] = lists.grades[lists.offsets[:-1][sizes > 0]]
    return first


Discounted = rankscope.measure("Discounted", discounted)
FirstGrade = rankscope.measure("FirstGrade", first_grade, vectorized=True)
SAME = {
    "Discounted@3": "nDCG(discount='reciprocal')@3",
    "Discounted": "nDCG(discount='reciprocal')",
}

qrels_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q3"]),
    st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 3), min_size=1),
    min_size=1,
)
runs_of = st.dictionaries(
    st.sampled_from(["q1", "q2", "q4"]),
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 5), min_size=1),
    min_size=1,
)


@given(
    qrels=qrels_of,
    run=runs_of,
    policy=st.sampled_from(
        ["", "unjudged=remove", "unjudged=0.5", "empty=skip", "missing=skip", "ties=input"]
    ),
)
@examples(60)
def test_a_function_has_the_values_of_the_measure_that_it_computes(qrels, run, policy):
    if not qrels.keys() & run.keys():
        return
    names = [*SAME] if policy != "unjudged=0.5" else ["Discounted@3"]
    found = rankscope.evaluate(qrels, run, names, policy=policy)
    for ours in names:
        expected = rankscope.evaluate(qrels, run, SAME[ours], policy=policy)
        values = expected.per_query_list(SAME[ours])
        assert found.per_query_list(ours) == pytest.approx(values, rel=1e-12, nan_ok=True)


def test_every_way_in_calls_the_function(tmp_path):
    qrels = {f"q{n}": {"a": n % 3, "b": 1} for n in range(50)}
    run = {query: {"a": 2.0, "b": 1.0, "c": 0.5} for query in qrels}
    names = ["Discounted@2", "FirstGrade", "nDCG@2"]
    expected = rankscope.evaluate(qrels, run, names).to_dict()
    assert expected["q2"]["FirstGrade"] == 2
    for given_run in (flatten(run), write_run(tmp_path / "run", run)):
        assert rankscope.evaluate(qrels, given_run, names).to_dict() == expected
    rankings = rankscope.Rankings.from_run(qrels, run)
    assert rankings.evaluate(names, threads=1).to_dict() == expected
    assert rankings.evaluate(names, threads=4).to_dict() == expected


def test_values_do_not_depend_on_how_many_lists_a_call_has():
    queries = 3000
    qrels = {f"q{n}": {f"d{m}": m % 3 for m in range(100)} for n in range(queries)}
    run = {
        query: {f"d{m}": float((m * 7 + len(query)) % 101) for m in range(100)} for query in qrels
    }
    calls = []

    def count(lists):
        calls.append(len(lists))
        return first_grade(lists)

    measure = rankscope.measure("CountedGrade", count, vectorized=True)
    found = rankscope.evaluate(qrels, run, [measure, FirstGrade])
    assert sum(calls) == queries
    assert 1 < len(calls) < queries
    assert found.per_query_list(measure) == found.per_query_list(FirstGrade)


def test_slices_intervals_and_comparisons_have_it():
    qrels = {f"q{n}": {"a": 1, "b": n % 2} for n in range(20)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    bad = {query: {"c": 2.0, "a": 1.0} for query in qrels}
    found = rankscope.evaluate(qrels, good, "FirstGrade", interval=0.95)
    assert found["FirstGrade"] == 1
    compared = rankscope.compare(qrels, {"bad": bad, "good": good}, ["FirstGrade", "nDCG@2"])
    assert compared["FirstGrade", "good"].difference == 1
    columns = {
        "query_id": [query for query in good for _ in "ab"],
        "doc_id": [*"ab"] * 20,
        "score": [2.0, 1.0] * 20,
        "relevance": [1, 0, 1, 1] * 10,
        "country": [query[-1] for query in good for _ in "ab"],
    }
    sliced = rankscope.evaluate(columns, "FirstGrade", by="country", policy="ties=input")
    assert sliced.slices is not None
    assert sliced["FirstGrade"] == 1


def test_undefined_values_follow_the_policy():
    qrels = {"q1": {"a": 1}, "q2": {"a": 0}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    for policy, mean in (("empty=zero", 0.5), ("empty=skip", 1.0), ("empty=one", 1.0)):
        assert rankscope.evaluate(qrels, run, "Discounted", policy=policy)["Discounted"] == mean
    with pytest.raises(PolicyError, match="ties"):
        rankscope.evaluate(qrels, run, "Discounted", policy="ties=average")


def test_names_and_parameters_are_those_of_a_measure():
    assert Discounted.name == "Discounted"
    assert rankscope.parse("Discounted(power=2)@5") == Discounted(power=2) @ 5
    assert (Discounted(power=2) @ 5).name == "Discounted(power=2)@5"
    assert (Discounted @ 5).plain_name == "discounted_at_5"
    assert pickle.loads(pickle.dumps(Discounted @ 5)) == Discounted @ 5  # noqa: S301 - our own bytes
    with pytest.raises(MeasureError, match="expected power to be a number"):
        Discounted(power="high")
    with pytest.raises(MeasureError, match="no parameter 'speed'"):
        Discounted(speed=1)
    code = f"import pickle; pickle.loads({pickle.dumps(Discounted)!r})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "define it first: rankscope.measure('Discounted', function)" in done.stderr


@pytest.mark.parametrize(
    "name", ["nDCG", "ndcg", "recip_rank", "hits", "P", "mrr", "2nd", "", "a b"]
)
def test_a_name_of_another_measure_is_refused(name):
    with pytest.raises(MeasureError, match="expected"):
        rankscope.measure(name, first_grade)


def test_what_is_no_function_of_a_list_is_refused():
    with pytest.raises(MeasureError, match="expected a function"):
        rankscope.measure("Nothing", 3)
    with pytest.raises(MeasureError, match="or have a default, found weight"):
        rankscope.measure("NoDefault", lambda grades, weight: weight * grades)
    with pytest.raises(MeasureError, match="judged_only is a parameter of every measure"):
        rankscope.measure("Judges", lambda *, judged_only=True: judged_only)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda qrels, run: len(qrels) * len(run), "qrels, run"),
        (lambda y_true, y_score, *, k=10: k * y_true @ y_score, "y_true, y_score"),
        (np.mean, "a"),
    ],
)
def test_a_function_of_something_else_is_refused(function, named):
    with pytest.raises(MeasureError, match=f"or have a default, found {named}\n") as caught:
        rankscope.measure("Other", function)
    assert "write def Other(grades, ideal)" in caught.value.hint


ROWS = {"q1": {"a": 3.0, "b": 2.0, "z": 1.0}, "q2": {"b": 5.0}, "q9": {"a": 1.0}}
JUDGED = {"q2": {"b": 1}, "q0": {"a": 1}, "q1": {"b": 2, "a": 0}}
OfDocs = rankscope.measure("OfDocs", lambda doc_ids, grades: len(doc_ids) + sum(grades))


def test_a_function_takes_what_its_parameters_name(tmp_path):
    calls = []

    def record(query_id, doc_ids, scores, k=None, *, weight=2.0, ideal, grades):
        if k == 2:
            calls.append((query_id, *map(tuple, (doc_ids, scores, grades, ideal))))
        return weight * sum(scores)

    measure = rankscope.measure("Recorded", record)
    rows = flatten(ROWS)
    names = ("query", "doc", "score", "label")
    joined = [(*row, JUDGED.get(row[0], {}).get(row[1])) for row in rows]
    table = dict(zip(names, map(list, zip(*joined, strict=True)), strict=True))
    rankings = rankscope.Rankings.from_run(JUDGED, ROWS)
    for evaluate in (
        lambda asked: rankscope.evaluate(JUDGED, ROWS, asked),
        lambda asked: rankscope.evaluate(JUDGED, rows, asked, threads=4),
        lambda asked: rankscope.evaluate(JUDGED, write_run(tmp_path / "run", ROWS), asked),
        rankings.evaluate,
    ):
        calls.clear()
        found = evaluate([measure @ 2, "P@1", measure(weight=1)])
        assert {*calls} == {
            ("q2", ("b",), (5.0,), (1.0,), (1.0,)),
            ("q0", (), (), (), (1.0,)),
            ("q1", ("a", "b"), (3.0, 2.0), (0.0, 2.0), (2.0, 0.0)),
        }
        assert found.per_query_list(measure @ 2) == [10.0, 0.0, 10.0]
        assert found.per_query_list(measure(weight=1)) == [5.0, 0.0, 6.0]
        assert found.per_query_list("P@1") == [1.0, 0.0, 0.0]
    assert rankscope.evaluate(table, measure).per_query_list(measure) == [12.0, 10.0, 2.0]


def test_rows_of_many_queries_belong_to_their_query():
    queries = {f"q{number}": {f"d{number % 7}": 1.0 + number} for number in range(3000)}
    qrels = {query: {"d3": 1} for query in reversed(queries) if not query.endswith("5")}

    def check(query_id, doc_ids, scores):
        assert queries[query_id] == dict(zip(doc_ids, scores, strict=True))
        return float(query_id[1:])

    measure = rankscope.measure("Checked", check)
    found = rankscope.evaluate(qrels, queries, [measure, FirstGrade], threads=4)
    assert found.per_query_list(measure) == [float(query[1:]) for query in qrels]


@pytest.mark.parametrize("choice", [{"policy": "unjudged=remove"}, {"judged_only": True}])
def test_rows_are_those_of_whole_lists(choice):
    policy = choice.pop("policy", None)
    with pytest.raises(PolicyError, match="expected lists with all documents"):
        rankscope.evaluate(JUDGED, ROWS, OfDocs(**choice), policy=policy)


def test_lists_without_documents_are_refused():
    with pytest.raises(MeasureError, match="expected lists with doc_ids"):
        rankscope.Rankings.from_lists([[1, 0]]).evaluate(OfDocs)
    with pytest.raises(MeasureError):
        rankscope.evaluate_samples(JUDGED, [ROWS, ROWS], OfDocs)


@pytest.mark.parametrize("returned", ["many", math.inf, [1, 2], object()])
def test_what_is_no_value_is_an_error(returned):
    measure = rankscope.measure("Returns", lambda: returned)
    with pytest.raises(MeasureError, match="expected a finite number") as caught:
        rankscope.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measure)
    assert caught.value.code == "function_failed"
    assert str(caught.value).count("Hint:") == 1


def test_an_unknown_direction_is_refused():
    with pytest.raises(PolicyError, match="expected better to be one of higher, lower") as caught:
        rankscope.measure("Directed", discounted, better="low")
    assert caught.value.hint == "did you mean lower?"


@pytest.mark.parametrize("vectorized", [False, True])
def test_a_value_outside_the_range_is_an_error(*, vectorized):
    # Intervals would be cut at the end of the range.
    def of_lists(lists):
        return [2.0] * len(lists)

    function = of_lists if vectorized else (lambda: 2.0)
    for limits, is_inside in (((0, 1), False), ((3, math.inf), False), ((0, 2), True)):
        choices = {"vectorized": vectorized, "value_range": limits}
        measure = rankscope.measure("Ranged", function, **choices)
        with refuses_if(not is_inside, MeasureError, r"expected a value from .*, found 2"):
            assert rankscope.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measure)[measure] == 2


@pytest.mark.parametrize("limit", [1.0, 4.0])
def test_a_value_is_outside_its_range_by_more_than_a_billionth(limit):
    for part, is_inside in ((0.995e-9, True), (1.005e-9, False)):
        for value in (limit * (1 + part), -part * limit):
            measure = rankscope.measure("Rounded", lambda: value, value_range=(0, limit))  # noqa: B023
            with refuses_if(not is_inside, MeasureError, f"expected a value from 0 to {limit:g}"):
                found = rankscope.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measure)
                assert found[measure] == value


@pytest.mark.parametrize("given", [None, (1, 0), (0,), (0, math.nan), "ab", 1])
def test_what_is_no_range_is_refused(given):
    with pytest.raises(MeasureError, match="expected value_range as"):
        rankscope.measure("NoRange", discounted, value_range=given)


def test_a_name_in_other_case_is_suggested():
    for written in ("discounted", "DISCOUNTED@3", "Discountd"):
        with pytest.raises(MeasureError, match="unknown measure") as caught:
            rankscope.parse(written)
        assert caught.value.hint == "did you mean 'Discounted'?"


def test_an_exception_of_the_function_is_named():
    def fail():
        raise ValueError("no luck")

    measure = rankscope.measure("Fails", fail)
    with pytest.raises(MeasureError, match="Fails: ValueError: no luck"):
        rankscope.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, measure)
    few = rankscope.measure("Few", lambda _: np.zeros(7), vectorized=True)
    with pytest.raises(MeasureError, match=r"expected an array of 1 values, found shape \(7,\)"):
        rankscope.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, few)


def test_what_needs_a_formula_refuses_it():
    rankings = rankscope.Rankings.from_run({"q": {"a": 1}}, {"q": {"a": 1.0}})
    with pytest.raises(MeasureError, match="which is a function"):
        rankings.bounds("Discounted")
    with pytest.raises(UsageError):
        rankings.explain("q", "Discounted")
    with pytest.raises(UsageError, match="Python function"):
        define(measures=["Discounted@5"], positive={"click": 1}, window="24h")
    with pytest.raises(UsageError, match="needs judgments by subtopic"):
        define(measures=["alpha_nDCG@5"], positive={"click": 1}, window="24h")


def test_a_gate_takes_a_function():
    qrels = {f"q{number}": {"a": 1} for number in range(60)}
    good = {query: {"a": 1.0} for query in qrels}
    # Discounted by rank, the second place has 1 / 2: two queries in three lose that.
    worse = {
        query: {"a": 1.0, "b": 2.0} if number % 3 else {"a": 1.0}
        for number, query in enumerate(qrels)
    }
    kept = rankscope.gate(qrels, good, worse, {Discounted: 0.9})
    broken = rankscope.gate(qrels, good, worse, {Discounted: 0.1})
    assert (kept.passed, broken.passed) == (True, False)
