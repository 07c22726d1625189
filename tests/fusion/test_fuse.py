"""Fusion is that of plain definitions, and fitted weights say what to expect on other queries."""

from __future__ import annotations

import math
from hashlib import blake2b
from io import StringIO
from itertools import pairwise
from pathlib import Path
from random import Random
from statistics import fmean, median, pstdev

import pandas as pd
import polars as pl
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope._fuse.compute import _search
from rankscope._fuse.settings import METHODS, SCALES, TIES

from tests.cli.command import run as run_command
from tests.generated import examples
from tests.trec import write_qrels, write_run

PAGE = Path(__file__).parents[2] / "docs/fusion.md"


def rank(scores):
    """The documents in rank order: of equal scores, the larger id first."""
    return sorted(sorted(scores, reverse=True), key=lambda doc: -scores[doc])


def scale(scores, how, candidates):
    """The scores of one query in one run on a common scale."""
    order, values = rank(scores), list(scores.values())
    low, high = min(values), max(values)
    if how == "none":
        return scores
    if how == "min_max":
        return {doc: (s - low) / (high - low) if high > low else 1.0 for doc, s in scores.items()}
    if how == "max":
        return {doc: score / high for doc, score in scores.items()}
    if how == "sum":
        total = sum(score - low for score in values)
        share = 1 / len(values)
        return {doc: (s - low) / total if high > low else share for doc, s in scores.items()}
    if how == "zmuv":
        mean, spread = fmean(values), pstdev(values)
        return {doc: (s - mean) / spread if high > low else 0.0 for doc, s in scores.items()}
    if how == "rank":
        return {doc: 1 - place / len(order) for place, doc in enumerate(order)}
    ranked = {doc: 1 - place / len(candidates) for place, doc in enumerate(order)}
    left = [1 - place / len(candidates) for place in range(len(order), len(candidates))]
    return ranked | {doc: fmean(left) for doc in candidates - set(order)}


def fuse(lists, method, *, how="min_max", weights=None, parameter=0.0):
    """The fused score of each document of one query."""
    candidates = {doc for scores in lists for doc in scores}
    weighed = list(zip(lists, weights or [1.0] * len(lists), strict=True))
    hits = {doc: sum(doc in scores for scores in lists) for doc in candidates}

    def add(of_list):
        parts = zip(of_list, [weight for _, weight in weighed], strict=True)
        pairs = [(scores, weight) for scores, weight in parts]
        return {
            doc: math.fsum(weight * scores.get(doc, 0.0) for scores, weight in pairs)
            for doc in candidates
        }

    def by_rank(points):
        return add(
            [{doc: points(place) for place, doc in enumerate(rank(scores), 1)} for scores in lists]
        )

    if method == "rrf":
        return by_rank(lambda place: 1 / (parameter + place))
    if method == "rbc":
        return by_rank(lambda place: (1 - parameter) * parameter ** (place - 1))
    if method in {"isr", "log_isr"}:
        sums = by_rank(lambda place: 1 / place**2)
        times = (lambda n: n) if method == "isr" else (lambda n: math.log(n + parameter))
        return {doc: total * times(hits[doc]) for doc, total in sums.items()}
    if method == "borda":
        count = len(candidates)
        points = [scale(scores, "borda", candidates) for scores in lists if scores]
        return {
            doc: math.fsum(
                weight * count * scaled[doc]
                for scaled, (_, weight) in zip(
                    points, [pair for pair in weighed if pair[0]], strict=True
                )
            )
            for doc in candidates
        }
    scaled = [scale(scores, how, candidates) if scores else {} for scores in lists]
    has = {doc: [scores[doc] for scores in scaled if doc in scores] for doc in candidates}
    if method in {"combsum", "combmnz"}:
        sums = add(scaled)
        return {
            doc: total * (len(has[doc]) if method == "combmnz" else 1)
            for doc, total in sums.items()
        }
    of = {"combanz": fmean, "combmed": median, "combmax": max, "combmin": min}[method]
    return {doc: of(values) for doc, values in has.items()}


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
WORDS = {"q1": {"d1": 12.0, "d2": 9.0, "d3": 3.0}, "q2": {"d5": 2.0}}
VECTORS = {"q1": {"d2": 0.9, "d4": 0.5}, "q3": {"d1": 0.1, "d2": 0.1}}


def check(runs, found, method, **settings):
    """Compare a fused run with the definition, query by query."""
    queries = list(dict.fromkeys(query for run in runs for query in run))
    fused = found.to_dict()
    assert list(fused) == queries
    for query in queries:
        has = [(run[query], place) for place, run in enumerate(runs) if query in run]
        weights = settings.get("weights")
        expected = fuse(
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
def test_scores_are_scaled_and_combined_as_defined(method, how, runs):
    check(runs, rs.fuse(runs, method, normalize=how), method, how=how)


@pytest.mark.parametrize("method", OF_RANKS)
@examples(50)
@given(runs=RUNS)
def test_methods_of_ranks_are_as_defined(method, runs):
    check(runs, rs.fuse(runs, method), method)


@pytest.mark.parametrize("method", ["combsum", "combmnz", "rrf", "rbc", "isr", "borda"])
@examples(50)
@given(runs=RUNS, data=st.data())
def test_the_points_of_a_run_are_multiplied_by_its_weight(method, runs, data):
    weights = data.draw(st.lists(SCORES, min_size=len(runs), max_size=len(runs)))
    check(runs, rs.fuse(runs, method, weights=weights), method, weights=weights)


def margin(ranks, one, other):
    """By how many runs a document wins against another one; runs rank what they lack last."""
    places = [(rank.get(one, len(ALL)), rank.get(other, len(ALL))) for rank in ranks]
    return sum(a < b for a, b in places) - sum(a > b for a, b in places)


@given(runs=RUNS)
def test_no_document_loses_to_the_next_one_of_condorcet(runs):
    fused = rs.fuse(runs, "condorcet").to_dict()
    for query, scores in fused.items():
        ranks = [
            {doc: place for place, doc in enumerate(rank(run[query]))}
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
def test_threads_and_forms_of_input_do_not_change_a_bit(runs, method):
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
def test_methods_have_the_names_of_other_tools(name, used):
    assert rs.fuse([WORDS, VECTORS], name).method == used


@pytest.mark.parametrize(
    ("name", "used"), [("min-max", "min_max"), ("minmax", "min_max"), ("z-score", "zmuv")]
)
def test_scales_have_the_names_of_other_tools(name, used):
    assert rs.fuse([WORDS, VECTORS], "combsum", normalize=name).scale == used


@pytest.mark.parametrize(
    ("name", "use"),
    [("BayesFuse", "fit_fusion"), ("slidefuse", "--fit"), ("gmnz", "combmnz"), ("dbsf", "zmuv")],
)
def test_methods_that_rankscope_lacks_are_refused_with_what_to_use(name, use):
    with pytest.raises(rs.UsageError) as raised:
        rs.fuse([WORDS, VECTORS], name)
    assert use in raised.value.hint


def test_the_page_lists_every_method_with_its_default_and_every_scale():
    page = PAGE.read_text(encoding="utf-8")
    methods, scales = page.split("## Scales of scores")
    rows = {line.split("`")[1]: line for line in methods.splitlines() if line.startswith("| `")}
    assert [*rows] == [*METHODS]
    for method in METHODS.values():
        row = rows[method.name]
        *_, by, parameter, weights, _, _ = (cell.strip() for cell in row.split("|"))
        assert by == ("ranks" if method.is_of_ranks else "scores")
        assert weights == ("yes" if method.takes_weights else "no")
        default = f"`{method.parameter}={method.default:g}`" if method.parameter else ""
        assert parameter == default
    assert all(f"| `{scale}` | " in scales for scale in SCALES)


def test_scores_that_are_all_equal_count_in_full():
    fused = rs.fuse([WORDS, VECTORS], "combsum").to_dict()
    assert fused["q2"] == {"d5": 1.0}
    assert fused["q3"] == {"d2": 1.0, "d1": 1.0}


def test_ties_follow_their_policy():
    runs = [{"q": {"a": 1.0, "c": 1.0, "b": 1.0}}] * 2
    orders = {ties: list(rs.fuse(runs, ties=ties).to_dict()["q"]) for ties in TIES}
    assert orders == {
        "doc_id": ["c", "b", "a"],
        "doc_id_asc": ["a", "b", "c"],
        "input": ["a", "c", "b"],
    }


def test_a_run_without_weight_is_left_out():
    fused = rs.fuse([WORDS, VECTORS], "combsum", weights=[1.0, 0.0])
    alone = {query: set(docs) for query, docs in WORDS.items()}
    assert {query: set(docs) for query, docs in fused.to_dict().items()} == alone


def test_depth_keeps_the_first_documents():
    whole = rs.fuse([WORDS, VECTORS]).to_dict()
    cut = rs.fuse([WORDS, VECTORS], depth=2).to_dict()
    assert cut == {query: dict(list(docs.items())[:2]) for query, docs in whole.items()}


def test_a_fused_run_says_which_runs_lack_queries():
    fused = rs.fuse({"words": WORDS, "vectors": VECTORS})
    assert (fused.names, fused.queries, fused.missing) == (("words", "vectors"), 3, (1, 1))


def test_a_written_run_reads_back_as_the_same_numbers(tmp_path):
    fused = rs.fuse([WORDS, VECTORS], "combsum", weights=[1 / 3, 0.1])
    fused.write(tmp_path / "fused.run", tag="mine")
    lines = (tmp_path / "fused.run").read_text(encoding="utf-8").splitlines()
    assert lines[0].split() == ["q1", "Q0", "d1", "1", repr(1 / 3), "mine"]
    read = {}
    for line in lines:
        query, _, doc, _, score, _ = line.split()
        read.setdefault(query, {})[doc] = float(score)
    assert read == fused.to_dict()


def test_a_fused_run_is_evaluated_as_any_other():
    qrels = {"q1": {"d2": 2, "d4": 1}, "q3": {"d1": 1}}
    fused = rs.fuse([WORDS, VECTORS])
    expected = dict(rs.evaluate(qrels, fused.to_dict(), ["nDCG@10", "AP"]))
    for given_as in (fused, fused.to_pandas(), fused.to_polars(), fused.to_arrow()):
        assert dict(rs.evaluate(qrels, given_as, ["nDCG@10", "AP"])) == expected
    found = rs.evaluate(qrels, {"fused": fused, "words": WORDS}, "AP")
    assert found["fused"]["AP"] == expected["AP"]


def test_a_fused_run_is_fused_as_what_it_was_written_to(tmp_path):
    parts = [rs.fuse([WORDS, VECTORS], method) for method in ("rrf", "combsum")]
    for name, part in zip("ab", parts, strict=True):
        part.write(tmp_path / name)
    expected = rs.fuse([tmp_path / "a", tmp_path / "b"], "combmnz").to_dict()
    assert rs.fuse(parts, "combmnz").to_dict() == expected


def test_ids_keep_their_types():
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
def test_invalid_arguments_are_errors_that_say_what_is_wrong(settings, message):
    with pytest.raises(rs.UsageError, match=message):
        rs.fuse([WORDS, VECTORS], **settings)


@pytest.mark.parametrize("runs", [[], [WORDS], WORDS, {"a": WORDS}, "a.run"])
def test_one_run_is_refused(runs):
    with pytest.raises(rs.UsageError, match="at least two runs"):
        rs.fuse(runs)


HUGE = {"q1": {"d1": 1.7e308}}
UNSCORED = {"query_id": ["q1"] * 2, "doc_id": ["d1", "d2"], "score": [1.0, None]}


@pytest.mark.parametrize(
    ("one", "other", "normalize", "file", "said"),
    [
        (WORDS, pd.DataFrame(UNSCORED), "none", "b", r"^b:2: expected a finite score"),
        (WORDS, b"q1 Q0 d1 1 2.0 t\nq1 Q0 d1 2 1.0 t\n", "none", "<bytes>", "d1"),
        (WORDS, {"q1": {"d1": -1.0}}, "max", "b", "found -1 as the largest in query q1"),
        (HUGE, HUGE, "none", "", "in query q1"),
    ],
    ids=["no number", "a document twice", "no positive score", "too large to add"],
)
def test_runs_that_cannot_be_fused_are_refused_by_name(one, other, normalize, file, said):
    with pytest.raises(rs.InputError, match=said) as raised:
        rs.fuse({"a": one, "b": other}, "combsum", normalize=normalize)
    assert (raised.value.file or "") == file


def test_fitted_weights_have_the_largest_value_of_all_that_were_tried():
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


def test_weights_of_many_runs_are_fitted_one_after_another():
    qrels = {f"q{n}": {"good": 1} for n in range(3)}
    good = {query: {"good": 2.0, "bad": 1.0} for query in qrels}
    bad = {query: {"bad": 2.0, "good": 1.0} for query in qrels}
    runs = {f"bad{n}": bad for n in range(6)} | {"good": good}
    fit = rs.fit_fusion(qrels, runs, "RR")
    assert fit.value == 1.0
    assert sum(fit.weights.values()) == pytest.approx(1.0)
    assert len(fit.tried) < 1001


def test_fitted_weights_have_the_smallest_value_of_a_measure_of_loss():
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
def test_what_has_no_best_weights_cannot_be_fitted(measure, method, why):
    with pytest.raises(rs.UsageError, match=why):
        rs.fit_fusion({"q1": {"d1": 1}}, [WORDS, VECTORS], measure, method)


def test_weights_are_fitted_on_judgments_by_stratum_and_by_subtopic():
    runs = {"a": {"q": {"x": 2.0, "y": 1.0}}, "b": {"q": {"y": 2.0, "x": 1.0}}}
    for measure in ("infNDCG", "alpha_nDCG"):
        qrels = [("q", "1", "y", 1), ("q", "2", "z", 1)]
        fit = rs.fit_fusion(qrels, runs, measure)
        values = rs.evaluate(qrels, runs, measure)
        assert fit.value == values["b"][measure] > values["a"][measure]


@pytest.mark.parametrize("empty", [{"1": []}, {"1": {}}])
def test_ids_have_the_type_of_the_first_run_with_documents(empty):
    run = {"1": {"11": 0.9, "12": 0.5}}
    assert list(rs.fuse([empty, run]).to_dict()["1"]) == ["11", "12"]
    numbers = {1: {11: 0.9, 12: 0.5}}
    assert list(rs.fuse([empty, numbers]).to_dict()[1]) == [11, 12]


def test_a_run_without_queries_is_named():
    for runs in ({"words": {}, "vectors": VECTORS}, {"vectors": VECTORS, "words": {}}):
        with pytest.raises(rs.errors.EmptyError, match="'words' is empty"):
            rs.fuse(runs)
    with pytest.raises(rs.errors.EmptyError, match="'a' is empty"):
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
def test_errors_name_the_run_and_no_argument_that_fuse_lacks(wrong):
    with pytest.raises(rs.InputError) as raised:
        rs.fuse({"words": WORDS, "vectors": wrong})
    assert str(raised.value).startswith("vectors")
    assert "duplicates=" not in raised.value.hint


def test_a_run_is_written_to_a_path_that_says_its_format(tmp_path):
    fused = rs.fuse([WORDS, VECTORS])
    with pytest.raises(rs.UsageError, match="expected the path of a file to write, found StringIO"):
        fused.write(StringIO())
    for name in ("fused.run.gz", "fused.parquet"):
        with pytest.raises(rs.UsageError, match="expected a name for text"):
            fused.write(tmp_path / name)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("runs", [4, 5, 6])
def test_all_tenths_are_tried_as_weights_of_five_runs(runs):
    tried = set()

    def measure(weights):
        tried.add(weights)
        return weights[0]

    assert _search(runs, measure)[0] == 1.0
    # Of six, the share of one run after another is changed.
    combinations = math.comb(10 + runs - 1, runs - 1)
    assert (len(tried) == combinations) == (runs <= 5)
    assert len(tried) <= combinations


def test_a_search_among_values_that_are_undefined_ends():
    calls = 0

    def measure(_):
        nonlocal calls
        calls += 1
        assert calls < 10_000
        return math.nan

    assert _search(6, measure) == (1 / 6,) * 6


DOCS = [f"d{n}" for n in range(10)]


def make_noise(queries, runs, seed):
    """One relevant document for each query, and runs that rank all documents at random."""
    draw = Random(seed)
    names = [f"q{n}" for n in range(queries)]
    qrels = {query: {draw.choice(DOCS): 1} for query in names}
    made = {
        f"run{n}": {query: {doc: draw.random() for doc in DOCS} for query in names}
        for n in range(runs)
    }
    return qrels, made


def split(queries):
    mixed = sorted(queries, key=lambda query: blake2b(query.encode(), digest_size=8).digest())
    count = min(5, len(queries))
    return [mixed[fold::count] for fold in range(count)]


@pytest.mark.parametrize(
    ("queries", "runs", "measure", "policy"),
    [
        (12, 2, "RR", None),
        (3, 2, "nDCG@4", None),
        (3, 6, "AP", None),
        (6, 2, "OrderingLoss@3", None),
        (11, 2, "RR", "aggregate=median"),
    ],
)
def test_the_cross_validated_value_is_that_of_folds_that_are_fitted_one_by_one(
    queries, runs, measure, policy
):
    qrels, made = make_noise(queries, runs, seed=queries)
    del made["run1"]["q1"]
    folds = split([*qrels])
    total = 0.0
    for fold in folds:
        others = {query: docs for query, docs in qrels.items() if query not in fold}
        fit = rs.fit_fusion(others, made, measure, policy=policy)
        fused = rs.fuse(made, "combsum", weights=fit.weights)
        judged = {query: qrels[query] for query in fold}
        total += len(fold) * rs.evaluate(judged, fused, measure, policy=policy)[measure]
    found = rs.fit_fusion(qrels, made, measure, policy=policy)
    assert found.folds == len(folds)
    # The sums above are rounded in another order.
    assert found.cross_validated == pytest.approx(total / queries, rel=1e-12)


def test_weights_fitted_to_noise_gain_something_only_on_the_queries_of_the_fit():
    # The relevant document is at each rank equally often.
    expected = math.fsum(1 / rank for rank in range(1, 11)) / 10
    variance = math.fsum(1 / rank**2 for rank in range(1, 11)) / 10 - expected**2
    logs, queries = 30, 20
    error = math.sqrt(variance / queries / logs)
    fits = [rs.fit_fusion(*make_noise(queries, 2, seed), "RR") for seed in range(logs)]
    gains = [
        math.fsum(values) / logs - expected
        for values in zip(*((fit.value, fit.cross_validated) for fit in fits), strict=True)
    ]
    assert gains[0] > 4 * error
    assert abs(gains[1]) < 2 * error
    # The best of two runs is chosen on the same queries, so hardly ever is noise above it.
    assert sum(not fit.notes for fit in fits) < logs / 3


def test_queries_that_the_policy_leaves_out_count_in_no_fold():
    qrels, made = make_noise(7, 2, seed=1)
    empty = {f"none{n}": {"d0": 0} for n in range(6)}
    found = rs.fit_fusion(qrels | empty, made, "RR", policy="empty=skip")
    zero = rs.fit_fusion(qrels | empty, made, "RR")
    assert found.cross_validated == pytest.approx(zero.cross_validated * 13 / 7, rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "best"), [("nDCG@10", max), ("OrderingLoss@10", min), ("Recall@10", max)]
)
@pytest.mark.parametrize("method", ["combsum", "log_isr"])
def test_the_best_single_run_has_the_value_that_it_has_alone(measure, best, method):
    qrels, made = make_noise(8, 3, seed=4)
    found = rs.fit_fusion(qrels, made, measure, method, depth=2)
    alone = {name: rs.evaluate(qrels, run, measure)[measure] for name, run in made.items()}
    assert found.best_run_value == alone[found.best_run] == best(alone.values())


def test_a_fit_that_helps_has_no_note_and_others_say_that_they_do_not():
    # Each run knows half of the queries, and nothing of the others.
    qrels = {f"q{n}": {"good": 1} for n in range(10)}
    halves = [
        {
            query: {"bad": 1.0, "good": 2.0 if n % 2 == half else 0.9}
            for n, query in enumerate(qrels)
        }
        for half in (0, 1)
    ]
    helped = rs.fit_fusion(qrels, halves, "RR", normalize="none")
    assert (helped.value, helped.cross_validated, helped.best_run_value) == (1.0, 1.0, 0.75)
    assert helped.notes == ()
    # The same by a measure whose lower values are better.
    lost = rs.fit_fusion(qrels, halves, "OrderingLoss@2", normalize="none")
    assert lost.cross_validated == 0 < lost.best_run_value
    assert lost.notes == ()
    said = "cross-validated, the fused run isn't better than b alone"
    useless = rs.fit_fusion(qrels, [halves[0], {q: {"good": 1.0} for q in qrels}], "RR")
    assert useless.cross_validated == useless.best_run_value == 1.0
    assert useless.notes == (said,)
    alone = "RR: 1.0000 on the queries of the fit; 1.0000 cross-validated in 5 folds"
    lines = [f"{alone}; best single run 1.0000 (b)", f"note: {said}"]
    assert str(useless).splitlines()[-2:] == lines
    assert useless.to_dict()["notes"] == [said]


def test_equal_values_that_are_rounded_differently_are_no_gain():
    # The sums of folds have thirds and sevenths, and are rounded otherwise than the sum of all.
    for seed in range(5):
        qrels, made = make_noise(23, 1, seed)
        fit = rs.fit_fusion(qrels, [made["run0"], made["run0"]], "RR")
        assert fit.cross_validated == pytest.approx(fit.best_run_value, rel=1e-12)
        assert fit.notes


def test_a_single_query_is_not_cross_validated():
    qrels, made = make_noise(1, 2, seed=0)
    found = rs.fit_fusion(qrels, made, "RR")
    assert found.cross_validated is None
    assert found.to_dict()["folds"] == 1
    assert found.notes == ("a fit on one query can't be cross-validated",)
    assert "cross-validated in" not in str(found)


def test_the_command_says_what_the_fit_is_worth(tmp_path):
    qrels, made = make_noise(6, 2, seed=3)
    judged = write_qrels(tmp_path / "train.qrels", qrels)
    paths = {f"{name}.run": write_run(tmp_path / f"{name}.run", run) for name, run in made.items()}
    done = run_command("fuse", *paths.values(), "--fit", judged, "-m", "RR")
    fit = rs.fit_fusion(judged, paths, "RR")
    said = done.stderr.decode().splitlines()
    lines = [f"note: {line}" for line in (fit.describe(), *fit.notes)]
    assert said[1 : len(lines) + 1] == lines
    assert said[0].startswith("note: weights: run0.run ")
