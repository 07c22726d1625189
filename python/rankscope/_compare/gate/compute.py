"""Decide whether a candidate is good enough to replace a baseline."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.compute import find_common
from rankscope._compare.gate.budget import (
    DIFFERENCES,
    Budget,
    OnInconclusive,
    bad_budget,
    check_choices,
    read_budgets,
)
from rankscope._compare.gate.checks import Settings, check_budget, check_tolerance
from rankscope._compare.gate.result import Check, GateResult
from rankscope._compare.pairs import rename
from rankscope._compare.promise import MeasureValues
from rankscope._compare.ranges import Axis
from rankscope._conventions import Convention
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import Clusters, Weights, bad_parameter
from rankscope._evaluate.ranked_runs import is_column, rank_all
from rankscope._evaluate.rankings import Rankings, evaluate_rankings
from rankscope._evaluate.refusals import check_averaged, refuse_run_measure
from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope._evaluate.settings import holds
from rankscope._file import File
from rankscope._inputs.reading import read_items_for
from rankscope._inputs.recognition import name_path, shorten_names
from rankscope._settings import Interval, Policy, Reading
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure
from rankscope.typing import HistoryLike, InputLike

Limit: TypeAlias = float | str
Budgets: TypeAlias = Budget | Sequence[Budget] | Mapping[str, Limit] | Mapping[Measure, Limit]

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions


def gate(
    judgments: object,
    baseline: InputLike | None = None,
    candidate: InputLike | None = None,
    budgets: Budgets | None = None,
    *,
    scores: Sequence[str] | None = None,
    confidence: float = 0.95,
    by: str | Sequence[str] | None = None,
    cluster: str | Clusters | None = None,
    weights: str | Weights | None = None,
    attributes: object = None,
    on_inconclusive: OnInconclusive = "fail",
    names: tuple[str, str] | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    method: Literal["auto", "dense", "bounded", "t"] = "auto",
    seed: int = 0,
    **options: Unpack[ReadingOptions],
) -> GateResult:
    """Check whether a candidate stays within its budgets, with confidence intervals.

    With the difference d = candidate − baseline and its two-sided interval, a budget holds if the
    lower end is at least −budget, is broken if the upper end is below −budget, and is inconclusive
    otherwise. With 95 % confidence, a candidate whose true drop is the budget or less is called
    broken in at most 2.5 % of gates per budget.

    Args:
        judgments: The judgments, as in `evaluate`. Or one of these, followed by budgets:

            - a table whose rows have grades and the scores of both:
              `gate(table, {"nDCG@10": 0.005}, scores=["old", "new"])`
            - a table of both runs, the baseline first, and the column that names the run:
              `gate(table, "model", {"nDCG@10": 0.005})`
            - a mapping with the `Rankings` of the baseline and of the candidate, in this order:
              `gate({"old": a, "new": b}, {"nDCG@10": 0.005})`
        baseline: The run to compare with, as in `evaluate`.
        candidate: The run to check.
        budgets: A mapping of measures to the largest allowed drop of the mean, which can be a share
            of the baseline's mean: `{"nDCG@10": 0.005, "AP": "2%"}`. Or one or more `Budget`.
            Measures of all lists together, such as Coverage, need a `tolerance`.
        scores: The two columns of scores of a table whose rows have grades, too: the baseline's and
            the candidate's.
        confidence: The confidence level of the two-sided intervals.
        by: Also check each budget in each slice of this attribute; several are combined. The level
            of these intervals is corrected for the number of slices (Bonferroni).
        cluster: What queries depend within, such as the user, as in `compare`.
        weights: The weight of each query, as in `compare`, for budgets of means.
        attributes: A table with one row per query, as in `compare`.
        on_inconclusive: Whether a gate with an inconclusive budget should `"fail"` or `"pass"`.
        names: Short names of the baseline and the candidate.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        method: How intervals of means are computed, as in `Interval`.
        seed: The random seed of the intervals.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: A budget, a measure, the policy or another argument is invalid, or no document
            of the baseline is judged.
        InputError: The input doesn't have the expected format, or there is nothing to compare.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {f"q{n}": {"a": 2, "b": 1} for n in range(60)}
        >>> old = {query: {"a": 2.0, "b": 1.0} for query in qrels}
        >>> new = old | {f"q{n}": {"b": 2.0, "a": 1.0} for n in range(20)}
        >>> result = gate(qrels, old, new, {"nDCG@10": 0.2})
        >>> result.passed
        True
        >>> [(check.name, check.verdict) for check in result]
        [('nDCG@10: max drop 0.2', 'holds')]
    """
    runs: list[Any] = [run for run in (baseline, candidate) if run is not None]
    if budgets is None and (len(runs) == 1 or is_column(judgments, baseline)):
        budgets = runs.pop()  # there are no two runs beside such inputs
    check_choices(confidence, on_inconclusive, method)
    reading = Reading.of("gate", options)
    limited = [(budget, read_measure(budget.measure)) for budget in read_budgets(budgets, by)]
    for budget, measure in limited:
        _refuse_measure(measure, budget)
        _refuse_vain_budget(measure, budget)
        if weights is not None and budget.kind in {"max-loss", "tolerance"}:
            raise bad_budget(f"{budget} has no weights", "remove weights, or the budget")
    measures = list(dict.fromkeys(measure for _, measure in limited))
    settings = EvaluateSettings(
        measures=measures,
        policy=policy,
        convention=convention,
        by=[name for budget, _ in limited for name in budget.attributes] or None,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
        items=read_items_for(
            measures, history=history, items=items, catalogue=catalogue, reading=reading
        ),
    )
    ranked = _name_runs(*runs) if len(runs) == 2 else runs[0] if runs else judgments
    has_both = len(runs) == 2 or is_column(judgments, ranked) or holds(ranked, Rankings)
    rankings: dict[str, Rankings] = {}
    if has_both or (scores is not None and not runs):
        judged = judgments if runs else None
        rankings = rank_all(
            "gate", judged, ranked, settings, reading, scores=scores, options=options
        )
    if len(rankings) != 2:
        raise bad_parameter(
            "expected judgments, a baseline and a candidate, or what holds all of these",
            "write gate(qrels, baseline, candidate, {'nDCG@10': 0.005}), or "
            "gate({'old': a, 'new': b}, budgets={'nDCG@10': 0.005})",
        )
    rankings = rename(rankings, names)
    old, new = rankings.values()
    plain = replace(settings, by=None, cluster=None, weights=None, attributes=None)
    evaluations = {name: evaluate_rankings(run, plain, reading) for name, run in rankings.items()}
    first = find_common(evaluations)
    baseline_name, candidate_name = map(str, evaluations)
    if np.isnan(old.relevance).all() and not all(measure.row.of_items for measure in measures):
        raise UsageError(
            f"none of the documents of {baseline_name} is judged",
            hint="check that the judgments and the runs have the same ids of documents",
            code="all_unjudged",
        )
    if attributes is not None and settings.list_attributes():
        from rankscope._inputs.tabular import read_query_table

        # Read once, because it may be standard input.
        table = read_query_table(attributes, reading, texts=settings.list_attributes())
        settings = replace(settings, attributes=table)
    queries = old.query_texts
    axes = {
        by: Axis.read(queries, replace(settings, by=by or None), reading, rankings=old)
        for by in ((), *(budget.attributes for budget, _ in limited))
    }
    axis = axes[()]

    def has_same_lists(chosen: NDArray[np.int64]) -> bool:
        have_ids = old.has_doc_ids and new.has_doc_ids
        ids = (queries[axis.order[at]] for at in chosen)
        return have_ids and all(old.doc_texts(query) == new.doc_texts(query) for query in ids)

    checking = Settings(
        interval=Interval(confidence, method=method, seed=seed),
        on_inconclusive=on_inconclusive,
        threads=reading.threads,
        has_same_lists=has_same_lists,
    )
    checks = [
        check
        for budget, measure in limited
        for check in _check(budget, measure, evaluations, axes[budget.attributes], checking)
    ]
    return GateResult(
        baseline=baseline_name,
        candidate=candidate_name,
        checks=tuple(checks),
        on_inconclusive=on_inconclusive,
        cluster="" if axis.clusters is None else axis.clusters[0],
        is_weighted=axis.weights is not None,
        policy=first.policy,
        notes=tuple(dict.fromkeys(note for run in evaluations.values() for note in run.notes)),
    )


def _check(
    budget: Budget,
    measure: Measure,
    evaluations: Mapping[str, Evaluation],
    axis: Axis,
    settings: Settings,
) -> list[Check]:
    """Check a budget with the values of queries, or with those of all lists."""
    runs = [*evaluations.values()]
    if budget.kind == "tolerance":
        means = [run[measure] for run in runs]
        return [check_tolerance(budget, measure, means, len(axis.order), settings)]
    for run in runs:
        check_averaged(measure, run.policy)
    return check_budget(
        budget,
        MeasureValues.stack(measure, [run.per_query(measure) for run in runs], axis.order),
        groups=axis.groups,
        clusters=axis.clusters,
        weights=axis.weights,
        settings=settings,
    )


def _name_runs(baseline: InputLike, candidate: InputLike) -> dict[str, InputLike]:
    """Return two runs by their file names, if they are files with different names."""
    runs, names = (baseline, candidate), ["baseline", "candidate"]
    paths: list[Any] = [run.path if isinstance(run, File) else run for run in runs]
    if all(isinstance(path, str | os.PathLike) for path in paths):
        short = shorten_names([name_path(os.fspath(path), "run") for path in paths])
        names = short if len(set(short)) == 2 else names
    return dict(zip(names, runs, strict=True))


def _refuse_measure(measure: Measure, budget: Budget) -> None:
    """Refuse a measure that has no mean, or of which a drop isn't a loss.

    A measure that says nothing about which ranking is better, such as Judged, can have a minimum.
    """
    if budget.kind != "tolerance":
        refuse_run_measure(measure, "have a budget of this kind")
    elif measure.row.level != "run":
        raise bad_budget(
            f"{measure} can't have a tolerance: each query has a value of it, so a gate can tell "
            "how sure a drop is",
            f"write max_drop={budget.tolerance!r}, or --max-drop",
        )
    else:
        return
    if measure.better == "lower" or (measure.better == "neither" and budget.minimum is None):
        why = "it doesn't say which of two rankings is better"
        if measure.better == "lower":
            why = "a drop of it is an improvement"
        raise bad_budget(
            f"{measure} can't have a budget: {why}",
            "choose a measure of which higher values are better, such as nDCG@10",
        )


def _refuse_vain_budget(measure: Measure, budget: Budget) -> None:
    """Refuse a limit that no values can exceed, such as a drop of 5 that was meant as 5 percent."""
    low, high = map(float, measure.row.value_range)
    limit, why = budget.limit, f"values of {measure} are from {low:g} to {high:g}"
    is_vain = limit >= high - low
    if budget.is_relative:
        is_vain = limit >= 1 and measure.better != "lower"
        why = "nothing can drop by more than itself"
    elif budget.kind == "min":
        is_vain = not low <= limit <= high
    if is_vain:
        is_share = budget.kind in DIFFERENCES and not budget.is_relative and 1 <= limit < 100
        raise bad_budget(
            f"{budget} checks nothing: {why}",
            f"write '{limit:g}%' for {limit:g} percent, or 0.01"
            if is_share
            else "give a limit that the values can exceed",
        )
