"""Several judges: their agreement, and their grades combined."""

from __future__ import annotations

from rankscope.settings.policy import check_choice
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from rankscope.judges.combined_judgments import CombinedJudgments
    from rankscope.judges.judge_agreement import JudgeAgreement


def judge_agreement(
    table: object,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> JudgeAgreement:
    """Return how well judges agree, such as a model and people.

    Cohen's kappa (1960; weighted: 1968), Spearman's correlation and the share of equal grades
    compare two judges on the documents that both graded. Krippendorff's alpha (*Computing
    Krippendorff's alpha-reliability*, 2011) compares all judges, and uses every document with two
    or more grades.

    Args:
        table: A data frame, an Arrow table, a mapping of column name to array, a path, or a `File`.
        judges: The columns of grades, if there is one column per judge. Null, NaN and empty cells
            mean that the judge gave no grade.
        judge: The column that names the judge, if there is one row per judgment.
        query: The column of queries, if there is one row per judgment (default: found by its usual
            names, as in `Rankings.from_table`).
        doc: The column of documents, if there is one row per judgment.
        relevance: The column of grades, if there is one row per judgment.
        encoding: The encoding of a text file.

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
        The grades are reliable: ordinal alpha is 0.8 or higher.
        >>> rows = {"rater": ["a", "b"], "query": ["q", "q"], "doc": ["d", "d"], "grade": [1, 1]}
        >>> judge_agreement(rows, judge="rater", relevance="grade").pairs[0].exact
        1.0
    """
    from rankscope.judges.agreement import measure_agreement  # noqa: PLC0415 - as above
    from rankscope.judges.reading import read_judges  # noqa: PLC0415 - only judges need it

    names = {"query": query, "doc": doc, "relevance": relevance}
    reading = Reading.read(encoding=encoding)
    found = read_judges(table, judges, judge, names, reading, needs_ids=False)
    return measure_agreement(found.judges, found.grades)


def combine_judges(
    table: object,
    *,
    judges: Sequence[str] | None = None,
    judge: str | None = None,
    how: Literal["mean", "median", "majority"] = "mean",
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> CombinedJudgments:
    """Combine the grades of several judges into one grade per document.

    Args:
        table: As in `judge_agreement`, with queries and documents.
        judges: As in `judge_agreement`.
        judge: As in `judge_agreement`.
        how: `"mean"`, `"median"` (the mean of the two middle grades if their number is even), or
            `"majority"` (the most frequent grade; the lowest of them if several are equally
            frequent, which `majority_ties` counts).
        query: The column of queries (default: found by its usual names).
        doc: The column of documents.
        relevance: The column of grades, if there is one row per judgment.
        encoding: The encoding of a text file.

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
    from rankscope.judges.combination import HOWS, describe_judgments  # noqa: PLC0415 - as above
    from rankscope.judges.reading import read_judges  # noqa: PLC0415 - only judges need it

    check_choice("how", how, HOWS)
    names = {"query": query, "doc": doc, "relevance": relevance}
    reading = Reading.read(encoding=encoding)
    found = read_judges(table, judges, judge, names, reading, needs_ids=True)
    return describe_judgments(found.judges, found.grades, found.queries, found.docs, how)
