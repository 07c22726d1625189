"""Compare runs: is one better than another, by how much, and how sure is it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rankscope.comparison.estimates import Choices, MeasureValues, compare_values
from rankscope.comparison.query_axis import Axis
from rankscope.comparison.ranges import add_ranges
from rankscope.comparison.result import Comparison
from rankscope.engine.items import read_items_for, refuse_known_items
from rankscope.engine.progress import follow, tick
from rankscope.engine.requests import read_measures
from rankscope.errors import PolicyError, UsageError
from rankscope.evaluation.evaluation import Evaluation
from rankscope.evaluation.ranked_runs import rank_runs, read_runs
from rankscope.evaluation.rankings import Rankings
from rankscope.evaluation.refusals import refuse_run_measure
from rankscope.hints import refuse_argument
from rankscope.names import find_closest
from rankscope.output.diagnostics import gather
from rankscope.records import replace
from rankscope.settings.interval import Interval, read_interval
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal, TypedDict, TypeGuard, TypeVar, Unpack

    from rankscope.comparison.query_axis import Attribute
    from rankscope.conventions import Convention
    from rankscope.engine.requests import Measures
    from rankscope.evaluation.ranked_runs import Runs
    from rankscope.inputs.items import Items
    from rankscope.inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.settings.policy import Duplicates, Policy, ScoreType
    from rankscope.typing import HistoryLike, InputLike

    Named = TypeVar("Named")

    class Testing(TypedDict, total=False):
        """The arguments about tests and intervals, which all comparisons take."""

        baseline: str | None
        test: Literal["permutation", "t", "bootstrap", "wilcoxon", "sign", "tukey"]
        correction: Literal["holm", "bh", "max-t", "none"]
        interval: float | Interval
        margin: float | None
        permutations: int | None
        seed: int
        threads: int | None
        progress: bool


def compare(
    qrels: InputLike | Qrels | Mapping[str, Rankings] | Mapping[str, Evaluation],
    runs: Runs | Measures | None = None,
    measures: Measures | None = None,
    *,
    names: Sequence[str] | None = None,
    by: Attribute | Sequence[str] | None = None,
    cluster: Attribute | None = None,
    attributes: object = None,
    bounds: bool | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    columns: Mapping[str, str] | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    duplicates: Duplicates = "error",
    score_type: ScoreType | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
    **testing: Unpack[Testing],
) -> Comparison:
    """Compare two or more runs by one or more measures.

    For each pair of runs, or each run and the baseline, the result has the difference of the means
    with a confidence interval, a corrected p-value, the effect size, wins and losses, and the
    smallest difference that so many queries can detect.

    Args:
        qrels: The judgments, as in `evaluate`. Or a mapping of names to `Rankings` or `Evaluation`
            results of the same queries, in place of both judgments and runs:
            `compare({"bm25": a, "dense": b}, "nDCG@10")`.
        runs: A mapping of names to runs, each as in `evaluate`; or a list of paths, which are named
            after their files.
        measures: One or more measures, or their names (default: those of `Evaluation` results).
        names: Short names of the runs, in order.
        by: Also compare within slices: the name of an attribute, or several; or a mapping of query
            to value.
        cluster: What queries depend within, such as the user who asked several: the name of an
            attribute, or a mapping of query to cluster. Intervals and tests then treat each cluster
            as one independent unit. Without it, five searches by one user count as five independent
            ones, and intervals are too narrow. A query whose value is missing is a cluster of its
            own.
        attributes: A table with one row per query that has the columns of `by` and `cluster`: a
            path, a data frame, or a mapping of column names to values.
        bounds: Whether to find how far unjudged documents and ties could still change each
            difference: always, never, or where it takes about a second at most (`None`, the
            default). By most measures, that is up to ten million documents in the lists of all
            pairs. By AP, the squared lengths of the lists add up to fifty million at most: its
            bounds take long, and are too wide to decide where most of a list is unjudged. The
            result says where it was left out.
        policy: As in `evaluate`. `aggregate` must be `"mean"`.
        convention: As in `evaluate`.
        columns: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        duplicates: As in `evaluate`.
        score_type: As in `evaluate`.
        encoding: As in `evaluate`.
        **testing: `baseline`, the name of the run to compare all others with (default: all pairs);
            `test`, one of `"permutation"` (default: paired sign flips, exact for few queries),
            `"t"`, `"bootstrap"`, `"wilcoxon"`, `"sign"`, `"tukey"`; `correction` of p-values for
            the number of comparisons, one of `"holm"` (default), `"bh"`, `"max-t"`, `"none"`;
            `interval`, the confidence level (default: 0.95) or an `Interval`; `margin`, the largest
            difference that doesn't matter, for tests of non-inferiority and equivalence;
            `permutations` (default: by the size of the data, up to 99,999); `seed`, the random seed
            of the test and the intervals (default: that of `interval`, which is 0); `threads`
            (default: all cores); `progress`, whether to show a bar in a notebook or on a
            terminal (default: `False`).

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
    """
    reading = Reading.read(
        columns=columns, duplicates=duplicates, score_type=score_type, encoding=encoding
    )
    if holds(qrels, Evaluation):
        refuse_known_items(
            {"history": history, "items": items, "catalogue": catalogue},
            "results of evaluate, which have their values already",
        )
        evaluations: dict[str, Evaluation] = dict(qrels)
        first = next(iter(evaluations.values()))
        axis = Axis.read(first.query_texts, attributes, by, cluster, reading)
        wanted: Measures | None = runs if measures is None else measures  # type: ignore[assignment]  # one
        evaluations = name_anew(evaluations, names)
        for name, each in evaluations.items():
            if each.query_texts != first.query_texts or each.policy != first.policy:
                raise UsageError(
                    f"the result {name!r} has other queries or another policy than the first",
                    hint="evaluate all runs with the same judgments and policy",
                    code="bad_parameter",
                )
        return _compare(
            evaluations, axis, testing, None if wanted is None else read_measures(wanted)[0]
        )
    if holds(qrels, Rankings):
        if (measures is None) == (runs is None):
            raise UsageError(
                "expected rankings and measures, found "
                + ("no measures" if measures is None else "rankings, runs and measures"),
                hint="write compare({'a': rankings_a, 'b': rankings_b}, 'nDCG@10')",
                code="bad_parameter",
            )
        asked: Measures = runs if measures is None else measures  # type: ignore[assignment]  # one
    else:
        if measures is None:
            raise UsageError(
                "expected judgments, runs and measures, found fewer",
                hint="write compare(qrels, {'a': run_a, 'b': run_b}, 'nDCG@10'), or with rankings "
                "compare({'a': a, 'b': b}, 'nDCG@10')",
                code="bad_parameter",
            )
        asked = measures
    known = read_items_for(
        asked, history=history, items=items, catalogue=catalogue, reading=reading
    )
    if holds(qrels, Rankings):
        rankings: dict[str, Rankings] = dict(qrels)
    else:
        rankings = rank_runs(
            qrels,  # type: ignore[arg-type]  # what else it can be
            read_runs(runs),
            asked,
            reading,
            policy=policy,
            convention=convention,
            progress=testing.get("progress", False),
        )
    return compare_rankings(
        name_anew(rankings, names),
        asked,
        reading,
        by=by,
        cluster=cluster,
        attributes=attributes,
        bounds=bounds,
        policy=policy,
        convention=convention,
        known=known,
        testing=testing,
    )


def compare_rankings(
    rankings: Mapping[str, Rankings],
    measures: Measures,
    reading: Reading,
    *,
    by: Attribute | Sequence[str] | None = None,
    cluster: Attribute | None = None,
    attributes: object = None,
    bounds: bool | None = None,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    known: Items | None = None,
    testing: Testing,
) -> Comparison:
    """Compare rankings of the same queries; see `compare`. What is known of items is read."""
    threads, is_shown = testing.get("threads"), testing.get("progress", False)
    evaluations = {
        name: each.evaluate(
            measures, policy=policy, convention=convention, items=known, threads=threads
        )
        for name, each in follow(rankings.items(), "evaluating runs", is_shown=is_shown)
    }
    first = next(iter(rankings.values()))
    axis = Axis.read(first.query_texts, attributes, by, cluster, reading, rankings=first)
    # A convention may rename measures.
    asked = zip(read_measures(measures)[0], next(iter(evaluations.values())), strict=False)
    made = _compare(evaluations, axis, testing, asked={each.name: name for each, name in asked})
    evaluated = next(iter(evaluations.values()))
    return add_ranges(made, rankings, evaluated, threads, bounds=bounds, is_shown=is_shown)


def holds(given: object, kind: type[Named]) -> TypeGuard[Mapping[str, Named]]:
    """Return whether something is a mapping of names to objects of a class."""
    if not isinstance(given, Mapping) or isinstance(given, Evaluation) or not given:
        return False
    return all(isinstance(each, kind) for each in given.values())


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
    testing: Testing,
    measures: Sequence[Measure] | None = None,
    *,
    asked: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare the values of the queries of evaluated runs."""
    first = next(iter(evaluations.values()))
    measures = measures or first.measures
    if first.policy.aggregate != "mean":
        raise PolicyError(
            f"only means can be compared, found aggregate={first.policy.aggregate}",
            hint="remove aggregate from the policy",
            code="aggregate_unavailable",
        )
    for measure in measures:
        refuse_run_measure(measure, "be compared")
        if measure.row.mean != "mean":
            raise UsageError(
                f"{measure} can't be compared: its summary is not a mean over queries",
                hint="compare a measure with a mean, such as nDCG@10 or AP",
                code="bad_parameter",
            )
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
        policy=first.policy,
        notes=gather({name: each.notes for name, each in evaluations.items()}),
        asked=asked or {},
    )


def compare_columns(
    values: Sequence[MeasureValues],
    *,
    runs: tuple[str, ...],
    axis: Axis,
    testing: Testing,
    policy: Policy | None,
    notes: tuple[Diagnostic, ...] = (),
    asked: Mapping[str, str] | None = None,
) -> Comparison:
    """Compare the values of queries, measure by measure."""
    unknown = set(testing) - set(ARGUMENTS)
    if unknown:
        raise refuse_argument("compare", min(unknown), ARGUMENTS)
    interval = read_interval(testing.get("interval", 0.95)) or Interval()
    names: tuple[str, ...] = Choices.__match_args__
    given: dict[str, Any] = {name: value for name, value in testing.items() if name in names}
    choices = Choices(**given | {"interval": _seed(interval, testing.get("seed"))})
    baseline = testing.get("baseline")
    with tick("testing differences", is_shown=testing.get("progress", False)) as check:
        compared, means, settings, warnings = compare_values(
            values,
            runs=runs,
            baseline=None if baseline is None else _find_baseline(baseline, runs),
            choices=choices,
            groups=axis.groups,
            clusters=axis.clusters,
            check=check,
        )
    return Comparison(
        runs=runs,
        measures=tuple(each.name for each in values),
        means=means,
        comparisons=compared,
        baseline=baseline,
        by="" if axis.groups is None else axis.groups[0],
        settings=settings,
        policy=policy,
        notes=notes,
        warnings=warnings,
        asked=asked,
        attributes=axis.attributes,
    )


ARGUMENTS = (
    "baseline",
    "test",
    "correction",
    "interval",
    "margin",
    "permutations",
    "seed",
    "threads",
    "progress",
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


def _find_baseline(name: str, runs: Sequence[str]) -> int:
    if name in runs:
        return runs.index(name)
    closest = find_closest(name, runs)
    raise UsageError(
        f"there is no run {name!r} to be the baseline",
        hint=f"did you mean {closest!r}?" if closest else f"the runs are {', '.join(runs)}",
        code="bad_parameter",
    )
