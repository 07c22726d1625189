"""The numbers of queries and documents in an evaluation."""

from __future__ import annotations

from rankscope.hints import Hinted
from rankscope.records import record


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
            "queries": self.queries,
            "evaluated": self.evaluated,
            "empty": self.empty,
            "missing": self.missing,
            "run_only": self.run_only,
            "tied": self.tied,
            "retrieved_at_k": _name_cutoffs(self.retrieved_at_k),
            "unjudged_at_k": _name_cutoffs(self.unjudged_at_k),
        }


def _name_cutoffs(by_cutoff: dict[int | None, int]) -> dict[str, int]:
    return {"all" if k is None else str(k): count for k, count in by_cutoff.items()}
