"""Rank many runs by many measures, and test them: `leaderboard`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

from rankscope._compare.compute import EVALUATED, find_common, refuse_weighted
from rankscope._compare.layout import check_baselines, name_letters
from rankscope._compare.leaderboard.result import Entry, Leaderboard
from rankscope._compare.pair import find_other
from rankscope._compare.pairs import compare_values, rename, say_left_out
from rankscope._compare.promise import Choices, MeasureValues, choose_cases
from rankscope._compare.ranges import Axis
from rankscope._compare.result import ComparedPairs
from rankscope._conventions import Convention
from rankscope._evaluate.evaluate import evaluate, name_runs
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.query_values import Clusters, Weights, bad_parameter
from rankscope._evaluate.ranked_runs import is_column, rank_all
from rankscope._evaluate.rankings import evaluate_rankings
from rankscope._evaluate.settings import (
    Settings,
    holds,
    refuse_reading,
    refuse_unused,
    split_question,
)
from rankscope._file import File
from rankscope._inputs.reading import read_items_for
from rankscope._settings import Interval, Policy, Reading
from rankscope._show.diagnostics import gather
from rankscope._show.layout import order_runs
from rankscope._stats.paired import MOST_PERMUTATIONS
from rankscope.errors import EmptyError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import Measures
from rankscope.typing import HistoryLike

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions


DEFAULT_MEASURES = ("nDCG@10", "AP", "RR")
USUAL_PERMUTATIONS = 99_999
"""The default number of permutations where no more are needed."""
MOST_WORK = 20_000_000_000
"""About how many additions are quick enough: a few seconds of one core."""


def leaderboard(
    judgments: object,
    runs: object = None,
    measures: Measures | None = None,
    *,
    sort: Measure | str | None = None,
    top: int | None = None,
    baseline: str | Sequence[str] | None = None,
    scores: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    cluster: str | Clusters | None = None,
    weights: str | Weights | None = None,
    attributes: object = None,
    test: Literal["permutation", "t", "wilcoxon"] = "permutation",
    correction: Literal["holm", "max-t", "bonferroni", "bh", "none"] = "holm",
    level: float = 0.95,
    permutations: int | None = None,
    seed: int = 0,
    policy: Policy | str | None = None,
    convention: Convention | str | None = None,
    history: HistoryLike | None = None,
    items: object = None,
    catalogue: object = None,
    **options: Unpack[ReadingOptions],
) -> Leaderboard:
    """Rank any number of runs by one or more measures, in one table.

    Runs are sorted by the first measure. Groups say which runs the data tell apart by that measure:
    the best run leads group A, which has all runs that it isn't significantly better than; the best
    of the others leads group B, and so on. With baselines, signs say which values are significantly
    better or worse than theirs. A difference that isn't significant doesn't show that two runs are
    equally good.

    Args:
        judgments: The judgments, as in `evaluate`; or what `compare` takes in place of judgments
            and runs: a table of several runs, or a mapping of names to `Rankings` or to results of
            `evaluate`.
        runs: A mapping of names to runs, each as in `evaluate`; a list of paths; one run, a folder,
            or a pattern such as `"runs/*.run"`, of which each file is a run; or the column of a
            table that names the run of each row.
        measures: One or more measures, or their names (default: nDCG@10, AP and RR, or all of the
            results).
        sort: The measure to sort and group by (default: the first). If lower values are better, the
            lowest is first.
        top: How many runs to show (default: all). Baselines are always shown. Ranks, groups and
            tests are those of all runs.
        baseline: The name of the run that the others are tested against, or of up to four.
        scores: The columns of scores of a table, each of which is a run.
        names: Short names of the runs, in order.
        cluster: What queries depend within, as in `compare`.
        weights: The weight of each query, as in `compare`.
        attributes: As in `compare`.
        test: As in `compare`.
        correction: How p-values are corrected: those of groups for all pairs of runs, and those of
            baselines for all their pairs and measures.
        level: The confidence level. A corrected p-value below 1 - level is significant.
        permutations: The number of random permutations (default: 99,999, or as many as it takes for
            corrected p-values of so many pairs to become significant).
        seed: The random seed of the test.
        policy: As in `evaluate`.
        convention: As in `evaluate`.
        history: As in `evaluate`, for measures of recommended items.
        items: As in `evaluate`.
        catalogue: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The table, which prints itself, and exports to data frames, JSON, CSV, HTML, Markdown and
        LaTeX.

    Raises:
        UsageError: A measure, the policy or another argument is invalid, or a name is unknown.
        InputError: The input doesn't have the expected format, or there is nothing to evaluate.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {f"q{n}": {"a": 2, "b": 1, "c": 0} for n in range(20)}
        >>> best = {query: ["a", "b", "c"] for query in qrels}
        >>> other = {query: ["b", "a", "c"] for query in qrels}
        >>> worst = {query: ["c", "b", "a"] for query in qrels}
        >>> runs = {"bm25": worst, "old": other, "new": best}
        >>> board = leaderboard(qrels, runs, ["nDCG@10", "RR"])
        >>> [(entry.rank, entry.run, entry.group) for entry in board]
        [(1, 'new', 'A'), (2, 'old', 'B'), (3, 'bm25', 'C')]
    """
    reading = Reading.of("leaderboard", options)
    if top is not None and (type(top) is not int or top < 1):
        raise bad_parameter(
            f"expected top as a whole number above 0, found {top!r}",
            "write top=10 to show the ten best runs",
        )
    choices = Choices(
        test=test,
        correction=correction,
        interval=Interval(level, seed=seed),
        permutations=permutations,
        threads=reading.threads,
    )
    settings = Settings(
        measures=(),
        policy=policy,
        convention=convention,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
    )
    of_items = {"history": history, "items": items, "catalogue": catalogue}
    requested: object = None
    if holds(judgments, Evaluation):
        unused = {**of_items, "policy": policy, "convention": convention, "scores": scores}
        refuse_unused(unused, EVALUATED)
        refuse_reading(options, EVALUATED)
        evaluations, requested = dict(judgments), runs if measures is None else measures
        if weights is None:
            refuse_weighted(evaluations)
        axis = Axis.read(find_common(evaluations).query_texts, settings, reading)
    elif isinstance(judgments, Evaluation):
        raise bad_parameter(
            "expected the results of several runs, found that of one",
            "name it: leaderboard({'bm25': evaluation})",
        )
    else:
        if measures is None and is_column(judgments, runs):
            measures = DEFAULT_MEASURES
        question = split_question(
            "leaderboard", judgments, runs, measures, default=DEFAULT_MEASURES
        )
        evaluations, axis = _evaluate_runs(
            question, settings, reading, scores=scores, of_items=of_items, options=options
        )
    # Of runs with equal means, the leader of a group doesn't depend on the order of runs.
    evaluations = dict(sorted(rename(evaluations, names).items()))
    first = next(iter(evaluations.values()))
    shown = _choose_measures(first, requested)
    sorted_by = shown[0] if sort is None else first.find_measure(sort)
    if sorted_by not in shown:
        shown = [sorted_by, *shown]
    run_names = [*evaluations]
    baselines = [] if baseline is None else check_baselines(baseline, run_names)
    columns = [_read_column(measure, evaluations, axis) for measure in shown]
    key = columns[shown.index(sorted_by)]
    order = order_runs(key.means, sorted_by.better)
    tester = _Tester(run_names, axis, choices)
    groups, of_groups = tester.group(key, order)
    ranks = _rank([key.means[at] for at in order])
    entries = tuple(
        Entry(
            rank=rank,
            run=run_names[at],
            group=groups.get(run_names[at], ""),
            values={column.measure.name: column.means[at] for column in columns},
        )
        for rank, at in zip(ranks, order, strict=True)
    )
    return Leaderboard(
        measures=tuple(shown),
        sort=sorted_by.name,
        entries=entries,
        top=top,
        baselines=tuple(baselines),
        groups=of_groups,
        against=tester.test_baselines(columns, baselines),
        queries={
            column.measure.name: column.count for column in columns if column.count is not None
        },
        policy=first.policy,
        warnings=tuple(_warn(columns, first)),
        notes=gather({name: evaluation.notes for name, evaluation in evaluations.items()}),
    )


def _evaluate_runs(
    question: tuple[Any, Any, Any],
    settings: Settings,
    reading: Reading,
    *,
    scores: Sequence[str] | None,
    of_items: Mapping[str, Any],
    options: ReadingOptions,
) -> tuple[dict[str, Evaluation], Axis]:
    """Evaluate all runs, and read the clusters and the weights of their queries."""
    judgments, runs, measures = question
    if judgments is None or is_column(judgments, runs):
        settings = replace(settings, measures=measures)
        rankings = rank_all(
            "leaderboard", judgments, runs, settings, reading, scores=scores, options=options
        )
        first = next(iter(rankings.values()))
        axis = Axis.read(first.query_texts, settings, reading, rankings=first)
        items = read_items_for(measures, **of_items, reading=reading)
        plain = replace(settings, cluster=None, weights=None, attributes=None, items=items)
        return {
            name: evaluate_rankings(run, plain, reading) for name, run in rankings.items()
        }, axis
    # Of runs in files, only the values are kept.
    if isinstance(runs, str | os.PathLike | File):
        runs = name_runs(runs)
    result: Evaluations | Evaluation = evaluate(
        judgments,
        runs,
        measures,
        policy=settings.policy,
        convention=settings.convention,
        **of_items,
        **options,
    )
    evaluations = dict(result) if isinstance(result, Evaluations) else {"run": result}
    return evaluations, Axis.read(find_common(evaluations).query_texts, settings, reading)


def _choose_measures(first: Evaluation, requested: object) -> list[Measure]:
    """Return the measures of results to show."""
    if requested is None:
        return [*first.measures]
    is_single = isinstance(requested, str) or not hasattr(requested, "__iter__")
    names = [requested] if is_single else requested
    return list(dict.fromkeys(map(first.find_measure, names)))  # type: ignore[call-overload]  # as above


@dataclass(frozen=True, slots=True)
class Column:
    """A measure, and what all runs have by it."""

    measure: Measure
    means: Sequence[float]
    values: MeasureValues | None = None  # only of a mean over queries
    count: int | None = None


def _read_column(measure: Measure, evaluations: Mapping[str, Evaluation], axis: Axis) -> Column:
    """Return the means over the queries that all runs have a value for, which are tested, too."""
    runs = [*evaluations.values()]
    summaries = (measure.row.mean, runs[0].policy.aggregate)
    if measure.row.level == "run" or summaries != ("mean", "mean"):
        if axis.weights is not None:
            raise UsageError(
                f"{measure} has no weighted value: it is not a mean over queries",
                hint="remove the measure, or weights",
                code="bad_weights",
            )
        return Column(measure, [run[measure] for run in runs])
    values = MeasureValues.stack(measure, [run.per_query(measure) for run in runs], axis.order)
    try:
        [cases] = choose_cases(values, None, axis.clusters, axis.weights)
    except EmptyError:
        return Column(measure, [math.nan] * len(runs), count=0)
    return Column(measure, [cases.average(row) for row in cases.values], values, len(cases.chosen))


def _rank(values: Sequence[float]) -> list[int | None]:
    """Return the ranks of sorted values; equal ones share the best of theirs."""
    return [None if math.isnan(value) else values.index(value) + 1 for value in values]


@dataclass(frozen=True, slots=True)
class _Tester:
    """Tests pairs of runs."""

    runs: Sequence[str]
    axis: Axis
    choices: Choices

    def group(
        self, key: Column, order: Sequence[int]
    ) -> tuple[dict[str, str], ComparedPairs | None]:
        """Return the group of each run by the measure that runs are sorted by."""
        ranked = [at for at in order if not math.isnan(key.means[at])]
        if key.values is None or key.measure.better == "neither" or len(ranked) < 2:
            return {}, None
        pairs = [(better, at) for place, at in enumerate(ranked) for better in ranked[:place]]
        tested = self._test([key], pairs)
        beaten = {
            (pair.better, find_other(pair, pair.better))
            for pair in tested.comparisons
            if pair.better is not None
        }
        left = [self.runs[at] for at in ranked]
        leaders: dict[str, str] = {}
        while left:
            leader = left[0]
            leaders |= {run: leader for run in left if (leader, run) not in beaten}
            left = [run for run in left if run not in leaders]
        letters = name_letters([*dict.fromkeys(leaders.values())])
        of_leaders = [
            pair for pair in tested.comparisons if pair.run in letters or pair.baseline in letters
        ]
        groups = {run: letters[leader].upper() for run, leader in leaders.items()}
        return groups, replace(tested, comparisons=tuple(of_leaders))

    def test_baselines(
        self, columns: Sequence[Column], baselines: Sequence[str]
    ) -> ComparedPairs | None:
        """Test all runs against each baseline, by each measure with a mean over queries."""
        places = [self.runs.index(name) for name in baselines]
        pairs = [
            (baseline, run)
            for number, baseline in enumerate(places)
            for run in range(len(self.runs))
            if run != baseline and run not in places[:number]
        ]
        tested = [
            column
            for column in columns
            if column.values is not None and column.measure.better != "neither"
        ]
        return self._test(tested, pairs) if tested and pairs else None

    def _test(self, columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> ComparedPairs:
        choices, count = self.choices, len(columns) * len(pairs)
        if choices.permutations is None:
            permutations = _choose_permutations(count, len(self.runs), choices)
            choices = replace(choices, permutations=permutations)
        tested = compare_values(
            [column.values for column in columns if column.values is not None],
            runs=self.runs,
            pairs=pairs,
            choices=choices,
            clusters=self.axis.clusters,
            weights=self.axis.weights,
            has_intervals=False,
        )
        warnings = list(tested.warnings)
        untested = sum(math.isnan(pair.p) and pair.difference != 0 for pair in tested.comparisons)
        if untested:
            warnings.append(
                f"the data of {untested:,} of {count:,} pairs don't allow this test, because all "
                "differences are equal or too few; they count as not significant"
            )
        smallest = min(pair.smallest_p for pair in tested.comparisons)
        if choices.correction == "holm" and smallest * count >= choices.alpha:
            warnings.append(
                f"no difference can be significant after correction for {count:,} "
                f"pair{'s' * (count != 1)}: the smallest p-value that the data allow is "
                f"{smallest:.2g}"
            )
        return replace(tested, warnings=tuple(warnings))


def _choose_permutations(count: int, runs: int, choices: Choices) -> int | None:
    """Return how many permutations let so many corrected p-values become significant."""
    if choices.test != "permutation" or choices.correction != "holm":
        return None
    needed = math.ceil(2 * count / choices.alpha)
    is_quick = needed * (12 * runs + count) <= MOST_WORK and needed <= MOST_PERMUTATIONS
    return needed if needed > USUAL_PERMUTATIONS and is_quick else None


def _warn(columns: Sequence[Column], first: Evaluation) -> Iterator[str]:
    """Yield sentences about measures that have no tests, and about queries that are left out."""
    of_lists = [column.measure.name for column in columns if column.measure.row.level == "run"]
    if of_lists:
        yield f"Not tested: {', '.join(of_lists)}, one value of all lists of a run."
    others = [
        column.measure.name
        for column in columns
        if column.values is None and column.measure.row.level != "run" and column.count != 0
    ]
    if others:
        aggregate = first.policy.aggregate
        why = "whose summary is no mean over queries"
        if aggregate != "mean":
            why = f"with aggregate={aggregate}"
        yield f"Not tested: {', '.join(others)}, {why}."
    yield from say_left_out([column.values for column in columns if column.values is not None])
