"""Fused scores are those of the plain definitions, whatever the input and the number of threads."""

from __future__ import annotations

import math
from io import StringIO
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope.fusion.compute import _search
from rankscope.fusion.settings import METHODS, SCALES, TIES

from tests.fusion import definitions
from tests.generated import examples

if TYPE_CHECKING:
    from pathlib import Path

    from rankscope.fusion.settings import Scale


Run = dict[str, dict[str, float]]

# Multiples of an eighth are exact, and repeat, so that there are ties.
SCORES = st.integers(1, 40).map(lambda n: n / 8)
ALL = [f"d{n}" for n in range(12)]
LISTS = st.dictionaries(st.sampled_from(ALL), SCORES, min_size=1)
RUNS = st.lists(
    st.dictionaries(st.sampled_from(["q1", "q2", "q3"]), LISTS, min_size=1),
    min_size=2,
    max_size=4,
)
OF_SCORES = [name for name, method in METHODS.items() if not method.is_of_ranks]
OF_RANKS = [name for name, method in METHODS.items() if method.is_of_ranks and name != "condorcet"]
PARAMETERS = {"rrf": 60.0, "rbc": 0.8, "log_isr": 0.0}
WORDS: Run = {"q1": {"d1": 12.0, "d2": 9.0, "d3": 3.0}, "q2": {"d5": 2.0}}
VECTORS: Run = {"q1": {"d2": 0.9, "d4": 0.5}, "q3": {"d1": 0.1, "d2": 0.1}}


def check(runs: list[Run], found: rs.FusedRun, method: str, **settings: object) -> None:
    """Compare a fused run with the definition, query by query."""
    queries = list(dict.fromkeys(query for run in runs for query in run))
    fused = found.to_dict()
    assert list(fused) == queries
    for query in queries:
        has = [(run[query], place) for place, run in enumerate(runs) if query in run]
        weights = settings.get("weights")
        expected = definitions.fuse(
            [scores for scores, _ in has],
            method,
            how=str(settings.get("how", "min_max")),
            weights=None if weights is None else [weights[place] for _, place in has],
            parameter=PARAMETERS.get(method, 0.0),
        )
        # Sums of the definition are exact, and those of the core go from the first run to the last.
        assert fused[query] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        scores = list(fused[query].items())
        assert all(one[::-1] > other[::-1] for one, other in pairwise(scores)), "best first"


@pytest.mark.parametrize("method", OF_SCORES)
@given(runs=RUNS, how=st.sampled_from(sorted(SCALES)))
def test_scores_are_scaled_and_combined_as_defined(
    method: str, how: Scale, runs: list[Run]
) -> None:
    check(runs, rs.fuse(runs, method, normalize=how), method, how=how)


@pytest.mark.parametrize("method", OF_RANKS)
@examples(50)
@given(runs=RUNS)
def test_methods_of_ranks_are_as_defined(method: str, runs: list[Run]) -> None:
    check(runs, rs.fuse(runs, method), method)


@pytest.mark.parametrize("method", ["combsum", "combmnz", "rrf", "rbc", "isr", "borda"])
@examples(50)
@given(runs=RUNS, data=st.data())
def test_the_points_of_a_run_are_multiplied_by_its_weight(
    method: str, runs: list[Run], data: st.DataObject
) -> None:
    weights = data.draw(st.lists(SCORES, min_size=len(runs), max_size=len(runs)))
    check(runs, rs.fuse(runs, method, weights=weights), method, weights=weights)


def margin(ranks: list[dict[str, int]], one: str, other: str) -> int:
    """By how many runs a document wins against another one; runs rank what they lack last."""
    places = [(rank.get(one, len(ALL)), rank.get(other, len(ALL))) for rank in ranks]
    return sum(a < b for a, b in places) - sum(a > b for a, b in places)


@given(runs=RUNS)
def test_no_document_loses_to_the_next_one_of_condorcet(runs: list[Run]) -> None:
    fused = rs.fuse(runs, "condorcet").to_dict()
    for query, scores in fused.items():
        ranks = [
            {doc: place for place, doc in enumerate(definitions.rank(run[query]))}
            for run in runs
            if query in run
        ]

        order = list(scores)
        assert list(scores.values()) == list(range(len(order), 0, -1))
        assert all(margin(ranks, one, other) >= 0 for one, other in pairwise(order))
        winners = [
            d for d in order if all(margin(ranks, d, other) > 0 for other in order if other != d)
        ]
        assert order[: len(winners)] == winners


@examples(50)
@given(runs=RUNS, method=st.sampled_from(list(METHODS)))
def test_threads_and_forms_of_input_do_not_change_a_bit(runs: list[Run], method: str) -> None:
    rows = [[(q, d, s) for q, docs in run.items() for d, s in docs.items()] for run in runs]
    frames = [pd.DataFrame(row, columns=["query_id", "doc_id", "score"]) for row in rows]
    text = [
        "".join(f"{query} Q0 {doc} 0 {score!r} t\n" for query, doc, score in row).encode()
        for row in rows
    ]
    expected = rs.fuse(runs, method, threads=1).to_dict()
    for given_as in (rows, frames, text):
        assert rs.fuse(given_as, method, threads=3).to_dict() == expected


@pytest.mark.parametrize(
    ("name", "used"),
    [
        ("sum", "combsum"),
        ("CombSUM", "combsum"),
        ("comb_sum", "combsum"),
        ("wsum", "combsum"),
        ("bordafuse", "borda"),
        ("reciprocal", "rrf"),
        ("logisr", "log_isr"),
    ],
)
def test_methods_have_the_names_of_other_tools(name: str, used: str) -> None:
    assert rs.fuse([WORDS, VECTORS], name).method == used


@pytest.mark.parametrize(
    ("name", "used"), [("min-max", "min_max"), ("minmax", "min_max"), ("z-score", "zmuv")]
)
def test_scales_have_the_names_of_other_tools(name: Any, used: str) -> None:  # noqa: ANN401 - an alias
    assert rs.fuse([WORDS, VECTORS], "combsum", normalize=name).scale == used


@pytest.mark.parametrize(
    ("name", "use"),
    [("BayesFuse", "fit_fusion"), ("slidefuse", "--fit"), ("gmnz", "combmnz"), ("dbsf", "zmuv")],
)
def test_methods_that_rankscope_lacks_are_refused_with_what_to_use(name: str, use: str) -> None:
    with pytest.raises(rs.UsageError) as raised:
        rs.fuse([WORDS, VECTORS], name)
    assert use in raised.value.hint


def test_scores_that_are_all_equal_count_in_full() -> None:
    fused = rs.fuse([WORDS, VECTORS], "combsum").to_dict()
    assert fused["q2"] == {"d5": 1.0}
    assert fused["q3"] == {"d2": 1.0, "d1": 1.0}


def test_ties_follow_their_policy() -> None:
    runs = [{"q": {"a": 1.0, "c": 1.0, "b": 1.0}}] * 2
    orders = {ties: list(rs.fuse(runs, ties=ties).to_dict()["q"]) for ties in TIES}
    assert orders == {
        "doc_id": ["c", "b", "a"],
        "doc_id_asc": ["a", "b", "c"],
        "input": ["a", "c", "b"],
    }


def test_a_run_without_weight_is_left_out() -> None:
    fused = rs.fuse([WORDS, VECTORS], "combsum", weights=[1.0, 0.0])
    alone = {query: set(docs) for query, docs in WORDS.items()}
    assert {query: set(docs) for query, docs in fused.to_dict().items()} == alone


def test_depth_keeps_the_first_documents() -> None:
    whole = rs.fuse([WORDS, VECTORS]).to_dict()
    cut = rs.fuse([WORDS, VECTORS], depth=2).to_dict()
    assert cut == {query: dict(list(docs.items())[:2]) for query, docs in whole.items()}


def test_a_fused_run_says_which_runs_lack_queries() -> None:
    fused = rs.fuse({"words": WORDS, "vectors": VECTORS})
    assert (fused.names, fused.queries, fused.missing) == (("words", "vectors"), 3, (1, 1))


def test_a_written_run_reads_back_as_the_same_numbers(tmp_path: Path) -> None:
    fused = rs.fuse([WORDS, VECTORS], "combsum", weights=[1 / 3, 0.1])
    fused.write(tmp_path / "fused.run", tag="mine")
    lines = (tmp_path / "fused.run").read_text(encoding="utf-8").splitlines()
    assert lines[0].split() == ["q1", "Q0", "d1", "1", repr(1 / 3), "mine"]
    read = {}
    for line in lines:
        query, _, doc, _, score, _ = line.split()
        read.setdefault(query, {})[doc] = float(score)
    assert read == fused.to_dict()


def test_a_fused_run_is_evaluated_as_any_other() -> None:
    qrels = {"q1": {"d2": 2, "d4": 1}, "q3": {"d1": 1}}
    fused = rs.fuse([WORDS, VECTORS])
    expected = dict(rs.evaluate(qrels, fused.to_dict(), ["nDCG@10", "AP"]))
    for given_as in (fused, fused.to_pandas(), fused.to_polars(), fused.to_arrow()):
        assert dict(rs.evaluate(qrels, given_as, ["nDCG@10", "AP"])) == expected
    found = rs.evaluate(qrels, {"fused": fused, "words": WORDS}, "AP")
    assert found["fused"]["AP"] == expected["AP"]


def test_a_fused_run_is_fused_as_what_it_was_written_to(tmp_path: Path) -> None:
    parts = [rs.fuse([WORDS, VECTORS], method) for method in ("rrf", "combsum")]
    for name, part in zip("ab", parts, strict=True):
        part.write(tmp_path / name)
    expected = rs.fuse([tmp_path / "a", tmp_path / "b"], "combmnz").to_dict()
    assert rs.fuse(parts, "combmnz").to_dict() == expected


def test_a_score_that_is_no_number_is_an_error_that_names_its_row() -> None:
    frame = pd.DataFrame({"query_id": ["q1"] * 2, "doc_id": ["d1", "d2"], "score": [1.0, None]})
    with pytest.raises(rs.errors.InputError, match=r"^b:2: expected a finite score"):
        rs.fuse([WORDS, frame])


def test_ids_keep_their_types() -> None:
    one = pl.DataFrame({"query_id": [1, 1], "doc_id": [10, 11], "score": [2.0, 1.0]})
    other = pl.DataFrame({"query_id": [1, 2], "doc_id": [11, 12], "score": [2.0, 1.0]})
    fused = rs.fuse([one, other])
    assert fused.to_polars().schema == one.schema
    assert fused.to_dict().keys() == {1, 2}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"method": "rff"}, "expected a method of fusion"),
        ({"method": "wmnz"}, "expected a method of fusion"),
        ({"weights": [1.0]}, "expected 2 weights"),
        ({"weights": [1.0, -1.0]}, "weights of 0 or more"),
        ({"weights": [0.0, 0.0]}, "a weight above 0"),
        ({"weights": {"a": 1.0}}, "there is none for 'b'"),
        ({"weights": {"a": 1.0, "b": 1.0, "c": 1.0}}, "no run is called 'c'"),
        ({"method": "combmed", "weights": [1.0, 2.0]}, "doesn't take weights"),
        ({"normalize": "max"}, "goes by ranks"),
        ({"method": "combsum", "normalize": "l2"}, "normalize"),
        ({"method": "combsum", "k": 10}, "k is a parameter of rrf"),
        ({"k": -1}, "k as a number of 0 or more"),
        ({"method": "rbc", "p": 1}, "between 0 and 1"),
        ({"depth": 0}, "depth as an integer of 1 or more"),
    ],
)
def test_invalid_arguments_are_errors_that_say_what_is_wrong(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(rs.UsageError, match=message):
        rs.fuse([WORDS, VECTORS], **settings)


@pytest.mark.parametrize("runs", [[], [WORDS], WORDS, {"a": WORDS}, "a.run"])
def test_one_run_is_refused(runs: object) -> None:
    with pytest.raises(rs.UsageError, match="at least two runs"):
        rs.fuse(runs)


def test_a_document_that_occurs_twice_is_an_error_that_names_the_run() -> None:
    twice = b"q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t\n"
    with pytest.raises(rs.DuplicateError, match="d1"):
        rs.fuse([WORDS, twice])


def test_scores_without_a_positive_one_cannot_be_divided_by_it() -> None:
    below = {"q1": {"d1": -1.0, "d2": -3.0}}
    with pytest.raises(rs.InputError, match="found -1 as the largest in query q1") as raised:
        rs.fuse({"words": WORDS, "below": below}, "combsum", normalize="max")
    assert raised.value.file == "below"


def test_scores_that_are_too_large_to_add_are_an_error() -> None:
    huge = {"q1": {"d1": 1.7e308}}
    with pytest.raises(rs.InputError, match="in query q1"):
        rs.fuse([huge, huge], "combsum", normalize="none")


def test_fitted_weights_have_the_largest_value_of_all_that_were_tried() -> None:
    qrels = {"q1": {"d2": 1, "d3": 1}, "q2": {"d5": 1}}
    runs = {"words": WORDS, "vectors": VECTORS | {"q2": {"d1": 3.0, "d5": 1.0}}}
    fit = rs.fit_fusion(qrels, runs, "AP")
    assert len(fit.tried) == 11
    for words, vectors, value in fit.tried.rows():
        fused = rs.fuse(runs, "combsum", weights=[words, vectors])
        assert rs.evaluate(qrels, fused, "AP")["AP"] == value
    assert fit.value == max(fit.tried.column("AP"))
    best = rs.fuse(runs, "combsum", weights=fit.weights)
    assert rs.evaluate(qrels, best, "AP")["AP"] == fit.value


def test_weights_of_many_runs_are_fitted_one_after_another() -> None:
    qrels = {f"q{n}": {"good": 1} for n in range(3)}
    good = {query: {"good": 2.0, "bad": 1.0} for query in qrels}
    bad = {query: {"bad": 2.0, "good": 1.0} for query in qrels}
    runs = {f"bad{n}": bad for n in range(6)} | {"good": good}
    fit = rs.fit_fusion(qrels, runs, "RR")
    assert fit.value == 1.0
    assert sum(fit.weights.values()) == pytest.approx(1.0)
    assert len(fit.tried) < 1001


def test_fitted_weights_have_the_smallest_value_of_a_measure_of_loss() -> None:
    qrels = {f"q{n}": {"a": 2, "b": 1} for n in range(3)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    bad = {query: {"b": 2.0, "a": 1.0} for query in qrels}
    fit = rs.fit_fusion(qrels, {"bad": bad, "good": good}, "OrderingLoss@2")
    tried = [float(value) for value in fit.tried.column("OrderingLoss@2")]
    assert fit.value == min(tried) < max(tried)
    assert fit.weights["good"] > fit.weights["bad"]


@pytest.mark.parametrize(
    ("measure", "method", "why"),
    [
        ("AP", "combmax", "doesn't take weights"),
        ("Unjudged@2", "combsum", "doesn't say which of two rankings is better"),
        ("NumRet", "combsum", "doesn't say which of two rankings is better"),
        ("RBP_CWL(value='cost')", "combsum", "doesn't say which of two rankings is better"),
    ],
)
def test_what_has_no_best_weights_cannot_be_fitted(measure: str, method: str, why: str) -> None:
    with pytest.raises(rs.UsageError, match=why):
        rs.fit_fusion({"q1": {"d1": 1}}, [WORDS, VECTORS], measure, method)


def test_weights_are_fitted_on_judgments_by_stratum_and_by_subtopic() -> None:
    runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    for measure in ("infNDCG", "alpha_nDCG"):
        qrels: Any = [("q", "1", "y", 1), ("q", "2", "z", 1)]
        fit = rs.fit_fusion(qrels, runs, measure)
        values = rs.evaluate(qrels, runs, measure)
        assert fit.value == values["b"][measure] > values["a"][measure]


@pytest.mark.parametrize("empty", [{"1": []}, {"1": {}}])
def test_ids_have_the_type_of_the_first_run_with_documents(empty: object) -> None:
    run = {"1": {"11": 0.9, "12": 0.5}}
    assert list(rs.fuse([empty, run]).to_dict()["1"]) == ["11", "12"]
    numbers = {1: {11: 0.9, 12: 0.5}}
    assert list(rs.fuse([empty, numbers]).to_dict()[1]) == [11, 12]


def test_a_run_without_queries_is_named() -> None:
    for runs in ({"words": {}, "vectors": VECTORS}, {"vectors": VECTORS, "words": {}}):
        with pytest.raises(rs.EmptyError, match="'words' is empty"):
            rs.fuse(runs)
    with pytest.raises(rs.EmptyError, match="'a' is empty"):
        rs.fuse([{}, VECTORS])
    with pytest.raises(rs.UsageError, match="at least two runs"):
        rs.fuse(WORDS | {"q9": {}})


@pytest.mark.parametrize(
    "wrong",
    [
        {"q1": {"d1": float("nan")}},
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"]}),
        pd.DataFrame({"query_id": ["q1"], "doc_id": ["d1"], "score": [float("nan")]}),
        pd.DataFrame({"query_id": ["q1"] * 2, "doc_id": ["d1"] * 2, "score": [1.0, 2.0]}),
    ],
)
def test_errors_name_the_run_and_no_argument_that_fuse_lacks(wrong: object) -> None:
    with pytest.raises(rs.InputError) as raised:
        rs.fuse({"words": WORDS, "vectors": wrong})
    assert str(raised.value).startswith("vectors")
    assert "duplicates=" not in raised.value.hint


def test_a_run_is_written_to_a_path_that_says_its_format(tmp_path: Path) -> None:
    fused = rs.fuse([WORDS, VECTORS])
    with pytest.raises(rs.UsageError, match="expected the path of a file to write, found StringIO"):
        fused.write(StringIO())  # type: ignore[arg-type]  # that is what is tested
    for name in ("fused.run.gz", "fused.parquet"):
        with pytest.raises(rs.UsageError, match="expected a name for text"):
            fused.write(tmp_path / name)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("runs", [4, 5, 6])
def test_all_tenths_are_tried_as_weights_of_five_runs(runs: int) -> None:
    tried = set()

    def measure(weights: tuple[float, ...]) -> float:
        tried.add(weights)
        return weights[0]

    assert _search(runs, measure)[0] == 1.0
    # Of six, the share of one run after another is changed.
    combinations = math.comb(10 + runs - 1, runs - 1)
    assert (len(tried) == combinations) == (runs <= 5)
    assert len(tried) <= combinations


def test_a_search_among_values_that_are_undefined_ends() -> None:
    calls = 0

    def measure(_: tuple[float, ...]) -> float:
        nonlocal calls
        calls += 1
        assert calls < 10_000
        return math.nan

    assert _search(6, measure) == (1 / 6,) * 6
