"""The simple functions never evaluate rows of many queries as one without being told to."""

from __future__ import annotations

import math
import warnings
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import Rankings, nDCG
from sklearn import config_context
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold

from tests.refusals import refused, refuses

if TYPE_CHECKING:
    from collections.abc import Callable


FUNCTIONS = [rs.ndcg, rs.dcg, rs.cg, rs.idcg]
SCORERS = [rs.ndcg_score, rs.dcg_score]
LOG2_3 = math.log2(3)


def make_log(seed: int = 3) -> pd.DataFrame:
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


def split(log: pd.DataFrame, column: str) -> list[list[float]]:
    return [group[column].tolist() for _, group in log.groupby("query", sort=False)]


# One-dimensional input of ndcg_score and dcg_score.


@pytest.mark.parametrize("score", SCORERS)
@pytest.mark.parametrize("of", [list, np.array, pd.Series, pl.Series, pa.array])
def test_one_dimensional_input_without_groups_is_an_error_with_the_grouped_call(
    score: Callable[..., float], of: Callable[[Any], Any]
) -> None:
    log = make_log()
    error = refused(lambda: score(of(log["gains"]), of(log["score"])), "groups_needed")
    assert isinstance(error, rs.UsageError)
    assert f"{score.__name__}(y_true, y_score, groups=df['query'])" in error.hint
    assert "rankscope.integrations.sklearn" in error.hint


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("ignore_ties", [False, True])
@pytest.mark.parametrize("score", SCORERS)
def test_with_groups_the_value_is_the_mean_over_queries_of_each_query_alone(
    score: Callable[..., float], k: int | None, *, ignore_ties: bool
) -> None:
    log = make_log()
    choices: dict[str, Any] = {"k": k, "ignore_ties": ignore_ties}
    found = score(log["gains"], log["score"], groups=log["query"], **choices)
    pairs = zip(split(log, "gains"), split(log, "score"), strict=True)
    alone = [score([grades], [scores], **choices) for grades, scores in pairs]
    assert found == math.fsum(alone) / len(alone)


def test_groups_give_what_from_groups_gives() -> None:
    log = make_log().sort_values("query", kind="stable")
    sizes = log.groupby("query").size()
    rankings = Rankings.from_groups(log["gains"], log["score"], sizes)
    expected = rankings.evaluate(nDCG @ 5)[nDCG @ 5]
    for groups in (log["query"], sizes, sizes.tolist(), log["query"].astype(int)):
        assert rs.ndcg_score(log["gains"], log["score"], k=5, groups=groups) == expected


def test_weights_are_those_of_the_queries_in_the_order_of_their_first_rows() -> None:
    rows = [0, 1, 3, 1], [0.9, 0.8, 0.7, 0.6]
    groups = ["b", "a", "b", "a"]
    of_b, of_a = 1 / LOG2_3, 1.0
    found = rs.ndcg_score(*rows, groups=groups, sample_weight=[3, 1])
    assert found == pytest.approx((3 * of_b + of_a) / 4, abs=1e-15)
    refused(lambda: rs.ndcg_score(*rows, groups=groups, sample_weight=[1] * 4), "bad_weights")


# A model evaluated by scikit-learn, whose folds are rows of many queries.


def make_folds() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    queries = np.repeat([f"q{query}" for query in range(12)], 8)
    features = generator.normal(size=(len(queries), 3))
    grades = np.clip(np.round(features[:, 0] + generator.normal(size=len(queries))), 0, 3)
    return features, grades, queries


def test_in_a_grid_search_the_warning_shows_the_grouped_call() -> None:
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


def test_in_a_grid_search_the_scorer_of_the_message_gives_the_mean_over_queries() -> None:
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
def test_a_column_of_a_table_without_groups_is_an_error_with_both_forms(
    function: Callable[..., Any], take: Callable[[pd.DataFrame], Any]
) -> None:
    error = refused(lambda: function(take(make_log()), k=5), "groups_needed")
    assert f"{function.__name__}(df['gains'], groups=df['query'])" in error.hint
    assert "groups='one'" in error.hint


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("k", [None, 2, [1, 3], "all"])
def test_by_groups_each_query_has_the_value_of_its_rows_alone(
    function: Callable[..., Any], k: object
) -> None:
    log = make_log()
    expected = function(split(log, "gains"), k=k)
    columns = (log, pl.DataFrame(log), pa.table(log))
    for table in columns:
        found = function(table["gains"], k=k, groups=table["query"])
        assert isinstance(found, np.ndarray)
        assert found.tolist() == expected.tolist()


def test_one_group_is_one_list_and_its_value_a_number() -> None:
    gains = make_log()["gains"]
    assert rs.ndcg(gains, 5, groups="one") == rs.ndcg(gains.tolist(), 5)
    assert rs.ndcg(gains, "all", groups="one").tolist() == rs.ndcg(gains.tolist(), "all").tolist()
    means = make_log().groupby("query")["gains"].apply(rs.ndcg, groups="one")
    assert means["105"] == rs.ndcg(make_log().query("query == '105'")["gains"].tolist())


def test_ideals_of_groups_are_a_list_each_in_the_order_of_the_first_rows() -> None:
    found = rs.ndcg([1, 2, 0, 1], groups=["b", "a", "b", "a"], ideal=[[1, 1], [2, 1]])
    assert found.tolist() == [1 / (1 + 1 / LOG2_3), 1]
    refused(lambda: rs.ndcg([1, 2], groups=["b", "a"], ideal=[2, 1]), "not_numeric")


def test_a_bad_grade_is_found_in_the_row_that_has_it() -> None:
    error = refused(lambda: rs.ndcg([1, 0, math.inf, 2], groups=list("abab")), "rel_out_of_range")
    assert error.location == "rel:3"
    scores = [1, 2, math.inf, 3]
    for choices in ({}, {"ignore_ties": True}):
        score = partial(rs.ndcg_score, [1, 0, 2, 2], scores, groups=list("abab"), **choices)
        assert refused(score, "score_overflow").location == "y_score:3"


# Which entries are ids, and which are sizes.


@given(queries=st.lists(st.integers(0, 5), min_size=1, max_size=12), seed=st.integers(0, 99))
def test_ids_of_any_kind_and_in_any_order_give_the_same_groups(
    queries: list[int], seed: int
) -> None:
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
def test_whole_numbers_are_sizes_or_ids_or_an_error_but_never_the_other(
    sizes: list[int], data: st.DataObject
) -> None:
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


def test_the_hint_for_numbers_that_could_be_both_resolves_them() -> None:
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
def test_what_names_no_queries_is_refused(groups: object, code: str) -> None:
    refused(lambda: rs.ndcg([1, 2, 3], groups=groups), code)  # type: ignore[call-overload,arg-type]
    refused(lambda: rs.ndcg_score([1, 2, 3], [1, 2, 3], groups=groups), code)  # type: ignore[arg-type]


def test_groups_beside_a_matrix_or_lists_are_refused() -> None:
    refused(lambda: rs.ndcg([[1, 2], [3]], groups=["a", "b"]), "array_shape")
    refused(lambda: rs.ndcg_score([[1, 2]], [[1, 2]], groups=["a", "a"]), "array_shape")


# NaN in place of a score.


def test_a_score_that_is_nan_is_an_error_unless_it_is_padding() -> None:
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


def test_a_mask_says_what_it_means_but_a_nan_beside_it_does_not() -> None:
    y_true = [[1, 3], [0, 2]]
    masked = np.ma.array([[2.0, 1.0], [9.0, 1.0]], mask=[[False, False], [True, False]])
    expected = ((1 + 3 / LOG2_3) / (3 + 1 / LOG2_3) + 1) / 2
    assert rs.ndcg_score(y_true, masked) == pytest.approx(expected, abs=1e-15)
    rows = list(masked)  # which are read one by one, their masks as NaN
    assert rs.ndcg_score(y_true, rows, padding="nan") == pytest.approx(expected, abs=1e-15)
    assert refused(lambda: rs.ndcg_score(y_true, rows), "score_nan").location == "y_score:2:1"
    masked[0, 1] = math.nan
    assert refused(lambda: rs.ndcg_score(y_true, masked), "score_nan").location == "y_score:1:2"


def test_only_nan_can_be_padding() -> None:
    for padding in (0, True, "zero", -1):
        refused(partial(rs.ndcg_score, [[1, 0]], [[1, 0]], padding=padding), "bad_parameter")  # type: ignore[arg-type]


# Rankings.from_arrays.


@pytest.mark.parametrize("of", [list, np.array, pd.Series, pl.Series, pa.array])
def test_columns_become_rankings_only_with_groups(of: Callable[[Any], Any]) -> None:
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


def test_ids_in_place_of_sizes_are_an_error_that_says_where_ids_go() -> None:
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
def test_one_index_in_two_orders_is_an_error(mixed: Callable[[], object], name: str) -> None:
    with refuses(rs.FormatError, "index_order", match="different orders") as error:
        mixed()
    assert error.value.file == name
    assert "order" in error.value.hint


def test_other_labels_and_arrays_go_by_position() -> None:
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


def test_weights_of_queries_have_to_be_in_the_order_of_the_queries() -> None:
    log = LOG.iloc[::-1]  # c, b, a
    weights = pd.Series([1.0, 2.0, 3.0], index=["a", "b", "c"])
    rows = {"y_true": log["gains"], "y_score": log["score"], "groups": log["query"]}
    refused(lambda: rs.ndcg_score(**rows, sample_weight=weights), "index_order")
    found = rs.ndcg_score(**rows, sample_weight=weights.loc[log["query"].unique()])
    table = rs.evaluate(log, "nDCG").to_pandas().set_index("query")["nDCG"]
    expected = np.average(table.loc[weights.index], weights=weights)
    assert found == pytest.approx(expected, abs=1e-15)
    refused(lambda: rs.ndcg_score(WIDE, WIDE, sample_weight=weights.iloc[::-1]), "index_order")
