"""Evaluates a stochastic ranker by several rankings of the same queries."""

from __future__ import annotations

from rankscope._core import evaluate_samples as evaluate_core
from rankscope.engine.clusters import read_clusters, refuse_cluster_alone
from rankscope.engine.requests import read_request
from rankscope.engine.weights import read_weights
from rankscope.errors import UsageError
from rankscope.evaluation.evaluating import make_evaluation, make_plan, refuse_diagnostics
from rankscope.inputs.reading import rank_run
from rankscope.inputs.recognition import recognise

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope._core import Rankings
    from rankscope.engine.clusters import Clusters
    from rankscope.engine.requests import Measures
    from rankscope.engine.weights import Weights
    from rankscope.evaluation.evaluation import Evaluation
    from rankscope.inputs.qrels import Qrels
    from rankscope.inputs.reading import Note
    from rankscope.settings.interval import Interval
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import Reading
    from rankscope.typing import InputLike


def evaluate_samples(
    qrels: Qrels,
    runs: Sequence[InputLike],
    measures: Measures,
    reading: Reading,
    *,
    policy: Policy | str | None,
    weights: Weights | None,
    interval: Interval | None,
    cluster: Clusters | None,
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
    request = read_request(
        measures, policy, convention=None, score_type=reading.score_type, grades=grades
    )
    weighed = read_weights(weights, qrels.judgments.query_ids)
    refuse_cluster_alone(cluster, interval)
    clusters = None if cluster is None else read_clusters(cluster, qrels.judgments.query_ids)
    plan = make_plan(request, request.ties, grades, reading.duplicates, weights=weighed)
    samples: list[Rankings] = []
    notes: list[Note] = []
    name = ""
    for run in runs:
        found = recognise(run, "run", reading.columns)
        samples.append(rank_run(qrels.judgments, found, request.ties, reading, notes=notes))
        name = found.name
    evaluation = make_evaluation(
        evaluate_core(samples, plan, reading.threads),
        request,
        reading,
        queries=qrels.queries,
        run_name=name,
        run_notes=notes,
        interval=interval,
        clusters=clusters,
    )
    if strict:
        refuse_diagnostics(evaluation.notes)
    return evaluation
