"""The regrets of rankings: how much each document and rank costs."""

from __future__ import annotations

from collections.abc import Mapping

from rankscope._core import Column, Plan
from rankscope._core import find_regrets as find_core_regrets
from rankscope.deferred import np
from rankscope.derivation.derive.swap import find_best_swaps
from rankscope.engine.requests import read_request
from rankscope.errors import UsageError
from rankscope.evaluation.evaluating import make_plan
from rankscope.evaluation.refusals import check_averaged
from rankscope.losses.compute import measure_losses
from rankscope.losses.difference import group_regrets, take_settings
from rankscope.measures import CG, DCG
from rankscope.output.table import Table
from rankscope.records import record
from rankscope.regrets.result import Regrets

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from rankscope.evaluation.rankings import Rankings
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy


@record(frozen=True, slots=True)
class FoundRegrets:
    """The cost of documents, one row per document with a gain.

    Args:
        measure: The measure whose units these are.
        plan: How it was asked for.
        queries: The place of the query of each.
        ranks: Its rank; 0 where it was not retrieved.
        grades: Its grade.
        amounts: What it costs, in units of discounted gain.
        doc_ids: What it is called.
        units: By query, what amounts are divided by; NaN where it is left out.
        by_rank: What each rank costs, over all queries.
    """

    measure: Measure
    plan: Plan
    queries: NDArray[np.integer[Any]]
    ranks: NDArray[np.integer[Any]]
    grades: NDArray[np.float64]
    amounts: NDArray[np.float64]
    doc_ids: list[str | None]
    units: NDArray[np.float64]
    by_rank: list[float]


def find_regrets(rankings: Rankings, measure: Measure, policy: Policy) -> FoundRegrets:
    """Compute the cost of documents."""
    summed = take_settings(DCG.row, measure) if measure.row == CG.row else measure
    grades = rankings.grades
    request = read_request(summed, policy, convention=None, score_type=None, grades=grades)
    plan = make_plan(request, rankings.tie_policy, grades, "error")
    core, judgments = rankings._core, rankings._judgments  # noqa: SLF001 - parts of it
    *columns, doc_ids, units, by_rank = find_core_regrets(core, judgments, plan)
    queries, ranks, grade, _, amounts = (
        np.frombuffer(memoryview(column), dtype=np.dtype(column.typecode)) for column in columns
    )
    return FoundRegrets(
        summed, plan, queries, ranks, grade, amounts, doc_ids, _read(units), by_rank
    )


def measure_regrets(
    rankings: Rankings,
    measure: Measure | str,
    *,
    by: Mapping[str, object] | None,
    policy: Policy | str | None,
) -> Regrets:
    """Compute the cost of documents and ranks. `Rankings.regrets` documents the arguments."""
    if by is not None and not isinstance(by, Mapping):
        raise UsageError(
            f"expected by as a mapping of document to value, found {type(by).__name__}",
            hint="write {'d1': 'Acme', 'd2': 'Zenith'}",
            code="bad_parameter",
        )
    losses = measure_losses(rankings, measure, policy=policy)
    asked = losses.measure
    check_averaged(asked, losses.policy)
    found = find_regrets(rankings, asked, losses.policy)
    divisors = np.where(np.isnan(losses.array("value")), np.nan, found.units)
    counts = divisors[found.queries] > 0
    places = np.flatnonzero(counts).tolist()
    queries, ranks, grade = found.queries[counts], found.ranks[counts], found.grades[counts]
    regret = found.amounts[counts] / divisors[queries]
    docs = [found.doc_ids[place] for place in places]
    number = losses.queries
    if by is None:
        ids = rankings.query_texts
        table = {
            "query_id": lambda: [ids[query] for query in queries.tolist()],
            "doc_id": docs,
            "grade": grade,
            "rank": lambda: [rank or None for rank in ranks.tolist()],
            "regret": regret,
        }
    else:
        grouped = group_regrets(docs, ranks, regret / number, by)
        table = {name: grouped.array(name) for name in grouped.names}
    return Regrets(
        table,
        measure=asked,
        policy=losses.policy,
        source=rankings.source,
        loss=sum(losses.means[name] for name in ("retrieval", "truncation", "ordering")),
        by_rank=Table(
            {
                "rank": np.arange(1, len(found.by_rank) + 1),
                "regret": np.array(found.by_rank) / number,
            }
        ),
        read_swaps=lambda: _list_swaps(
            rankings, found.measure, losses.policy, found.plan, divisors
        ),
    )


def _read(column: Column) -> NDArray[np.float64]:
    return np.frombuffer(memoryview(column), dtype=np.float64)


def _list_swaps(
    rankings: Rankings,
    measure: Measure,
    policy: Policy,
    plan: Plan,
    divisors: NDArray[np.float64],
) -> Table:
    """List the best swap of each query."""
    offsets, relevance = rankings.offsets, rankings.relevance
    condenses = measure.judged_only or policy.unjudged == "remove"
    rows = np.flatnonzero(relevance >= 0) if condenses else np.arange(len(relevance))
    starts = np.searchsorted(rows, offsets)
    ranks = np.arange(len(rows)) - np.repeat(starts[:-1], np.diff(starts))
    grades = [*rankings.grades, np.nan]
    of_grades = np.array(plan.gains(0, grades))
    judged = ~np.isnan(relevance[rows])
    levels = np.full(len(rows), len(grades) - 1)
    levels[judged] = np.searchsorted(grades[:-1], relevance[rows][judged])
    reach = int(ranks.max(initial=-1)) + 1
    shown = reach if measure.k is None else min(reach, measure.k)
    weights = plan.discounted(0, [1.0] * shown, range(1, shown + 1)) or []
    discounts = np.array([*weights, *[0.0] * (reach - shown)])[ranks]
    if rankings.tie_policy == "average":
        scores = rankings.scores[rows]
        is_first = ranks == 0
        is_first[1:] |= scores[1:] != scores[:-1]
        ties = np.flatnonzero(is_first)
        sizes = np.diff([*ties.tolist(), len(rows)])
        discounts = np.repeat(np.add.reduceat(discounts, ties) / sizes, sizes)
    queries, uppers, lowers, gained = find_best_swaps(
        starts, of_grades[levels], discounts, divisors
    )
    ids = rankings.query_texts

    def name(places: NDArray[np.int64]) -> list[str | None]:
        rows_of = (rows[places] - offsets[queries]).tolist()
        return [
            docs[row] if (docs := rankings.doc_texts(ids[query])) else None
            for query, row in zip(queries.tolist(), rows_of, strict=True)
        ]

    return Table(
        {
            "query_id": [ids[query] for query in queries.tolist()],
            "rank": uppers - starts[queries] + 1,
            "doc_id": lambda: name(uppers),
            "other_rank": lowers - starts[queries] + 1,
            "other_doc_id": lambda: name(lowers),
            "gained": gained,
        },
        source=rankings.source,
    )
