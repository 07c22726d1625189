"""Compares two runs query by query: `diff`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from rankscope._compare.pair import Compared
from rankscope._compare.pairs import compare_values
from rankscope._compare.promise import Choices, MeasureValues, are_same
from rankscope._compare.ranges import range_despite_ties, range_despite_unjudged
from rankscope._diff.difference import DocumentMoves, RunDifference
from rankscope._diff.documents import list_moves
from rankscope._evaluate.evaluating import load_qrels_for, refuse_one_stdin_for_both
from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.query_values import order_queries
from rankscope._evaluate.ranked_runs import rank_scores, refuse_scores
from rankscope._evaluate.rankings import Rankings, rank_run
from rankscope._evaluate.refusals import refuse_items
from rankscope._evaluate.settings import READ, Settings, holds, read_policy, refuse_reading
from rankscope._explain.bounds import Bounds, bound
from rankscope._explain.explain import find_query, take_query
from rankscope._explain.ledger import Losses
from rankscope._explain.losses import measure_losses
from rankscope._settings import Policy, Reading, ties_of
from rankscope._show.diagnostics import describe
from rankscope._show.table import Table
from rankscope.errors import EmptyError, UsageError
from rankscope.measures import Measure
from rankscope.measures.parse import read_measure
from rankscope.measures.spec import SIGNS
from rankscope.typing import InputLike

Numbers = NDArray[np.float64]

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions


WITHOUT_LOSSES = ("losses_unavailable", "aggregate_unavailable")
"""Why a measure, or a policy, has no losses that add up."""


def diff(
    judgments: object,
    run_a: InputLike | Measure | str | None = None,
    run_b: InputLike | None = None,
    measure: Measure | str | None = None,
    *,
    scores: Sequence[str] | None = None,
    policy: Policy | str | None = None,
    names: tuple[str, str] | None = None,
    **options: Unpack[ReadingOptions],
) -> RunDifference:
    """Compare two runs, and show where their difference comes from.

    Args:
        judgments: As in `evaluate`. Or a table whose rows have grades and two `scores`, or a
            mapping of names to two `Rankings`, followed by the measure:
            `diff(table, "nDCG@10", scores=["old", "new"])`.
        run_a: The first run, as in `evaluate`. Both runs are read into memory.
        run_b: The second run.
        measure: The measure, or its name.
        scores: The two columns of scores of a table.
        policy: As in `evaluate`.
        names: The names of the runs (default: their paths, or `a` and `b`).
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        The means, wins and losses, the queries that changed most, and, for nDCG, DCG and CG, how
        much of the difference comes from retrieval, truncation and ordering. The ranges `unjudged`
        and `tied` show how far unjudged documents and ties could change the difference.

    Raises:
        UsageError: The measure, the policy or another argument is invalid.
        InputError: The input doesn't have the expected format, or there is nothing to evaluate.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 3, "b": 1}, "q2": {"c": 1}}
        >>> old = {"q1": {"x": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
        >>> new = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"c": 1.0}}
        >>> result = diff(qrels, old, new, "nDCG@10")
        >>> result.wins, result.ties, result.losses
        (1, 1, 0)
        >>> round(result.difference, 4), round(result.terms["retrieval"], 4)
        (0.4131, 0.3623)
        >>> print(result.explain("q1").table)
        doc_id   grade  rank_a  rank_b  move     gained
        a       3.0000       –       1  entered  0.8262
        x            –       1       –  left     0.0000
        b       1.0000       2       2  same     0.0000
    """
    reading = Reading.of("diff", options)
    measures: Any = measure if measure is not None or run_b is not None else run_a
    if measures is None:
        raise UsageError(
            "expected judgments, two runs and a measure, found fewer",
            hint="write diff(judgments, run_a, run_b, 'nDCG@10'), or diff(table, 'nDCG@10', "
            "scores=['old', 'new'])",
            code="no_measures",
        )
    of = read_measure(measures)
    refuse_items(of, "losses by document")
    if run_b is None:
        if holds(judgments, Rankings):
            refuse_scores(scores, "Rankings")
            refuse_reading(options, READ)
            rankings = dict(judgments)
        else:
            settings = Settings(measures=[of], policy=policy)
            rankings = rank_scores("diff", judgments, scores, settings, reading)
        if len(rankings) != 2:
            raise UsageError(
                f"expected two rankings, found {len(rankings)}",
                hint="compare takes any number of them",
                code="bad_parameter",
            )
        (a, one), (b, other) = rankings.items()
        read = read_policy(policy, Policy(ties=one.tie_policy))
        return diff_rankings((one, other), of, read, names or (a, b), reading.threads)
    refuse_scores(scores)
    read = read_policy(policy)
    runs: tuple[Any, Any] = (run_a, run_b)
    refuse_one_stdin_for_both(*runs)
    qrels = load_qrels_for(judgments, runs, of, reading)  # type: ignore[arg-type]  # what else it can be
    one, other = (rank_run(Rankings, qrels, run, ties_of(read), reading) for run in runs)
    return diff_rankings((one, other), of, read, names or name_runs(*runs), reading.threads)


def name_runs(*runs: object) -> tuple[str, str]:
    """Return the names of two runs: their paths, or `a` and `b`."""
    paths = [str(run) for run in runs if isinstance(run, str | PathLike)]
    return (paths[0], paths[1]) if len({*paths}) == 2 else ("a", "b")


ROUNDING = 1e-9
"""Ideals that differ by less are the same."""


@dataclass(frozen=True, slots=True)
class Side:
    """The means of the value and of the losses of a run, `value` first, and those of each query."""

    result: Losses | Evaluation
    means: Mapping[str, float]
    columns: Mapping[str, Numbers]


@dataclass(frozen=True, slots=True)
class RankedPair:
    """Two evaluated rankings of the same queries."""

    rankings: tuple[Rankings, Rankings]
    measure: Measure
    policy: Policy
    sides: tuple[Side, Side]
    threads: int | None

    def explain(self, query_id: str) -> DocumentMoves:
        """Return the documents of a query that moved."""
        one, other = self.rankings
        number = find_query(one, query_id)
        first, second = (side.columns["value"][number].item() for side in self.sides)
        queries = take_query(one, number), take_query(other, number)
        return list_moves(queries, self.measure, self.policy, (first, second), one.source)

    def bound(self, scale: Iterable[float] | None) -> Bounds:
        """Return bounds of the difference, whatever the grades of unjudged documents are."""
        one, other = self.rankings
        policy, threads = self.policy, self.threads
        return bound(other, self.measure, scale=scale, against=one, policy=policy, threads=threads)


def diff_rankings(
    rankings: tuple[Rankings, Rankings],
    measure: Measure,
    policy: Policy,
    names: tuple[str, str],
    threads: int | None = None,
) -> RunDifference:
    """Compare two rankings of the same queries."""

    def evaluate(weights: Sequence[float] | None) -> tuple[Side, Side]:
        one, other = (_evaluate(of, measure, policy, weights, threads) for of in rankings)
        return one, other

    one, other = evaluate(None)
    lacking, also = np.isnan(one.columns["value"]), np.isnan(other.columns["value"])
    unpaired = lacking != also
    if unpaired.any():
        if (lacking | also).all():
            raise EmptyError(
                "expected queries for which both runs have a value, found none",
                hint='set policy="missing=zero" to count a query that is not in a run as an empty '
                "list",
                code="no_common_queries",
            )
        one, other = evaluate((~unpaired).astype(float).tolist())
    pair = RankedPair(rankings, measure, policy, (one, other), threads)
    return _compare(pair, names, int(unpaired.sum()))


def _evaluate(
    rankings: Rankings,
    measure: Measure,
    policy: Policy,
    weights: Sequence[float] | None,
    threads: int | None,
) -> Side:
    """Evaluate the losses, or only the value if losses wouldn't add up."""
    try:
        losses = measure_losses(rankings, measure, policy=policy, weights=weights, threads=threads)
    except UsageError as error:
        if error.code not in WITHOUT_LOSSES:
            raise
    else:
        return Side(losses, losses.means, {name: losses.array(name) for name in losses.means})
    values = rankings.evaluate(measure, policy=policy, weights=weights, threads=threads)
    return Side(values, {"value": values[measure]}, {"value": values.per_query(measure)})


def _compare(pair: RankedPair, names: tuple[str, str], unpaired: int) -> RunDifference:
    (one, other), measure, (first, second) = pair.sides, pair.measure, pair.rankings
    values, others = one.columns["value"], other.columns["value"]
    difference = others - values
    is_same = are_same(values, others)
    gain = np.where(is_same, 0, (SIGNS[measure.better] or 1) * difference)
    ids, source = first.query_texts, first.source
    by_id = np.array(order_queries(ids), dtype=np.int64)
    paired = by_id[~np.isnan(difference[by_id])]
    order = paired[np.argsort(-abs(np.where(is_same, 0, difference))[paired], kind="stable")]
    terms = [name for name in one.means if name != "value"]
    # What is lost no more is gained.
    split = {name: one.columns[name] - other.columns[name] for name in terms}
    means = {name: one.means[name] - other.means[name] for name in terms}
    if terms:
        # A row adds up to its ideal.
        ideal: Numbers = difference - np.sum([*split.values()], axis=0)
        if (abs(ideal) > ROUNDING).any():
            split["ideal"] = ideal
            means["ideal"] = math.fsum([*other.means.values(), *(-m for m in one.means.values())])
    _check_names(names, ["query_id", source.query.name, "difference", *split])
    columns = {names[0]: values, names[1]: others, "difference": difference, **split}
    notes = dict.fromkeys([*one.result.notes, *other.result.notes])
    if unpaired:
        notes[describe("unpaired_queries", unpaired, {})] = None
    wins, losses = int((gain > 0).sum()), int((gain < 0).sum())
    return RunDifference(
        measure=measure,
        policy=one.result.policy,
        names=names,
        values=(one.means["value"], other.means["value"]),
        terms=means,
        wins=wins,
        ties=len(paired) - wins - losses,
        losses=losses,
        queries=Table(
            {
                "query_id": lambda: [ids[query] for query in order.tolist()],
                **{name: column[order] for name, column in columns.items()},
            },
            source=source,
        ),
        observes_retrieval=getattr(one.result, "observes_retrieval", True),
        notes=tuple(notes),
        explain=pair.explain,
        bound=pair.bound,
        unjudged=range_despite_unjudged(second, first, measure, pair.policy, pair.threads),
        tied=range_despite_ties(second, first, measure, pair.policy, pair.threads),
        comparison=_test(pair, names),
    )


def _test(pair: RankedPair, names: tuple[str, str]) -> Compared | None:
    """Return the interval of the difference and its p-value, if values are averaged."""
    if pair.policy.aggregate != "mean" or pair.measure.row.mean != "mean":
        return None
    order = order_queries(pair.rankings[0].query_texts)
    column = MeasureValues.stack(
        pair.measure, [side.columns["value"] for side in pair.sides], order
    )
    if np.isnan(column.values).any(axis=0).all():
        return None
    choices = Choices(threads=pair.threads)
    return compare_values([column], runs=names, pairs=[(0, 1)], choices=choices).comparisons[0]


def _check_names(runs: tuple[str, str], others: Sequence[str]) -> None:
    """Raise an error if two columns of the table of queries would have one name."""
    doubled = next((name for name in runs if name in others or runs.count(name) > 1), None)
    if doubled is not None:
        raise UsageError(
            f"expected runs with names of their own, found {doubled!r}, which is also the name of "
            "another column of the result",
            hint="pass other names: names=('before', 'after')",
            code="bad_parameter",
        )
