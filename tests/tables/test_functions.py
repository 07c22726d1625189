"""The functions on grades in rank order, in every shape, and of rows of many queries."""

from __future__ import annotations

import itertools
import math
import warnings
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
import sklearn.metrics
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, nDCG
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold

from tests.refusals import refused, refuses


def test_one_list_and_one_cutoff_is_a_number_and_each_further_one_an_axis():
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
def test_every_rank_is_its_definition(grades):
    discounted = [grade / math.log2(rank + 2) for rank, grade in enumerate(grades)]
    best = [grade / math.log2(rank + 2) for rank, grade in enumerate(sorted(grades, reverse=True))]
    dcgs = list(itertools.accumulate(discounted))
    idcgs = list(itertools.accumulate(best))
    assert np.asarray(rs.cg(grades, k="all")).tolist() == list(itertools.accumulate(grades))
    assert np.asarray(rs.dcg(grades, k="all")).tolist() == dcgs
    assert np.asarray(rs.idcg(grades, k="all")).tolist() == idcgs
    expected = [a / b if b else 0 for a, b in zip(dcgs, idcgs, strict=True)]
    assert np.asarray(rs.ndcg(grades, k="all")).tolist() == expected


def test_settings_are_those_of_the_measure_and_the_policy():
    assert rs.dcg([3, 1], gain="exp2") == 7 / 1 + 1 / math.log2(3)
    assert rs.dcg([3, 1], discount="reciprocal") == 3 + 1 / 2
    assert rs.cg([1], k=3, missing_gain=-1) == -1
    assert rs.ndcg([0, 0], empty="one") == 1
    assert math.isnan(float(rs.ndcg([0, 0], empty="skip")))


def tied(y_true, y_score, k):
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
def test_scores_of_tied_documents_are_averaged(docs, k):
    y_true = [float(doc[0]) for doc in docs]
    y_score = [float(doc[1]) for doc in docs]
    expected = tied(y_true, y_score, k)
    best = tied(y_true, y_true, k)
    assert rs.dcg_score([y_true], [y_score], k=k) == pytest.approx(expected, abs=1e-12)
    found = rs.ndcg_score([y_true], [y_score], k=k)
    assert found == pytest.approx(expected / best if best else 0, abs=1e-12)


def test_weights_and_bases_are_those_asked_for():
    y_true, y_score = [[3, 0, 1], [0, 2, 1]], [[1, 2, 3], [1, 2, 3]]
    each = [rs.ndcg_score([t], [s]) for t, s in zip(y_true, y_score, strict=True)]
    assert rs.ndcg_score(y_true, y_score) == pytest.approx(sum(each) / 2)
    weighted = rs.ndcg_score(y_true, y_score, sample_weight=[3, 1])
    assert weighted == pytest.approx((3 * each[0] + each[1]) / 4)
    natural = rs.dcg_score([[3, 1]], [[2, 1]], log_base=math.e)
    assert natural == pytest.approx(3 / math.log(2) + 1 / math.log(3))
    assert rs.ndcg_score([[1.0]], [[0.5]]) == 1


LOG2_3 = math.log2(3)


@pytest.mark.parametrize(
    ("rel", "ideal", "k"),
    [([1, 2], [1, 1], None), ([2], [1], 1), ([3, 3], [3], 2), ([0, 0, 1], [0], None)],
)
def test_an_ideal_that_its_list_beats_is_refused(rel, ideal, k):
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
def test_no_measure_of_at_most_1_has_more_by_an_ideal(measure):
    rankings = Rankings.from_lists([[1, 1]], ideal=[[1]])
    with refuses(rs.InputError, "ideal_mismatch", match="a list that is better"):
        rankings.evaluate(measure)


def test_an_ideal_may_be_shorter_than_a_list_that_does_not_beat_it():
    assert rs.ndcg([3, 1, 2, 0], 2, ideal=[3, 2]) == (3 + 1 / LOG2_3) / (3 + 2 / LOG2_3)
    assert rs.ndcg([2, 1], ideal=[3]) == (2 + 1 / LOG2_3) / 3
    assert rs.ndcg([1, 2], 1, ideal=[2]) == 1 / 2
    assert rs.ndcg([0, 0], ideal=[0]) == 0
    assert rs.ndcg([0, 1], 1, ideal=[0]) == 0
    assert rs.ndcg([-1, 0], ideal=[0], negative="gain") == 0


@pytest.mark.parametrize("gain", [lambda grade: grade, [0, 1, 2, 3]], ids=["function", "table"])
def test_a_grade_that_the_ideal_lacks_has_its_gain(gain):
    settings = {"gain": gain}
    assert rs.ndcg([2, 1], ideal=[3], **settings) == (2 + 1 / LOG2_3) / 3
    assert rs.explain([2, 1], ideal=[3], **settings).value == (2 + 1 / LOG2_3) / 3


def test_documents_that_are_not_relevant_need_not_be_in_the_ideal():
    rankings = Rankings.from_lists([[1, 0, 1]], ideal=[[1, 1, 1]])
    found = rankings.evaluate(["AP", "IPrec@0.5", "P@3", "RR"])
    assert [*found.values()] == [(1 + 2 / 3) / 3, 2 / 3, 2 / 3, 1]


def test_a_grade_of_a_list_without_a_gain_is_refused_whatever_the_ideal():
    for call in (rs.ndcg, rs.explain):
        with refuses(rs.RankscopeError, "gain_missing", match="found none for 2"):
            call([2, 1], ideal=[3], gain={1: 1, 3: 3})
    refused(lambda: rs.ndcg([-2, 1], ideal=[3], negative="error"), "negative_gain")


def test_what_is_above_1_by_its_definition_is_no_mistake():
    graded = Rankings.from_lists([[3, 3]], ideal=[[3, 3]])
    assert graded.evaluate(nDCG(ideal="slots") @ 2)[nDCG(ideal="slots") @ 2] == pytest.approx(3)
    rising = nDCG(discount=[1, 2]) @ 2
    assert Rankings.from_lists([[1, 2]], ideal=[[2, 1]]).evaluate(rising)[rising] == 5 / 4
    unjudged = Rankings.from_lists([[math.nan, 1]], ideal=[[1]])
    value = unjudged.evaluate(nDCG, policy="unjudged=2")[nDCG]
    assert value == pytest.approx(2 + 1 / LOG2_3)


def make_matrices(seed, *, kind, decimals):
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
def test_a_plain_matrix_gives_the_bits_of_its_lists(seed, kind, decimals, name, *, ignore_ties):
    grades, scores = make_matrices(seed, kind=kind, decimals=decimals)
    score = getattr(rs, name)
    weights = np.random.default_rng(seed).random(len(grades))
    for k in (1, 3, 10, 70, 1000, None):
        for sample_weight in (None, weights):
            choices = {"k": k, "ignore_ties": ignore_ties, "sample_weight": sample_weight}
            expected = score(grades.tolist(), scores.tolist(), **choices)
            assert score(grades, scores, **choices) == expected


@pytest.mark.parametrize("seed", range(3))
def test_any_gain_and_discount_work_on_matrices(seed):
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
def test_scores_that_are_nearly_equal_are_not_tied(seed, columns, *, ignore_ties):
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


def test_ignoring_ties_beside_a_choice_of_ties_is_a_contradiction():
    with pytest.raises(rs.errors.PolicyError):
        rs.ndcg_score([[1, 0]], [[1, 2]], ignore_ties=True, ties="best")


@pytest.mark.parametrize("documents", [5, 30, 300])
@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_ignoring_ties_gives_the_number_of_scikit_learn_in_the_order_of_its_sort(name, documents):
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


FUNCTIONS = [rs.ndcg, rs.dcg, rs.cg, rs.idcg]
SCORERS = [rs.ndcg_score, rs.dcg_score]


def make_log(seed=3):
    """Make a log in which the rows of a query are anywhere."""
    generator = np.random.default_rng(seed)
    rows = 60
    return pd.DataFrame(
        {
            "query": generator.permutation(np.repeat(range(100, 112), 5)).astype(str),
            "gains": generator.integers(0, 4, rows),
            "score": generator.normal(size=rows).round(1),
        }
    )


def split(log, column):
    return [group[column].tolist() for _, group in log.groupby("query", sort=False)]


# One-dimensional input of ndcg_score and dcg_score.


@pytest.mark.parametrize("score", SCORERS)
@pytest.mark.parametrize("of", [list, np.array, pd.Series, pl.Series, pa.array])
def test_one_dimensional_input_without_groups_is_an_error_with_the_grouped_call(score, of):
    log = make_log()
    error = refused(lambda: score(of(log["gains"]), of(log["score"])), "groups_needed")
    assert isinstance(error, rs.UsageError)
    assert f"{score.__name__}(y_true, y_score, groups=df['query'])" in error.hint
    assert "rankscope.integrations.sklearn" in error.hint


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("score", SCORERS)
def test_with_groups_the_value_is_the_mean_over_queries_of_each_query_alone(
    score, k, *, ignore_ties
):
    log = make_log()
    choices = {"k": k, "ignore_ties": ignore_ties}
    found = score(log["gains"], log["score"], groups=log["query"], **choices)
    pairs = zip(split(log, "gains"), split(log, "score"), strict=True)
    alone = [score([grades], [scores], **choices) for grades, scores in pairs]
    assert found == math.fsum(alone) / len(alone)


def test_weights_are_those_of_the_queries_in_the_order_of_their_first_rows():
    rows = [0, 1, 3, 1], [0.9, 0.8, 0.7, 0.6]
    groups = ["b", "a", "b", "a"]
    of_b, of_a = 1 / LOG2_3, 1.0
    found = rs.ndcg_score(*rows, groups=groups, sample_weight=[3, 1])
    assert found == pytest.approx((3 * of_b + of_a) / 4, abs=1e-15)
    refused(lambda: rs.ndcg_score(*rows, groups=groups, sample_weight=[1] * 4), "bad_weights")


# A model evaluated by scikit-learn, whose folds are rows of many queries.


def make_folds():
    generator = np.random.default_rng(5)
    queries = np.repeat([f"q{query}" for query in range(12)], 8)
    features = generator.normal(size=(len(queries), 3))
    grades = np.clip(np.round(features[:, 0] + generator.normal(size=len(queries))), 0, 3)
    return features, grades, queries


def test_in_a_grid_search_the_warning_shows_the_grouped_call():
    features, grades, queries = make_folds()
    search = GridSearchCV(
        Ridge(), {"alpha": [1.0]}, scoring=make_scorer(rs.ndcg_score), cv=GroupKFold(3)
    )
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        search.fit(features, grades, groups=queries)
    assert math.isnan(search.best_score_)
    messages = [str(each.message) for each in warned if "Scoring failed" in str(each.message)]
    assert len(messages) == 3
    for message in messages:
        assert "UsageError: expected groups beside one-dimensional" in message
        assert "ndcg_score(y_true, y_score, groups=df['query'])" in message
        assert "make_scorer(ndcg_score).set_score_request(groups=True)" in message
    search.set_params(error_score="raise")
    with pytest.raises(rs.UsageError, match=r"rankscope\.integrations\.sklearn"):
        search.fit(features, grades, groups=queries)


def test_in_a_grid_search_the_scorer_of_the_message_gives_the_mean_over_queries():
    features, grades, queries = make_folds()
    with config_context(enable_metadata_routing=True):
        scorer = make_scorer(rs.ndcg_score, k=5).set_score_request(groups=True)
        search = GridSearchCV(Ridge(), {"alpha": [1.0]}, scoring=scorer, cv=GroupKFold(3))
        search.fit(features, grades, groups=queries)
    expected = []
    for train, test in GroupKFold(3).split(features, grades, queries):
        scores = Ridge().fit(features[train], grades[train]).predict(features[test])
        rows = [np.flatnonzero(queries[test] == query) for query in set(queries[test])]
        each = [rs.ndcg_score([grades[test][row]], [scores[row]], k=5) for row in rows]
        expected.append(math.fsum(each) / len(each))
    assert search.best_score_ == pytest.approx(np.mean(expected), abs=1e-12)


# Columns of grades in rank order.


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(
    "take",
    [
        lambda log: log["gains"],
        lambda log: log["gains"].astype("Int64"),
        lambda log: log["gains"].array,
        lambda log: pd.Index(log["gains"]),
        lambda log: pl.Series(log["gains"]),
        lambda log: pa.array(log["gains"]),
        lambda log: pa.chunked_array([pa.array(log["gains"])]),
        lambda log: log[["gains"]],
        lambda log: pl.DataFrame(log[["gains"]]),
    ],
)
def test_a_column_of_a_table_without_groups_is_an_error_with_both_forms(function, take):
    error = refused(lambda: function(take(make_log()), k=5), "groups_needed")
    assert f"{function.__name__}(df['gains'], groups=df['query'])" in error.hint
    assert "groups='one'" in error.hint


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("k", [None, 2, [1, 3], "all"])
def test_by_groups_each_query_has_the_value_of_its_rows_alone(function, k):
    log = make_log()
    expected = function(split(log, "gains"), k=k)
    columns = (log, pl.DataFrame(log), pa.table(log))
    for table in columns:
        found = function(table["gains"], k=k, groups=table["query"])
        assert isinstance(found, np.ndarray)
        assert found.tolist() == expected.tolist()


def test_one_group_is_one_list_and_its_value_a_number():
    gains = make_log()["gains"]
    assert rs.ndcg(gains, 5, groups="one") == rs.ndcg(gains.tolist(), 5)
    assert rs.ndcg(gains, "all", groups="one").tolist() == rs.ndcg(gains.tolist(), "all").tolist()
    means = make_log().groupby("query")["gains"].apply(rs.ndcg, groups="one")
    assert means["105"] == rs.ndcg(make_log().query("query == '105'")["gains"].tolist())


def test_ideals_of_groups_are_a_list_each_in_the_order_of_the_first_rows():
    found = rs.ndcg([1, 2, 0, 1], groups=["b", "a", "b", "a"], ideal=[[1, 1], [2, 1]])
    assert found.tolist() == [1 / (1 + 1 / LOG2_3), 1]
    refused(lambda: rs.ndcg([1, 2], groups=["b", "a"], ideal=[2, 1]), "not_numeric")


def test_a_bad_grade_is_found_in_the_row_that_has_it():
    error = refused(lambda: rs.ndcg([1, 0, math.inf, 2], groups=list("abab")), "rel_out_of_range")
    assert error.location == "rel:3"
    scores = [1, 2, math.inf, 3]
    for choices in ({}, {"ignore_ties": True}):
        score = partial(rs.ndcg_score, [1, 0, 2, 2], scores, groups=list("abab"), **choices)
        assert refused(score, "score_overflow").location == "y_score:3"


# Which entries are ids, and which are sizes.


@given(queries=st.lists(st.integers(0, 5), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_ids_of_any_kind_and_in_any_order_give_the_same_groups(queries, seed):
    gains = np.random.default_rng(seed).integers(0, 4, len(queries))
    texts = [f"q{query}" for query in queries]
    expected = [
        rs.cg([gain for gain, other in zip(gains, texts, strict=True) if other == text])
        for text in dict.fromkeys(texts)
    ]
    numbers = np.array(queries) + 100
    forms = (
        texts,
        np.array(texts),
        np.array(texts, dtype=object),
        pd.Series(texts),
        pd.Series(texts, dtype="category"),
        pl.Series(texts),
        pa.array(texts).dictionary_encode(),
        numbers,
        numbers.tolist(),
        numbers.astype(np.uint8),
        pd.Series(numbers, index=numbers),
        pl.Series(numbers),
    )
    for groups in forms:
        assert rs.cg(gains, groups=groups).tolist() == expected


@given(sizes=st.lists(st.integers(0, 5), min_size=1, max_size=8), data=st.data())
def test_whole_numbers_are_sizes_or_ids_or_an_error_but_never_the_other(sizes, data):
    rows = data.draw(st.integers(1, 12))
    gains = list(range(rows))
    add_up, are_as_many = sum(sizes) == rows, len(sizes) == rows
    if add_up and are_as_many and rows > 1:
        refused(lambda: rs.cg(gains, groups=sizes), "ambiguous_groups")
    elif are_as_many:
        found = rs.cg(gains, groups=sizes)
        assert found.tolist() == rs.cg(gains, groups=[f"q{each}" for each in sizes]).tolist()
    elif add_up:
        ends = np.cumsum(sizes)
        lists = [gains[end - size : end] for end, size in zip(ends, sizes, strict=True)]
        assert rs.cg(gains, groups=sizes).tolist() == [float(sum(each)) for each in lists]
    else:
        refused(lambda: rs.cg(gains, groups=sizes), "length_mismatch")


def test_the_hint_for_numbers_that_could_be_both_resolves_them():
    gains, numbers = [3, 1, 2], [2, 1, 0]
    error = refused(lambda: rs.cg(gains, groups=numbers), "ambiguous_groups")
    assert "list(map(str, ids))" in error.hint
    assert rs.cg(gains, groups=list(map(str, numbers))).tolist() == [3, 1, 2]
    assert "np.repeat([f'q{n}' for n in range(len(sizes))], sizes)" in error.hint
    groups = np.repeat([f"q{n}" for n in range(len(numbers))], numbers)
    assert rs.cg(gains, groups=groups).tolist() == [4, 2]


@pytest.mark.parametrize(
    ("groups", "code"),
    [
        ("query", "bad_parameter"),
        ([1.0, 1.0, 2.5], "id_type"),
        ([True, False, True], "id_type"),
        ([None, None, None], "missing_id"),
        (["a", None, "b"], "missing_id"),
        ([("a", 1)] * 3, "id_type"),
        (["a", "b"], "length_mismatch"),
        ([2, 2], "length_mismatch"),
        ([-1, 4], "length_mismatch"),
        ([[1, 1, 2]], "id_type"),
        ({"a": 3}, "id_type"),
        ({1, 2, 3}, "id_type"),
        (3, "id_type"),
        (np.ones((3, 2), dtype=int), "array_shape"),
        (pd.DataFrame({"user": [1, 1, 2], "day": [1, 2, 2]}), "array_shape"),
        (pl.DataFrame({"user": [1, 1, 2], "day": [1, 2, 2]}), "array_shape"),
        (pa.table({"user": [1, 1, 2]}), "array_shape"),
        (pd.Series([1, None, 2]), "id_type"),
        (pd.Series(["a", None, "b"]), "missing_id"),
    ],
)
def test_what_names_no_queries_is_refused(groups, code):
    refused(lambda: rs.ndcg([1, 2, 3], groups=groups), code)
    refused(lambda: rs.ndcg_score([1, 2, 3], [1, 2, 3], groups=groups), code)


def test_groups_beside_a_matrix_or_lists_are_refused():
    refused(lambda: rs.ndcg([[1, 2], [3]], groups=["a", "b"]), "array_shape")
    refused(lambda: rs.ndcg_score([[1, 2]], [[1, 2]], groups=["a", "a"]), "array_shape")


# NaN in place of a score.


def test_a_score_that_is_nan_is_an_error_unless_it_is_padding():
    y_true = [[0, 0, 3], [1, 0, 0]]
    y_score = [[math.nan, math.nan, 0.1], [0.1, math.nan, math.nan]]
    for score in SCORERS:
        for form in (y_score, np.array(y_score), pd.DataFrame(y_score)):
            for choices in ({}, {"ignore_ties": True}):
                error = refused(partial(score, y_true, form, **choices), "score_nan")
                assert error.location == "y_score:1:1"
                assert "padding='nan'" in error.hint
    assert rs.ndcg_score(y_true, y_score, padding="nan") == 1
    assert rs.ndcg_score(y_true, np.array(y_score), padding="nan") == 1
    rows = {"y_true": [0, 0, 3], "y_score": y_score[0], "groups": ["q"] * 3}
    assert refused(lambda: rs.ndcg_score(**rows), "score_nan").location == "y_score:1"
    assert rs.ndcg_score(**rows, padding="nan") == 1


def test_a_mask_says_what_it_means_but_a_nan_beside_it_does_not():
    y_true = [[1, 3], [0, 2]]
    masked = np.ma.array([[2.0, 1.0], [9.0, 1.0]], mask=[[False, False], [True, False]])
    expected = ((1 + 3 / LOG2_3) / (3 + 1 / LOG2_3) + 1) / 2
    assert rs.ndcg_score(y_true, masked) == pytest.approx(expected, abs=1e-15)
    rows = list(masked)  # which are read one by one, their masks as NaN
    assert rs.ndcg_score(y_true, rows, padding="nan") == pytest.approx(expected, abs=1e-15)
    assert refused(lambda: rs.ndcg_score(y_true, rows), "score_nan").location == "y_score:2:1"
    masked[0, 1] = math.nan
    assert refused(lambda: rs.ndcg_score(y_true, masked), "score_nan").location == "y_score:1:2"


def test_only_nan_can_be_padding():
    for padding in (0, True, "zero", -1):
        refused(partial(rs.ndcg_score, [[1, 0]], [[1, 0]], padding=padding), "bad_parameter")


# Rankings.from_arrays.


@pytest.mark.parametrize("of", [list, np.array, pd.Series, pl.Series, pa.array])
def test_columns_become_rankings_only_with_groups(of):
    log = make_log()
    rows = of(log["gains"]), of(log["score"])
    error = refused(lambda: Rankings.from_arrays(*rows), "groups_needed")
    assert "Rankings.from_arrays(y_true, y_score, groups=df['query'])" in error.hint
    rankings = Rankings.from_arrays(*rows, groups=of(log["query"]))
    assert len(rankings) == 12
    assert rankings.evaluate(nDCG @ 3)[nDCG @ 3] == pytest.approx(
        rs.evaluate(log, nDCG @ 3)[nDCG @ 3], abs=1e-15
    )
    assert len(Rankings.from_arrays(*rows, groups="one")) == 1


def test_ids_in_place_of_sizes_are_an_error_that_says_where_ids_go():
    log = make_log()
    for ids, code in ((log["query"], "not_numeric"), (log["query"].astype(int), "length_mismatch")):
        error = refused(partial(Rankings.from_groups, log["gains"], log["score"], ids), code)
        assert "Rankings.from_arrays(relevance, scores, groups=ids)" in error.hint


# A list in each row of a column.


GENERATOR = np.random.default_rng(5)
LOG = pd.DataFrame(
    {
        "query": np.repeat(["a", "b", "c"], 4),
        "gains": GENERATOR.integers(0, 4, 12),
        "score": GENERATOR.normal(size=12),
    }
)
BEST_FIRST = LOG.sort_values("score", ascending=False)
WIDE = pd.DataFrame(GENERATOR.integers(0, 4, (3, 4)), index=["a", "b", "c"], columns=[*"wxyz"])
SIZES = [4, 4, 4]


@pytest.mark.parametrize(
    ("mixed", "name"),
    [
        (lambda: rs.ndcg(BEST_FIRST["gains"], groups=LOG["query"]), "groups"),
        (lambda: rs.dcg(LOG["gains"], groups=BEST_FIRST["query"]), "groups"),
        (lambda: rs.ndcg_score(LOG["gains"], BEST_FIRST["score"], groups=LOG["query"]), "y_score"),
        (lambda: rs.ndcg_score(LOG["gains"], LOG["score"], groups=BEST_FIRST["query"]), "groups"),
        (lambda: rs.ndcg_score(WIDE, WIDE.iloc[::-1]), "y_score"),
        (lambda: rs.ndcg_score(WIDE, WIDE[[*"zyxw"]]), "y_score"),
        (lambda: rs.Rankings.from_arrays(WIDE, WIDE.iloc[::-1]), "y_score"),
        (lambda: rs.Rankings.from_groups(LOG["gains"], BEST_FIRST["score"], SIZES), "scores"),
    ],
)
def test_one_index_in_two_orders_is_an_error(mixed, name):
    with refuses(rs.errors.FormatError, "index_order", match="different orders") as error:
        mixed()
    assert error.value.file == name
    assert "order" in error.value.hint


def test_other_labels_and_arrays_go_by_position():
    expected = rs.evaluate(LOG, "nDCG")["nDCG"]
    gains, score, query = LOG["gains"], LOG["score"], LOG["query"]
    for columns in (
        (gains, score, query),
        (gains.to_numpy(), score, query),
        (gains, score.set_axis(range(100, 112)), query.to_numpy()),
        (BEST_FIRST["gains"], BEST_FIRST["score"], BEST_FIRST["query"]),
        (gains, score, LOG.groupby("query").size()),
    ):
        y_true, y_score, groups = columns
        value = rs.ndcg_score(y_true, y_score, groups=groups)
        assert value == pytest.approx(expected, abs=1e-15)
    rankings = Rankings.from_groups(gains, score, LOG.groupby("query").size())
    assert rankings.evaluate("nDCG")["nDCG"] == pytest.approx(expected, abs=1e-15)


def test_weights_of_queries_have_to_be_in_the_order_of_the_queries():
    log = LOG.iloc[::-1]  # c, b, a
    weights = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    rows = {"y_true": log["gains"], "y_score": log["score"], "groups": log["query"]}
    refused(lambda: rs.ndcg_score(**rows, sample_weight=weights), "index_order")
    found = rs.ndcg_score(**rows, sample_weight=weights.loc[log["query"].unique()])
    table = rs.evaluate(log, "nDCG").to_pandas().set_index("query")["nDCG"]
    expected = np.average(table.loc[weights.index], weights=weights)
    assert found == pytest.approx(expected, abs=1e-15)
    refused(lambda: rs.ndcg_score(WIDE, WIDE, sample_weight=weights.iloc[::-1]), "index_order")
