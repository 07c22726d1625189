"""How many queries and documents of each kind there were."""

from __future__ import annotations

from rankscope.records import record


@record(frozen=True, slots=True, kw_only=True)
class Counts:
    """The denominators, and what stands behind them.

    Args:
        queries: Judged queries.
        evaluated: Those whose values enter the means where a measure is defined.
        empty: Those without a document of a grade above 0.
        missing: Those that are not in the run.
        run_only: Queries of the run that are not judged; they enter no mean.
        tied: Queries in which a judged document shares its score with another, so that the tie
            policy may decide values.
        retrieved_at_k: By cutoff (`None` for whole lists), the documents retrieved up to it.
        unjudged_at_k: By cutoff, those of them without a judgment.
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
        """Give the counts by name; the whole list's cutoff is called `all`."""
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
