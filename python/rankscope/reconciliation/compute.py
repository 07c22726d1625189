"""Finds the conventions that produce a number, and why others differ."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real

from rankscope._evaluate.evaluation import Evaluation
from rankscope._evaluate.question import split_question
from rankscope.errors import UsageError
from rankscope.reconciliation.search import Question, reckon
from rankscope.reconciliation.workbench import Workbench
from rankscope.settings.reading import Reading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, TypeGuard, Unpack

    from rankscope.conventions import Convention
    from rankscope.measures import Measure
    from rankscope.reconciliation.result import Reconciliation
    from rankscope.reconciliation.target import Given
    from rankscope.settings.reading import ReadingOptions


def reconcile(
    judgments: object,
    run: object = None,
    measure: Measure | str | Mapping[Measure | str, Given] | None = None,
    *,
    got: Given | None = None,
    conventions: Iterable[Convention | str] | None = None,
    **options: Unpack[ReadingOptions],
) -> Reconciliation:
    """Evaluate a measure under every convention, and find those that produce a number.

    Args:
        judgments: The judgments, or a table whose rows have both scores and grades, as in
            `evaluate`. A table without documents skips conventions that order ties by id.
        run: As in `evaluate`. It is read into memory.
        measure: The measure, or its name. A mapping of it to a number is both `measure` and `got`:
            `{"nDCG@10": 0.4860}`.
        got: The number from another tool. Text keeps its digits: `"0.4860"` matches 0.48595 to
            0.48605, and `"48.60"` is in percent. A mapping of query to number compares the value of
            each of these queries. If no convention produces it, other causes are tried: another
            relevance level, cutoff, set of queries or depth of the run, reversed scores, grades
            that are shifted by 1 or binary, one changed rule of a convention, and two of the former
            together.
        conventions: The conventions to try (default: all).
        **options: How the inputs are read, as in `evaluate`.

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
        >>> log = {"qid": [1, 1, 1, 2], "label": [0, 3, 1, 0], "score": [3, 2, 2, 1]}
        >>> found = reconcile(log, "nDCG@3")
        >>> round(found["sklearn"], 4), round(found["lightgbm"], 4)
        (0.3115, 0.8221)
    """
    if measure is None and _is_reported(run):
        run, measure = None, run
    if isinstance(measure, Mapping):
        measure, got = _split_reported(measure, got)
    judged, given, asked = split_question("reconcile", judgments, run, measure)
    question = Question.read(asked, got, conventions)
    reading = Reading.of("reconcile", options)
    if judged is None:
        return reckon(Workbench.of_table(given, reading), question)
    return reckon(Workbench.of_run(judged, given, reading), question)


def _is_reported(given: object) -> TypeGuard[Mapping[Any, Given]]:
    """Check whether a mapping has the number of a measure, and not documents or columns."""
    if not isinstance(given, Mapping) or isinstance(given, Evaluation):
        return False
    return bool(given) and all(isinstance(each, Real | str) for each in given.values())


def _split_reported(
    reported: Mapping[Measure | str, Given], got: Given | None
) -> tuple[Measure | str, Given]:
    """Return the measure and its number."""
    if got is not None or len(reported) != 1:
        raise UsageError(
            f"expected the number of one measure, found {len(reported)} measures"
            f"{'' if got is None else ' and got'}",
            hint="write reconcile(judgments, run, {'nDCG@10': 0.4863}), once for each measure",
            code="bad_parameter",
        )
    return next(iter(reported.items()))
