"""The grades of several judges: their agreement, and one combined grade per document."""

from __future__ import annotations

from rankscope.deferred import np
from rankscope.judges.agreement import measure_agreement
from rankscope.judges.reading import read_judges
from rankscope.names import check_choice
from rankscope.output.printed import Printed
from rankscope.output.table import Table
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, TypeAlias, Unpack

    from numpy.typing import NDArray

    from rankscope._inputs.qrels import Qrels
    from rankscope.judges.agreement import JudgeAgreement
    from rankscope.output.table import Column
    from rankscope.settings.reading import ReadingOptions
    from rankscope.typing import InputLike

    How: TypeAlias = Literal["mean", "median", "majority"]

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


HOWS = ("mean", "median", "majority")


def combine(grades: NDArray[np.float64], how: How) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return one grade per item, and where the lowest of several most frequent ones was taken."""
    is_graded = ~np.isnan(grades)
    counts = is_graded.sum(axis=1)
    tied = np.zeros(len(grades), dtype=bool)
    found = np.full(len(grades), np.nan)
    some = counts > 0
    if how == "mean":
        found[some] = np.where(is_graded, grades, 0)[some].sum(axis=1) / counts[some]
    elif how == "median":
        found[some] = np.nanmedian(grades[some], axis=1)
    else:
        times = _count_equal(grades)
        most = times.max(axis=1)
        is_most = (times == most[:, None]) & is_graded
        lowest = np.where(is_most, grades, np.inf).min(axis=1)
        tied = some & (is_most & (grades > lowest[:, None])).any(axis=1)
        found[some] = lowest[some]
    return found, tied


def _count_equal(grades: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how many judges gave each item the grade that this judge gave, [items, judges]."""
    times = np.zeros(grades.shape, dtype=np.int64)
    for column in grades.T:
        times += grades == column[:, None]
    return times


def judge_agreement(
    table: object,
    other: InputLike | Qrels | None = None,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    **options: Unpack[ReadingOptions],
) -> JudgeAgreement:
    """Return how well judges agree, such as a model and people.

    Cohen's kappa (1960; weighted: 1968), Spearman's correlation and the share of equal grades
    compare two judges on the documents that both graded. Krippendorff's alpha (*Computing
    Krippendorff's alpha-reliability*, 2011) compares all judges, and uses every document with two
    or more grades.

    Args:
        table: A data frame, an Arrow table, a mapping of column name to array, a path, or a `File`.
            Or a mapping of judges to their judgments, each as in `evaluate`.
        other: The judgments of a second judge, if `table` has those of one, as in `evaluate`.
        judges: The columns of grades, if there is one column per judge. Null, NaN and empty cells
            mean that the judge gave no grade.
        judge: The column that names the judge, if there is one row per judgment.
        **options: How the inputs are read, as in `evaluate`.

    Raises:
        UsageError: Neither or both of `judges` and `judge` are given.
        InputError: A column is missing or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> table = {"llm": [3, 2, 2, 0, 1, 0], "human": [3, 1, 2, 0, 0, 0]}
        >>> print(judge_agreement(table, judges=["llm", "human"]))
        agreement of 2 judges on 6 documents, grades 0, 1, 2, 3
        <BLANKLINE>
        judge  other  items   exact   kappa  linear  quadratic  spearman    shift
        llm    human      6  0.6667  0.5385  0.7391     0.8750    0.9380  -0.3333
        <BLANKLINE>
        Krippendorff's alpha: nominal 0.569, ordinal 0.870, interval 0.883
        95% interval of ordinal alpha: -0.328 to 1.000, by a bootstrap over documents
        Too few documents to draw conclusions: ordinal alpha may be below 0.667.
        >>> rows = {"rater": ["a", "b"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 1]}
        >>> judge_agreement(rows, judge="rater", relevance="grade").pairs[0].exact
        1.0
        >>> judge_agreement({"q": {"a": 1, "b": 0}}, {"q": {"a": 1, "b": 1}}).pairs[0].exact
        0.5
    """
    reading = Reading.of("judge_agreement", options)
    if other is not None:
        table = {"first": table, "second": other}
    found = read_judges(table, judges, judge, reading.columns, reading, needs_ids=False)
    return measure_agreement(found.judges, found.grades)


def combine_judges(
    table: object,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    how: Literal["mean", "median", "majority"] = "mean",
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
    items = read_judges(table, judges, judge, reading.columns, reading, needs_ids=True)
    is_kept = ~np.isnan(items.grades).all(axis=1)
    kept = items.grades[is_kept]
    combined, tied = combine(kept, how)
    counts = (~np.isnan(kept)).sum(axis=1)
    means = np.nansum(kept, axis=1) / counts
    squares = np.nansum((kept - means[:, None]) ** 2, axis=1)
    alone = counts < 2
    deviations = np.sqrt(squares / np.where(alone, 1, counts - 1))
    deviations[alone] = np.nan
    at = np.flatnonzero(is_kept).tolist()
    return CombinedJudgments(
        {
            "query_id": [items.queries[each] for each in at],
            "doc_id": [items.docs[each] for each in at],
            "relevance": combined,
            "judges": counts,
            "deviation": deviations,
            "range": np.nanmax(kept, axis=1) - np.nanmin(kept, axis=1),
            "disagreeing": 1 - _count_equal(kept).max(axis=1) / counts,
        },
        names_of_judges=items.judges,
        how=how,
        ties=int(tied.sum()),
        left_out=int(len(items.grades) - len(kept)),
    )
