"""Finds the conventions that produce a number, and why others differ."""

from __future__ import annotations

from rankscope.reconciliation.search import Question, reckon
from rankscope.reconciliation.workbench import Workbench
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from rankscope.conventions import Convention
    from rankscope.inputs.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.reconciliation.result import Reconciliation
    from rankscope.reconciliation.target import Given
    from rankscope.settings.policy import Duplicates
    from rankscope.typing import InputLike


def reconcile(
    qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str,
    *,
    got: Given | None = None,
    columns: Mapping[str, str] | None = None,
    conventions: Iterable[Convention | str] | None = None,
    duplicates: Duplicates = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> Reconciliation:
    """Evaluate a measure under every convention, and find those that produce a number.

    Args:
        qrels: As in `evaluate`.
        run: As in `evaluate`. It is read into memory.
        measure: The measure, or its name.
        got: The number from another tool. Text keeps its digits: `"0.4860"` matches 0.48595 to
            0.48605. A mapping of query to number compares the value of each of these queries. If
            no convention produces it, other causes are tried: another relevance level, cutoff, set
            of queries or depth of the run, one changed rule of a convention, and two of the former
            together.
        columns: As in `evaluate`.
        conventions: The conventions to try (default: all).
        duplicates: As in `evaluate`.
        encoding: As in `evaluate`.

    Returns:
        The values, grouped if equal, and the conventions that produce `got`. `differ` returns the
        rules, queries and documents that cause the difference between two of them.

    Raises:
        UsageError: An argument is invalid.
        InputError: The input doesn't have the expected format.
        FileError: A file can't be read.

    Examples:
        >>> qrels = {"q1": {"a": 3, "b": 2, "c": 1, "d": 0}}
        >>> run = {"q1": {"c": 2.0, "d": 2.0, "a": 1.0, "b": 0.5}}
        >>> found = reconcile(qrels, run, "nDCG@3", got="0.4863")
        >>> found.matches[0], round(found["lightgbm"], 4)
        ('sklearn', 0.4791)
        >>> [rule.rule for rule in found.differ("trec_eval@10.0", "sklearn").rules]
        ['ties', 'missing', 'unretrieved', 'negative', 'ideal']
    """
    # The rows, and all that compares them, load with the first call only.

    question = Question.read(measure, got, conventions)
    reading = Reading.read(columns=columns, duplicates=duplicates, encoding=encoding)
    return reckon(Workbench.of_run(qrels, run, reading), question)


def reconcile_table(
    table: object,
    measure: Measure | str,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    got: Given | None = None,
    conventions: Iterable[Convention | str] | None = None,
    duplicates: Duplicates = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> Reconciliation:
    """Run `reconcile` on a table whose rows hold a score or a rank, and a grade.

    Args:
        table: As in `evaluate_table`. It is read into memory.
        measure: As in `reconcile`.
        query: The column of queries (default: found by its usual names, as in
            `Rankings.from_table`).
        doc: The column of documents. Without it, conventions that order ties by id are skipped.
        relevance: The column of grades. Null and NaN mean unjudged.
        score: The column of scores. Larger scores rank first.
        rank: The column of ranks. If there are scores too, both must agree.
        got: As in `reconcile`.
        conventions: As in `reconcile`.
        duplicates: As in `evaluate`.
        encoding: As in `evaluate`.

    Raises:
        UsageError: An argument is invalid.
        InputError: A column is missing, or holds invalid values.
        FileError: A file can't be read.

    Examples:
        >>> log = {"qid": [1, 1, 1, 2], "label": [0, 3, 1, 0], "score": [3, 2, 2, 1]}
        >>> found = reconcile_table(log, "nDCG@3")
        >>> round(found["sklearn"], 4), round(found["lightgbm"], 4)
        (0.3115, 0.8221)
    """
    # As in `reconcile`.

    question = Question.read(measure, got, conventions)
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    reading = Reading.read(duplicates=duplicates, encoding=encoding)
    return reckon(Workbench.of_table(table, names, reading), question)
