"""Prints lines of queries and means as trec_eval does, to the byte."""

from __future__ import annotations

import math
import sys
from array import array

from rankscope._inputs.files import open_binary
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.records import record
from rankscope.settings.reading import count_threads
from rankscope.trec_eval.values import PrintedColumns, make_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rankscope.trec_eval.catalog import Entry
    from rankscope.trec_eval.evaluating import Evaluated
    from rankscope.trec_eval.requests import Requested
    from rankscope.trec_eval.values import Form, QueryValues

    Moments: TypeAlias = Mapping[tuple[str, str], tuple[float, float]]

AT_ONCE = 1024
"""How many queries are printed at once."""

LEAST = 0.000_01
"""The smallest value in a geometric mean."""


@record(frozen=True, slots=True, kw_only=True)
class Layout:
    """What is printed.

    Args:
        has_queries: Whether the lines of each query are.
        has_summary: Whether the lines of all queries are.
        order: The queries in the order in which they are printed.
        counted: The queries that means are over.
        run_id: The name of the run.
        moments: The means and deviations of `-Z`, if it was used.
    """

    has_queries: bool
    has_summary: bool
    order: list[int]
    counted: list[int]
    run_id: str
    moments: Moments | None

    @property
    def count(self) -> int:
        """How many queries a mean is over."""
        return len(self.counted)

    @property
    def lacking(self) -> int:
        """How many of them are not printed, since they aren't in the run."""
        return len(self.counted) - len(self.order)


def print_values(
    requests: Sequence[Requested],
    evaluated: Sequence[Evaluated],
    values: QueryValues,
    ids: Sequence[str],
    layout: Layout,
) -> None:
    """Print the values of each query, and the means."""
    moments = layout.moments
    if moments is not None:
        evaluated = [_standardize(one, ids, moments) for one in evaluated]
    if layout.has_queries:
        shown = [_printed(one, moments) for one in evaluated if one.entry.has_queries]
        lines = make_lines(shown, layout.order)
        threads = count_threads(None)
        for start in range(0, len(layout.order), AT_ONCE):
            written = lines.write(values.judgments, start, start + AT_ONCE, threads)
            sys.stdout.write(written.decode())
    if not layout.has_summary:
        return
    summed = [one for one in evaluated if one.entry.has_summary]
    sums = make_lines([_printed(one, moments) for one in summed], layout.order).sums()
    texts: dict[str, list[str]] = {
        "runid": [_write("runid", layout.run_id)],
        "num_q": [_write(_name("num_q", moments), _show(layout.count, "count", moments))],
    }
    for one, (total, logarithms) in zip(summed, sums, strict=True):
        if one.complete is not None:
            total = sum(one.complete[query] for query in layout.counted)  # noqa: PLW2901 - above
        value = _average(one.entry, total, logarithms, layout)
        line = _write(_name(one.name, moments), _show(value, one.entry.form, moments))
        texts.setdefault(one.entry.name, []).append(line)
    for requested in requests:
        sys.stdout.writelines(texts.get(requested.entry.name, ()))


def _average(entry: Entry, total: float, logarithms: float, layout: Layout) -> float:
    """Return the value of all queries; trec_eval adds in the same order."""
    if entry.mean == "sum":
        return total
    if entry.mean == "mean":
        return total / layout.count
    added = logarithms if layout.moments is None else total
    return math.exp((added + layout.lacking * math.log(LEAST)) / layout.count)


def _write(name: str, value: str) -> str:
    return f"{name:<22}\tall\t{value}\n"


def _show(value: float, form: Form, moments: Moments | None) -> str:
    if form == "count" and moments is None:
        return f"{value:.0f}"
    if math.isnan(value):  # C prints its sign
        return f"{'-nan' if math.copysign(1, value) < 0 else 'nan':>6}"
    return f"{value:6.4f}"


def _name(name: str, moments: Moments | None) -> str:
    """Return the name as a column, with a letter before it where values are deviations."""
    return f"{'' if moments is None else 'Z'}{name:<22}"


def _printed(one: Evaluated, moments: Moments | None) -> PrintedColumns:
    is_text = one.entry.form == "text"
    form = "value" if moments is not None and not is_text else one.entry.form
    return PrintedColumns(one.name if is_text else _name(one.name, moments), form, one.columns)


def _standardize(one: Evaluated, ids: Sequence[str], moments: Moments) -> Evaluated:
    if one.entry.form == "text":
        return one
    values = one.columns[0].tolist()
    if one.entry.mean == "geometric":
        values = [math.log(max(value, LEAST)) for value in values]
    found = standardize(values, one.name, ids, moments)
    return type(one)(one.entry, one.name, [found], one.complete)


FIELDS = 4
WITHOUT_MEAN = -1_000_000.0
"""What trec_eval prints if the file has no mean, or a deviation of 0 and another mean."""


def read_moments(path: str) -> Moments:
    """Return the mean and the standard deviation by query and measure."""
    moments = {}
    with open_binary(path, path) as file:
        for number, line in enumerate(file.read().decode("utf-8", "replace").split("\n"), start=1):
            fields = line.split()
            if not fields:
                continue
            try:
                query, measure, mean, deviation = fields
                moments[query, measure] = float(mean), float(deviation)
            except ValueError:
                raise FormatError(
                    f"expected a query, a measure, a mean and a deviation, found {quote(line)}",
                    hint="each line has four fields",
                    code="field_count" if len(fields) != FIELDS else "not_a_number",
                    file=path,
                    line=number,
                ) from None
    return moments


def standardize(
    values: Sequence[float], measure: str, queries: Sequence[str], moments: Moments
) -> array[float]:
    """Return values as deviations from their means, in standard deviations.

    Examples:
        >>> standardize([0.5, 0.5], "map", ["q1", "q2"], {("q1", "map"): (0.25, 0.5)}).tolist()
        [0.5, -1000000.0]
    """
    known = (moments.get((query, measure)) for query in queries)
    return array("d", map(_deviation, values, known))


def _deviation(value: float, moment: tuple[float, float] | None) -> float:
    if moment is None:
        return WITHOUT_MEAN
    mean, deviation = moment
    if deviation != 0:
        return (value - mean) / deviation
    return 0.0 if value == mean else WITHOUT_MEAN
