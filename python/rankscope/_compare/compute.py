"""Compare runs: is one better than another, by how much, and how sure is it?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.pairs import compare_columns, rename
from rankscope._compare.promise import MeasureValues
from rankscope._compare.ranges import Axis, add_ranges
from rankscope._compare.result import Comparison
from rankscope._compare.values import Range, compare_computed
from rankscope._conventions import Convention
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import By, Clusters, Weights, bad_parameter
from rankscope._evaluate.ranked_runs import rank_all
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.refusals import check_averaged, refuse_run_measure
from rankscope._evaluate.settings import (
    Settings,
    holds,
    refuse_reading,
    refuse_unused,
    split_question,
)
from rankscope._inputs.reading import read_items_for
from rankscope._names import refuse_argument
from rankscope._settings import OPTIONS, Interval, Policy, Reading
from rankscope._show.diagnostics import gather
from rankscope._show.progress import follow
from rankscope.errors import UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures, read_measures
from rankscope.measures.spec import Direction
from rankscope.typing import HistoryLike


class Testing(TypedDict, total=False):
    """The arguments about tests and intervals, which all comparisons take."""

    baseline: str | None
    test: Literal["permutation", "t", "wilcoxon"]
    correction: Literal["holm", "max-t", "bonferroni", "bh", "none"]
    interval: float | Interval
    margin: float | None
    permutations: int | None
    seed: int


if TYPE_CHECKING:
    from rankscope._evaluate.ranked_runs import Runs
    from rankscope._settings import ReadingOptions

    class Options(Testing, ReadingOptions, total=False):
        """How the inputs of a comparison are read, and differences are tested."""


TESTING = tuple(Testing.__annotations__)
EVALUATED = "results of evaluate, which have their values already"
ROUNDING = 1e-9
"""A mean differs from that of its values by less, except for weights."""


def compare(
    judgments: object,
    runs: Runs | Measures | None = None,
    measures: Measures | None = None,
    *,
    scores: Sequence[str] | None = None,
    values: Sequence[str] | Literal[True] | None = None,
    names: Sequence[str] | None = None,
    by: By | None = None,
    cluster: str | Clusters | None = None,
    weights: str | Weights | None = None,
    attributes: object = None,
    bounds: bool | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    range: Range = "measure",  # noqa: A002 - what the measure has
    better: Direction | None = None,
    **options: Unpack[Options],
) -> Comparison:
    """Compare two or more runs by one or more measures.

    For each pair of runs, or each run and the baseline, the result has the difference of the means
    with a confidence interval, a corrected p-value, wins and losses, and the smallest difference
    that so many queries can detect. The p-value, the interval and what is said about a margin make
    one promise, and the interval excludes 0 exactly if the difference is significant.

    Args:
        judgments: The judgments, as in `evaluate`, followed by runs and measures. Or one of these,
            followed by measures:

            - a table whose rows have grades and the scores of several systems:
              `compare(table, "nDCG@10", scores=["old", "new"])`
            - a table of several runs, one below the other, and the column that names the run:
              `compare(table, "model", "nDCG@10")`
            - a mapping of names to `Rankings` or to results of `evaluate` of the same queries:
              `compare({"bm25": a, "dense": b}, "nDCG@10")`
            - the value of each query under each run, from elsewhere:
              `compare(table, "nDCG@10", values=["old", "new"])`
        runs: A mapping of names to runs, each as in `evaluate`; or a list of paths, which are named
            after their files.
        measures: One or more measures, or their names (default: those of results of `evaluate`).
        scores: The columns of scores of a table, two or more. Larger scores rank first; change the
            sign of ranks.
        values: The columns of values of a table with one row per query, or `True` for all that
            aren't the query or an attribute. Without a column of queries, each row is one. A
            mapping of run to the values of its queries (`{"old": {"q1": 0.5, …}, …}`) needs `True`.
            Null and NaN mean no value.
        names: Short names of the runs, in order.
        by: Also compare within slices, given as in `evaluate`.
        cluster: What queries depend within, such as the user who asked several, given as in
            `evaluate`. Intervals and tests then treat each cluster as one independent unit. Without
            it, five searches by one user count as five independent ones, and intervals are too
            narrow.
        weights: The weight of each query, such as how often it is asked, given as in `evaluate`.
            Means, tests and intervals are then those of weighted queries.
        attributes: As in `evaluate`.
        bounds: Whether to find how far unjudged documents and ties could still change each
            difference: always, never, or where it takes about a second at most (`None`, the
            default). By most measures, that is up to ten million documents in the lists of all
            pairs. By AP, the squared lengths of the lists add up to fifty million at most: its
            bounds take long, and are too wide to decide where most of a list is unjudged. The
            result says where it was left out.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        range: With `values`: the lowest and the highest value that the measure can have, `None` if
            it has no bounds (default: that of the measure; 0 to 1 for a name of your own).
            Intervals never leave it.
        better: With `values`: which values are better, one of `"higher"`, `"lower"`, `"neither"`
            (default: that of the measure; `"higher"` for a name of your own).
        **options: How the inputs are read, as in `evaluate`, and `baseline`, the name of the run to
            compare all others with (default: all pairs);
            `test`, one of `"permutation"` (default: paired sign flips, exact for few queries),
            `"t"`, `"wilcoxon"`; `correction` of p-values and intervals for the number of
            comparisons, one of `"holm"` (default), `"max-t"`, `"bonferroni"` (each against any
            false difference), `"bh"` (against a large share of false ones), `"none"`; `interval`,
            the confidence level (default: 0.95) or an `Interval`; `margin`, the largest difference
            that doesn't matter, to find what is not worse, and what is equivalent;
            `permutations` (default: by the size of the data, up to 99,999); `seed`, the random seed
            of the test and the intervals (default: that of `interval`, which is 0).

    Raises:
        UsageError: A measure, the policy or another argument is invalid, a name is unknown, or the
            test doesn't work with clusters.
        InputError: The input doesn't have the expected format, or there is nothing to compare.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(30)}
        >>> old = {query: {"b": 3.0, "a": 2.0, "c": 1.0} for query in qrels}
        >>> new = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in list(qrels)[:24]}
        >>> new |= {query: {"c": 3.0, "a": 2.0, "b": 1.0} for query in list(qrels)[24:]}
        >>> comparison = compare(qrels, {"old": old, "new": new}, ["nDCG@10", "RR"])
        >>> [round(comparison[measure, "new"].difference, 4) for measure in comparison.measures]
        [0.0742, -0.1]
        >>> comparison["nDCG@10", "new"].p_corrected < 0.05
        True
        >>> log = {"query_id": [n // 2 for n in range(40)], "label": [1, 0] * 20}
        >>> log |= {"old": [0.2, 0.4] * 20, "new": [0.9, 0.1] * 20}
        >>> compare(log, "nDCG@10", scores=["old", "new"])["nDCG@10", "new"].wins
        20
        >>> values = {"query_id": [f"q{n}" for n in range(12)], "old": [0.2, 0.4, 0.6] * 4}
        >>> values["new"] = [value + 0.1 for value in values["old"]]
        >>> values["user"] = ["ann", "bob", "cat", "dan"] * 3
        >>> comparison = compare(values, "nDCG@10", values=["old", "new"], cluster="user")
        >>> pair = comparison["nDCG@10", "new"]
        >>> round(pair.difference, 4), pair.clusters
        (0.1, 4)
    """
    reading, testing = Reading.take(options)
    unknown = set(testing) - set(TESTING)
    if unknown:
        raise refuse_argument("compare", min(unknown), (*TESTING, *OPTIONS))
    of_items: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    of_rankings = of_items | {
        "policy": policy,
        "convention": convention,
        "scores": scores,
        "bounds": bounds or None,
    }
    requested: Any = runs if measures is None else measures
    settings = Settings(
        measures=(),
        policy=policy,
        convention=convention,
        by=by,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
    )
    if values is not None:
        refuse_unused(of_rankings, "values, which are computed already")
        return compare_computed(
            judgments,
            requested,
            settings,
            reading,
            runs=None if values is True else values,
            names=names,
            value_range=range,
            better=better,
            testing=testing,
        )
    of_values = {"range": None if range == "measure" else (range,), "better": better}
    refuse_unused(of_values, "rankings: it is for values")
    of_reading = {name: value for name, value in options.items() if name in OPTIONS}
    if holds(judgments, Evaluation):
        refuse_unused(of_rankings, EVALUATED)
        refuse_reading(of_reading, EVALUATED, "query", "encoding")
        evaluations = rename(dict(judgments), names)
        axis = Axis.read(find_common(evaluations).query_texts, settings, reading)
        chosen = None if requested is None else read_measures(requested)[0]
        if weights is None:
            refuse_weighted(evaluations)
        return _compare(evaluations, axis, testing, reading, chosen)
    judged, runs, requested = split_question("compare", judgments, runs, measures)
    of_measures = read_items_for(requested, **of_items, reading=reading)
    settings = replace(settings, measures=requested, items=of_measures)
    rankings = rank_all(
        "compare", judged, runs, settings, reading, scores=scores, options=of_reading
    )
    return compare_rankings(
        rename(rankings, names), settings, reading, bounds=bounds, testing=testing
    )


def compare_rankings(
    rankings: Mapping[str, Rankings],
    settings: Settings,
    reading: Reading,
    *,
    bounds: bool | None = None,
    testing: Mapping[str, Any],
) -> Comparison:
    """Compare rankings of the same queries; see `compare`."""
    is_shown = reading.progress is True
    evaluations = {
        name: run.evaluate(
            settings.measures,
            policy=settings.policy,
            convention=settings.convention,
            items=settings.items,
            threads=reading.threads,
        )
        for name, run in follow(rankings.items(), "evaluating runs", is_shown=is_shown)
    }
    first, evaluation = next(iter(rankings.values())), next(iter(evaluations.values()))
    axis = Axis.read(first.query_texts, settings, reading, rankings=first)
    # A convention may rename measures.
    pairs = zip(read_measures(settings.measures)[0], evaluation, strict=False)
    renamed = {measure.name: name for measure, name in pairs}
    answered = np.all([np.diff(run.offsets) > 0 for run in rankings.values()], axis=0)
    comparison = _compare(evaluations, axis, testing, reading, renamed=renamed, answered=answered)
    if axis.weights is None:
        threads = reading.threads
        return add_ranges(
            comparison, rankings, evaluation, threads, bounds=bounds, is_shown=is_shown
        )
    if bounds:
        raise bad_parameter(
            "what unjudged documents and ties could change is not computed with weights",
            "remove bounds or weights",
        )
    return comparison


def find_common(evaluations: Mapping[str, Evaluation]) -> Evaluation:
    """Return the first result, whose queries and policy all others must have."""
    first = next(iter(evaluations.values()))
    for name, run in evaluations.items():
        if run.query_texts != first.query_texts or run.policy != first.policy:
            raise bad_parameter(
                f"{name!r} has other queries or another policy than the first run",
                "evaluate all runs with the same judgments and policy",
            )
    return first


def refuse_weighted(evaluations: Mapping[str, Evaluation]) -> None:
    """Refuse results whose means have weights, which the values of queries don't know."""
    for name, run in evaluations.items():
        is_plain = run.convention is None and run.policy.aggregate == "mean"
        for measure in run.measures if is_plain else ():
            if measure.row.level == "run" or measure.row.mean != "mean":
                continue
            values = np.asarray(run.per_query(measure))
            mean = float(np.nanmean(values)) if not np.isnan(values).all() else math.nan
            if abs(mean - run[measure]) > ROUNDING * max(abs(mean), 1.0):
                raise UsageError(
                    f"the means of {name!r} have weights, which its values of queries don't have",
                    hint="pass weights here, too",
                    code="bad_weights",
                )


def _compare(
    evaluations: Mapping[str, Evaluation],
    axis: Axis,
    testing: Mapping[str, Any],
    reading: Reading,
    measures: Sequence[Measure] | None = None,
    *,
    renamed: Mapping[str, str] | None = None,
    answered: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare the values of the queries of evaluated runs."""
    first = find_common(evaluations)
    if len(evaluations) < 2:
        raise bad_parameter(
            f"expected two or more runs to compare, found {len(evaluations)}",
            "write compare({'bm25': a, 'dense': b}, …)",
        )
    values = []
    for measure in measures or first.measures:
        refuse_run_measure(measure, "be compared")
        check_averaged(measure, first.policy)
        columns = [run.per_query(measure) for run in evaluations.values()]
        values.append(MeasureValues.stack(measure, columns, axis.order))
    if first.policy.missing != "zero":
        answered = None
    return replace(
        compare_columns(values, tuple(evaluations), axis, testing, reading, answered=answered),
        policy=first.policy,
        notes=gather({name: run.notes for name, run in evaluations.items()}),
        asked=renamed or {},
    )
