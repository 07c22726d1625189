"""Agreement of two runs and of orders of systems, from any input and on the command line."""

from __future__ import annotations

import json
import math
import random
from typing import TYPE_CHECKING

import pytest
import rankscope as rs

from tests.cli.command import check_error, run
from tests.parity.real import find
from tests.refusals import refuses
from tests.trec import write_run

if TYPE_CHECKING:
    from pathlib import Path

MEASURES = ("RBO", "RBO_min", "RBO_max", "RBO_residual", "tau", "tau_ap", "overlap@5", "jaccard@5")


def draw(seed: int) -> dict[str, dict[str, float]]:
    """A run of thirty queries with ties, of which each seed leaves one out."""
    rng = random.Random(seed)
    return {
        f"q{query}": {f"d{doc}": float(rng.randint(0, 9)) for doc in rng.sample(range(30), 20)}
        for query in range(30)
        if query != seed
    }


A, B = draw(1), draw(2)


def test_a_query_has_the_value_of_its_two_lists() -> None:
    for ties in ("a", "b", "w"):
        found = rs.agreement(A, B, MEASURES, p=0.8, ties=ties)
        assert (found.queries, found.only_a, found.only_b) == (28, 1, 1)
        for query, common, *values in found.table.rows():
            one, other = A[str(query)], B[str(query)]
            assert common == len(one.keys() & other.keys())
            correlated = "a" if ties == "a" else "b"
            expected = [
                *(
                    rs.rbo(one, other, p=0.8, ties=ties, form=form)
                    for form in ("extrapolated", "min", "max", "residual")
                ),
                rs.kendall_tau(one, other, ties=correlated),
                rs.tau_ap(one, other, ties=correlated),
                rs.overlap(one, other, 5, ties=ties),
                rs.jaccard(one, other, 5, ties=ties),
            ]
            assert values == expected


def test_every_way_in_gives_the_same(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    expected = rs.agreement(A, B, MEASURES)
    rows = [
        [(query, doc, score) for query, docs in lists.items() for doc, score in docs.items()]
        for lists in (A, B)
    ]
    paths = [tmp_path / name for name in ("a.run", "b.run")]
    for path, lists in zip(paths, (A, B), strict=True):
        write_run(path, lists)
    texts = [path.read_bytes() for path in paths]
    frames = [pandas.DataFrame(each, columns=["query_id", "doc_id", "score"]) for each in rows]
    qrels = {query: dict.fromkeys(docs, 1) for query, docs in (A | B).items()}
    rankings = [rs.Rankings.from_run(qrels, each) for each in (A, B)]
    for one, other in (rows, texts, paths, frames, rankings, (A, frames[1]), (rankings[0], B)):
        found = rs.agreement(one, other, MEASURES)
        assert found.to_dict()["means"] == expected.to_dict()["means"]
        assert {**found.table.to_dict()} == {**expected.table.to_dict()}
    assert rs.agreement(*paths).names == tuple(map(str, paths))


def test_threads_and_the_other_direction_change_nothing() -> None:
    one = rs.agreement(A, B, MEASURES, threads=1)
    assert rs.agreement(A, B, MEASURES, threads=3).table.rows() == one.table.rows()
    back = rs.agreement(B, A, [name for name in MEASURES if name != "tau_ap"])
    for name, mean in back.means.items():
        assert mean == pytest.approx(one[name], abs=1e-12)


def test_queries_without_a_value_are_not_in_the_mean() -> None:
    one = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
    other = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"d": 1.0}}
    found = rs.agreement(one, other)
    assert (found["tau"], found.defined["tau"], found.defined["RBO"]) == (1, 1, 2)
    assert math.isnan(found.per_query("tau")[1])
    assert found["overlap@10"] == 0.5
    assert found.same_documents == 1
    assert "1 of 2" in str(found)


@pytest.mark.parametrize(
    ("measures", "hint"),
    [
        ("RB0", "did you mean RBO?"),
        ("rbo", "did you mean RBO?"),
        ("overlap@0", "did you mean overlap@10?"),
        ("nDCG@10", "one of"),
        ([], "one of"),
    ],
)
def test_a_measure_that_does_not_exist_is_refused(measures: str | list[str], hint: str) -> None:
    with refuses(rs.UsageError, "unknown_measure") as caught:
        rs.agreement(A, B, measures)
    assert str(caught.value.hint).startswith(hint)


def test_lists_that_cannot_be_compared_are_refused() -> None:
    with pytest.raises(rs.EmptyError):
        rs.agreement({"q1": {"a": 1.0}}, {"q2": {"a": 1.0}})
    with pytest.raises(rs.DuplicateError):
        rs.agreement([("q1", "a", 1.0), ("q1", "a", 2.0)], {"q1": {"a": 1.0}})
    with refuses(rs.UsageError, "ids_needed"):
        rs.agreement(rs.Rankings.from_lists([[1, 0]]), A)
    with pytest.raises(rs.UsageError):
        rs.agreement(A, B)["RBP"]


def test_orders_of_systems_are_compared_by_their_means() -> None:
    one = {"a": 0.5, "b": 0.4, "c": 0.3, "d": 0.2}
    other = {"a": 0.4, "b": 0.5, "c": 0.1, "d": 0.2}
    found = rs.agreement_of_orders(one, other)
    assert found.swapped == (("a", "b"), ("c", "d"))
    assert found.tau == pytest.approx((6 - 2 * 2) / 6)
    assert found.tau_ap == rs.tau_ap(one, other, ties="b")
    assert found.rbo == rs.rbo(one, other, ties="b")
    assert "2 of 6 pairs are swapped" in str(found)


def test_orders_come_from_evaluations() -> None:
    qrels = {"q1": {"d1": 1, "d2": 2}, "q2": {"d3": 1}}
    evaluations = {
        name: rs.evaluate(qrels, lists, ["nDCG@10", "RR"]) for name, lists in (("A", A), ("B", B))
    }
    found = rs.agreement_of_orders(evaluations, measures=("nDCG@10", "RR"))
    means = [{name: each[m] for name, each in evaluations.items()} for m in ("nDCG@10", "RR")]
    assert found == rs.agreement_of_orders(*means)
    same = rs.agreement_of_orders(evaluations, evaluations, measures="RR", ties="b")
    assert same.rbo == pytest.approx(1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}),
        ({"a": 1.0}, {"a": 1.0}),
        ({"a": math.nan, "b": 1.0}, {"a": 1.0, "b": 2.0}),
        ({"a": 1.0, "b": 2.0}, None),
    ],
)
def test_orders_that_cannot_be_compared_are_refused(
    one: dict[str, float], other: dict[str, float] | None
) -> None:
    with pytest.raises(rs.UsageError):
        rs.agreement_of_orders(one, other)


def test_the_command_prints_what_the_call_gives(tmp_path: Path) -> None:
    paths = [write_run(tmp_path / name, of) for name, of in (("a.run", A), ("b.run", B))]
    found = rs.agreement(A, B, ["RBO", "tau", "tau_ap", "overlap@3"], p=0.8, ties="b")
    words = ("agreement", *paths, "--p", "0.8", "--k", "3", "--ties", "b")
    lines = run(*words, "-q").stdout.decode().splitlines()
    assert lines[0].split("\t")[:2] == ["RBO", "q0"]
    assert lines[4 * 28] == "measure    agreement  queries"
    document = json.loads(run(*words, "--json").stdout)
    assert document["means"] == found.means
    assert "per_query" not in document
    whole = json.loads(run(*words, "--json", "-q").stdout)
    assert whole["per_query"]["q0"]["RBO"] == found.per_query("RBO")[0]
    header = (
        run("agreement", *paths, "-m", "tau,jaccard@2", "--csv").stdout.decode().splitlines()[0]
    )
    assert header == "query_id,common,tau,jaccard@2"
    check_error(run("agreement", *paths, "-m", "tau", "--k", "3"), 2, "usage")
    check_error(run("agreement", *paths, "--p", "2"), 2, "bad_parameter")


def test_real_runs_agree_with_themselves_and_less_with_each_other() -> None:
    folder = find("cast21")
    one, other = folder / "org_manual_ance.run", folder / "org_manual_bm25.run"
    same = rs.agreement(one, one, ties="b")
    assert same["RBO"] == pytest.approx(1)
    assert same["tau"] == pytest.approx(1)
    found = rs.agreement(one, other)
    assert 0 < found["RBO"] < 0.5
    assert found.queries == 239
