"""Which conventions give a number, and why they differ."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Literal

    from rankscope.conventions import Convention
    from rankscope.data.qrels import Qrels
    from rankscope.measures import Measure
    from rankscope.results.reconciliation import Reconciliation
    from rankscope.typing import InputLike


def reconcile(
    qrels: InputLike | Qrels,
    run: InputLike,
    measure: Measure | str,
    *,
    got: float | str | None = None,
    columns: Mapping[str, str] | None = None,
    conventions: Iterable[Convention | str] | None = None,
    duplicates: Literal["error", "first", "max"] = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> Reconciliation:
    """Evaluate a measure under every convention, and find those that give a number.

    Args:
        qrels: As in `evaluate`.
        run: As in `evaluate`; it is held in memory.
        measure: The measure, as it would be asked for.
        got: A number from elsewhere. Text keeps its digits: `"0.4860"` is a number from 0.48595 to
            0.48605. Where no convention gives it, single other rules are tried.
        columns: As in `evaluate`.
        conventions: The conventions; all of them if left out.
        duplicates: As in `evaluate`.
        encoding: As in `evaluate`.

    Returns:
        The values, grouped where they are equal; the conventions that give `got`; and by `differ`
        the rules, queries and documents that make the difference between any two.

    Raises:
        UsageError: An argument is not one.
        InputError: The input is not of the format.
        FileError: A file cannot be read.

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
    from rankscope.api.reconciliation.search import Question, reckon  # noqa: PLC0415 - see above
    from rankscope.api.reconciliation.workbench import Workbench  # noqa: PLC0415 - see above

    question = Question.read(measure, got, conventions)
    bench = Workbench.of_run(qrels, run, columns=columns, duplicates=duplicates, encoding=encoding)
    return reckon(bench, question)


def reconcile_table(
    table: object,
    measure: Measure | str,
    *,
    query: str | None = None,
    doc: str | None = None,
    relevance: str | None = None,
    score: str | None = None,
    rank: str | None = None,
    got: float | str | None = None,
    conventions: Iterable[Convention | str] | None = None,
    duplicates: Literal["error", "first", "max"] = "error",
    encoding: Literal["utf-8", "latin-1"] = "utf-8",
) -> Reconciliation:
    """Do what `reconcile` does for a table whose rows hold a score, or a rank, and a grade.

    Args:
        table: As in `evaluate_table`; it is held in memory.
        measure: As in `reconcile`.
        query: The column of queries, found by its usual names where left out, as in
            `Rankings.from_table`.
        doc: The column of documents; there may be none, and then no convention that orders tied
            documents by their ids.
        relevance: The column of grades; null or NaN is unjudged.
        score: The column of scores, larger ones first.
        rank: The column of ranks, smaller ones first. With both, they must agree.
        got: As in `reconcile`.
        conventions: As in `reconcile`.
        duplicates: As in `evaluate`.
        encoding: As in `evaluate`.

    Raises:
        UsageError: An argument is not one.
        InputError: A column is missing, or holds what cannot be read.
        FileError: A file cannot be read.

    Examples:
        >>> log = {"qid": [1, 1, 1, 2], "label": [0, 3, 1, 0], "score": [3, 2, 2, 1]}
        >>> found = reconcile_table(log, "nDCG@3")
        >>> round(found["sklearn"], 4), round(found["lightgbm"], 4)
        (0.3115, 0.8221)
    """
    # As in `reconcile`.
    from rankscope.api.reconciliation.search import Question, reckon  # noqa: PLC0415 - see above
    from rankscope.api.reconciliation.workbench import Workbench  # noqa: PLC0415 - see above

    question = Question.read(measure, got, conventions)
    names = {"query": query, "doc": doc, "relevance": relevance, "score": score, "rank": rank}
    bench = Workbench.of_table(table, columns=names, duplicates=duplicates, encoding=encoding)
    return reckon(bench, question)
