"""The queries in which two runs differ, as far as a measure sees."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.engine.query_values import order_queries
from rankscope.settings.policy import ties_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from numpy.typing import NDArray

    from rankscope.evaluation.rankings import Rankings
    from rankscope.inputs.qrels import Qrels
    from rankscope.judges.judged_runs import JudgedRuns
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy

    Rows: TypeAlias = tuple[tuple[str, ...], tuple[bool, ...]]

ORDERS = ("doc_id", "doc_id_asc", "input")
"""The ties that don't depend on grades."""


def find_changed(
    qrels: Qrels, runs: JudgedRuns, measures: Sequence[Measure], policy: Policy
) -> list[NDArray[np.bool_]]:
    """Return for each measure in which queries of `qrels` its value could depend on the run.

    In the others, both runs have the same documents in the same order, so that their values are
    equal whatever the judgments. Queries are in the order of their ids as text. Of a single run,
    the value of every query counts.
    """
    if not runs.is_difference:
        return [np.ones(len(qrels.query_texts), dtype=bool) for _ in measures]
    ties = ties_of(policy)
    is_ordered = ties in ORDERS
    lists = [*map(_list_rows, runs.rank(qrels, ties if is_ordered else "doc_id"))]
    found = []
    for measure in measures:
        cutoff = _find_cutoff(measure, policy) if is_ordered else None
        changed = [
            one[0][:cutoff] != other[0][:cutoff] or (not is_ordered and one[1] != other[1])
            for one, other in zip(*lists, strict=True)
        ]
        found.append(np.array(changed, dtype=bool))
    return found


def _find_cutoff(measure: Measure, policy: Policy) -> int | None:
    """Return the last rank that a measure sees, `None` if it sees all."""
    is_local = "cutoff_local" in measure.row.properties
    is_whole = measure.parameters.get("ideal") == "retrieved" or policy.unjudged == "remove"
    return measure.k if is_local and not is_whole else None


def _list_rows(rankings: Rankings) -> list[Rows]:
    """Return the documents of each query, and whether each is tied with the one before."""
    offsets, scores = rankings.offsets, rankings.scores
    queries, rows = rankings.query_texts, []
    for at in order_queries(queries):
        own = scores[offsets[at] : offsets[at + 1]]
        tied: list[bool] = (own[1:] == own[:-1]).tolist()
        rows.append((tuple(rankings.doc_texts(queries[at])), tuple(tied)))
    return rows
