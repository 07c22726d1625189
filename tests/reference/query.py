"""A ranked query, which is all that a measure depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from types import MappingProxyType

NO_SUBTOPICS: Mapping[str, Mapping[str, float]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of items besides judgments, for measures of items."""

    history: Mapping[str, Sequence[str]] = field(default_factory=dict)
    attributes: Mapping[str, Sequence[float] | Sequence[str]] = field(default_factory=dict)
    catalogue: Sequence[str] = ()
    lists: Sequence[Sequence[str]] = ()
    judged: Mapping[str, Mapping[str, float]] = field(default_factory=dict)


NOTHING_KNOWN = Known()


@dataclass(frozen=True, slots=True)
class Query:
    """A ranked list and its judgments.

    Args:
        ranking: The grades of the retrieved documents in rank order, `None` if unjudged.
        judged: The grades of all judged documents, retrieved or not.
        negative_gain: Whether negative grades have a gain. If not, their gain is 0.
        documents: For measures of diversity and of items, the retrieved documents in rank order.
        subtopics: For measures of diversity, the grade of each judged document for each subtopic;
            for measures of samples, its grade by its stratum.
        user: For measures of items, the user.
        known: For measures of items, what is known of them.
    """

    ranking: Sequence[float | None]
    judged: Sequence[float]
    negative_gain: bool = False
    documents: Sequence[str] = ()
    subtopics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    user: str = ""
    known: Known = NOTHING_KNOWN

    def relevant(self, rel: float) -> int:
        """Return the number of relevant documents, retrieved or not."""
        return sum(grade >= rel for grade in self.judged)

    def relevant_ranks(self, rel: float, k: int | None = None) -> list[int]:
        """Return the ranks of the relevant documents in the first `k`, counted from 1."""
        graded = enumerate(self.ranking[:k], start=1)
        return [rank for rank, grade in graded if grade is not None and grade >= rel]

    def condensed(self) -> Query:
        """Return the query without documents that are unjudged or have a negative grade."""
        is_kept = [grade is not None and grade >= 0 for grade in self.ranking]
        kept = [*compress(self.ranking, is_kept)]
        documents = [*compress(self.documents, is_kept)]
        return Query(kept, self.judged, self.negative_gain, documents, self.subtopics)
