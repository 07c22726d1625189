"""Several rankings of each query give the values of their definition, whatever their order."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd
import pytest
import rankscope
from hypothesis import given
from hypothesis import strategies as st
from rankscope import EED, EEL, EER, Policy
from rankscope.measures import TABLE

from tests.generated import examples
from tests.invariance.variants import variants
from tests.reference import Query
from tests.reference.expected_exposure import of_samples

if TYPE_CHECKING:
    from pathlib import Path

EXPOSURES = [one for name in ("EEL", "EED", "EER") for one in variants(TABLE[name])]
DOCUMENTS = ["a", "b", "c", "d", "é"]
MODELS = ("rbp", "gerr", "dcg")

Grades = dict[str, float]
Lists = list[list[str]]

judgments = st.dictionaries(
    st.sampled_from([*DOCUMENTS, "unseen", "unseen too"]),
    st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.0]),
    min_size=1,
)
lists = st.lists(
    st.lists(st.sampled_from([*DOCUMENTS, "new"]), min_size=1, unique=True),
    min_size=1,
    max_size=4,
)


def as_runs(samples: Lists) -> list[dict[str, list[str]]]:
    return [{"q": documents} for documents in samples]


@given(grades=judgments, samples=lists)
@examples(40)
def test_exposure_is_that_of_the_definition(grades: Grades, samples: Lists) -> None:
    found = rankscope.evaluate_samples(
        {"q": grades}, as_runs(samples), EXPOSURES, policy="empty=nan"
    )
    queries = [
        Query([grades.get(document) for document in one], [*grades.values()], documents=one)
        for one in samples
    ]
    for measure in EXPOSURES:
        kernel, params = measure.kernel_spec()
        expected = of_samples(kernel, queries, **params)  # type: ignore[arg-type]  # as the row says
        assert repr(found[measure]) == repr(expected), measure


@given(grades=judgments, samples=lists)
@examples(20)
def test_the_order_of_the_rankings_does_not_matter(grades: Grades, samples: Lists) -> None:
    one, other = (
        rankscope.evaluate_samples({"q": grades}, as_runs(each), EXPOSURES, policy="empty=nan")
        for each in (samples, samples[::-1])
    )
    assert repr(dict(one)) == repr(dict(other))


@given(grades=judgments, documents=lists)
@examples(20)
def test_one_ranking_is_evaluated_as_a_run(grades: Grades, documents: Lists) -> None:
    run = {"q": documents[0]}
    measures = [*EXPOSURES, "nDCG@3", "AP", "Judged@2"]
    expected = rankscope.evaluate({"q": grades}, run, measures, policy="empty=nan")
    for runs in ([run], [run, run]):
        found = rankscope.evaluate_samples({"q": grades}, runs, measures, policy="empty=nan")
        if len(runs) == 1:
            assert repr(dict(found)) == repr(dict(expected))
            assert found.counts == expected.counts
        assert list(found.values()) == pytest.approx(list(expected.values()), nan_ok=True)


@pytest.mark.parametrize("model", MODELS)
def test_all_orders_of_relevant_documents_reproduce_the_target(model: str) -> None:
    qrels = {"q": {"a": 2, "b": 1, "c": 1, "d": 0}}
    runs = as_runs([["a", "b", "c"], ["a", "c", "b"]])
    found = rankscope.evaluate_samples(qrels, runs, [EEL(model=model), EEL(model=model) @ 2])
    assert list(found.values()) == [0.0, 0.0]
    alone = rankscope.evaluate_samples(qrels, runs[:1], EEL(model=model))
    assert alone[EEL(model=model)] > 0


@pytest.mark.parametrize("model", MODELS)
def test_loss_is_disparity_less_twice_relevance_and_what_the_target_has(model: str) -> None:
    qrels = {"q": {"a": 1, "b": 1, "c": 0}}
    runs = as_runs([["c", "a", "x"], ["a", "b"]])
    loss, disparity, relevance = (one(model=model) for one in (EEL, EED, EER))
    found = rankscope.evaluate_samples(qrels, runs, [loss, disparity, relevance])
    target = rankscope.evaluate_samples(qrels, as_runs([["a", "b"], ["b", "a"]]), disparity)
    assert found[loss] == pytest.approx(
        found[disparity] - 2 * found[relevance] + target[disparity], rel=1e-12
    )


def test_a_reranked_list_shares_what_is_left_among_the_others() -> None:
    qrels = {"q": {"a": 1, "b": 0, "c": 0}}
    runs = as_runs([["a", "b", "c"], ["a", "c", "b"]])
    found = rankscope.evaluate_samples(qrels, runs, [EEL, EEL(complete=True)])
    assert found[EEL(complete=True)] == 0
    # Each of the others has (1/2 + 1/4) / 2.
    assert found[EEL] == 2 * 0.375**2


def test_other_measures_are_averaged_over_the_rankings() -> None:
    qrels = {"q": {"a": 1}, "p": {"a": 1}}
    runs = [{"q": ["a", "b"], "p": ["a"]}, {"q": ["b", "a"]}]
    found = rankscope.evaluate_samples(qrels, runs, "RR")
    assert found.per_query_list("RR") == [0.75, 1.0]
    assert [note.code for note in found.notes] == ["uneven_samples"]
    assert found.notes[0].count == 1


def test_values_do_not_depend_on_the_number_of_threads() -> None:
    queries = [f"q{n}" for n in range(3000)]
    rows = [(query, doc) for query in queries for doc in "abcdefgh"]
    qrels = pd.DataFrame(rows, columns=["query_id", "doc_id"])
    qrels["relevance"] = [number * 7 % 5 % 3 for number in range(len(rows))]
    runs = []
    for seed in (3, 5, 11):
        run = pd.DataFrame(rows, columns=["query_id", "doc_id"])
        run["score"] = [number * seed % 13 for number in range(len(rows))]
        runs.append(run)
    names = ["EEL", "EED@3", "EER(model='gerr')", "nDCG@3"]
    one, three = (
        rankscope.evaluate_samples(qrels, runs, names, interval=0.95, threads=threads)
        for threads in (1, 3)
    )
    assert dict(one) == dict(three)
    assert one.to_dict() == three.to_dict()
    assert one.intervals == three.intervals


def test_rankers_are_compared_by_their_exposure() -> None:
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(10)}
    first = {query: ["a", "b"] for query in qrels}
    second = {query: ["b", "a"] for query in qrels}
    fixed = rankscope.evaluate_samples(qrels, [first, first], "EEL")
    mixed = rankscope.evaluate_samples(qrels, [first, second], "EEL")
    assert rankscope.compare({"fixed": fixed, "mixed": mixed}, "EEL")["EEL", "mixed"].better == (
        "mixed"
    )


def test_what_is_no_sample_of_rankings_is_refused(tmp_path: Path) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
    with pytest.raises(rankscope.UsageError, match="several runs in a list, found dict"):
        rankscope.evaluate_samples(qrels, run)  # type: ignore[arg-type]  # that is tested
    table = pd.DataFrame({"query_id": ["q"], "doc_id": ["a"], "score": [1.0]})
    with pytest.raises(rankscope.UsageError, match="several runs in a list, found DataFrame"):
        rankscope.evaluate_samples(qrels, table)  # type: ignore[call-overload]  # that is tested
    with pytest.raises(rankscope.UsageError, match="found none"):
        rankscope.evaluate_samples(qrels, [])
    with pytest.raises(rankscope.MeasureError, match="found Coverage"):
        rankscope.evaluate_samples(qrels, [run], "Coverage")
    with pytest.raises(rankscope.PolicyError, match="all their documents, as EEL needs"):
        rankscope.evaluate_samples(qrels, [run], "EEL", policy=Policy(unjudged="remove"))
    with pytest.raises(rankscope.FormatError, match="queries that are both judged"):
        rankscope.evaluate_samples(qrels, [{"other": ["a"]}])
    with pytest.raises(rankscope.FileError):
        rankscope.evaluate_samples(qrels, [tmp_path / "none.txt"])


def test_without_relevant_documents_exposure_is_undefined() -> None:
    found = rankscope.evaluate_samples({"q": {"a": 0}}, [{"q": ["a"]}], policy="empty=nan")
    assert all(math.isnan(value) for value in found.values())
    assert len(found) == 3
