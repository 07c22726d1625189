"""Renders the page of a report: one file that includes its style and script."""

from __future__ import annotations

import math
import platform
import sys
from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from rankscope._compare.layout import lay_out
from rankscope._compare.result import Comparison
from rankscope._core import POLICY, __version__
from rankscope.derivation.write import html
from rankscope.output.diagnostics import merge
from rankscope.output.estimate import describe_intervals
from rankscope.output.layout.html import mark_line
from rankscope.output.table import name_rows
from rankscope.output.text import finish
from rankscope.records import record
from rankscope.web import templating

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from typing import TypeAlias

    from jinja2 import Environment

    from rankscope._compare.report.report import Report
    from rankscope._evaluate.evaluation import Evaluation
    from rankscope.losses.result import Losses
    from rankscope.settings.policy import Policy

    ValueTable: TypeAlias = tuple[str, list[str], list[tuple[int, list[float]]]]

MOST_VALUES = 40_000
"""More values than these, of all queries, measures and runs, make a page slow."""
MOST_SLICES = 1_000
GAINS = {
    "missing_gain": "A rank down to the cutoff at which a list has no document has the gain {}.",
    "unjudged": "A retrieved document without a judgment has the gain {}.",
}
"""The meaning of numbers in a policy."""


@record(frozen=True, slots=True)
class Ledger:
    """A value and its observable losses, which add up to 1."""

    value: float
    losses: Mapping[str, float]


@record(frozen=True, slots=True)
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
    lines = (line for each in evaluations.values() for line in describe_intervals(each.estimates))
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    page = make_pages().get_template("page.html.j2")
    return page.render(
        report=report,
        evaluations=evaluations,
        evaluation=next(iter(evaluations.values())),
        layout=lay_out(report.comparison) if isinstance(report.comparison, Comparison) else None,
        intervals=dict.fromkeys(lines),
        notes=merge({name: each.notes for name, each in evaluations.items()}),
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
        Point(each[name], *each.intervals.get(name, ()))
        for each in evaluations
        for name in measures
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
    values, ids = first.per_query_list(first.measures[0]), first.query_texts
    keys = [(math.inf if math.isnan(value) else value, ids[at]) for at, value in enumerate(values)]
    most = max(1, MOST_VALUES // (len(evaluations) * len(first)))
    rows = sorted(sorted(range(len(keys)), key=keys.__getitem__)[:most])
    tables = {
        measure: {name: each.per_query_list(measure) for name, each in evaluations.items()}
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
