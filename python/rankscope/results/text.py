"""Results as text and HTML."""

from __future__ import annotations

from rankscope.results.intervals import describe_intervals

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.evaluation import Evaluation


def format_value(value: float) -> str:
    """Return a value with four decimal places, like trec_eval."""
    return "nan" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN alone differs


def format_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> print(format_share(0.1234))
        12.3%
    """
    return f"{100 * share:.1f}%"


def show(text: str) -> str:
    r"""Return a text on one line, with escapes for characters that aren't printable.

    Examples:
        >>> print(show("a\tb\u202e"))
        a\tb\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )


def show_lines(text: str) -> str:
    """Return a text of several lines, each escaped like `show` does."""
    return "\n".join(map(show, text.split("\n")))


def measure_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Return the name, mean, interval (if any) and number of queries of each measure."""
    total = evaluation.counts.queries
    intervals = evaluation.intervals
    return [
        (
            name,
            format_value(evaluation[name]),
            *([_format_interval(intervals[name])] if intervals else []),
            f"{count} of {total}",
        )
        for name, count in evaluation.denominators.items()
    ]


def column_names(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the names of the columns of `measure_rows`."""
    return ("measure", "value", *(["interval"] if evaluation.intervals else []), "queries")


def _format_interval(ends: tuple[float, float]) -> str:
    if ends[0] != ends[0]:
        return "none"
    return f"{format_value(ends[0])} to {format_value(ends[1])}"


def remarks(evaluation: Evaluation) -> list[str]:
    """Return the lines with the convention, the policy, the intervals and the notes."""
    row = evaluation.convention
    return [
        *([f"convention: {row.address} ({row.verified})"] if row else []),
        f"policy: {evaluation.policy}",
        *describe_intervals(evaluation.estimates),
        *(f"note: {note}" for note in evaluation.notes),
    ]
