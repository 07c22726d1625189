"""One ranked query as plain data, and the documents of its list that count."""

from __future__ import annotations

from rankscope.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankscope.derivation.derive.kernels import Kernels
    from rankscope.measures import Measure
    from rankscope.settings.policy import Policy, Ties


@record(frozen=True, slots=True, kw_only=True)
class RankedQuery:
    """One query in rank order, with its judgments.

    Args:
        query_id: What it is called, or `None`.
        docs: What the retrieved documents are called, in rank order, or `None`.
        grades: Their grades, NaN where unjudged.
        scores: Their scores; equal ones are tied where `ties` is `"average"`.
        ties: What decided between equal scores.
        judged: The grades of all judged documents, retrieved or not.
        judged_docs: What those are called, or `None`.
        sees_all: Whether documents are judged that were not retrieved, as far as there are any.
        is_missing: Whether the query is not in the run.
    """

    query_id: str | None
    docs: Sequence[str] | None
    grades: Sequence[float]
    scores: Sequence[float]
    ties: Ties
    judged: Sequence[float]
    judged_docs: Sequence[str] | None
    sees_all: bool
    is_missing: bool = False

    def name(self, row: int) -> str | None:
        """Return the id of the document of a row, if it is known."""
        return None if self.docs is None else self.docs[row]


@record(frozen=True, slots=True)
class RankedDocuments:
    """The documents of a list that have ranks, in rank order.

    Args:
        rows: The row of the query at each rank.
        grades: The grade at each rank, NaN where unjudged.
        gains: The gain of each document.
        rank_gains: The gain at each rank: the mean of its tie.
        ties: The first and the last rank of each tie, by each of its ranks.
        removed: The rows that have no rank.
    """

    rows: list[int]
    grades: list[float]
    gains: list[float]
    rank_gains: list[float]
    ties: dict[int, tuple[int, int]]
    removed: list[int]

    def __len__(self) -> int:
        return len(self.rows)


def count(measure: Measure, kernels: Kernels) -> RankedDocuments:
    """Return which documents have ranks, and the gain at each rank."""
    query = kernels.query
    rows, removed = take_ranks(query, measure, kernels.policy)
    grades = [query.grades[row] for row in rows]
    gains = kernels.gains(measure, grades)
    spans = find_ties(query, rows) if query.ties == "average" else []
    means = kernels.mean_gains(measure @ 1, [grades[first - 1 : last] for first, last in spans])
    rank_gains = [*gains]
    ties = {}
    for (first, last), mean in zip(spans, means, strict=True):
        for rank in range(first, last + 1):
            rank_gains[rank - 1] = mean
            ties[rank] = first, last
    return RankedDocuments(rows, grades, gains, rank_gains, ties, removed)


def take_ranks(query: RankedQuery, measure: Measure, policy: Policy) -> tuple[list[int], list[int]]:
    """Return which rows have ranks, and which are removed first."""
    rows = range(len(query.grades))
    if not (measure.judged_only or policy.unjudged == "remove"):
        return list(rows), []
    # NaN is no grade of 0 or more either.
    kept = [row for row in rows if query.grades[row] >= 0]
    return kept, [row for row in rows if not query.grades[row] >= 0]


def find_ties(query: RankedQuery, rows: list[int]) -> list[tuple[int, int]]:
    """Find the first and the last rank of each group of tied documents."""
    spans = []
    first = 0
    for end in range(1, len(rows) + 1):
        if end < len(rows) and query.scores[rows[end]] == query.scores[rows[first]]:
            continue
        if end - first > 1:
            spans.append((first + 1, end))
        first = end
    return spans
