"""Renders the page of a report: one file that includes its style and script."""

from __future__ import annotations

import math
import os
import platform
import sys
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, TypeAlias

from rankscope._compare.layout import lay_out
from rankscope._compare.report.inputs import InputFile
from rankscope._compare.result import Comparison
from rankscope._core import POLICY, __version__
from rankscope._evaluate.evaluation import Evaluation
from rankscope._explain import html
from rankscope._explain.bounds import Bounds
from rankscope._explain.gains import Explanation
from rankscope._explain.ledger import Losses
from rankscope._explain.relevance import RelevanceExplanation
from rankscope._explain.ties import TieAudit
from rankscope._settings import Policy
from rankscope._show.diagnostics import Diagnostic, describe_intervals, gather, merge
from rankscope._show.html import mark_line
from rankscope._show.table import finish, format_value, name_rows, show
from rankscope._web import templating
from rankscope._writing import write_text

ValueTable: TypeAlias = tuple[str, list[str], list[tuple[int, list[float]]]]

if TYPE_CHECKING:
    from jinja2 import Environment


MOST_VALUES = 40_000
"""More values than these, of all queries, measures and runs, make a page slow."""
MOST_SLICES = 1_000
GAINS = {
    "missing_gain": "A rank down to the cutoff at which a list has no document has the gain {}.",
    "unjudged": "A retrieved document without a judgment has the gain {}.",
}
"""The meaning of numbers in a policy."""


@dataclass(frozen=True, slots=True)
class Ledger:
    """A value and its observable losses, which add up to 1."""

    value: float
    losses: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Point:
    """A value in a chart, with the ends of its interval if it has one."""

    value: float
    lower: float | None = None
    upper: float | None = None


@cache
def make_pages() -> Environment:
    """Make what fills the templates; to compile them takes longer than to fill them."""
    environment = templating.make_environment("rankscope._compare.report", extra="plot")
    environment.filters |= {
        "finish": finish,
        "line": mark_line,
        "ledger": make_ledger,
        "spread": find_spread,
    }
    environment.globals |= {
        "MOST_SLICES": MOST_SLICES,
        "explain_policy": explain_policy,
        "name_rows": name_rows,
        "read_means": read_means,
        "zip": zip,
    }
    return environment


def render(report: Report) -> str:
    """Render the page."""
    own = files("rankscope._compare.report") / "templates" / "report.css"
    style = html.STYLE + templating.read_style() + own.read_text(encoding="utf-8")
    script = templating.read_template("report.js")
    evaluations = {name: run.evaluation for name, run in report.runs.items()}
    lines = [line for run in evaluations.values() for line in describe_intervals(run.estimates)]
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    page = make_pages().get_template("page.html.j2")
    return page.render(
        report=report,
        evaluations=evaluations,
        evaluation=next(iter(evaluations.values())),
        layout=lay_out(report.comparison) if isinstance(report.comparison, Comparison) else None,
        intervals=dict.fromkeys(lines),
        notes=merge({name: run.notes for name, run in evaluations.items()}),
        tables=[*list_values(evaluations)],
        style=style,
        script=script,
        # Nothing may run or be shown but the page's own script and style.
        policy="default-src 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'; "
        "base-uri 'none'; form-action 'none'".format(*hashes),
        versions={
            "rankscope": __version__,
            "Python": platform.python_version(),
            "system": f"{sys.platform} {platform.machine()}",
        },
    )


def read_means(evaluations: Iterable[Evaluation], measures: Sequence[str]) -> list[Point]:
    """Return the means of measures with their intervals, run by run."""
    return [
        Point(run[name], *run.intervals.get(name, ())) for run in evaluations for name in measures
    ]


def make_ledger(losses: Losses, amounts: Mapping[str, float] | int) -> Ledger:
    """Return the losses of a mean or a slice, or of the query in a row."""
    if isinstance(amounts, int):
        amounts = {name: float(losses.array(name)[amounts]) for name in losses.means}
    names = ["ordering", "truncation", *["retrieval"] * losses.observes_retrieval, "undefined"]
    return Ledger(amounts["value"], {name: amounts[name] for name in names})


def list_values(evaluations: Mapping[str, Evaluation]) -> Iterator[ValueTable]:
    """Yield tables of the values of queries: one for each measure, or all measures of one run.

    Of very many queries, they have those with the lowest values of the first run.
    """
    (name, first), *others = evaluations.items()
    values = zip(first.per_query_list(first.measures[0]), first.query_texts, strict=True)
    keys = [(math.inf if math.isnan(value) else value, query) for value, query in values]
    most = max(1, MOST_VALUES // (len(evaluations) * len(first)))
    rows = sorted(sorted(range(len(keys)), key=keys.__getitem__)[:most])
    tables = {
        measure: {name: run.per_query_list(measure) for name, run in evaluations.items()}
        for measure in first
    }
    if not others:
        tables = {name: {measure: columns[name] for measure, columns in tables.items()}}
    for title, columns in tables.items():
        yield title, [*columns], [(at, [column[at] for column in columns.values()]) for at in rows]


def find_spread(values: Sequence[float]) -> float:
    """Return the highest value minus the lowest, NaN if one is missing."""
    return math.nan if any(map(math.isnan, values)) else max(values) - min(values)


def explain_policy(policy: Policy) -> Iterator[tuple[str, str, str]]:
    """Yield the fields of a policy, each with its value and what that means."""
    for field, value in policy.to_dict().items():
        text = "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
        meaning = POLICY.get(field, {}).get(text.partition("(")[0])
        yield field, text, meaning or GAINS[field].format(value or 0)


HEIGHT = 640
"""The height of a report in a notebook, in pixels. It scrolls by itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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


@dataclass(frozen=True, slots=True, kw_only=True)
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
        return render(self)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, completely or not at all.

        Raises:
            UsageError: Jinja is not installed.
            FileError: The file cannot be written.
        """
        write_text(path, self.to_html())

    def _repr_html_(self) -> str:
        from html import escape

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
