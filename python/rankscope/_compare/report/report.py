"""The contents of a report: the results of its runs, and what they were made from."""

from __future__ import annotations

from rankscope._compare.layout import lay_out
from rankscope._compare.result import Comparison
from rankscope.output.diagnostics import gather
from rankscope.output.text import format_value, show
from rankscope.records import record
from rankscope.writing import write_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.bounds.result import Bounds
    from rankscope.derivation.explanation import Explanation, RelevanceExplanation
    from rankscope.losses.result import Losses
    from rankscope.output.diagnostics import Diagnostic
    from rankscope.ties.result import TieAudit

HEIGHT = 640
"""The height of a report in a notebook, in pixels. It scrolls by itself."""


@record(frozen=True, slots=True, kw_only=True)
class InputFile:
    """A file that was read.

    Args:
        role: One of: `judgments`, `run`, `table`.
        name: Its path, or what data in memory is called.
        size: The number of its bytes; 0 for data that isn't a file.
        sha256: The SHA-256 of its bytes in hexadecimal; empty for data that isn't a file.
    """

    role: str
    name: str
    size: int = 0
    sha256: str = ""


@record(frozen=True, slots=True, kw_only=True)
class WorstQuery:
    """A query for which a run has a low value.

    Args:
        query_id: The query.
        row: Its row in the tables of losses, bounds and ties.
        value: The value of the first measure.
        relevant: The number of judged documents with a grade above 0.
        retrieved: The number of these that were retrieved.
        explanation: How its value is computed; `None` for measures without an explanation.
        documents: Without an explanation, the documents down to the cutoff, with their grades: NaN
            for unjudged ones.
    """

    query_id: str
    row: int
    value: float
    relevant: int
    retrieved: int
    explanation: Explanation | RelevanceExplanation | None
    documents: tuple[tuple[str, float], ...]


@record(frozen=True, slots=True, kw_only=True)
class ReportedRun:
    """A run of a report.

    Args:
        evaluation: The values of the measures.
        judged: The share of judged documents down to the cutoff of the first measure.
        relevance: The numbers of relevant documents, and of those that were retrieved.
        worst: The queries with the lowest values of the first measure, lowest first.
    """

    evaluation: Evaluation
    judged: Evaluation
    relevance: Evaluation
    worst: tuple[WorstQuery, ...]


@record(frozen=True, slots=True, kw_only=True)
class Report:
    """A report. `to_html` renders it as a page, and `write` writes the page to a file.

    The same input gives the same page, byte for byte: it has no date in it. What can't be computed
    under the policy is text in place of a result: the reason.

    Args:
        title: What was evaluated.
        runs: The results of each run, by its name.
        comparison: The comparison of all pairs of runs; `None` for one run.
        losses: By measure of discounted gain, what the value of each run lacks.
        bounds: What unjudged documents could change about the first measure of each run.
        ties: By measure, what the order of equal scores could change about each run.
        inputs: The files that were read.
        commands: The commands, or the call, that give the same numbers, by purpose.

    Examples:
        >>> import rankscope as rs
        >>> qrels = {"q1": {"d1": 1, "d2": 0}}
        >>> report = rs.report(
        ...     qrels, {"old": {"q1": {"d1": 1.0}}, "new": {"q1": {"d2": 1.0}}}, "RR"
        ... )
        >>> {name: run.evaluation["RR"] for name, run in report.runs.items()}
        {'old': 1.0, 'new': 0.0}
        >>> report.to_html()[:15]
        '<!doctype html>'
    """

    title: str
    runs: Mapping[str, ReportedRun]
    comparison: Comparison | str | None
    losses: Mapping[str, tuple[Losses, ...] | str]
    bounds: tuple[Bounds, ...] | str
    ties: Mapping[str, tuple[TieAudit, ...] | str]
    inputs: tuple[InputFile, ...]
    commands: Mapping[str, str]

    @property
    def notes(self) -> tuple[Diagnostic, ...]:
        """Notes about input that is valid but looks wrong, with the runs that have them."""
        return gather({name: run.evaluation.notes for name, run in self.runs.items()})

    def to_html(self) -> str:
        """Return the page, which needs no other files.

        Raises:
            UsageError: Jinja is not installed.
        """
        from rankscope._compare.report.render import render  # noqa: PLC0415 - loads Jinja

        return render(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all.

        Raises:
            UsageError: Jinja is not installed.
            FileError: The file cannot be written.
        """
        write_text(path, self.to_html())

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415 - only notebooks ask for it

        # The page has its own origin: its script sorts tables, and can't reach the notebook.
        page = escape(self.to_html()).encode("ascii", "xmlcharrefreplace").decode()
        return (
            f'<iframe title="{escape(show(self.title))}" sandbox="allow-scripts" '
            f'style="width:100%;height:{HEIGHT}px;border:1px solid rgba(128,128,128,.4)" '
            f'srcdoc="{page}"></iframe>'
        )

    def __str__(self) -> str:
        lines = [self.title]
        for name, run in self.runs.items():
            means = (f"{measure} {format_value(mean)}" for measure, mean in run.evaluation.items())
            lines.append(f"{show(name)}: {', '.join(means)}")
        if isinstance(self.comparison, Comparison):
            lines.append(lay_out(self.comparison).above[0])
        return "\n".join(lines)

    __repr__ = __str__
