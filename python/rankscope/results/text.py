"""A result as a person reads it: a text table, or the same as HTML."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.evaluation import Evaluation


def format_value(value: float) -> str:
    """Write a value with four places, as trec_eval does; a count without any."""
    return "nan" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN alone differs


def format_share(share: float) -> str:
    """Write a share as a percentage.

    Examples:
        >>> print(format_share(0.1234))
        12.3 %
    """
    return f"{100 * share:.1f} %"


def show(text: str) -> str:
    r"""Write a text on one line: what is not printable is escaped.

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
    """Write a text on its lines, each as `show` does."""
    return "\n".join(map(show, text.split("\n")))


def measure_rows(evaluation: Evaluation) -> list[tuple[str, ...]]:
    """Give the name, the mean, the interval if asked for, and the denominator of each measure."""
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
    """Give the names of what `measure_rows` gives."""
    return ("measure", "value", *(["interval"] if evaluation.intervals else []), "queries")


def _format_interval(ends: tuple[float, float]) -> str:
    return f"{format_value(ends[0])} to {format_value(ends[1])}"


def remarks(evaluation: Evaluation) -> list[str]:
    """Give the convention, the policy and the notes, a line each."""
    row = evaluation.convention
    return [
        *([f"convention: {row.address} ({row.verified})"] if row else []),
        f"policy: {evaluation.policy}",
        *(f"note: {note}" for note in evaluation.notes),
    ]


def render(evaluation: Evaluation) -> str:
    """Write a result as a text table."""
    rows = [column_names(evaluation), *measure_rows(evaluation)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    slices = [] if evaluation.slices is None else ["", str(evaluation.slices), ""]
    return "\n".join([*lines, *slices, *remarks(evaluation)])


def render_html(evaluation: Evaluation) -> str:
    """Write a result as an HTML table; every text in it is escaped."""
    from html import escape  # noqa: PLC0415 - only notebooks ask for it

    head = "".join(f"<th>{name}</th>" for name in column_names(evaluation))
    body = "".join(
        f"<tr><td>{escape(name)}</td>"
        + "".join(
            f"<td style='text-align:right;font-variant-numeric:tabular-nums'>{cell}</td>"
            for cell in cells
        )
        + "</tr>"
        for name, *cells in measure_rows(evaluation)
    )
    slices = "" if evaluation.slices is None else evaluation.slices._repr_html_()
    notes = "".join(f"<div>{escape(remark)}</div>" for remark in remarks(evaluation))
    return (
        f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{slices}"
        f"<div style='font-size:smaller;overflow-wrap:anywhere'>{notes}</div>"
    )
