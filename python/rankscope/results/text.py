"""A result as a person reads it: a text table, or the same as HTML."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rankscope.results.evaluation import Evaluation


def format_value(value: float) -> str:
    """Write a value with four places, as trec_eval does; a count without any."""
    return "nan" if value != value else f"{value:.4f}"  # noqa: PLR0124 - NaN alone differs


def measure_rows(evaluation: Evaluation) -> list[tuple[str, str, str]]:
    """Give the name, the mean and the denominator of each measure."""
    total = evaluation.counts.queries
    return [
        (name, format_value(evaluation[name]), f"{count} of {total}")
        for name, count in evaluation.denominators.items()
    ]


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
    rows = [("measure", "value", "queries"), *measure_rows(evaluation)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    return "\n".join([*lines, *remarks(evaluation)])


def render_html(evaluation: Evaluation) -> str:
    """Write a result as an HTML table; every text in it is escaped."""
    from html import escape  # noqa: PLC0415 - only notebooks ask for it

    body = "".join(
        f"<tr><td>{escape(name)}</td>"
        f"<td style='text-align:right;font-variant-numeric:tabular-nums'>{value}</td>"
        f"<td style='text-align:right'>{count}</td></tr>"
        for name, value, count in measure_rows(evaluation)
    )
    notes = "".join(f"<div>{escape(remark)}</div>" for remark in remarks(evaluation))
    return (
        "<table><thead><tr><th>measure</th><th>value</th><th>queries</th></tr></thead>"
        f"<tbody>{body}</tbody></table>"
        f"<div style='font-size:smaller;overflow-wrap:anywhere'>{notes}</div>"
    )
