"""A split of a log: what a recommender may learn from, what tests it, and what was dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankscope.output.printed import Printed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from rankscope.output.table import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Split(Printed):
    """A log split into a training set and a test set, as `train, test = split(…)`.

    Args:
        train: The interactions that a recommender may learn from: rows of the log, in its order,
            with all columns. It is what `evaluate` takes as `history`.
        test: The interactions that test it: one row per user and item, without the column of times.
            It is what `evaluate` takes as judgments.
        counts: A table with the interactions, users and items of the log, of both sets, and of what
            was dropped for each reason. A row is dropped for the first reason that applies.
        rule: Which interactions belong to the test set, in a sentence.
        dropped: The number of interactions that were dropped, by reason.
    """

    train: Any
    test: Any
    counts: Table
    rule: str
    dropped: dict[str, int]

    def to_dict(self) -> dict[str, object]:
        """Return the rule and the counts as dicts, without the sets."""
        return {"rule": self.rule, "counts": self.counts.to_dict()}

    def __iter__(self) -> Iterator[Any]:
        return iter((self.train, self.test))

    def _parts(self) -> Sequence[str | Table]:
        return [self.counts, "", self.rule]

    __repr__ = Printed.__str__
