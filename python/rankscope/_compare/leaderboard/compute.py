"""Rank many runs by many measures, and test them: `leaderboard`."""

from __future__ import annotations

import math

from rankscope._compare.cases import MeasureValues, average, choose_cases
from rankscope._compare.layout import check_baselines
from rankscope._compare.leaderboard.result import Entry, Leaderboard, RunTest, TestedPairs
from rankscope._compare.leaderboard.runs import evaluate_runs
from rankscope._compare.pairs import describe_settings, find_differences, find_p_values
from rankscope._compare.promise import Choices
from rankscope._compare.query_axis import Axis
from rankscope.deferred import np
from rankscope.errors import UsageError
from rankscope.measures.direction import find_gain
from rankscope.output.diagnostics import gather
from rankscope.output.layout.means import order_runs
from rankscope.records import record, replace
from rankscope.settings.interval import Interval
from rankscope.settings.reading import Reading
from rankscope.stats.test.paired import MOST_PERMUTATIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.query_values import Clusters
    from rankscope._inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.measures.reading import Measures
    from rankscope.typing import InputLike

USUAL_PERMUTATIONS = 99_999
"""The default number of permutations where no more are needed."""
MOST_WORK = 20_000_000_000
"""About how many additions are quick enough: a few seconds of one core."""


def leaderboard(
    judgments: InputLike | Qrels | Mapping[str, Evaluation],
    runs: object = None,
    measures: Measures | None = None,
    *,
    sort: Measure | str | None = None,
    top: int | None = None,
    baseline: str | Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    cluster: str | Clusters | None = None,
    attributes: object = None,
    test: Literal["permutation", "t", "wilcoxon"] = "permutation",
    correction: Literal["holm", "max-t", "bonferroni", "bh", "none"] = "holm",
    level: float = 0.95,
    permutations: int | None = None,
    seed: int = 0,
    threads: int | None = None,
    **settings: object,
) -> Leaderboard:
    """Rank any number of runs by one or more measures, in one table.

    Runs are sorted by the first measure. Groups say which runs the data tell apart by that measure:
    the best run leads group A, which has all runs that it isn't significantly better than; the best
    of the others leads group B, and so on. With baselines, signs say which values are significantly
    better or worse than theirs. A difference that isn't significant doesn't show that two runs are
    equally good.

    Args:
        judgments: The judgments, as in `evaluate`; or the result of `evaluate` for several runs, in
            place of judgments and runs: `leaderboard(evaluations)`.
        runs: A mapping of names to runs, each as in `evaluate`; a list of paths; or one run, a
            folder, or a pattern such as `"runs/*.run"`, of which each file is a run.
        measures: One or more measures, or their names (default: nDCG@10, AP and RR, or all of the
            results).
        sort: The measure to sort and group by (default: the first). If lower values are better, the
            lowest is first.
        top: How many runs to show (default: all). Baselines are always shown. Ranks, groups and
            tests are those of all runs.
        baseline: The name of the run that the others are tested against, or of up to four.
        names: Short names of the runs, in order.
        cluster: What queries depend within, as in `compare`.
        attributes: A table with the column of `cluster`, as in `compare`.
        test: As in `compare`.
        correction: How p-values are corrected: those of groups for all pairs of runs, and those of
            baselines for all their pairs and measures.
        level: The confidence level. A corrected p-value below 1 - level is significant.
        permutations: The number of random permutations (default: 99,999, or as many as it takes for
            corrected p-values of so many pairs to become significant).
        seed: The random seed of the test.
        threads: The number of threads (default: all cores).
        **settings: The other arguments of `evaluate`, such as `policy`, `convention`, `items` and
            `progress`, but not `weights` and `interval`.

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
    choices = Choices(
        test=test,
        correction=correction,
        interval=Interval(level, seed=seed),
        permutations=permutations,
        threads=threads,
    )
    _check_top(top)
    evaluations, wanted = evaluate_runs(
        judgments, runs, measures, settings, names=names, threads=threads
    )
    # Of runs with equal means, the leader of a group doesn't depend on the order of runs.
    evaluations = dict(sorted(evaluations.items()))
    first = next(iter(evaluations.values()))
    shown = _choose_measures(first, wanted)
    sorted_by = shown[0] if sort is None else first.find_measure(sort)
    if sorted_by not in shown:
        shown = [sorted_by, *shown]
    baselines = [] if baseline is None else check_baselines(baseline, [*evaluations])
    axis = Axis.read(first.query_texts, attributes, None, cluster, Reading.read())
    columns = [_read_column(measure, evaluations, axis) for measure in shown]
    by_name = {column.measure.name: column for column in columns}
    tester = _Tester([*evaluations], axis, choices)
    key = by_name[sorted_by.name]
    order = order_runs(key.means, sorted_by.better)
    groups, of_groups = tester.group(key, order)
    of_baselines = tester.test_baselines(columns, baselines)
    run_names = [*evaluations]
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
        left_out: The number of queries that some run has no value for.
    """

    measure: Measure
    means: Sequence[float]
    values: MeasureValues | None
    count: int | None
    left_out: int = 0


def _read_column(measure: Measure, evaluations: Mapping[str, Evaluation], axis: Axis) -> Column:
    """Return the means over the queries that all runs have a value for, which are tested, too."""
    first = next(iter(evaluations.values()))
    if measure.row.level == "run" or measure.row.mean != "mean" or first.policy.aggregate != "mean":
        return Column(
            measure=measure,
            means=[each[measure] for each in evaluations.values()],
            values=None,
            count=None,
        )
    stacked = MeasureValues.stack(
        measure, [each.per_query(measure) for each in evaluations.values()], axis.order
    )
    is_there = np.asarray(~np.isnan(stacked.values).any(axis=0))
    count = int(is_there.sum())
    means = [
        math.fsum(row[is_there].tolist()) / count if count else math.nan for row in stacked.values
    ]
    return Column(
        measure=measure,
        means=means,
        values=stacked if count else None,
        count=count,
        left_out=len(is_there) - count,
    )


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

    def group(self, key: Column, order: Sequence[int]) -> tuple[dict[int, str], TestedPairs | None]:
        """Return the group of each run by the measure that runs are sorted by."""
        known = [at for at in order if not math.isnan(key.means[at])]
        if key.values is None or key.measure.better == "neither" or len(known) < 2:
            return {}, None
        pairs = [(one, other) for one in range(len(known)) for other in range(one)]
        tested = self._test([key], [(known[other], known[one]) for one, other in pairs])
        better = {
            (each.better, each.run if each.better == each.baseline else each.baseline)
            for each in tested.tests
            if each.better is not None
        }
        left = [*known]
        groups: dict[int, str] = {}
        leaders: list[str] = []
        while left:
            leader = self.runs[left[0]]
            members = [at for at in left if (leader, self.runs[at]) not in better]
            groups.update(dict.fromkeys(members, _name_group(len(leaders))))
            leaders.append(leader)
            left = [at for at in left if at not in groups]
        kept = tuple(
            each for each in tested.tests if each.run in leaders or each.baseline in leaders
        )
        return groups, TestedPairs(kept, tested.settings, tested.warnings)

    def test_baselines(
        self, columns: Sequence[Column], baselines: Sequence[str]
    ) -> TestedPairs | None:
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

    def _test(self, columns: Sequence[Column], pairs: Sequence[tuple[int, int]]) -> TestedPairs:
        choices, clusters = self.choices, self.axis.clusters
        values = [each.values for each in columns if each.values is not None]
        cases = [choose_cases(each, None, clusters)[0] for each in values]
        count = len(cases) * len(pairs)
        if choices.permutations is None:
            permutations = _choose_permutations(count, len(self.runs), choices)
            choices = replace(choices, permutations=permutations)
        tested = find_p_values(cases, pairs, choices)
        tests = []
        every = ((case, pair) for case in cases for pair in pairs)
        for at, (case, (baseline, run)) in enumerate(every):
            difference = average(find_differences(case, baseline, run))
            gain = find_gain(difference, case.measure.direction)
            is_better = tested.p_corrected[at] < choices.alpha and gain != 0
            tests.append(
                RunTest(
                    measure=case.measure.name,
                    baseline=self.runs[baseline],
                    run=self.runs[run],
                    difference=difference,
                    p=float(tested.p[at]),
                    p_corrected=float(tested.p_corrected[at]),
                    better=self.runs[run if gain > 0 else baseline] if is_better else None,
                )
            )
        warnings = list(tested.tested.warnings)
        untested = sum(math.isnan(each.p) and each.difference != 0 for each in tests)
        if untested:
            warnings.append(
                f"the data of {untested:,} of {count:,} pairs don't allow this test, because all "
                "differences are equal or too few; they count as not significant"
            )
        smallest = float(tested.smallest_p.min()) if len(tested.smallest_p) else 0.0
        if choices.correction == "holm" and smallest * count >= choices.alpha:
            warnings.append(
                f"no difference can be significant after correction for {count:,} pairs: the "
                f"smallest p-value that the data allow is {smallest:.2g}"
            )
        settings = describe_settings(tested, choices, clusters)
        return TestedPairs(tuple(tests), settings, tuple(warnings))


def _choose_permutations(count: int, runs: int, choices: Choices) -> int | None:
    """Return how many permutations let so many corrected p-values become significant."""
    if choices.test != "permutation" or choices.correction != "holm":
        return None
    needed = math.ceil(2 * count / round(1 - choices.interval.level, 12))
    is_quick = needed * (12 * runs + count) <= MOST_WORK and needed <= MOST_PERMUTATIONS
    return needed if needed > USUAL_PERMUTATIONS and is_quick else None


def _name_group(number: int) -> str:
    """Return A, B, …, Z, AA, AB, …."""
    text = ""
    while number >= 0:
        text = chr(ord("A") + number % 26) + text
        number = number // 26 - 1
    return text


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
    sentences += [
        f"Queries left out of {each.measure.name}, because a run has no value for them: "
        f"{each.left_out:,}."
        for each in columns
        if each.left_out
    ]
    return sentences
