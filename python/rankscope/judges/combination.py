"""Grades of several judges combined into one per document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias, Unpack, get_args

import numpy as np

from rankscope._names import check_choice
from rankscope._settings import Reading
from rankscope._show import Printed
from rankscope._show.table import Table
from rankscope.judges.reading import read_judges

if TYPE_CHECKING:
    from rankscope._settings import ReadingOptions
    from rankscope._show.table import Column

How: TypeAlias = Literal["mean", "median", "majority"]
SHOWN = 10


class CombinedJudgments(Printed, Table):
    """A table with the combined grade of each document, which `evaluate` accepts as judgments.

    The columns are `query_id`, `doc_id`, `relevance` (the combined grade), `judges` (how many gave
    a grade), `deviation` (the standard deviation of their grades, NaN for one judge), `range` (the
    largest minus the smallest), and `disagreeing`: the share of judges whose grade differs from the
    most frequent one.

    Attributes:
        judges: The names of the judges.
        how: How grades were combined.
        majority_ties: The number of documents without a single most frequent grade. They have the
            lowest of them.
        left_out: The number of documents that no judge graded.

    Examples:
        >>> import rankscope as rs
        >>> table = {"query": ["q", "q"], "doc": ["a", "b"], "ann": [3, 0], "bob": [2, 0]}
        >>> combined = rs.judges.combine(table, judges=["ann", "bob"])
        >>> combined.qrels
        {'q': {'a': 2.5, 'b': 0.0}}
        >>> rs.evaluate(combined.qrels, {"q": {"a": 1.0, "b": 2.0}}, "DCG@1")["DCG@1"]
        0.0
    """

    def __init__(
        self,
        columns: Mapping[str, Column],
        *,
        judges: tuple[str, ...],
        how: How,
        majority_ties: int,
        left_out: int,
    ) -> None:
        super().__init__(columns)
        self.judges = judges
        self.how = how
        self.majority_ties = majority_ties
        self.left_out = left_out

    @property
    def qrels(self) -> dict[str, dict[str, float]]:
        """The combined grades, by query and document."""
        nested: dict[str, dict[str, float]] = {}
        for query, doc, grade, *_ in self.rows():
            nested.setdefault(str(query), {})[str(doc)] = grade  # type: ignore[assignment]  # a number
        return nested

    def _parts(self) -> list[str | Table]:
        head = f"grades of {len(self.judges)} judges, combined by {self.how}"
        parts: list[str | Table] = [head, "", self.take(range(min(SHOWN, len(self))))]
        if len(self) > SHOWN:
            parts.append(f"and {len(self) - SHOWN} more documents")
        disagreeing = int((self.array("range") > 0).sum())
        parts += ["", f"documents on which judges disagree: {disagreeing} of {len(self)}"]
        for count, what in (
            (self.majority_ties, "without a single most frequent grade, given the lowest of them"),
            (self.left_out, "without a grade, left out"),
        ):
            parts += [f"documents {what}: {count}"] if count else []
        return parts

    __repr__ = Printed.__str__


def combine(
    table: object,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    how: How = "mean",
    **options: Unpack[ReadingOptions],
) -> CombinedJudgments:
    """Combine the grades of several judges into one grade per document.

    Args:
        table: As in `agreement`, with queries and documents.
        judges: As in `agreement`.
        judge: As in `agreement`.
        how: `"mean"`, `"median"` (the mean of the two middle grades if their number is even), or
            `"majority"` (the most frequent grade; the lowest of them if several are equally
            frequent, which `majority_ties` counts).
        **options: How the inputs are read, as in `rankscope.evaluate`.

    Returns:
        A table that `rankscope.evaluate` accepts as judgments, with how much the judges disagree.

    Raises:
        UsageError: An argument is not one of its choices.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> table = {"query": ["q", "q"], "doc": ["a", "b"], "ann": [3, 0], "bob": [2, 0]}
        >>> print(combine(table, judges=["ann", "bob"]))
        grades of 2 judges, combined by mean
        <BLANKLINE>
        query_id  doc_id  relevance  judges  deviation   range  disagreeing
        q         a          2.5000       2     0.7071  1.0000       0.5000
        q         b          0.0000       2     0.0000  0.0000       0.0000
        <BLANKLINE>
        documents on which judges disagree: 1 of 2
    """
    check_choice("how", how, get_args(How))
    items = read_judges(table, judges, judge, Reading.of("judges.combine", options), needs_ids=True)
    graded = np.flatnonzero((~np.isnan(items.grades)).any(axis=1))
    grades, ties = items.grades[graded], 0
    counts = (~np.isnan(grades)).sum(axis=1)
    means = np.nansum(grades, axis=1) / counts
    squares = np.nansum((grades - means[:, None]) ** 2, axis=1)
    times = np.zeros(grades.shape, dtype=np.int64)  # how many judges gave the grade of this judge
    for column in grades.T:
        times += grades == column[:, None]
    most = times.max(axis=1)
    combined = np.nanmedian(grades, axis=1) if how == "median" else means
    if how == "majority":
        is_most = times == most[:, None]
        combined = np.where(is_most, grades, np.inf).min(axis=1)
        ties = int((is_most & (grades > combined[:, None])).any(axis=1).sum())
    return CombinedJudgments(
        {
            "query_id": [items.names[at][0] for at in graded.tolist()],
            "doc_id": [items.names[at][1] for at in graded.tolist()],
            "relevance": combined,
            "judges": counts,
            "deviation": np.sqrt(squares / np.where(counts < 2, np.nan, counts - 1)),
            "range": np.nanmax(grades, axis=1) - np.nanmin(grades, axis=1),
            "disagreeing": 1 - most / counts,
        },
        judges=items.judges,
        how=how,
        majority_ties=ties,
        left_out=len(items.grades) - len(grades),
    )
