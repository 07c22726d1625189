"""Prints lines of queries and means as trec_eval does, to the byte."""

from __future__ import annotations

import math
import sys
from array import array

from rankscope._core import Lines
from rankscope._inputs.files import open_binary
from rankscope.errors import FormatError
from rankscope.names import quote
from rankscope.records import record, replace
from rankscope.settings.reading import count_threads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from rankscope._inputs.qrels import Qrels
    from rankscope.trec_eval.catalog import Form
    from rankscope.trec_eval.columns import Doubles
    from rankscope.trec_eval.evaluating import Evaluated
    from rankscope.trec_eval.requests import Requested

    Moments: TypeAlias = Mapping[tuple[str, str], tuple[float, float]]

AT_ONCE = 1024
"""How many queries are printed at once."""

LEAST = 0.000_01
"""The smallest value in a geometric mean."""

FIELDS = 4
WITHOUT_MEAN = -1_000_000.0
"""What trec_eval prints if the file has no mean, or a deviation of 0 and another mean."""


@record(frozen=True, slots=True, kw_only=True)
class Layout:
    """What is printed.

    Args:
        order: The queries in the order in which they are printed.
        counted: The queries that means are over.
        run_id: The name of the run.
        is_standardized: Whether values are deviations from means.
    """

    order: list[int]
    counted: list[int]
    run_id: str
    is_standardized: bool

    def name(self, name: str) -> str:
        """Return a name as a column, with a letter before it where values are deviations."""
        return f"{'Z' if self.is_standardized else ''}{name:<22}"

    def lines(self, evaluated: Sequence[Evaluated]) -> Lines:
        """Return the lines of queries, and their sums."""
        columns: list[tuple[str, str, list[Doubles]]] = []
        for one in evaluated:
            form, name = one.entry.form, one.name
            if form != "text":
                form, name = "value" if self.is_standardized else form, self.name(name)
            columns.append((name, form, list(one.columns)))
        return Lines(columns, self.order)

    def summarize(self, one: Evaluated, total: float, logarithms: float) -> float:
        """Return the value of all queries, from sums that are added in the order of trec_eval."""
        if one.complete is not None:
            total = sum(one.complete[query] for query in self.counted)
        if one.entry.form == "count":
            return total
        if not one.entry.is_geometric:
            return total / len(self.counted)
        added = total if self.is_standardized else logarithms
        lacking = len(self.counted) - len(self.order)  # they aren't in the run
        return math.exp((added + lacking * math.log(LEAST)) / len(self.counted))

    def write(self, name: str, value: float, form: Form) -> str:
        """Return the line of all queries."""
        if form == "count" and not self.is_standardized:
            text = f"{value:.0f}"
        elif math.isnan(value):  # C prints its sign
            text = f"{'-nan' if math.copysign(1, value) < 0 else 'nan':>6}"
        else:
            text = f"{value:6.4f}"
        return f"{self.name(name)}\tall\t{text}\n"


def print_queries(evaluated: Sequence[Evaluated], qrels: Qrels, layout: Layout) -> None:
    """Print the values of each query."""
    lines = layout.lines([one for one in evaluated if not one.entry.is_geometric])
    threads = count_threads(None)
    for start in range(0, len(layout.order), AT_ONCE):
        written = lines.write(qrels.judgments, start, start + AT_ONCE, threads)
        sys.stdout.write(written.decode())


def print_summary(
    requests: Sequence[Requested], evaluated: Sequence[Evaluated], layout: Layout
) -> None:
    """Print the values of all queries."""
    summed = [one for one in evaluated if one.entry.form != "text"]
    texts = {
        "runid": [f"{'runid':<22}\tall\t{layout.run_id}\n"],
        "num_q": [layout.write("num_q", len(layout.counted), "count")],
    }
    for one, sums in zip(summed, layout.lines(summed).sums(), strict=True):
        line = layout.write(one.name, layout.summarize(one, *sums), one.entry.form)
        texts.setdefault(one.entry.name, []).append(line)
    for request in requests:
        sys.stdout.writelines(texts.get(request.entry.name, ()))


def read_moments(path: str) -> Moments:
    """Return the mean and the standard deviation by query and measure."""
    moments = {}
    with open_binary(path, path) as file:
        text = file.read().decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), start=1):
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


def standardize(one: Evaluated, queries: Sequence[str], moments: Moments) -> Evaluated:
    """Return values as deviations from their means, in standard deviations."""
    if one.entry.form == "text":
        return one
    values = array("d")
    for query, value in zip(queries, one.columns[0], strict=True):
        mean, deviation = moments.get((query, one.name), (math.nan, 0.0))
        if one.entry.is_geometric:
            value = math.log(max(value, LEAST))  # noqa: PLW2901 - the same one
        if deviation != 0:
            values.append((value - mean) / deviation)
        else:
            values.append(0.0 if value == mean else WITHOUT_MEAN)
    return replace(one, columns=[values])
