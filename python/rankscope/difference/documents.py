"""Compares two runs query by query, and document by document."""

from __future__ import annotations

import math

from rankscope._compare.cases import MeasureValues, are_same
from rankscope._compare.pairs import compare_values
from rankscope._compare.promise import Choices
from rankscope._compare.ranges import range_despite_ties, range_despite_unjudged
from rankscope._evaluate.query_values import order_queries
from rankscope.bounds.compute import bound
from rankscope.deferred import np
from rankscope.derivation.compute import find_query, take_query
from rankscope.derivation.derive.kernels import Kernels
from rankscope.derivation.derive.query import count
from rankscope.difference.result import DocumentMoves, RunDifference
from rankscope.errors import EmptyError, UsageError
from rankscope.losses.difference import take_settings
from rankscope.losses.result import Losses
from rankscope.measures import CG, DCG, IDCG
from rankscope.measures.direction import SIGNS
from rankscope.output.diagnostics import describe
from rankscope.output.table import Table
from rankscope.records import record, replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from rankscope._compare.pair import Compared
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope._evaluate.rankings import Rankings
    from rankscope.bounds.result import Bounds
    from rankscope.derivation.derive.query import RankedDocuments, RankedQuery
    from rankscope.measures import Measure
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.output.ids import SourceIds
    from rankscope.output.table import Cell
    from rankscope.settings.policy import Policy

SUMS = ("nDCG", "DCG", "CG")
"""Measures whose values are sums over documents."""
ROUNDING = 1e-9
"""Ideals that differ by less are the same."""


@record(frozen=True, slots=True, kw_only=True)
class Side:
    """One of two runs, evaluated.

    Args:
        name: What the run is called.
        means: The mean of the value and of what was lost, by name, `value` first.
        columns: The same query by query; NaN where the policy leaves a query out.
        notes: What was suspicious but legal.
    """

    name: str
    means: Mapping[str, float]
    columns: Mapping[str, NDArray[np.float64]]
    notes: Sequence[Diagnostic]

    @classmethod
    def of(cls, name: str, made: Losses | Evaluation, measure: Measure) -> Side:
        """Return the values of a run, with its losses if they are known."""
        if isinstance(made, Losses):
            columns = {each: made.array(each) for each in made.means}
            return cls(name=name, means=made.means, columns=columns, notes=made.notes)
        means, columns = {"value": made[measure]}, {"value": made.per_query(measure)}
        return cls(name=name, means=means, columns=columns, notes=made.notes)


def find_unpaired(one: Side, other: Side) -> NDArray[np.bool_]:
    """Find the queries that the policy excludes from one run only."""
    none, neither = np.isnan(one.columns["value"]), np.isnan(other.columns["value"])
    unpaired: NDArray[np.bool_] = none != neither
    if unpaired.any() and (none | neither).all():
        raise EmptyError(
            "expected queries for which both runs have a value, found none",
            hint='set policy="missing=zero" to count a query that is not in a run as an empty list',
            code="no_common_queries",
        )
    return unpaired


@record(frozen=True, slots=True)
class RankedPair:
    """Two rankings whose difference can be asked about.

    Args:
        rankings: The rankings, of the same queries.
        measure: The measure.
        policy: The policy.
        sides: Their values.
        threads: How many threads to use.
    """

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
        return list_moves(
            (take_query(one, number), take_query(other, number)),
            self.measure,
            self.policy,
            (first, second),
            is_sum=self.measure.row.name in SUMS and self.policy.negative != "minmax",
            source=one.source,
        )

    def bound(self, scale: Iterable[float] | None) -> Bounds:
        """Return bounds of the difference, whatever the unjudged documents are."""
        one, other = self.rankings
        return bound(
            other,
            self.measure,
            scale=scale,
            against=one,
            policy=self.policy,
            threads=self.threads,
        )


def compare_runs(
    pair: RankedPair, *, policy: Policy, unpaired: int, observes_retrieval: bool
) -> RunDifference:
    """Compare two runs."""
    one, other = pair.sides
    measure, (first, second) = pair.measure, pair.rankings
    mine, theirs = one.columns["value"], other.columns["value"]
    difference = theirs - mine
    is_same = are_same(mine, theirs)
    gain = (SIGNS[measure.better] or 1) * difference
    is_won, is_lost = (gain > 0) & ~is_same, (gain < 0) & ~is_same
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
        ideal: NDArray[np.float64] = difference - np.sum([*split.values()], axis=0)
        if (abs(ideal) > ROUNDING).any():
            split["ideal"] = ideal
            means["ideal"] = math.fsum([*other.means.values(), *(-m for m in one.means.values())])
    _check_names((one.name, other.name), ["query_id", source.query.name, "difference", *split])
    columns = {one.name: mine, other.name: theirs, "difference": difference, **split}
    notes = dict.fromkeys([*one.notes, *other.notes])
    if unpaired:
        notes[describe("unpaired_queries", unpaired, {})] = None
    return RunDifference(
        measure=measure,
        policy=policy,
        names=(one.name, other.name),
        values=(one.means["value"], other.means["value"]),
        terms=means,
        wins=int(is_won.sum()),
        ties=len(paired) - int(is_won.sum()) - int(is_lost.sum()),
        losses=int(is_lost.sum()),
        queries=Table(
            {
                "query_id": lambda: [ids[query] for query in order.tolist()],
                **{name: column[order] for name, column in columns.items()},
            },
            source=source,
        ),
        observes_retrieval=observes_retrieval,
        notes=tuple(notes),
        explain=pair.explain,
        bound=pair.bound,
        unjudged=range_despite_unjudged(second, first, measure, pair.policy, pair.threads),
        tied=range_despite_ties(second, first, measure, pair.policy, pair.threads),
        comparison=_test(pair),
    )


def _test(pair: RankedPair) -> Compared | None:
    """Return the interval of the difference and its p-value, if values are averaged."""
    measure = pair.measure
    if pair.policy.aggregate != "mean" or measure.row.mean != "mean":
        return None
    order = order_queries(pair.rankings[0].query_texts)
    values = [side.columns["value"] for side in pair.sides]
    column = MeasureValues.stack(measure, values, order)
    if np.isnan(column.values).any(axis=0).all():
        return None
    runs, choices = [side.name for side in pair.sides], Choices(threads=pair.threads)
    return compare_values([column], runs=runs, pairs=[(0, 1)], choices=choices).comparisons[0]


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


@record(frozen=True, slots=True)
class Position:
    """The position of a document in a list.

    Args:
        rank: Its rank, or the mean of the ranks of its tie.
        is_shown: Whether it is at or above the cutoff, or may be.
        worth: What it adds to the value.
    """

    rank: float
    is_shown: bool
    worth: float


def list_moves(
    queries: tuple[RankedQuery, RankedQuery],
    measure: Measure,
    policy: Policy,
    values: tuple[float, float],
    *,
    is_sum: bool,
    source: SourceIds,
) -> DocumentMoves:
    """List the documents at or above the cutoff in either of two runs."""
    pairs = zip(queries, values, strict=True)
    (ours, rest), (theirs, other_rest) = (
        _place(query, measure, policy, value, is_sum=is_sum) for query, value in pairs
    )
    grade_of = {doc: grade for query in queries for doc, grade in _list_grades(query)}
    places = [(doc, ours.get(doc), theirs.get(doc)) for doc in {**ours, **theirs}]
    shown = [row for row in places if any(place and place.is_shown for place in row[1:])]
    gained = [_worth(after) - _worth(before) for _, before, after in shown]
    order = sorted(range(len(shown)), key=lambda at: (-abs(gained[at]), _highest(shown[at][1:])))
    rows: list[dict[str, Cell]] = [
        {
            "doc_id": doc,
            "grade": grade_of.get(doc),
            "rank_a": None if before is None else before.rank,
            "rank_b": None if after is None else after.rank,
            "move": _name_move(before, after),
            "gained": gained[at],
        }
        for at in order
        for doc, before, after in [shown[at]]
    ]
    if other_rest != rest:
        row = {"grade": None, "rank_a": None, "rank_b": None, "gained": other_rest - rest}
        rows.append({"doc_id": "", **row, "move": "no document"})
    names = ["doc_id", "grade", "rank_a", "rank_b", "move", *(["gained"] if is_sum else [])]
    return DocumentMoves(
        query_id=queries[0].query_id or "",
        values=values,
        table=Table({name: [row[name] for row in rows] for name in names}, source=source),
    )


def _list_grades(query: RankedQuery) -> Iterator[tuple[str, float]]:
    """List the documents whose grades are known."""
    if query.judged_docs is not None:
        yield from zip(query.judged_docs, query.judged, strict=True)
    for doc, grade in zip(query.docs or (), query.grades, strict=False):
        if not math.isnan(grade):
            yield doc, grade


def _place(
    query: RankedQuery, measure: Measure, policy: Policy, value: float, *, is_sum: bool
) -> tuple[dict[str, Position], float]:
    """Return the place of each document, and what ranks without one add to the value."""
    # To see judged documents only is to remove the others.
    chosen = replace(policy, unjudged="remove") if measure.judged_only else policy
    kernels = Kernels(query, chosen)
    gainful = take_settings(CG.row, measure) if is_sum else CG
    counted = count(gainful, kernels)
    size = len(counted)
    k = math.inf if measure.k is None else measure.k
    worths, rest = [0.0] * size, 0.0
    if is_sum:
        own, ideal = kernels.values([measure, take_settings(IDCG.row, measure)])
        if measure.row.name != "nDCG":
            ideal = 1.0
        if math.isnan(own) or math.isnan(value):  # undefined, or left out
            rest = value
        else:
            worths = [worth / ideal for worth in _discount(counted, measure, kernels)]
            rest = _discount_missing(size, measure, chosen, kernels) / ideal
    docs = [query.name(row) or "" for row in counted.rows]
    places = {}
    for at, doc in enumerate(docs):
        first, last = counted.ties.get(at + 1, (at + 1, at + 1))
        rank = (first + last) / 2 if query.ties == "average" else at + 1
        places[doc] = Position(rank, first <= k, worths[at])
    return places, rest


def _discount(counted: RankedDocuments, measure: Measure, kernels: Kernels) -> list[float]:
    """Discount the gain of each document by its rank, averaged over the ranks of a tie."""
    size = len(counted)
    reach = size if measure.k is None else min(size, measure.k)
    ranks = range(1, reach + 1)
    below = [0.0] * (size - reach)
    dcg = take_settings(DCG.row, measure)
    weights = kernels.discounted(dcg, [1.0] * reach, ranks) + below
    worths = kernels.discounted(dcg, counted.gains[:reach], ranks) + below
    for first, last in set(counted.ties.values()):
        mean = sum(weights[first - 1 : last]) / (last - first + 1)
        for at in range(first - 1, last):
            worths[at] = counted.gains[at] * mean
    return worths


def _discount_missing(size: int, measure: Measure, policy: Policy, kernels: Kernels) -> float:
    """Discount the gain of missing ranks down to the cutoff."""
    if not policy.missing_gain or measure.k is None:
        return 0.0
    ranks = range(size + 1, measure.k + 1)
    gains = [float(policy.missing_gain)] * len(ranks)
    return math.fsum(kernels.discounted(take_settings(DCG.row, measure), gains, ranks))


def _worth(place: Position | None) -> float:
    return 0.0 if place is None else place.worth


def _highest(places: Sequence[Position | None]) -> float:
    return min(place.rank for place in places if place)


def _name_move(before: Position | None, after: Position | None) -> str:
    if before is None or (after and after.is_shown and not before.is_shown):
        return "entered"
    if after is None or (before.is_shown and not after.is_shown):
        return "left"
    if before.rank == after.rank:
        return "same"
    return "up" if after.rank < before.rank else "down"
