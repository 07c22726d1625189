"""Fuses the runs of several systems into one, and fits the weights of runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack

import numpy as np

from rankscope._core import Rankings as CoreRankings
from rankscope._core import Run, fuse_runs
from rankscope._evaluate.evaluating import evaluate_run, load_qrels
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import bad_parameter
from rankscope._evaluate.ranked_runs import check_scores
from rankscope._evaluate.rankings import Rankings
from rankscope._evaluate.settings import Settings as EvaluateSettings
from rankscope._fuse.run import FusedRun, Runs, explaining, name_runs, read_run_lists
from rankscope._fuse.settings import Scale, Settings, check_weighted, read_choices, read_weights
from rankscope._inputs.reading import Qrels, read_lists
from rankscope._inputs.recognition import recognise
from rankscope._names import as_dict
from rankscope._settings import Policy, Reading
from rankscope._show import Printed
from rankscope._show.diagnostics import describe_note, gather
from rankscope._show.table import SourceIds, Table, format_value, name_rows, show
from rankscope.measures import Measure, parse
from rankscope.measures.parse import find_second, read_measure
from rankscope.measures.spec import find_gain
from rankscope.typing import InputLike

Ties: TypeAlias = Literal["doc_id", "doc_id_asc", "input"]
Weights: TypeAlias = tuple[float, ...]
Mean: TypeAlias = tuple[float, int]
Lists: TypeAlias = dict[str, tuple[Run | CoreRankings, SourceIds]]

if TYPE_CHECKING:
    from rankscope._inputs.reading import Note
    from rankscope._settings import ReadingOptions


ROUNDING = 1e-12
"""A difference this small, relative to the value, is due to rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionFit(Printed):
    """The weights of runs with which their fusion has the best value of a measure.

    Args:
        method: The method of fusion.
        measure: The measure.
        weights: The weight of each run.
        value: The mean of the measure with these weights, on the queries of the fit.
        cross_validated: The mean with weights that were fitted without the query: what to expect on
            other queries. `None` with a single query.
        folds: The number of parts into which cross-validation splits the queries.
        best_run: The run that has the best mean alone.
        best_run_value: Its mean.
        tried: A table of all weights that were tried, with the mean of each.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d2": 1, "d3": 1}}
        >>> words = {"q1": {"d1": 3.0, "d2": 2.9, "d3": 1.0}}
        >>> vectors = {"q1": {"d3": 0.9, "d1": 0.2}}
        >>> rs.fit_fusion(qrels, {"words": words, "vectors": vectors}, "AP")
        run      weight
        words    0.5000
        vectors  0.5000
        combsum, 11 combinations of weights tried
        AP: 0.8333 on the queries of the fit; best single run 0.5833 (words)
        note: a fit on one query can't be cross-validated
    """

    method: str
    measure: str
    weights: Mapping[str, float]
    value: float
    cross_validated: float | None
    folds: int
    best_run: str
    best_run_value: float
    tried: Table

    @property
    def notes(self) -> tuple[str, ...]:
        """What speaks against using the weights."""
        if self.cross_validated is None:
            return ("a fit on one query can't be cross-validated",)
        gain = find_gain(self.cross_validated - self.best_run_value, parse(self.measure).better)
        if gain > ROUNDING * abs(self.best_run_value):
            return ()
        return (f"cross-validated, the fused run isn't better than {show(self.best_run)} alone",)

    def to_dict(self) -> dict[str, object]:
        """Return the result as dicts and lists."""
        rest = {"weights": dict(self.weights), "tried": name_rows(self.tried)}
        return {**as_dict(self), **rest, "notes": [*self.notes]}

    def describe(self) -> str:
        """Return the values in one line."""
        parts = [f"{self.measure}: {format_value(self.value)} on the queries of the fit"]
        if self.cross_validated is not None:
            value = format_value(self.cross_validated)
            parts.append(f"{value} cross-validated in {self.folds} folds")
        best = format_value(self.best_run_value)
        return "; ".join([*parts, f"best single run {best} ({show(self.best_run)})"])

    def _parts(self) -> Sequence[str | Table]:
        table = Table({"run": [*self.weights], "weight": [*self.weights.values()]})
        tried = f"{self.method}, {len(self.tried):,} combinations of weights tried"
        return [table, tried, self.describe(), *(f"note: {note}" for note in self.notes)]

    __repr__ = Printed.__str__


GRID = 10
"""Weights are multiples of 1 / GRID at first."""
MOST_TRIALS = 1001
"""With more combinations of weights than these, the share of one run after another is changed."""
MOST_FOLDS = 5
"""Weights are cross-validated in so many parts of the queries, or one query at a time if fewer."""


def fuse(
    runs: Runs,
    method: str = "rrf",
    *,
    weights: Sequence[float] | Mapping[str, float] | None = None,
    normalize: Scale | None = None,
    k: float | None = None,
    p: float | None = None,
    sigma: float | None = None,
    depth: int | None = None,
    ties: Ties = "doc_id",
    scores: Sequence[str] | None = None,
    **options: Unpack[ReadingOptions],
) -> FusedRun:
    """Fuse the runs of several systems into one.

    A query is fused from the runs that have it. A document that a run doesn't have gets nothing
    from that run, unless the method says otherwise.

    Args:
        runs: Two or more runs, each as in `evaluate`: a list of them, or a mapping of names to
            runs. Or a table with the scores of several systems: `fuse(table, scores=["a", "b"])`.
        method: How the score of a document is computed:

            - `rrf`: the sum of 1 / (k + rank) (reciprocal rank fusion)
            - `combsum`, `combmnz`: the sum of its scores; the same times the number of runs that
              have it
            - `combanz`, `combmed`, `combmax`, `combmin`: the mean, the median, the largest and the
              smallest of its scores
            - `isr`, `log_isr`: the sum of 1 / rank², times the number of runs that have it, or
              times the logarithm of that number plus `sigma`
            - `rbc`: the sum of (1 - p) p^(rank - 1) (rank-biased centroid)
            - `borda`: points for each document that isn't above it
            - `condorcet`: an order in which no document loses to the next one by a majority of runs

            The names of ranx work, too, such as `mnz` and `bordafuse`.
        weights: The weight of each run: a sequence in the order of the runs, or a mapping of names
            to weights (default: 1 for each). The points that a run gives are multiplied by it. A
            run whose weight is 0 is left out.
        normalize: How the scores of each query in each run are scaled before they are added
            (default: `"min_max"`):

            - `min_max`: from 0 for the smallest to 1 for the largest; 1 if all are equal
            - `max`: divided by the largest
            - `sum`: the distance to the smallest, divided by the sum of these distances
            - `zmuv`: the distance to the mean, in standard deviations
            - `rank`: 1 - (rank - 1) / n, with n documents in the list
            - `borda`: the same with n documents in all runs; those that the run doesn't have share
              the mean of what is left
            - `none`: as they are

            Methods that go by ranks don't use scores, so it can't be set for them.
        k: The constant of `rrf` (default: 60).
        p: The persistence of `rbc`, between 0 and 1 (default: 0.8).
        sigma: The constant of `log_isr`, 0 or more (default: 0).
        depth: The number of documents to keep for each query (default: all).
        ties: The order of documents with equal scores, in the runs and in the result: `"doc_id"`
            (the larger ID first, as in trec_eval), `"doc_id_asc"`, or `"input"`.
        scores: The columns of scores of a table, two or more, each of which is a run.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The fused run. Pass it to `evaluate` as a run, write it to a file with `write`, or get a
        data frame with `to_pandas`.

    Raises:
        UsageError: An argument is invalid, or there are fewer than two runs.
        InputError: A run doesn't have the expected format, a document is twice in a list, or scores
            don't fit the scale.
        FileError: A file can't be read.

    Examples:
        >>> words = {"q1": {"d1": 12.0, "d2": 7.5, "d3": 3.0}}
        >>> vectors = {"q1": {"d2": 0.9, "d4": 0.5}}
        >>> fuse({"words": words, "vectors": vectors}, "combsum", weights=[0.5, 0.5]).to_dict()
        {'q1': {'d2': 0.75, 'd1': 0.5, 'd4': 0.0, 'd3': 0.0}}
        >>> list(fuse([words, vectors], "borda").to_dict()["q1"].items())
        [('d2', 7.0), ('d1', 5.5), ('d4', 4.0), ('d3', 3.5)]
        >>> table = {"qid": ["q1", "q1"], "doc": ["d1", "d2"], "words": [2, 1], "vectors": [1, 4]}
        >>> fuse(table, "combsum", scores=["words", "vectors"]).to_dict()
        {'q1': {'d2': 1.0, 'd1': 1.0}}
    """
    chosen = read_choices(method, normalize, {"k": k, "p": p, "sigma": sigma}, ties, depth)
    reading = Reading.of("fuse", options)
    notes: dict[str, list[Note]] = {}
    if scores is None:
        lists = _read_lists(name_runs(runs), reading, notes)
    else:
        lists = _read_scores(runs, scores, reading)
    weighed = read_weights(chosen.method, weights, list(lists))
    core = _fuse_lists(lists, chosen.settings(weighed), reading)
    described = {name: [describe_note(note, {}) for note in own] for name, own in notes.items()}
    read = [*lists.values()]
    return FusedRun(
        names=tuple(lists),
        method=chosen.method.name,
        parameters={chosen.method.parameter: chosen.parameter} if chosen.method.parameter else {},
        scale=chosen.scale,
        weights=tuple(weighed),
        missing=tuple(
            len(core) - (len(run) if isinstance(run, Run) else len(run.query_ids()))
            for run, _ in read
        ),
        notes=gather(described),
        # The types of ids are those in the first run that has documents.
        source=next(
            (ids for run, ids in read if not isinstance(run, Run) or run.rows()), read[0][1]
        ),
        core=core,
    )


def _fuse_lists(lists: Lists, settings: Settings, reading: Reading) -> Run:
    with explaining():
        return fuse_runs(
            [(run, name) for name, (run, _) in lists.items()], settings, reading.threads
        )


def _read_scores(table: object, scores: Sequence[str], reading: Reading) -> Lists:
    """Read each column of scores of a table as a run."""
    check_scores(scores)
    lists: Lists = {}
    for score in scores:
        own = replace(reading, columns={**reading.columns, "score": score})
        lists[score] = read_lists(recognise(table, "run", own.columns), own, [])  # refused there
    return lists


def _read_lists(
    named: Mapping[str, InputLike | Rankings], reading: Reading, notes: dict[str, list[Note]]
) -> Lists:
    lists: Lists = {}
    for name, run in named.items():
        with explaining(name):
            lists[name] = read_run_lists(run, reading, notes.setdefault(name, []))
    return lists


def fit_fusion(
    judgments: InputLike | Qrels,
    runs: Runs,
    measure: Measure | str,
    method: str = "combsum",
    *,
    normalize: Scale | None = None,
    k: float | None = None,
    p: float | None = None,
    sigma: float | None = None,
    depth: int | None = None,
    ties: Ties = "doc_id",
    policy: Policy | str | None = None,
    **options: Unpack[ReadingOptions],
) -> FusionFit:
    """Find the weights of runs with which their fusion has the best value of a measure.

    Weights are tried that add up to 1, in steps of 0.1: all of them for up to five runs. For more
    runs, the share of one run after another is changed as long as the value improves. The best
    value is the largest, or the smallest if lower values of the measure are better. Among equal
    values, the weights that are closest to each other are taken.

    The value on the queries of the fit is too good. Weights are therefore also cross-validated:
    the queries are split into five parts, or into single queries if there are fewer, and weights
    that are fitted on all other parts are evaluated on each. The parts depend only on the IDs of
    the judged queries.

    Args:
        judgments: Judgments of the queries to fit on, as in `evaluate`.
        runs: As in `fuse`.
        measure: The measure, or its name. It has to say which of two rankings is better.
        method: As in `fuse`, one that takes weights.
        normalize: As in `fuse`.
        k: As in `fuse`.
        p: As in `fuse`.
        sigma: As in `fuse`.
        depth: As in `fuse`.
        ties: As in `fuse`.
        policy: As in `evaluate`.
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The weights, the value that they have, the cross-validated value, that of the best single
        run, and the value of all weights that were tried.

    Raises:
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"d2": 1}, "q2": {"d5": 1}}
        >>> words = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d4": 2.0, "d5": 1.0}}
        >>> vectors = {"q1": {"d2": 2.0, "d1": 1.0}, "q2": {"d5": 2.0, "d4": 1.0}}
        >>> fit = fit_fusion(qrels, {"words": words, "vectors": vectors}, "RR")
        >>> fit.weights, fit.value
        ({'words': 0.5, 'vectors': 0.5}, 1.0)
        >>> fused = fuse({"words": words, "vectors": vectors}, "combsum", weights=fit.weights)
    """
    chosen = read_choices(method, normalize, {"k": k, "p": p, "sigma": sigma}, ties, depth)
    check_weighted(chosen.method)
    measure = read_measure(measure)
    if measure.better == "neither":
        raise bad_parameter(
            f"{measure} doesn't say which of two rankings is better, so no weights are best",
            "choose a measure of quality, such as nDCG@10",
        )
    reading = Reading.of("fit_fusion", options)
    qrels = load_qrels(judgments, reading, find_second(measure))
    lists = _read_lists(name_runs(runs), reading, {})
    folds = _split_queries(qrels.queries.read_ids())
    evaluated = EvaluateSettings(measures=[measure], policy=policy)
    tried: dict[Weights, _Tried] = {}

    def evaluate(settings: Settings) -> Evaluation:
        return evaluate_run(qrels, _fuse_lists(lists, settings, reading), evaluated, reading)

    def fit(read: Callable[[_Tried], float]) -> Weights:
        def measure_weights(weights: Weights) -> float:
            if weights not in tried:
                tried[weights] = _split_value(evaluate(chosen.settings(weights)), measure, folds)
            return find_gain(read(tried[weights]), measure.better)

        return _search(len(lists), measure_weights)

    names = list(lists)
    best = fit(lambda values: values.value)
    table = {name: [weights[at] for weights in tried] for at, name in enumerate(names)}
    table[measure.name] = [values.value for values in tried.values()]
    # Without a scale and a cutoff, a run that alone has a weight is fused into itself.
    alone = [
        evaluate((("combsum", 0.0), "none", weights, chosen.ties, None))[measure]
        for weights in np.eye(len(names)).tolist()
    ]
    first = max(range(len(names)), key=lambda run: find_gain(alone[run], measure.better))
    return FusionFit(
        method=chosen.method.name,
        measure=measure.name,
        weights=dict(zip(names, best, strict=True)),
        value=tried[best].value,
        cross_validated=_cross_validate(fit, tried, max(folds) + 1),
        folds=max(folds) + 1,
        best_run=names[first],
        best_run_value=alone[first],
        tried=Table(table),
    )


@dataclass(frozen=True, slots=True)
class _Tried:
    """What some weights achieve: the mean over all queries, and by fold."""

    value: float
    within: list[Mean]  # by fold, the mean over its queries, and how many of them enter it
    without: list[float]  # by fold, the mean over all other queries


def _split_queries(query_ids: Sequence[str]) -> list[int]:
    """Return the fold of each query, which depends only on the IDs of all queries."""

    def scatter(at: int) -> tuple[bytes, str]:
        written = query_ids[at].encode("utf-8", "surrogatepass")
        return blake2b(written, digest_size=8).digest(), query_ids[at]

    folds = [0] * len(query_ids)
    for place, at in enumerate(sorted(range(len(query_ids)), key=scatter)):
        folds[at] = place % MOST_FOLDS
    return folds


def _split_value(evaluation: Evaluation, measure: Measure, folds: Sequence[int]) -> _Tried:
    core = evaluation._answer  # noqa: SLF001 - a part of it
    within, without = [], []
    for fold in range(max(folds) + 1):
        (others, _), own = core.over([int(at == fold) for at in folds], 2)[0]
        within.append(own)
        without.append(others)
    return _Tried(evaluation[measure], within, without)


def _cross_validate(
    fit: Callable[[Callable[[_Tried], float]], Weights], tried: Mapping[Weights, _Tried], folds: int
) -> float | None:
    """Return the mean over folds of what weights achieve there that were fitted without it."""
    if folds < 2:
        return None
    values = []
    for fold in range(folds):
        weights = fit(lambda values, fold=fold: values.without[fold])  # type: ignore[misc]  # bound now
        values.append(tried[weights].within[fold])
    total = sum(count for _, count in values)
    # A fold of which no query enters the mean has no value.
    return math.fsum(value * count for value, count in values if count) / total if total else None


def _search(runs: int, measure: Callable[[Weights], float]) -> Weights:
    """Return the best weights; of equally good ones, those that are closest to each other."""
    if math.comb(GRID + runs - 1, runs - 1) <= MOST_TRIALS:
        grid = [tuple(part / GRID for part in parts) for parts in _split(GRID, runs)]
        return max(sorted(grid, key=_spread), key=measure)
    best = (1 / runs,) * runs
    while True:
        start = best
        for run in range(runs):
            others = [_share(best, run, part / GRID) for part in range(GRID + 1)]
            best = max([best, *sorted(others, key=_spread)], key=measure)
        # So put, it also ends where a value is NaN.
        if not measure(best) > measure(start):
            return start


def _split(total: int, parts: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to split a number into parts."""
    for bars in combinations(range(total + parts - 1), parts - 1):
        ends = (-1, *bars, total + parts - 1)
        yield tuple(end - start - 1 for start, end in pairwise(ends))


def _spread(weights: Weights) -> float:
    return math.fsum(weight * weight for weight in weights)


def _share(weights: Weights, run: int, share: float) -> Weights:
    """Return weights with a share for one run; the others keep their proportions."""
    rest = math.fsum(weights) - weights[run]
    if rest <= 0:
        shares = [(1 - share) / (len(weights) - 1)] * len(weights)
    else:
        shares = [weight * ((1 - share) / rest) for weight in weights]
    shares[run] = share
    return tuple(shares)
