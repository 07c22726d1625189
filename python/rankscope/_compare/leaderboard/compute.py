"""Rank many runs by many measures, and test them: `leaderboard`."""

from __future__ import annotations

import math
import os

from rankscope._compare.cases import MeasureValues, choose_cases
from rankscope._compare.compute import find_common, name_anew, refuse_weighted
from rankscope._compare.layout import check_baselines, name_letters
from rankscope._compare.leaderboard.result import Entry, Leaderboard
from rankscope._compare.pairs import compare_values, say_left_out
from rankscope._compare.promise import Choices
from rankscope._compare.query_axis import Axis
from rankscope._evaluate.evaluate import evaluate, name_runs
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.evaluations import Evaluations
from rankscope._evaluate.question import holds, refuse_reading, refuse_unused, split_question
from rankscope._evaluate.ranked_runs import is_column, rank_all
from rankscope._evaluate.rankings import evaluate_rankings
from rankscope._evaluate.settings import Settings
from rankscope._inputs.needs import read_items_for
from rankscope.errors import EmptyError, UsageError
from rankscope.file import File
from rankscope.output.diagnostics import gather
from rankscope.output.layout.means import order_runs
from rankscope.records import record, replace
from rankscope.settings.interval import Interval
from rankscope.settings.reading import Reading
from rankscope.stats.test.paired import MOST_PERMUTATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal, Unpack

    from rankscope._compare.result import ComparedPairs
    from rankscope._evaluate.query_values import Clusters, Weights
    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.settings.policy import Policy
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import HistoryLike

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
    _check_top(top)
    choices = Choices(
        test=test,
        correction=correction,
        interval=Interval(level, seed=seed),
        permutations=permutations,
        threads=reading.threads,
    )
    asked = Settings(
        measures=(),
        policy=policy,
        convention=convention,
        cluster=cluster,
        weights=weights,
        attributes=attributes,
    )
    of_items = {"history": history, "items": items, "catalogue": catalogue}
    wanted: object = None
    if holds(judgments, Evaluation):
        what = "results of evaluate, which have their values already"
        unused = {**of_items, "policy": policy, "convention": convention, "scores": scores}
        refuse_unused(unused, what)
        refuse_reading(options, what)
        evaluations, wanted = dict(judgments), runs if measures is None else measures
        if weights is None:
            refuse_weighted(evaluations)
        axis = Axis.read(find_common(evaluations).query_texts, asked, reading)
    elif isinstance(judgments, Evaluation):
        raise UsageError(
            "expected the results of several runs, found that of one",
            hint="name it: leaderboard({'bm25': evaluation})",
            code="bad_parameter",
        )
    else:
        if measures is None and is_column(judgments, runs):
            measures = DEFAULT_MEASURES
        question = split_question(
            "leaderboard", judgments, runs, measures, default=DEFAULT_MEASURES
        )
        evaluations, axis = _evaluate_runs(
            question, asked, reading, scores=scores, of_items=of_items, options=options
        )
    evaluations = name_anew(evaluations, names)
    # Of runs with equal means, the leader of a group doesn't depend on the order of runs.
    evaluations = dict(sorted(evaluations.items()))
    first = next(iter(evaluations.values()))
    shown = _choose_measures(first, wanted)
    sorted_by = shown[0] if sort is None else first.find_measure(sort)
    if sorted_by not in shown:
        shown = [sorted_by, *shown]
    baselines = [] if baseline is None else check_baselines(baseline, [*evaluations])
    columns = [_read_column(measure, evaluations, axis) for measure in shown]
    key = next(column for column in columns if column.measure == sorted_by)
    run_names = [*evaluations]
    order = order_runs(key.means, sorted_by.better)
    tester = _Tester(run_names, axis, choices)
    groups, of_groups = tester.group(key, order)
    of_baselines = tester.test_baselines(columns, baselines)
    ranks = _rank([key.means[at] for at in order])
    entries = tuple(
        Entry(
            rank=rank,
            run=run_names[at],
            group=groups.get(at, ""),
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
        against=of_baselines,
        queries={
            column.measure.name: column.count for column in columns if column.count is not None
        },
        policy=first.policy,
        warnings=tuple(_warn(columns, first)),
        notes=gather({name: each.notes for name, each in evaluations.items()}),
    )


def _evaluate_runs(
    question: tuple[Any, Any, Any],
    asked: Settings,
    reading: Reading,
    *,
    scores: Sequence[str] | None,
    of_items: Mapping[str, Any],
    options: ReadingOptions,
) -> tuple[dict[str, Evaluation], Axis]:
    """Evaluate all runs, and read the clusters and the weights of their queries."""
    judged, given, wanted = question
    if judged is None or is_column(judged, given):
        asked = replace(asked, measures=wanted)
        rankings = rank_all(
            "leaderboard", judged, given, asked, reading, scores=scores, options=options
        )
        items = read_items_for(wanted, **of_items, reading=reading)
        plain = replace(asked, cluster=None, weights=None, attributes=None, items=items)
        first = next(iter(rankings.values()))
        axis = Axis.read(first.query_texts, asked, reading, rankings=first)
        of_runs = rankings.items()
        return {name: evaluate_rankings(each, plain, reading) for name, each in of_runs}, axis
    # Of runs in files, only the values are kept.
    if isinstance(given, str | os.PathLike | File):
        given = name_runs(given)
    made: Evaluations | Evaluation = evaluate(
        judged,
        given,
        wanted,
        policy=asked.policy,
        convention=asked.convention,
        **of_items,
        **options,
    )
    evaluations = dict(made) if isinstance(made, Evaluations) else {"run": made}
    return evaluations, Axis.read(find_common(evaluations).query_texts, asked, reading)


def _check_top(top: object) -> None:
    if top is not None and not (isinstance(top, int) and not isinstance(top, bool) and top > 0):
        raise UsageError(
            f"expected top as a whole number above 0, found {top!r}",
            hint="write top=10 to show the ten best runs",
            code="bad_parameter",
        )


def _choose_measures(first: Evaluation, wanted: object) -> list[Measure]:
    """Return the measures of results to show."""
    if wanted is None:
        return [*first.measures]
    several = [wanted] if isinstance(wanted, str) or not hasattr(wanted, "__iter__") else wanted
    return list(dict.fromkeys(first.find_measure(each) for each in several))


@record(frozen=True, slots=True, kw_only=True)
class Column:
    """A measure, and what all runs have by it.

    Args:
        measure: The measure.
        means: The mean of each run.
        values: The values of queries; `None` if the measure isn't a mean over queries.
        count: The number of queries in the means, if all runs have the same.
    """

    measure: Measure
    means: Sequence[float]
    values: MeasureValues | None
    count: int | None


def _read_column(measure: Measure, evaluations: Mapping[str, Evaluation], axis: Axis) -> Column:
    """Return the means over the queries that all runs have a value for, which are tested, too."""
    first = next(iter(evaluations.values()))
    if measure.row.level == "run" or measure.row.mean != "mean" or first.policy.aggregate != "mean":
        if axis.weights is not None:
            raise UsageError(
                f"{measure} has no weighted value: it is not a mean over queries",
                hint="remove the measure, or weights",
                code="bad_weights",
            )
        return Column(
            measure=measure,
            means=[each[measure] for each in evaluations.values()],
            values=None,
            count=None,
        )
    columns = [each.per_query(measure) for each in evaluations.values()]
    stacked = MeasureValues.stack(measure, columns, axis.order)
    try:
        [cases] = choose_cases(stacked, None, axis.clusters, axis.weights)
    except EmptyError:
        return Column(measure=measure, means=[math.nan] * len(columns), values=None, count=0)
    means = [cases.average(row) for row in cases.values]
    return Column(measure=measure, means=means, values=stacked, count=len(cases.chosen))


def _rank(values: Sequence[float]) -> list[int | None]:
    """Return the ranks of sorted values; equal ones share the best of theirs."""
    ranks: list[int | None] = []
    for at, value in enumerate(values):
        if math.isnan(value):
            ranks.append(None)
        elif at and value == values[at - 1]:
            ranks.append(ranks[-1])
        else:
            ranks.append(at + 1)
    return ranks


@record(frozen=True, slots=True)
class _Tester:
    """Tests pairs of runs."""

    runs: Sequence[str]
    axis: Axis
    choices: Choices

    def group(
        self, key: Column, order: Sequence[int]
    ) -> tuple[dict[int, str], ComparedPairs | None]:
        """Return the group of each run by the measure that runs are sorted by."""
        known = [at for at in order if not math.isnan(key.means[at])]
        if key.values is None or key.measure.better == "neither" or len(known) < 2:
            return {}, None
        pairs = [(one, other) for one in range(len(known)) for other in range(one)]
        tested = self._test([key], [(known[other], known[one]) for one, other in pairs])
        better = {
            (each.better, each.run if each.better == each.baseline else each.baseline)
            for each in tested.comparisons
            if each.better is not None
        }
        left = [*known]
        groups: dict[int, str] = {}
        leaders: list[str] = []
        while left:
            leader = self.runs[left[0]]
            members = [at for at in left if (leader, self.runs[at]) not in better]
            groups.update(dict.fromkeys(members, leader))
            leaders.append(leader)
            left = [at for at in left if at not in groups]
        letters = name_letters(leaders)
        groups = {at: letters[leader].upper() for at, leader in groups.items()}
        of_leaders = [
            each for each in tested.comparisons if each.run in leaders or each.baseline in leaders
        ]
        return groups, replace(tested, comparisons=tuple(of_leaders))

    def test_baselines(
        self, columns: Sequence[Column], baselines: Sequence[str]
    ) -> ComparedPairs | None:
        """Test all runs against each baseline, by each measure with a mean over queries."""
        places = [self.runs.index(name) for name in baselines]
        pairs = [
            (place, at)
            for number, place in enumerate(places)
            for at in range(len(self.runs))
            if at != place and at not in places[:number]
        ]
        kept = [
            each for each in columns if each.values is not None and each.measure.better != "neither"
        ]
        return self._test(kept, pairs) if kept and pairs else None

    def _test(self, columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> ComparedPairs:
        choices, count = self.choices, len(columns) * len(pairs)
        if choices.permutations is None:
            permutations = _choose_permutations(count, len(self.runs), choices)
            choices = replace(choices, permutations=permutations)
        tested = compare_values(
            [each.values for each in columns if each.values is not None],
            runs=self.runs,
            pairs=pairs,
            choices=choices,
            clusters=self.axis.clusters,
            weights=self.axis.weights,
            has_intervals=False,
        )
        warnings = list(tested.warnings)
        untested = sum(math.isnan(each.p) and each.difference != 0 for each in tested.comparisons)
        if untested:
            warnings.append(
                f"the data of {untested:,} of {count:,} pairs don't allow this test, because all "
                "differences are equal or too few; they count as not significant"
            )
        smallest = min(each.smallest_p for each in tested.comparisons)
        if choices.correction == "holm" and smallest * count >= choices.alpha:
            pairs_said = "1 pair" if count == 1 else f"{count:,} pairs"
            warnings.append(
                f"no difference can be significant after correction for {pairs_said}: the smallest "
                f"p-value that the data allow is {smallest:.2g}"
            )
        return replace(tested, warnings=tuple(warnings))


def _choose_permutations(count: int, runs: int, choices: Choices) -> int | None:
    """Return how many permutations let so many corrected p-values become significant."""
    if choices.test != "permutation" or choices.correction != "holm":
        return None
    needed = math.ceil(2 * count / round(1 - choices.interval.level, 12))
    is_quick = needed * (12 * runs + count) <= MOST_WORK and needed <= MOST_PERMUTATIONS
    return needed if needed > USUAL_PERMUTATIONS and is_quick else None


def _warn(columns: Sequence[Column], first: Evaluation) -> list[str]:
    """Return sentences about measures that have no tests, and about queries that are left out."""
    sentences = []
    whole = [each.measure.name for each in columns if each.measure.row.level == "run"]
    if whole:
        names = ", ".join(whole)
        sentences.append(f"Not tested: {names}, one value of all lists of a run.")
    others = [
        each.measure.name
        for each in columns
        if each.values is None and each.measure.row.level != "run" and each.count != 0
    ]
    if others:
        how = first.policy.aggregate
        why = f"with aggregate={how}" if how != "mean" else "whose summary is no mean over queries"
        sentences.append(f"Not tested: {', '.join(others)}, {why}.")
    sentences += say_left_out([each.values for each in columns if each.values is not None])
    return sentences
