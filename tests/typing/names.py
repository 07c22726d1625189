"""A program that uses each public name once; checked by the type checker, never run."""

from __future__ import annotations

from typing import assert_type

import rankscope as rs
from rankscope import AP, clicks, correlation, errors, judges, measures, nDCG
from rankscope.sql import SqlStatements, write_sql

Run = dict[str, dict[str, float]]


def read(path: str) -> None:
    """Read inputs of each kind."""
    assert_type(rs.read_qrels(path), rs.Qrels)
    assert_type(rs.read_run(path, name="bm25"), rs.Run)
    assert_type(rs.read_letor(path), rs.Letor)
    assert_type(rs.read_items(path, history=path), rs.Items)
    split = rs.split(path, last="14d", keep="new_items")
    assert_type(split, rs.Split)
    rs.attribute(["click", None], positive={"click": 1.0})
    rs.evaluate(rs.File(path, "csv", {"query": "session"}), "RR", encoding="latin-1", threads=2)


def evaluate(qrels: Run, run: Run) -> None:
    """Evaluate runs, samples and arrays."""
    evaluation = rs.evaluate(qrels, run, ["AP", nDCG @ 10], interval=rs.Interval(0.9), by="country")
    assert_type(evaluation.notes[0], rs.Diagnostic)
    assert_type(evaluation.slices, rs.Slices | None)
    assert_type(evaluation.counts, rs.Counts)
    assert_type(rs.evaluate_samples(qrels, [run, run]), rs.Evaluation)
    assert_type(rs.parse("nDCG@10"), rs.Measure)
    assert_type(rs.ndcg_score([[1, 0]], [[0.5, 0.1]], k=10), float)
    assert_type(rs.dcg_score([[1, 0]], [[0.5, 0.1]], ties="average"), float)
    rs.cg([3, 2]), rs.dcg([3, 2], 10), rs.idcg([3, 2]), rs.ndcg([3, 2], ideal=[3, 3])
    last = rs.measure("last", lambda ranking, _: float(len(ranking)), better="lower")
    assert_type(last, rs.Measure)
    rs.install_as_pytrec_eval()


def compare(qrels: Run, runs: dict[str, Run]) -> None:
    """Compare, gate and combine runs."""
    comparison = rs.compare(qrels, runs, [AP], test="t", correction="holm")
    assert_type(comparison, rs.Comparison)
    assert_type(comparison["AP", "new"], rs.Compared)
    assert_type(comparison.to_latex(digits=3, percent=True), str)
    board = rs.leaderboard(qrels, runs, AP, baseline="old")
    assert_type(board, rs.Leaderboard)
    gated = rs.gate(qrels, runs["a"], runs["b"], rs.Budget("AP", max_drop=0.1), confidence=0.9)
    assert_type(gated, rs.GateResult)
    assert_type(gated.checks, tuple[rs.Check, ...])
    assert_type(rs.report(qrels, runs, "AP"), rs.Report)
    assert_type(rs.power([0.1, 0.2], [0.2, 0.3], effect=0.05), rs.Power)
    fused = rs.fuse(runs, "rrf", k=60)
    assert_type(fused, rs.FusedRun)
    assert_type(rs.fit_fusion(qrels, runs, "AP"), rs.FusionFit)
    assert_type(rs.agreement(runs["a"], runs["b"], names=("a", "b")), rs.RunAgreement)
    assert_type(correlation.kendall_tau(["a", "b"], ["b", "a"]), float)


def explain(qrels: Run, run: Run) -> None:
    """Ask why a value is what it is."""
    rankings = rs.Rankings.from_run(qrels, run)
    losses = rs.losses(rankings, "nDCG@10")
    assert_type(losses, rs.Losses)
    assert_type(rankings.bounds("AP"), rs.Bounds)
    assert_type(rs.bounds(qrels, run, "AP", scale=[0, 1]), rs.Bounds)
    assert_type(rankings.ties("AP"), rs.TieAudit)
    difference = rs.diff(qrels, run, run, "AP", names=("old", "new"))
    assert_type(difference, rs.RunDifference)
    assert_type(difference.explain("q"), rs.DocumentMoves)
    assert_type(difference.queries, rs.Table)
    explained: rs.Explanation | rs.RelevanceExplanation = rs.explain(qrels, run, AP, query_id="q")
    assert_type(explained.value, float)
    assert_type(rs.reconcile(qrels, run, "AP", got=0.3), rs.Reconciliation)
    assert_type(write_sql("qrels", "run", "AP"), SqlStatements)


def ask_judges(human: Run, model: Run, run: Run, log: dict[str, list[object]]) -> None:
    """Compare judges, and use logs of clicks."""
    assert_type(judges.agreement(log, judges=["ann", "ben"]), judges.JudgeAgreement)
    assert_type(judges.combine(log, judges=["ann", "ben"]), judges.CombinedJudgments)
    evaluation = judges.evaluate(human, model, run, "DCG@10")
    assert_type(evaluation, judges.ModelJudgedEvaluation)
    assert_type(judges.estimate_dcg(human, model, run), judges.ModelJudgedEvaluation)
    assert_type(clicks.evaluate_off_policy(log, target="new"), clicks.OffPolicyEvaluation)
    measures.tabulate_discounts(10)


def handle(error: rs.RankscopeError) -> str:
    """Tell errors apart."""
    if isinstance(error, rs.UsageError | rs.InputError):
        return error.hint
    if isinstance(error, rs.FileError | errors.MeasureError):
        return f"{error.file}:{error.line}"
    return f"{rs.__version__}: {error.code}"
