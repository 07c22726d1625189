"""What fitted weights can be expected to achieve on other queries."""

from __future__ import annotations

import math
from hashlib import blake2b
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
import rankscope as rs

from tests.cli.command import run as run_command
from tests.trec import write_qrels, write_run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DOCS = [f"d{n}" for n in range(10)]


def make_noise(queries: int, runs: int, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """One relevant document for each query, and runs that rank all documents at random."""
    draw = Random(seed)
    names = [f"q{n}" for n in range(queries)]
    qrels = {query: {draw.choice(DOCS): 1} for query in names}
    made = {
        f"run{n}": {query: {doc: draw.random() for doc in DOCS} for query in names}
        for n in range(runs)
    }
    return qrels, made


def split(queries: list[str]) -> list[list[str]]:
    """The parts that the IDs of the queries say."""
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
    queries: int, runs: int, measure: str, policy: str | None
) -> None:
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


def test_weights_fitted_to_noise_gain_something_only_on_the_queries_of_the_fit() -> None:
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


def test_queries_that_the_policy_leaves_out_count_in_no_fold() -> None:
    qrels, made = make_noise(7, 2, seed=1)
    empty = {f"none{n}": {"d0": 0} for n in range(6)}
    found = rs.fit_fusion(qrels | empty, made, "RR", policy="empty=skip")
    zero = rs.fit_fusion(qrels | empty, made, "RR")
    assert zero.cross_validated is not None
    assert found.cross_validated == pytest.approx(zero.cross_validated * 13 / 7, rel=1e-12)


@pytest.mark.parametrize(
    ("measure", "best"), [("nDCG@10", max), ("OrderingLoss@10", min), ("Recall@10", max)]
)
@pytest.mark.parametrize("method", ["combsum", "log_isr"])
def test_the_best_single_run_has_the_value_that_it_has_alone(
    measure: str, best: Callable[..., float], method: str
) -> None:
    qrels, made = make_noise(8, 3, seed=4)
    found = rs.fit_fusion(qrels, made, measure, method, depth=2)
    alone = {name: rs.evaluate(qrels, run, measure)[measure] for name, run in made.items()}
    assert found.best_run_value == alone[found.best_run] == best(alone.values())


def test_a_fit_that_helps_has_no_note_and_others_say_that_they_do_not() -> None:
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


def test_equal_values_that_are_rounded_differently_are_no_gain() -> None:
    # The sums of folds have thirds and sevenths, and are rounded otherwise than the sum of all.
    for seed in range(5):
        qrels, made = make_noise(23, 1, seed)
        fit = rs.fit_fusion(qrels, [made["run0"], made["run0"]], "RR")
        assert fit.cross_validated == pytest.approx(fit.best_run_value, rel=1e-12)
        assert fit.notes


def test_a_single_query_is_not_cross_validated() -> None:
    qrels, made = make_noise(1, 2, seed=0)
    found = rs.fit_fusion(qrels, made, "RR")
    assert found.cross_validated is None
    assert found.to_dict()["folds"] == 1
    assert found.notes == ("a fit on one query can't be cross-validated",)
    assert "cross-validated in" not in str(found)


def test_the_command_says_what_the_fit_is_worth(tmp_path: Path) -> None:
    qrels, made = make_noise(6, 2, seed=3)
    judged = write_qrels(tmp_path / "train.qrels", qrels)
    paths = {f"{name}.run": write_run(tmp_path / f"{name}.run", run) for name, run in made.items()}
    done = run_command("fuse", *paths.values(), "--fit", judged, "-m", "RR")
    fit = rs.fit_fusion(judged, paths, "RR")
    said = done.stderr.decode().splitlines()
    assert said[1:] == [f"note: {line}" for line in (fit.describe(), *fit.notes)]
    assert said[0].startswith("note: weights: run0.run ")
