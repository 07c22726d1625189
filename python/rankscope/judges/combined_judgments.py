"""Grades of several judges, combined into one grade per document."""

from __future__ import annotations

from rankscope.output.printed import Printed
from rankscope.output.table import Table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    from rankscope.output.table import Column

SHOWN = 10


class CombinedJudgments(Printed, Table):
    """A table with the combined grade of each document, which `evaluate` accepts as judgments.

    The columns are `query_id`, `doc_id`, `relevance` (the combined grade), `judges` (how many gave
    a grade), `deviation` (the standard deviation of their grades, NaN for one judge), `range` (the
    largest minus the smallest), and `disagreeing`: the share of judges whose grade differs from the
    most frequent one.

    Examples:
        >>> import rankscope as rs
        >>> table = {"query": ["q", "q"], "doc": ["a", "b"], "ann": [3, 0], "bob": [2, 0]}
        >>> combined = rs.combine_judges(table, judges=["ann", "bob"])
        >>> combined.qrels
        {'q': {'a': 2.5, 'b': 0.0}}
        >>> rs.evaluate(combined.qrels, {"q": {"a": 1.0, "b": 2.0}}, "DCG@1")["DCG@1"]
        0.0
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        names_of_judges: tuple[str, ...],
        how: Literal["mean", "median", "majority"],
        ties: int,
        left_out: int,
    ) -> None:
        super().__init__(columns)
        self._judges = names_of_judges
        self._how = how
        self._ties = ties
        self._left_out = left_out

    @property
    def judges(self) -> tuple[str, ...]:
        """The names of the judges."""
        return self._judges

    @property
    def how(self) -> Literal["mean", "median", "majority"]:
        """How grades were combined."""
        return self._how

    @property
    def majority_ties(self) -> int:
        """The number of documents without a single most frequent grade; the lowest was taken."""
        return self._ties

    @property
    def left_out(self) -> int:
        """The number of documents that no judge graded."""
        return self._left_out

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        """The combined grades, by query and document."""
        found: dict[str, dict[str, float]] = {}
        rows = zip(*(self._read(name) for name in ("query_id", "doc_id")), strict=True)
        for (query, doc), grade in zip(rows, self.array("relevance").tolist(), strict=True):
            found.setdefault(str(query), {})[str(doc)] = grade
        return found

    def _parts(self) -> list[str | Table]:
        parts: list[str | Table] = [f"grades of {len(self.judges)} judges, combined by {self.how}"]
        shown = Table({name: self.column(name)[:SHOWN] for name in self.names})
        parts += ["", shown]
        if len(self) > SHOWN:
            parts.append(f"and {len(self) - SHOWN} more documents")
        disagreeing = int((self.array("range") > 0).sum())
        parts += ["", f"documents on which judges disagree: {disagreeing} of {len(self)}"]
        if self.majority_ties:
            parts.append(
                f"documents without a single most frequent grade, given the lowest of them: "
                f"{self.majority_ties}"
            )
        if self.left_out:
            parts.append(f"documents without a grade, left out: {self.left_out}")
        return parts

    __repr__ = Printed.__str__
