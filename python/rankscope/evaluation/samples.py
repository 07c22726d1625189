"""Evaluates a stochastic ranker by several rankings of the same queries."""

from __future__ import annotations

from rankscope._core import evaluate_samples as evaluate_core
from rankscope.engine.clusters import read_clusters, refuse_cluster_alone
from rankscope.engine.requests import count_threads, read_request
from rankscope.engine.weights import read_weights
from rankscope.errors import UsageError
from rankscope.evaluation.evaluating import make_evaluation, make_plan, rank_run, refuse_diagnostics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankscope.engine.clusters import Clusters
    from rankscope.engine.requests import Measures
    from rankscope.engine.weights import Weights
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.inputs.qrels import Qrels
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import Policy, ScoreType
    from rankscope.typing import InputLike


def evaluate_samples(
    qrels: Qrels,
    runs: Sequence[InputLike],
    measures: Measures,
    *,
    policy: Policy | str | None,
    columns: Mapping[str, str] | None,
    weights: Weights | None,
    interval: Interval | None,
    cluster: Clusters | None,
    duplicates: str,
    score_type: ScoreType | None,
    encoding: str,
    threads: int | None,
    strict: bool,
) -> Evaluation:
    """Evaluate the rankings of a stochastic ranker; see `rankscope.evaluate_samples`."""
    if not runs:
        raise UsageError(
            "expected the rankings of a stochastic ranker, found none",
            hint="pass a list of runs, each with one ranking of every query",
            code="no_run",
        )
    grades = qrels.judgments.grades()
    request = read_request(measures, policy, convention=None, score_type=score_type, grades=grades)
    workers = count_threads(threads)
    weighed = read_weights(weights, qrels.judgments.query_ids)
    refuse_cluster_alone(cluster, interval)
    clusters = None if cluster is None else read_clusters(cluster, qrels.judgments.query_ids)
    plan = make_plan(request, request.ties, grades, duplicates, weights=weighed)
    samples, notes, name = [], [], ""
    for run in runs:
        ranked, found, noted = rank_run(
            qrels,
            run,
            ties=request.ties,
            duplicates=duplicates,
            encoding=encoding,
            score_type=request.score_type,
            columns=columns,
        )
        samples.append(ranked)
        name = found.name
        notes += noted
    evaluation = make_evaluation(
        evaluate_core(samples, plan, workers),
        request,
        queries=qrels.queries,
        run_name=name,
        run_notes=notes,
        duplicates=duplicates,
        interval=interval,
        clusters=clusters,
        threads=workers,
    )
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation
