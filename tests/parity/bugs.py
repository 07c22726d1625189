"""Bugs of peers that their conventions do not repeat: what the golden numbers show of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.parity.golden import Case

WHOLE = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownBug:
    """A bug that shows in golden numbers.

    Args:
        said: The golden files in which it shows.
        name: How the row of their convention calls it.
        measures: The measures that it changes.
        touches: Whether it can change the value of a query, with a cutoff.
    """

    said: tuple[str, ...]
    name: str
    measures: frozenset[str]
    touches: Callable[[Case, str, int], bool]

    def changes(self, measure, case, query):
        """Whether it can change the value of a measure, which has a cutoff or none."""
        name, _, k = measure.partition("@")
        return name in self.measures and self.touches(case, query, int(k or WHOLE))


def _has_relevant_below_zero(case, query, _):
    grades = case.qrels[query]
    return any(grades[document] > 0 >= score for document, score in case.run[query].items())


def _retrieves_less_than_could_count(case, query, k):
    relevant = sum(grade > 0 for grade in case.qrels[query].values())
    return len(case.run.get(query, ())) < min(k, relevant)


def _is_shorter_than_the_cutoff(case, query, k):
    return len(case.run[query]) < k


def _has_ties(case, query, _):
    scores = case.run[query].values()
    return len(set(scores)) < len(scores)


KNOWN_BUGS = (
    KnownBug(
        said=("torchmetrics",),
        name="nonpositive_scores",
        measures=frozenset({"AP", "RR", "P", "R", "SetP", "SetR"}),
        touches=_has_relevant_below_zero,
    ),
    KnownBug(
        said=("mlflow",),
        name="ideal_of_retrieved",
        measures=frozenset({"nDCG"}),
        touches=_retrieves_less_than_could_count,
    ),
    KnownBug(
        said=("evidently",),
        name="tied_ranks",
        measures=frozenset({"nDCG"}),
        touches=_has_ties,
    ),
    KnownBug(
        said=("tie_aware-oblivious", "tie_aware-maximum", "tie_aware-minimum"),
        name="short_lists",
        measures=frozenset({"P", "F"}),
        touches=_is_shorter_than_the_cutoff,
    ),
)
