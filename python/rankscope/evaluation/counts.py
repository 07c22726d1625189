"""The numbers of queries and documents in an evaluation."""

from __future__ import annotations

from rankscope.hints import Hinted
from rankscope.records import as_dict, record


@record(frozen=True, slots=True, kw_only=True)
class Counts(Hinted):
    """The numbers of queries and documents in an evaluation.

    Args:
        queries: The judged queries.
        evaluated: The judged queries whose values are included in means, if defined.
        empty: The judged queries without a document with a grade above 0.
        missing: The judged queries that are not in the run.
        run_only: The queries of the run that are not judged, which are in no mean.
        tied: The queries in which a judged document has the same score as another document, so
            that the policy `ties` can change values.
        retrieved_at_k: The retrieved documents up to each cutoff (`None` for whole lists).
        unjudged_at_k: The unjudged documents among them.
    """

    queries: int
    evaluated: int
    empty: int
    missing: int
    run_only: int
    tied: int
    retrieved_at_k: dict[int | None, int]
    unjudged_at_k: dict[int | None, int]

    def to_dict(self) -> dict[str, int | dict[str, int]]:
        """Return the counts by name, with `all` for the cutoff of whole lists."""
        return {
            name: {"all" if k is None else str(k): count for k, count in held.items()}
            if isinstance(held, dict)
            else held
            for name, held in as_dict(self).items()
        }
