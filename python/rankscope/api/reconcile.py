"""Which conventions give a number, and why they differ."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
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
    from rankscope.api.reckon import reckon  # noqa: PLC0415 - see above

    return reckon(
        qrels,
        run,
        measure,
        got=got,
        conventions=conventions,
        duplicates=duplicates,
        encoding=encoding,
    )
