"""Evaluate a ranker that shows different rankings of the same query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Unpack

from rankscope._core import Plan
from rankscope._core import evaluate_samples as evaluate_core
from rankscope._evaluate.evaluating import evaluate_run, load_qrels_for
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import Clusters, Weights, bad_parameter
from rankscope._evaluate.runs import Evaluated
from rankscope._evaluate.settings import Request, Settings
from rankscope._inputs.reading import Qrels, rank_run
from rankscope._inputs.recognition import is_table, recognise
from rankscope._settings import Interval, Policy, Reading, read_interval
from rankscope.errors import UsageError
from rankscope.measures.parse import Measures
from rankscope.typing import InputLike

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note
    from rankscope._settings import ReadingOptions


def evaluate_samples(
    judgments: InputLike | Qrels,
    runs: Iterable[InputLike],
    measures: Measures = ("EEL", "EED", "EER"),
    *,
    policy: Policy | str | None = None,
    weights: str | Weights | None = None,
    interval: float | Interval | None = None,
    cluster: str | Clusters | None = None,
    attributes: object = None,
    strict: bool = False,
    **options: Unpack[ReadingOptions],
) -> Evaluation:
    """Evaluate a stochastic ranker by several rankings of each query.

    Expected exposure (EEL, EED and EER) is computed from the mean exposure that each document gets
    over the rankings. For any other measure, the value of a query is the mean of the values of its
    rankings.

    Args:
        judgments: As in `evaluate`.
        runs: The rankings: several runs, each with one ranking of every query, as in `evaluate`.
            They all count the same. A query that some runs don't have is averaged over the others.
        measures: One or more measures, or their names. Each has to depend on the grades of each
            query only, unlike Novelty or Coverage.
        policy: As in `evaluate`.
        weights: As in `evaluate`.
        interval: As in `evaluate`. Intervals are over queries, for these rankings.
        cluster: As in `evaluate`.
        attributes: As in `evaluate`.
        strict: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The means, the values of each query, and the counts behind them, as of one run.

    Raises:
        UsageError: A measure, the policy or another argument is invalid, or there is no run.
        InputError: An input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 1, "b": 1}}
        >>> one, other = {"q1": ["a", "b"]}, {"q1": ["b", "a"]}
        >>> evaluate_samples(qrels, [one, one], "EEL")["EEL"]
        0.125
        >>> evaluate_samples(qrels, [one, other], "EEL")["EEL"]
        0.0
    """
    if isinstance(runs, str | bytes | Mapping) or is_table(runs):
        raise bad_parameter(
            f"expected several runs in a list, found {type(runs).__name__}",
            "write evaluate_samples(qrels, [run_1, run_2]); evaluate takes a single run",
        )
    samples = list(runs)
    if not samples:
        raise UsageError(
            "expected the rankings of a stochastic ranker, found none",
            hint="pass a list of runs, each with one ranking of every query",
            code="no_run",
        )
    reading = Reading.of("evaluate_samples", options)
    settings = Settings(
        measures=measures,
        policy=policy,
        interval=read_interval(interval),
        cluster=cluster,
        weights=weights,
        attributes=attributes,
        strict=strict,
    )
    qrels = load_qrels_for(judgments, samples, measures, reading)
    return evaluate_run(qrels, samples, settings, reading, evaluate=_evaluate_runs)


def _evaluate_runs(
    qrels: Qrels, runs: Sequence[InputLike], request: Request, plan: Plan, reading: Reading
) -> Evaluated:
    notes: list[Note] = []
    sources = [recognise(run, "run", reading.columns) for run in runs]
    samples = [
        rank_run(qrels.judgments, source, request.ties, reading, notes=notes, tell=None)
        for source in sources
    ]
    return Evaluated(evaluate_core(samples, plan, reading.threads), sources[-1].name, notes)
