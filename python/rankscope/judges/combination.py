"""One combined grade per document from those of several judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankscope.deferred import np
from rankscope.judges.reading import read_judges
from rankscope.names import check_choice
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.settings.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias, Unpack

    from numpy.typing import NDArray

    from rankscope.output.table import Column
    from rankscope.settings.reading import ReadingOptions

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
        shown = self.take(range(min(SHOWN, len(self))))
        head = f"grades of {len(self.judges)} judges, combined by {self.how}"
        parts: list[str | Table] = [head, "", shown]
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


HOWS = ("mean", "median", "majority")


def _combine(grades: NDArray[np.float64], how: How) -> tuple[NDArray[np.float64], int]:
    """Return one grade per item, and of how many the lowest of several most frequent ones."""
    if how == "mean":
        return np.nansum(grades, axis=1) / (~np.isnan(grades)).sum(axis=1), 0
    if how == "median":
        return np.nanmedian(grades, axis=1), 0
    times = _count_equal(grades)
    is_most = times == times.max(axis=1, keepdims=True)
    lowest = np.where(is_most, grades, np.inf).min(axis=1)
    return lowest, int((is_most & (grades > lowest[:, None])).any(axis=1).sum())


def _count_equal(grades: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many judges gave each item the grade that this judge gave, [items, judges]."""
    times = np.zeros(grades.shape, dtype=np.int64)
    for column in grades.T:
        times += grades == column[:, None]
    return times


def combine_judges(
    table: object,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    how: How = "mean",
    **options: Unpack[ReadingOptions],
) -> CombinedJudgments:
    """Combine the grades of several judges into one grade per document.

    Args:
        table: As in `judge_agreement`, with queries and documents.
        judges: As in `judge_agreement`.
        judge: As in `judge_agreement`.
        how: `"mean"`, `"median"` (the mean of the two middle grades if their number is even), or
            `"majority"` (the most frequent grade; the lowest of them if several are equally
            frequent, which `majority_ties` counts).
        **options: How the inputs are read, as in `evaluate`.

    Returns:
        A table that `evaluate` accepts as judgments, with how much the judges disagree.

    Raises:
        UsageError: An argument is not one of its choices.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> table = {"query": ["q", "q"], "doc": ["a", "b"], "ann": [3, 0], "bob": [2, 0]}
        >>> print(combine_judges(table, judges=["ann", "bob"]))
        grades of 2 judges, combined by mean
        <BLANKLINE>
        query_id  doc_id  relevance  judges  deviation   range  disagreeing
        q         a          2.5000       2     0.7071  1.0000       0.5000
        q         b          0.0000       2     0.0000  0.0000       0.0000
        <BLANKLINE>
        documents on which judges disagree: 1 of 2
    """
    check_choice("how", how, HOWS)
    reading = Reading.of("combine_judges", options)
    every = read_judges(table, judges, judge, reading.columns, reading, needs_ids=True)
    items = every.drop_ungraded()
    grades = items.grades
    combined, ties = _combine(grades, how)
    counts = (~np.isnan(grades)).sum(axis=1)
    means = np.nansum(grades, axis=1) / counts
    squares = np.nansum((grades - means[:, None]) ** 2, axis=1)
    deviations = np.sqrt(squares / np.where(counts < 2, np.nan, counts - 1))
    return CombinedJudgments(
        {
            "query_id": [query for query, _ in items.names],
            "doc_id": [doc for _, doc in items.names],
            "relevance": combined,
            "judges": counts,
            "deviation": deviations,
            "range": np.nanmax(grades, axis=1) - np.nanmin(grades, axis=1),
            "disagreeing": 1 - _count_equal(grades).max(axis=1) / counts,
        },
        judges=items.judges,
        how=how,
        majority_ties=ties,
        left_out=len(every.grades) - len(grades),
    )
