"""The losses of a list are what it lacks, add up exactly, and say where they come from."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
import rankscope as rs
from hypothesis import given
from hypothesis import strategies as st
from rankscope import DCG, IDCG, Policy, Rankings, nDCG

QRELS = {
    "q1": {"a": 1, "b": 3, "c": 2, "e": 3},
    "q2": {"a": 1, "f": 2},
    "empty": {"x": 0},
    "missing": {"z": 2},
}
RUN = {
    "q1": {"x": 6.0, "a": 5.0, "y": 4.0, "b": 3.0, "z": 2.0, "c": 1.0},
    "q2": {"f": 2.0, "a": 1.0},
    "empty": {"x": 1.0},
}
TERMS = ("value", "retrieval", "truncation", "ordering", "undefined")

grades = st.sampled_from([0.0, 0.0, 1.0, 2.0, 3.0, 0.5])
rankings = st.lists(st.one_of(st.none(), grades), max_size=8)
others = st.lists(grades, min_size=1, max_size=3)
cutoffs = st.one_of(st.none(), st.integers(1, 9))


def rows(losses):
    ids = losses.column("query_id")
    columns = [losses.array(name).tolist() for name in losses.names[1:]]
    return {str(query): tuple(row) for query, *row in zip(ids, *columns, strict=True)}


def total(means):
    return math.fsum(means.values())


@given(st.lists(st.tuples(rankings, others), min_size=1, max_size=4), cutoffs)
def test_losses_are_those_of_the_definition(queries, k):
    lists = [[math.nan if grade is None else grade for grade in ranking] for ranking, _ in queries]
    judged = [
        [*(grade for grade in ranking if grade is not None), *others] for ranking, others in queries
    ]
    made = Rankings.from_lists(lists, ideal=judged)
    found = zip(
        rows(made.losses(nDCG(k=k))).values(), rows(made.losses(DCG(k=k))).values(), strict=True
    )
    for (ranking, _), known, (shares, sums) in zip(queries, judged, found, strict=True):
        expected = ledger(ranking, known, k)
        ideal = math.fsum(expected)
        assert sums == pytest.approx((*expected, 0), abs=1e-12)
        if ideal == 0:
            assert shares == (0, 0, 0, 0, 1)
        else:
            assert shares == pytest.approx((*(part / ideal for part in expected), 0), abs=1e-12)


@pytest.mark.parametrize(
    ("empty", "missing"), [*product(("zero", "one", "skip", "nan"), ("zero", "skip"))]
)
def test_what_is_left_out_is_left_out_of_the_losses(empty, missing):
    policy = Policy(empty=empty, missing=missing)
    made = Rankings.from_run(QRELS, RUN)
    evaluation = made.evaluate(nDCG @ 3, policy=policy)
    losses = made.losses(nDCG @ 3, policy=policy)
    assert losses.means["value"] == pytest.approx(evaluation["nDCG@3"], nan_ok=True, abs=0)
    assert losses.queries == evaluation.denominators["nDCG@3"]
    of_empty = {"zero": (0, 0, 0, 0, 1), "one": (1, 0, 0, 0, 0)}.get(empty, (math.nan,) * 5)
    of_missing = (math.nan,) * 5 if missing == "skip" else (0, 1, 0, 0, 0)
    assert rows(losses)["empty"] == pytest.approx(of_empty, nan_ok=True, abs=0)
    assert rows(losses)["missing"] == pytest.approx(of_missing, nan_ok=True, abs=0)
    if empty == "nan":
        assert all(map(math.isnan, losses.means.values()))
        return
    assert total(losses.means) == pytest.approx(1, abs=1e-15)
    for name in TERMS:
        mean = np.nanmean(losses.array(name))
        assert losses.means[name] == pytest.approx(mean, abs=1e-15)


@pytest.mark.parametrize("measure", [DCG @ 3, DCG(gain="exp2"), rs.CG @ 2, rs.CG])
@pytest.mark.parametrize("policy", ["", "empty=one,missing=skip", "empty=skip", "empty=nan"])
def test_sums_lack_what_the_ideal_has(measure, policy):
    made = Rankings.from_run(QRELS, RUN)
    losses = made.losses(measure, policy=policy)
    evaluation = made.evaluate(measure, policy=policy)
    assert losses.means["value"] == evaluation[measure]
    is_cumulated = measure.row.name == "CG"
    gain = "exp2" if "exp" in measure.name else "linear"
    k = measure.k
    for query, judged in QRELS.items():
        row = rows(losses)[query]
        if query == "missing" and "missing=skip" in policy:
            assert all(map(math.isnan, row))
            continue
        top = sorted(2**grade - 1 if gain == "exp2" else grade for grade in judged.values())[::-1]
        weights = [1 if is_cumulated else 1 / math.log2(rank + 2) for rank in range(len(top))]
        ideal = sum(gain * weight for gain, weight in list(zip(top, weights, strict=True))[:k])
        assert sum(row) == pytest.approx(ideal, abs=1e-12)
        assert row[4] == 0
    expected = made.evaluate(IDCG(gain=gain, k=k), policy=policy)
    if not is_cumulated:
        assert total(losses.means) == pytest.approx(expected[IDCG(gain=gain, k=k)], abs=1e-12)
    assert is_cumulated == (losses.means["ordering"] == 0)


def test_a_ratio_of_sums_adds_up_as_well():
    made = Rankings.from_run(QRELS, RUN)
    means = made.losses(nDCG @ 3, policy="aggregate=ratio_of_sums").means
    sums = made.losses(DCG @ 3).means
    ideal = total(sums)
    for name in TERMS:
        assert means[name] == pytest.approx(sums[name] / ideal, abs=1e-15)


def test_slices_add_up_and_are_what_the_whole_is_made_of():
    made = Rankings.from_run(QRELS, RUN)
    by = {"q1": "long", "q2": "short", "empty": "short", "missing": "long"}
    losses = made.losses(nDCG @ 3, by=by)
    slices = losses.slices
    assert slices is not None
    assert slices.names == ("slice", "queries", *TERMS)
    for row in slices.to_dict().values():
        assert sum(float(row[name]) for name in TERMS) == pytest.approx(1, abs=1e-15)
    for name in TERMS:
        parts = zip(slices.column("queries"), slices.column(name), strict=True)
        mean = sum(int(size) * float(part) for size, part in parts) / len(by)
        assert losses.means[name] == pytest.approx(mean, abs=1e-15)
    assert slices.to_dict()["short"]["undefined"] == 0.5


def test_weights_weigh_the_losses():
    made = Rankings.from_run(QRELS, RUN)
    weights = {"q1": 1.0, "q2": 2.0, "empty": 0.5, "missing": 0.0}
    losses = made.losses(nDCG @ 3, weights=weights)
    for name in TERMS:
        weighed = np.average(losses.array(name), weights=list(weights.values()))
        assert losses.means[name] == pytest.approx(weighed, abs=1e-15)
    assert total(losses.means) == pytest.approx(1, abs=1e-15)


def test_intervals_are_those_of_the_measures():
    made = Rankings.from_run(QRELS, RUN)
    measures = [nDCG @ 3, "RetrievalLoss@3", "TruncationLoss@3", "OrderingLoss@3"]
    expected = made.evaluate(measures, interval=0.9).intervals
    losses = made.losses(nDCG @ 3, interval=0.9)
    assert losses.intervals == dict(zip(TERMS[:4], expected.values(), strict=True))
    assert " to " in str(losses)
    by = {"q1": "long", "q2": "short", "empty": "short", "missing": "long"}
    of_slices = made.evaluate(measures, interval=0.9, by=by).slices
    found = made.losses(nDCG @ 3, interval=0.9, by=by).slices
    assert of_slices is not None
    assert found is not None
    for name, measure in zip(TERMS, measures, strict=False):
        for end in ("lower", "upper"):
            assert found.column(f"{name} {end}") == of_slices.column(f"{measure} {end}")
    staged = made.losses(nDCG @ 3, interval=0.9, stages={"first": RUN})
    assert staged.intervals.keys() == {"value", "truncation", "ordering"}


@pytest.mark.parametrize(
    ("made", "measure", "policy"),
    [
        (Rankings.from_lists([[0, 1]]), nDCG @ 1, None),
        (Rankings.from_arrays([[0, 1]], [[2, 1]]), nDCG @ 1, None),
        (Rankings.from_run(QRELS, RUN), nDCG(ideal="retrieved") @ 1, None),
        (Rankings.from_run(QRELS, RUN), nDCG @ 1, "unretrieved=ignore"),
    ],
)
def test_what_was_not_shown_is_not_observable(made, measure, policy):
    losses = made.losses(measure, policy=policy, by=dict.fromkeys(made.query_ids, "all"))
    assert not losses.observes_retrieval
    assert total(losses.means) == pytest.approx(1, abs=1e-15)
    for text in (str(losses), losses._repr_html_()):
        assert "not observable" in text
        assert "retrieval  0" not in text
        assert text.count("retrieval") == 2
    assert losses.slices is not None
    assert "retrieval" in losses.slices.names


def test_an_ideal_beside_the_lists_makes_retrieval_observable():
    losses = Rankings.from_lists([[0, 1]], ideal=[[1, 0, 1]]).losses(nDCG)
    assert losses.observes_retrieval
    assert losses.means["retrieval"] > 0


def test_each_stage_loses_what_the_one_before_it_had():
    judged = {"a": 3, "b": 2, "c": 1, "d": 1}
    made = Rankings.from_run({"q": judged}, {"q": {"c": 2.0, "a": 1.0}})
    losses = made.losses(
        nDCG @ 4,
        stages={
            "retriever": {"q": {"a": 1, "b": 2, "c": 3}},
            "reranker": {"q": {"a": 1, "c": 2}},
        },
    )
    assert losses.names[1:] == (
        "value", "retriever", "reranker", "final", "truncation", "ordering", "undefined",
    )  # fmt: skip
    assert losses.stages == ("retriever", "reranker", "final")
    weights = [1, 1 / math.log2(3), 1 / 2, 1 / math.log2(5)]
    ideal, of_retriever, of_reranker = (
        sum(gain * weight for gain, weight in zip(gains, weights, strict=False))
        for gains in ([3, 2, 1, 1], [3, 2, 1], [3, 1])
    )
    means = losses.means
    assert means["retriever"] == pytest.approx((ideal - of_retriever) / ideal, abs=1e-15)
    assert means["reranker"] == pytest.approx((of_retriever - of_reranker) / ideal, abs=1e-15)
    assert means["final"] == 0
    assert total(means) == pytest.approx(1, abs=1e-15)
    assert losses.notes == ()


listed = st.dictionaries(st.sampled_from("abcdef"), st.floats(-1, 1), max_size=6)
judgments = st.dictionaries(st.sampled_from("abcdef"), st.sampled_from([0, 1, 2]), min_size=1)


@given(
    judged=st.lists(judgments, min_size=3, max_size=3),
    lists=st.lists(st.lists(listed, min_size=3, max_size=3), min_size=3, max_size=3),
    policy=st.sampled_from(["", "empty=skip", "missing=skip,empty=one", "ties=average"]),
    measure=st.sampled_from([nDCG @ 2, nDCG, DCG @ 3]),
)
def test_stages_share_out_the_loss_by_retrieval(judged, lists, policy, measure):
    names = ("q0", "q1", "q2")
    qrels = dict(zip(names, judged, strict=True))
    retriever, reranker, final = (
        {query: docs for query, docs in zip(names, run, strict=True) if docs} for run in lists
    )
    if not final:
        return
    stages = {name: run for name, run in (("a", retriever), ("b", reranker)) if run}
    ties = "average" if "average" in policy else "doc_id"
    made = Rankings.from_run(qrels, final, ties=ties)
    by = {"q0": "x", "q1": "x", "q2": "y"}
    plain = made.losses(measure, policy=policy, by=by)
    staged = made.losses(measure, policy=policy, by=by, stages=stages)
    columns = [*stages, "final"] if stages else ["retrieval"]
    of_stages = sum(staged.array(name) for name in columns)
    np.testing.assert_allclose(of_stages, plain.array("retrieval"), atol=1e-14)
    of_means = sum(staged.means[name] for name in columns)
    assert of_means == pytest.approx(plain.means["retrieval"], abs=1e-14, nan_ok=True)
    assert plain.slices is not None
    assert staged.slices is not None
    of_slices = sum(staged.slices.array(name) for name in columns)
    np.testing.assert_allclose(of_slices, plain.slices.array("retrieval"), atol=1e-14)


def test_a_stage_with_better_documents_than_the_one_before_has_a_negative_loss_and_a_note():
    made = Rankings.from_run(QRELS, RUN)
    losses = made.losses(nDCG @ 3, stages={"first": {"q1": {"a": 1}, "q2": {"a": 1, "f": 2}}})
    assert rows(losses)["q1"][2] < 0
    notes = {note.code: note for note in losses.notes}
    assert notes["stage_gains"].count == 1
    assert "final" in notes["stage_gains"].sentence
    assert [note.count for note in losses.notes if note.file == "first"] == [2]


def test_rankings_of_the_same_judgments_are_stages_too():
    made = Rankings.from_run(QRELS, RUN)
    stage = {"q1": {"a": 1, "b": 2}}
    as_run = made.losses(nDCG @ 3, stages={"first": stage})
    as_rankings = made.losses(nDCG @ 3, stages={"first": Rankings.from_run(QRELS, stage)})
    assert as_run.to_dict() == as_rankings.to_dict()


def test_stages_are_read_as_the_lists_were():
    twice = [("q1", "a", 2.0), ("q1", "a", 1.0), ("q1", "b", 0.5)]
    made = Rankings.from_run(QRELS, RUN, duplicates="first")
    assert made.losses(nDCG @ 3, stages={"first": twice}).stages == ("first", "final")
    with pytest.raises(rs.errors.DuplicateError):
        Rankings.from_run(QRELS, RUN).losses(nDCG @ 3, stages={"first": twice})


def test_a_ledger_of_averaged_ties_is_the_mean_of_all_orders():
    qrels = {"q": {"a": 3, "b": 1, "c": 2}}
    tied = Rankings.from_run(qrels, {"q": dict.fromkeys("abx", 1.0)}, ties="average")
    orders = [
        Rankings.from_run(qrels, {"q": {doc: float(-rank) for rank, doc in enumerate(order)}})
        for order in ("abx", "axb", "bax", "bxa", "xab", "xba")
    ]
    found = tied.losses(nDCG @ 2).means
    for name in TERMS:
        mean = np.mean([each.losses(nDCG @ 2).means[name] for each in orders])
        assert found[name] == pytest.approx(mean, abs=1e-15)


MADE = Rankings.from_run(QRELS, RUN)
OTHER = Rankings.from_run(QRELS | {"q2": {"a": 2}}, RUN)
NO_SUM = ("AP", "RR", "P@5", "IDCG@10", "ERR", "RetrievalLoss@3")
COLUMNS = ("value", "retrieval", "final", "query_id")


@pytest.mark.parametrize(
    ("ask", "code", "words"),
    [
        *(
            (lambda name=name: MADE.losses(name), "losses_unavailable", "are sums")
            for name in NO_SUM
        ),
        (lambda: MADE.losses(nDCG(ideal="slots") @ 3), "losses_unavailable", ""),
        (lambda: MADE.losses("nDCG@3", policy="negative=minmax"), "losses_unavailable", ""),
        (lambda: MADE.losses("nDCG@3", policy="aggregate=median"), "aggregate_unavailable", ""),
        (lambda: MADE.losses("nDCG@3", policy="aggregate=geometric"), "aggregate_unavailable", ""),
        (lambda: MADE.losses("DCG", policy="aggregate=ratio_of_sums"), "aggregate_unavailable", ""),
        (lambda: MADE.losses([nDCG @ 3, nDCG @ 5]), "bad_parameter", ""),
        *(
            (lambda name=name: MADE.losses(nDCG, stages={name: RUN}), "bad_parameter", "their own")
            for name in COLUMNS
        ),
        (lambda: MADE.losses(nDCG, stages="a.run"), "bad_parameter", "run, found str"),
        (lambda: MADE.losses(nDCG, stages={"first": OTHER}), "bad_parameter", "same judgments"),
        (
            lambda: Rankings.from_lists([[1]]).losses(nDCG, stages={"first": RUN}),
            "bad_parameter",
            "expected the Rankings of 'first'",
        ),
    ],
)
def test_what_does_not_add_up_is_refused(ask, code, words):
    with pytest.raises(rs.UsageError, match=words or None) as caught:
        ask()
    assert caught.value.code == code


def discounted(gains):
    """DCG of gains in rank order."""
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def best(gains, k):
    """DCG of the best order of gains, down to a cutoff."""
    return discounted(sorted(gains, reverse=True)[:k])


def ledger(ranking, judged, k):
    """DCG, and what it lacks by retrieval, truncation and ordering."""
    gains = [grade or 0.0 for grade in ranking]
    shown = gains[:k]
    steps = best(judged, k), best(gains, k), best(shown, k), discounted(shown)
    return steps[3], steps[0] - steps[1], steps[1] - steps[2], steps[2] - steps[3]
