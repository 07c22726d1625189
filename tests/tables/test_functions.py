"""The functions on grades in rank order give the tables of the books, in every shape."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import rankscope as rs
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, nDCG

from tests.refusals import refused, refuses


def test_one_list_and_one_cutoff_is_a_number_and_each_further_one_an_axis() -> None:
    lists = [[3, 2, 1], [0, 1], []]
    assert isinstance(rs.ndcg([3, 2, 1]), float)
    assert isinstance(rs.ndcg([3, 2, 1], k=2), float)
    assert np.shape(rs.ndcg([3, 2, 1], k=[1, 2])) == (2,)
    assert np.shape(rs.ndcg([3, 2, 1], k="all")) == (3,)
    assert np.shape(rs.ndcg(lists)) == (3,)
    assert np.shape(rs.ndcg(lists, k=2)) == (3,)
    assert np.shape(rs.ndcg(lists, k=[1, 2])) == (3, 2)
    assert np.shape(rs.ndcg(lists, k="all")) == (3, 3)
    assert np.shape(rs.ndcg(np.array([[3, 2, 1], [1, 2, 3]]), k="all")) == (2, 3)


@given(grades=st.lists(st.integers(0, 4), min_size=1, max_size=9))
def test_every_rank_is_its_definition(grades: list[int]) -> None:
    discounted = [grade / math.log2(rank + 2) for rank, grade in enumerate(grades)]
    best = [grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades, reverse=True))]
    dcgs = list(itertools.accumulate(discounted))
    idcgs = list(itertools.accumulate(best))
    assert np.asarray(rs.cg(grades, k="all")).tolist() == list(itertools.accumulate(grades))
    assert np.asarray(rs.dcg(grades, k="all")).tolist() == dcgs
    assert np.asarray(rs.idcg(grades, k="all")).tolist() == idcgs
    expected = [a / b if b else 0 for a, b in zip(dcgs, idcgs, strict=True)]
    assert np.asarray(rs.ndcg(grades, k="all")).tolist() == expected


def test_settings_are_those_of_the_measure_and_the_policy() -> None:
    assert rs.dcg([3, 1], gain="exp2") == 7 / 1 + 1 / math.log2(3)
    assert rs.dcg([3, 1], discount="reciprocal") == 3 + 1 / 2
    assert rs.dcg([1, -1], negative="gain") == 1 - 1 / math.log2(3)
    assert rs.cg([1], k=3, missing_gain=-1) == -1
    assert rs.ndcg([0, 0], empty="one") == 1
    assert math.isnan(float(rs.ndcg([0, 0], empty="skip")))


def tied(y_true: list[float], y_score: list[float], k: int) -> float:
    """DCG averaged over every order of tied documents."""
    docs = sorted(zip(y_score, y_true, strict=True), key=lambda doc: -doc[0])
    groups = [list(group) for _, group in itertools.groupby(docs, key=lambda doc: doc[0])]
    orders = list(itertools.product(*map(itertools.permutations, groups)))
    values = [
        sum(doc[1] / math.log2(rank + 2) for rank, doc in enumerate(list(itertools.chain(*o))[:k]))
        for o in orders
    ]
    return sum(values) / len(values)


@given(
    docs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=6),
    k=st.integers(1, 7),
)
def test_scores_of_tied_documents_are_averaged(docs: list[tuple[int, int]], k: int) -> None:
    y_true = [float(doc[0]) for doc in docs]
    y_score = [float(doc[1]) for doc in docs]
    expected = tied(y_true, y_score, k)
    best = tied(y_true, y_true, k)
    assert rs.dcg_score([y_true], [y_score], k=k) == pytest.approx(expected, abs=1e-12)
    found = rs.ndcg_score([y_true], [y_score], k=k)
    assert found == pytest.approx(expected / best if best else 0, abs=1e-12)


def test_weights_and_bases_are_those_asked_for() -> None:
    y_true, y_score = [[3, 0, 1], [0, 2, 1]], [[1, 2, 3], [1, 2, 3]]
    each = [rs.ndcg_score([t], [s]) for t, s in zip(y_true, y_score, strict=True)]
    assert rs.ndcg_score(y_true, y_score) == pytest.approx(sum(each) / 2)
    weighted = rs.ndcg_score(y_true, y_score, sample_weight=[3, 1])
    assert weighted == pytest.approx((3 * each[0] + each[1]) / 4)
    natural = rs.dcg_score([[3, 1]], [[2, 1]], log_base=math.e)
    assert natural == pytest.approx(3 / math.log(2) + 1 / math.log(3))
    assert rs.ndcg_score([[1.0]], [[0.5]]) == 1


def test_ignoring_ties_takes_the_last_document_first() -> None:
    assert rs.dcg_score([[1, 2]], [[0, 0]], ignore_ties=True) == 2 + 1 / math.log2(3)


LOG2_3 = math.log2(3)


@pytest.mark.parametrize(
    ("rel", "ideal", "k"),
    [([1, 2], [1, 1], None), ([2], [1], 1), ([3, 3], [3], 2), ([0, 0, 1], [0], None)],
)
def test_an_ideal_that_its_list_beats_is_refused(
    rel: list[int], ideal: list[int], k: int | None
) -> None:
    measure = nDCG if k is None else nDCG @ k
    for location, call in (
        ("ideal", lambda: rs.ndcg(rel, k, ideal=ideal)),
        ("ideal:2", lambda: rs.ndcg([[1], rel], k, ideal=[[1], ideal])),
        ("ideal:2", lambda: Rankings.from_lists([[1], rel], ideal=[[1], ideal]).evaluate(measure)),
    ):
        with pytest.raises(rs.InputError) as caught:
            call()
        assert (caught.value.code, caught.value.location) == ("ideal_mismatch", location)


@pytest.mark.parametrize("measure", ["AP", "R@2", "AP@2", "nDCG(gain='exp2')"])
def test_no_measure_of_at_most_1_has_more_by_an_ideal(measure: str) -> None:
    rankings = Rankings.from_lists([[1, 1]], ideal=[[1]])
    with refuses(rs.InputError, "ideal_mismatch", match="a list that is better"):
        rankings.evaluate(measure)


def test_an_ideal_may_be_shorter_than_a_list_that_does_not_beat_it() -> None:
    assert rs.ndcg([3, 1, 2, 0], 2, ideal=[3, 2]) == (3 + 1 / LOG2_3) / (3 + 2 / LOG2_3)
    assert rs.ndcg([2, 1], ideal=[3]) == (2 + 1 / LOG2_3) / 3
    assert rs.ndcg([1, 2], 1, ideal=[2]) == 1 / 2
    assert rs.ndcg([0, 0], ideal=[0]) == 0
    assert rs.ndcg([0, 1], 1, ideal=[0]) == 0
    assert rs.ndcg([-1, 0], ideal=[0], negative="gain") == 0


@pytest.mark.parametrize("gain", [lambda grade: grade, [0, 1, 2, 3]], ids=["function", "table"])
def test_a_grade_that_the_ideal_lacks_has_its_gain(gain: object) -> None:
    settings = {"gain": gain}
    assert rs.ndcg([2, 1], ideal=[3], **settings) == (2 + 1 / LOG2_3) / 3
    assert rs.explain([2, 1], ideal=[3], **settings).value == (2 + 1 / LOG2_3) / 3


def test_documents_that_are_not_relevant_need_not_be_in_the_ideal() -> None:
    rankings = Rankings.from_lists([[1, 0, 1]], ideal=[[1, 1, 1]])
    found = rankings.evaluate(["AP", "IPrec@0.5", "P@3", "RR"])
    assert [*found.values()] == [(1 + 2 / 3) / 3, 2 / 3, 2 / 3, 1]


def test_a_grade_of_a_list_without_a_gain_is_refused_whatever_the_ideal() -> None:
    for call in (rs.ndcg, rs.explain):
        with refuses(rs.RankscopeError, "gain_missing", match="found none for 2"):
            call([2, 1], ideal=[3], gain={1: 1, 3: 3})
    refused(lambda: rs.ndcg([-2, 1], ideal=[3], negative="error"), "negative_gain")


def test_what_is_above_1_by_its_definition_is_no_mistake() -> None:
    graded = Rankings.from_lists([[3, 3]], ideal=[[3, 3]])
    assert graded.evaluate(nDCG(ideal="slots") @ 2)[nDCG(ideal="slots") @ 2] == pytest.approx(3)
    rising = nDCG(discount=[1, 2]) @ 2
    assert Rankings.from_lists([[1, 2]], ideal=[[2, 1]]).evaluate(rising)[rising] == 5 / 4
    unjudged = Rankings.from_lists([[math.nan, 1]], ideal=[[1]])
    value = unjudged.evaluate(nDCG, policy="unjudged=2")[nDCG]
    assert value == pytest.approx(2 + 1 / LOG2_3)


def make_matrices(seed: int, *, kind: str, decimals: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    shape = (17, int(generator.integers(1, 90)))
    grades = generator.integers(0, 4, shape) * (generator.random(shape) < 0.6)
    scores = generator.normal(size=shape).round(decimals)
    if kind.startswith("i"):
        return grades.astype(kind), (scores * 10).astype(kind)
    return grades.astype(kind), scores.astype(kind)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "i4"])
@pytest.mark.parametrize("decimals", [1, 12])
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_a_plain_matrix_gives_the_bits_of_its_lists(
    seed: int, kind: str, decimals: int, name: str, *, ignore_ties: bool
) -> None:
    grades, scores = make_matrices(seed, kind=kind, decimals=decimals)
    score = getattr(rs, name)
    weights = np.random.default_rng(seed).random(len(grades))
    for k in (1, 3, 10, 70, 1000, None):
        for sample_weight in (None, weights):
            choices = {"k": k, "ignore_ties": ignore_ties, "sample_weight": sample_weight}
            expected = score(grades.tolist(), scores.tolist(), **choices)
            assert score(grades, scores, **choices) == expected


@pytest.mark.parametrize("seed", range(3))
def test_any_gain_and_discount_work_on_matrices(seed: int) -> None:
    grades, scores = make_matrices(seed, kind="f8", decimals=1)
    for settings in (
        {"gain": "exp2"},
        {"gain": [0, 1, 3, 7]},
        {"gain": lambda grade: grade**3},
        {"discount": "reciprocal"},
        {"discount": "log", "base": math.e},
        {"gain": "binary", "discount": "jk", "base": 3},
        {"gain": [0, 3, 1, 7]},
        {"ideal": "whole"},
        {"ideal": "retrieved"},
        {"ideal": "slots"},
        {"negative": "minmax"},
        {"missing_gain": 0.5},
        {"empty": "one"},
        {"ties": "worst"},
        {"ties": "best", "empty": "skip"},
    ):
        expected = rs.ndcg_score(grades.tolist(), scores.tolist(), k=5, **settings)
        assert rs.ndcg_score(grades, scores, k=5, **settings) == expected


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("columns", [2, 63, 64, 127, 128, 129, 600])
@pytest.mark.parametrize("ignore_ties", [False, True])
def test_scores_that_are_nearly_equal_are_not_tied(
    seed: int, columns: int, *, ignore_ties: bool
) -> None:
    generator = np.random.default_rng(seed)
    shape = (9, columns)
    grades = generator.integers(0, 4, shape).astype(float)
    scores = generator.integers(-1, 2, shape).astype(float)
    nearly = np.nextafter(scores, generator.choice([-1.0, 0.0, 1.0, 9.0], shape))
    signed = np.where(generator.random(shape) < 0.5, 0.0, -0.0)
    for odd in (nearly, signed, np.where(signed == nearly, 5e-324, signed), scores * 1e300):
        for k in (1, 2, 10, 63, 64, None):
            expected = rs.ndcg_score(grades.tolist(), odd.tolist(), k=k, ignore_ties=ignore_ties)
            assert rs.ndcg_score(grades, odd, k=k, ignore_ties=ignore_ties) == expected


def test_ignoring_ties_beside_a_choice_of_ties_is_a_contradiction() -> None:
    with pytest.raises(rs.PolicyError):
        rs.ndcg_score([[1, 0]], [[1, 2]], ignore_ties=True, ties="best")


@pytest.mark.parametrize("documents", [5, 30, 300])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_ignoring_ties_gives_the_number_of_scikit_learn_in_the_order_of_its_sort(
    name: str, documents: int
) -> None:
    generator = np.random.default_rng(documents)
    ours, theirs = getattr(rs, name), getattr(sklearn.metrics, name)
    for _ in range(20):
        grades = generator.integers(0, 5, (1, documents))
        scores = generator.integers(0, 10, (1, documents)).astype(float)
        # It isn't stable, so that tied documents come in any order.
        order = np.argsort(scores)[:, ::-1]
        sorted_grades = np.take_along_axis(grades, order, axis=1)
        expected = theirs(grades, scores, ignore_ties=True)
        found = ours(sorted_grades, -np.arange(documents)[None])
        assert math.isclose(found, expected, rel_tol=1e-12)  # it multiplies by reciprocals
        stable = np.argsort(scores, kind="stable")[:, ::-1]
        last_first = ours(np.take_along_axis(grades, stable, axis=1), -np.arange(documents)[None])
        assert ours(grades, scores, ignore_ties=True) == last_first
        distinct = generator.permuted(np.arange(documents))[None] / 7
        assert math.isclose(
            ours(grades, distinct, ignore_ties=True),
            theirs(grades, distinct, ignore_ties=True),
            rel_tol=1e-12,
        )
