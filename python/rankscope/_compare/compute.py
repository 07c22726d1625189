"""Compare runs: is one better than another, by how much, and how sure is it?"""

from __future__ import annotations

import math
from functools import partial

from rankscope._compare.cases import MeasureValues
from rankscope._compare.layout import check_baselines
from rankscope._compare.pairs import compare_values, list_pairs, say_left_out
from rankscope._compare.promise import Choices
from rankscope._compare.query_axis import Axis
from rankscope._compare.ranges import add_ranges
from rankscope._compare.result import Comparison
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.question import holds, refuse_reading, refuse_unused, split_question
from rankscope._evaluate.ranked_runs import rank_all
from rankscope._evaluate.refusals import check_averaged, refuse_run_measure
from rankscope._evaluate.settings import Settings
from rankscope._inputs.needs import read_items_for
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.hints import refuse_argument
from rankscope.measures.reading import read_measures
from rankscope.output.diagnostics import gather
from rankscope.output.progress import follow, tick
from rankscope.records import replace
from rankscope.settings.interval import Interval, read_interval
from rankscope.settings.reading import OPTIONS, Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, TypeAlias, TypedDict, TypeVar, Unpack

    from numpy.typing import NDArray

    from rankscope._compare.pair import Compared
    from rankscope._evaluate.query_values import By, Clusters, Weights
    from rankscope._evaluate.ranked_runs import Runs
    from rankscope._evaluate.rankings import Rankings
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.direction import Direction
    from rankscope.measures.reading import Measures
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import HistoryLike

    Range: TypeAlias = tuple[float, float] | Literal["measure"] | None
    Named = TypeVar("Named")

    class Testing(TypedDict, total=False):
        """The arguments about tests and intervals, which all comparisons take."""

        baseline: str | None
        test: Literal["permutation", "t", "wilcoxon"]
        correction: Literal["holm", "max-t", "bonferroni", "bh", "none"]
        interval: float | Interval
        margin: float | None
        permutations: int | None
        seed: int

    class Options(Testing, ReadingOptions, total=False):
        """How the inputs of a comparison are read, and differences are tested."""


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
        >>> found = compare(qrels, {"old": old, "new": new}, ["nDCG@10", "RR"])
        >>> [round(found[measure, "new"].difference, 4) for measure in found.measures]
        [0.0742, -0.1]
        >>> found["nDCG@10", "new"].p_corrected < 0.05
        True
        >>> log = {"query_id": [n // 2 for n in range(40)], "label": [1, 0] * 20}
        >>> log |= {"old": [0.2, 0.4] * 20, "new": [0.9, 0.1] * 20}
        >>> compare(log, "nDCG@10", scores=["old", "new"])["nDCG@10", "new"].wins
        20
        >>> values = {"query_id": [f"q{n}" for n in range(12)], "old": [0.2, 0.4, 0.6] * 4}
        >>> values["new"] = [value + 0.1 for value in values["old"]]
        >>> values["user"] = ["ann", "bob", "cat", "dan"] * 3
        >>> found = compare(values, "nDCG@10", values=["old", "new"], cluster="user")
        >>> round(found["nDCG@10", "new"].difference, 4), found["nDCG@10", "new"].clusters
        (0.1, 4)
    """
    reading, testing = Reading.take(options)
    unknown = set(testing) - set(ARGUMENTS)
    if unknown:
        raise refuse_argument("compare", min(unknown), (*ARGUMENTS, *OPTIONS))
    of_items: dict[str, Any] = {"history": history, "items": items, "catalogue": catalogue}
    of_values = {"range": None if range == "measure" else (range,), "better": better}
    computed = {**of_items, "policy": policy, "convention": convention, "scores": scores}
    computed |= {"bounds": bounds or None}
    wanted: Any = runs if measures is None else measures
    asked = Settings(
        measures=(),
        policy=policy,
        convention=convention,
        by=by,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
    )
    if values is not None:
        refuse_unused(computed, "values, which are computed already")
        from rankscope._compare.values import compare_computed  # noqa: PLC0415 - only for them

        return compare_computed(
            judgments,
            wanted,
            asked,
            reading,
            runs=None if values is True else values,
            names=names,
            value_range=range,
            better=better,
            testing=testing,
        )
    refuse_unused(of_values, "rankings: it is for values")
    of_reading = {name: value for name, value in options.items() if name in OPTIONS}
    if holds(judgments, Evaluation):
        what = "results of evaluate, which have their values already"
        refuse_unused(computed, what)
        refuse_reading(of_reading, what, "query", "encoding")
        evaluations = name_anew(dict(judgments), names)
        axis = Axis.read(find_common(evaluations).query_texts, asked, reading)
        chosen = None if wanted is None else read_measures(wanted)[0]
        if weights is None:
            refuse_weighted(evaluations)
        return _compare(evaluations, axis, testing, reading, chosen)
    judged, given, wanted = split_question("compare", judgments, runs, measures)
    of_measures = read_items_for(wanted, **of_items, reading=reading)
    asked = replace(asked, measures=wanted, items=of_measures)
    rankings = rank_all("compare", judged, given, asked, reading, scores=scores, options=of_reading)
    return compare_rankings(
        name_anew(rankings, names), asked, reading, bounds=bounds, testing=testing
    )


def compare_rankings(
    rankings: Mapping[str, Rankings],
    asked: Settings,
    reading: Reading,
    *,
    bounds: bool | None = None,
    testing: Mapping[str, Any],
) -> Comparison:
    """Compare rankings of the same queries; see `compare`."""
    is_shown = reading.progress is True
    evaluations = {
        name: each.evaluate(
            asked.measures,
            policy=asked.policy,
            convention=asked.convention,
            items=asked.items,
            threads=reading.threads,
        )
        for name, each in follow(rankings.items(), "evaluating runs", is_shown=is_shown)
    }
    first = next(iter(rankings.values()))
    axis = Axis.read(first.query_texts, asked, reading, rankings=first)
    # A convention may rename measures.
    pairs = zip(read_measures(asked.measures)[0], next(iter(evaluations.values())), strict=False)
    renamed = {each.name: name for each, name in pairs}
    answered = np.all([np.diff(each.offsets) > 0 for each in rankings.values()], axis=0)
    made = _compare(evaluations, axis, testing, reading, renamed=renamed, answered=answered)
    if axis.weights is not None:
        if bounds:
            raise UsageError(
                "what unjudged documents and ties could change is not computed with weights",
                hint="remove bounds or weights",
                code="bad_parameter",
            )
        return made
    evaluated = next(iter(evaluations.values()))
    return add_ranges(made, rankings, evaluated, reading.threads, bounds=bounds, is_shown=is_shown)


def find_common(evaluations: Mapping[str, Evaluation]) -> Evaluation:
    """Return the first result, whose queries and policy all others must have."""
    first = next(iter(evaluations.values()))
    for name, each in evaluations.items():
        if each.query_texts != first.query_texts or each.policy != first.policy:
            raise UsageError(
                f"{name!r} has other queries or another policy than the first run",
                hint="evaluate all runs with the same judgments and policy",
                code="bad_parameter",
            )
    return first


def refuse_weighted(evaluations: Mapping[str, Evaluation]) -> None:
    """Refuse results whose means have weights, which the values of queries don't know."""
    for name, each in evaluations.items():
        if each.convention is not None or each.policy.aggregate != "mean":
            continue
        for measure in each.measures:
            if measure.row.level == "run" or measure.row.mean != "mean":
                continue
            values = np.asarray(each.per_query(measure))
            mean = float(np.nanmean(values)) if not np.isnan(values).all() else math.nan
            if abs(mean - each[measure]) > ROUNDING * max(abs(mean), 1.0):
                raise UsageError(
                    f"the means of {name!r} have weights, which its values of queries don't have",
                    hint="pass weights here, too",
                    code="bad_weights",
                )


def name_anew(held: dict[str, Named], names: Sequence[str] | None) -> dict[str, Named]:
    """Return the same under other names, in order."""
    if names is None:
        return held
    if isinstance(names, str) or len(set(names)) < len(held) or len(names) != len(held):
        raise UsageError(
            f"expected {len(held)} different names, found {names!r}",
            hint="give one name for each run, in order",
            code="bad_parameter",
        )
    return dict(zip(names, held.values(), strict=True))


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
    measures = measures or first.measures
    for measure in measures:
        refuse_run_measure(measure, "be compared")
        check_averaged(measure, first.policy)
    values = [
        MeasureValues.stack(
            measure, [each.per_query(measure) for each in evaluations.values()], axis.order
        )
        for measure in measures
    ]
    return compare_columns(
        values,
        runs=tuple(evaluations),
        axis=axis,
        testing=testing,
        reading=reading,
        policy=first.policy,
        notes=gather({name: each.notes for name, each in evaluations.items()}),
        asked=renamed or {},
        answered=answered if first.policy.missing == "zero" else None,
    )


def compare_columns(
    values: Sequence[MeasureValues],
    *,
    runs: tuple[str, ...],
    axis: Axis,
    testing: Mapping[str, Any],
    reading: Reading,
    policy: Policy | None,
    notes: tuple[Diagnostic, ...] = (),
    asked: Mapping[str, str] | None = None,
    answered: NDArray[np.bool_] | None = None,
) -> Comparison:
    """Compare the values of queries, measure by measure.

    Where some run has no list for a query, each pair also says what it is over those `answered`.
    """
    interval = read_interval(testing.get("interval", 0.95)) or Interval()
    names: tuple[str, ...] = Choices.__match_args__
    given: dict[str, Any] = {name: value for name, value in testing.items() if name in names}
    interval = _seed(interval, testing.get("seed"))
    choices = Choices(**given | {"interval": interval, "threads": reading.threads})
    baseline = testing.get("baseline")
    place = None if baseline is None else runs.index(check_baselines(baseline, runs)[0])
    with tick("testing differences", is_shown=reading.progress is True) as check:
        compare = partial(
            compare_values,
            runs=runs,
            pairs=list_pairs(len(runs), place),
            choices=choices,
            clusters=axis.clusters,
            weights=axis.weights,
            check=check,
        )
        compared = compare(values, groups=axis.groups)
        pairs = compared.comparisons
        if answered is not None and answered.any() and not answered.all():
            kept = np.where(answered[axis.order], 0.0, np.nan)
            own = compare([replace(each, values=each.values + kept) for each in values])
            by_pair = {(pair.measure, pair.baseline, pair.run): pair for pair in own.comparisons}
            pairs = tuple(
                pair
                if pair.slice is not None
                else replace(pair, answered=by_pair[pair.measure, pair.baseline, pair.run])
                for pair in pairs
            )
    return Comparison(
        runs=runs,
        measures=tuple(each.name for each in values),
        means=_read_means(runs, pairs),
        comparisons=pairs,
        baseline=baseline,
        by="" if axis.groups is None else axis.groups[0],
        settings=compared.settings,
        policy=policy,
        notes=notes,
        warnings=(*compared.warnings, *say_left_out(values)),
        asked=asked,
        attributes=axis.attributes,
    )


def _read_means(runs: Sequence[str], pairs: Sequence[Compared]) -> dict[str, dict[str, float]]:
    """Return the mean of each measure over all queries, by run."""
    means: dict[str, dict[str, float]] = {run: {} for run in runs}
    for pair in pairs:
        if pair.slice is None:
            means[pair.baseline][pair.measure] = pair.baseline_mean
            means[pair.run][pair.measure] = pair.run_mean
    return means


ARGUMENTS = (
    "baseline",
    "test",
    "correction",
    "interval",
    "margin",
    "permutations",
    "seed",
)
"""The arguments about tests and intervals."""


def _seed(interval: Interval, seed: int | None) -> Interval:
    """Return the interval with the seed of the comparison, which is that of its tests, too."""
    if seed is None:
        return interval
    if interval.seed not in {0, seed}:
        raise UsageError(
            f"expected one seed, found seed={seed!r} and an interval with seed={interval.seed!r}",
            hint="remove one of them: the test and the intervals use the same seed",
            code="bad_parameter",
        )
    return replace(interval, seed=seed)
